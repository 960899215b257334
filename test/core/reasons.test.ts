/**
 * All that follows from a reason beside its texts: it decides what a retry does, so each is written down a second time. The
 * names are public, too.
 */
import { gatewayError } from '../../core/errors';
import { REASONS, type Reason } from '../../core/errors/catalogue';

const OF_THE_SERVICE = [
	['serviceUnreachable', 'unreachable', ''],
	['noKeySent', 'authentication', 'created nothing'],
	['keyRefused', 'authentication', 'created nothing'],
	['keyNotAllowed', 'permission', 'service first'],
	['contentDeclined', 'contentPolicy', 'permanent, service first'],
	['requestRejected', 'rejected', 'permanent, service first'],
	['requestNotProcessed', 'unavailable', ''],
	['notFound', 'notFound', ''],
	['taskUnknown', 'notFound', ''],
	['endpointNotFound', 'notFound', ''],
	['modelNotFound', 'rejected', 'permanent'],
	['rateLimited', 'rateLimited', ''],
	['noFreePlace', 'rateLimited', 'created nothing'],
	['requestTooLarge', 'rejected', 'permanent'],
	['uploadTooLarge', 'rejected', 'permanent'],
	['uploadEndpointNotFound', 'rejected', ''],
	['noUploadUrl', 'unexpectedAnswer', ''],
	['serviceRedirects', 'unexpectedAnswer', ''],
	['serviceUnavailable', 'unavailable', ''],
	['notTheService', 'unexpectedAnswer', ''],
	['answerTooLarge', 'unexpectedAnswer', 'retry continues'],
	['packageBug', 'ownMistake', ''],
	['outcomeUnknown', 'outcomeUnknown', 'created maybe'],
	['outcomeStillUnknown', 'outcomeUnknown', 'created maybe'],
	['createdFromOtherRequest', 'outcomeUnknown', 'created maybe'],
	['submissionNotRecorded', 'notSubmitted', 'created nothing'],
	['submittedByOtherRetry', 'notSubmitted', 'created nothing'],
	['submissionStopped', 'notSubmitted', 'created nothing'],
	['notSubmitted', 'notSubmitted', 'created nothing'],
	['purchaseLogUnavailable', 'unavailable', 'created nothing'],
	['purchaseKeyConflict', 'badInput', 'created nothing'],
	['purchaseKeyUnclear', 'badInput', 'created nothing'],
	['purchaseKeyExpired', 'noResult', 'permanent'],
	['createdTaskNotFound', 'notFound', 'retry continues'],
	['createdTaskRefused', 'permission', 'retry continues'],
	['noTaskStatus', 'unavailable', ''],
	['taskFailed', 'taskFailed', 'service first'],
	['timedOut', 'taskTimedOut', 'retry continues'],
	['timedOutEarly', 'taskTimedOut', 'retry continues'],
	['resultNotPassedOn', 'stopped', 'retry continues'],
	['storedItemUnreadable', 'stopped', 'retry continues'],
	['storedByNewerVersion', 'stopped', 'retry continues'],
	['waitingNotStarted', 'unavailable', 'retry continues'],
	['waitingInterrupted', 'stopped', 'retry continues'],
	['waitingCanceled', 'stopped', ''],
	['executionStopped', 'stopped', ''],
	['noResultUrl', 'noResult', 'permanent, retry continues'],
	['noResultAtPath', 'noResult', 'permanent, retry continues'],
	['downloadNotAllowed', 'download', 'permanent, retry continues'],
	['downloadFailed', 'download', 'retry continues'],
	['tooManyResultFiles', 'download', 'permanent'],
	['resultIsPlaylist', 'download', 'permanent'],
	['resultTooLarge', 'download', 'permanent'],
	['resultTooLargeToStore', 'download', 'permanent, retry continues'],
	['resultNotStored', 'download', 'permanent, retry continues'],
	['balanceTooLow', 'balance', 'service first'],
	['balanceNotFound', 'notFound', ''],
	['notAnAccountBalance', 'unexpectedAnswer', ''],
	['creditsUnknown', 'unexpectedAnswer', ''],
	['creditsBelowLimit', 'balance', ''],
	['userUnknown', 'rejected', 'created maybe'],
	['usedBalanceUnknown', 'unavailable', 'created maybe'],
	['tokenNameTooLong', 'badInput', ''],
	['tokenNameRefused', 'rejected', 'code token_name_too_long, created nothing, permanent'],
	['tokenNotCreated', 'outcomeUnknown', 'created maybe'],
	['tokenKeyGone', 'outcomeUnknown', ''],
	['amountNotWhole', 'badInput', ''],
	['amountNotANumber', 'badInput', ''],
	['notOneModel', 'badInput', ''],
	// It is found out when its turn comes.
	['fileUnreadable', 'badInput', 'created nothing'],
	['expiryInPast', 'badInput', ''],
	['notUnixSeconds', 'badInput', ''],
	['notADate', 'badInput', ''],
	['verificationUnknown', 'notFound', ''],
	['verificationResultNotGiven', 'rejected', 'permanent, service first'],
	['noVerificationLink', 'unexpectedAnswer', ''],
	['noVerificationResult', 'unexpectedAnswer', ''],
	['notVerified', 'taskFailed', 'service first'],
	['notVerifiedInTime', 'taskFailed', 'service first'],
	['groupUnknown', 'notFound', ''],
	['groupNotAllowed', 'permission', 'service first'],
	['assetUnknown', 'notFound', ''],
	['noAssetStatus', 'unavailable', ''],
	['assetFailed', 'taskFailed', 'service first'],
	['callbackNotAUrl', 'badInput', ''],
	['sourceNotAUrl', 'badInput', ''],
	['sourceIsFile', 'badInput', ''],
	['sourceIsBinaryField', 'badInput', ''],
] as const;

/** Mistakes in a form: known before anything is sent. */
const OF_THE_FORM =
	'credentialEmpty credentialNotAnAddress credentialMoreThanAddress credentialIsEndpoint credentialPlainHttp credentialCharacterNotAllowed credentialAbsoluteUrl credentialNotAPath credentialWithoutTaskId credentialNotAFieldName credentialNotFormFields customPathLeadsElsewhere operationUnknown itemUnreadable fieldEmpty expressionGaveNothing notText notAChoice notANumber numberTooLarge tooManyToDownload textTooLong notAnId idRounded notJson notAJsonObject numberInexact notAFieldName noBinaryField binaryFieldEmpty notAFile notAnImage tooManyItems tooManyUrls modelNotInList modelInAdditionalFields bodyUnchanged valueNotAllowed valueNotInForm valueOfWrongType notAUrl imageEmpty imageNotAUrl imageIsFile assetNotAccepted notAnAssetReference roleMissing roleNotSupported roleNotForModel roleTwice rolesMixed fieldsExcludeEachOther oneFieldRequired tooManyEntries fieldNotForModel operationNotForWorkflows passedDataTooLarge backgroundNotPossible workflowLoops workflowNotPublished workflowWithoutTrigger workflowNotStartable waitingNotPossible';

const flagsOf = (reason: Reason) => {
	const { code, created, permanent, retryContinues, serviceFirst } = REASONS[reason];
	const flags = { permanent, 'retry continues': retryContinues, 'service first': serviceFirst };
	const named = Object.entries(flags).filter(([, value]) => value === true);
	const texts = { code, created };
	const given = Object.entries(texts).flatMap(([name, text]) => (text === undefined ? [] : [`${name} ${text}`]));
	return [...given, ...named.map(([name]) => name)].join(', ');
};

test.each(OF_THE_SERVICE)('the reason %s is of the kind %s, with the flags "%s"', (reason, kind, flags) => {
	expect(gatewayError(reason, dataOf()).kind).toBe(kind);
	expect(flagsOf(reason)).toBe(flags);
});

test('every other reason is a mistake in a form, which was found before anything was sent', () => {
	const known = [...OF_THE_SERVICE.map(([reason]) => reason as string), ...OF_THE_FORM.split(' ')];
	expect(Object.keys(REASONS).sort()).toEqual(known.sort());
	for (const reason of OF_THE_FORM.split(' ') as Reason[]) {
		expect(gatewayError(reason, dataOf()).kind).toBe('badInput');
		expect(flagsOf(reason)).toBe('');
	}
});

function dataOf() {
	return new Proxy({}, { get: (_, name) => (name === 'thing' ? 'task' : 'x') }) as never;
}
