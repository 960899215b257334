/** The texts of the catalogue: what they say depends on the facts that are known, and on the situation. */
import type { Reason } from '../../core/errors/catalogue';
import type { Situation } from '../../core/errors/entry';
import { CUSTOM_MODEL_LABEL } from '../../core/models/spec';
import { TABLE_NAME } from '../../core/purchases/purchaseRow';
import { textLike, textsOf } from './support';

const alone: Situation = { operation: 'generate', recovery: 'retry' };
const ofItem: Situation = { ...alone, recovery: 'runAgain' };
const ofAgent: Situation = { ...alone, recovery: 'callAgain' };
const batch: Situation = { ...alone, others: 2, unsubmitted: 1 };
const reading: Situation = { ...alone, operation: 'getTask' };
const id = 'task-7';
const [execution, time] = ['55', '2026-01-31T14:05:00.000Z'];
const [urls, record] = ['https://files.example/1', '{}'];
const [words, because, why] = ['The database is locked', 'the API key is wrong', 'it is off'];
const result = { id, urls };
const limit = { label: 'Images', count: 3, max: 1 };

const ROWS: Array<[reason: Reason, data: object, situation: Situation, message: string, advice: string]> = [
	['balanceTooLow', {}, alone, '…', 'Add credits to the account. …'],
	['balanceTooLow', {}, ofAgent, '…', 'Stop: … Add credits to the account. …'],
	['balanceTooLow', {}, batch, '…', 'Add credits, or use a key that is not at its limit.'],
	['balanceNotFound', {}, alone, '…', 'Check the Base URL in the credential…'],
	['tokenNotCreated', {}, alone, '…', '… API key created then. …'],
	['tokenKeyGone', { name: 'main', id: '8' }, alone, '…"main"…', 'Delete the API key with the ID 8 in …'],
	['tokenKeyGone', { name: 'main', id: '' }, alone, '…', 'Delete the API key in your account…'],

	['verificationResultNotGiven', { id, httpStatus: 200 }, alone, '… 200 and success: false when … task-7', '…'],
	['verificationResultNotGiven', { id, httpStatus: 300 }, alone, '… answered 300 when …', '…'],
	['verificationUnknown', { id }, { ...alone, operation: 'get' }, '…', 'Check the ID, …'],
	['verificationUnknown', { id }, { ...alone, operation: 'create' }, '…', 'The service has accepted it, … Try again …'],
	['assetUnknown', { id, avatarKind: 'real' }, { ...alone, operation: 'wait' }, '… real …', 'Check the asset ID, …'],
	[
		'assetUnknown',
		{ id, avatarKind: 'real' },
		{ ...alone, operation: 'upload' },
		'…',
		'The service has accepted it, … Retry … does not upload the file again. …',
	],
	['noVerificationLink', { id, status: 'new' }, alone, '…', 'The status of its session is "new". Try …'],
	['noVerificationLink', { id }, alone, '…', 'Try again with Verification → Get …'],
	['noVerificationResult', {}, alone, '…', 'Check the Base URL in the credential.'],
	['groupUnknown', { avatarKind: 'real' }, alone, '… real …', 'For real avatars, use the group_id of a verification…'],
	[
		'groupNotAllowed',
		{ avatarKind: 'private' },
		alone,
		'The service does not allow this upload into the group',
		'The key may be limited, or the group belongs to another account. For private avatars, use the group_id that …',
	],
	['groupUnknown', { avatarKind: 'another' }, alone, '… another …', 'If the group is right, check the Base URL…'],
	['sourceNotAUrl', { label: 'Source URL', value: '7' }, alone, '…', 'Enter a public URL …'],

	[
		'serviceUnreachable',
		{ host: 'h', code: 'ECONNREFUSED' },
		alone,
		'… h …',
		'Nothing accepts connections … Then retry this execution …',
	],
	['serviceUnreachable', { host: 'h', code: 'ENOTFOUND' }, alone, '…', 'The host name does not exist. Check …'],
	['serviceUnreachable', { host: 'h', code: 'EAI_AGAIN' }, alone, '…', 'The host name could not be resolved. Check …'],
	['serviceUnreachable', { host: 'h', code: 'ECONNABORTED' }, alone, '…', 'No answer came in time. Check …'],
	['serviceUnreachable', { host: 'h', code: 'ETIMEDOUT' }, alone, '…', 'No answer came in time. Check …'],
	[
		'serviceUnreachable',
		{ host: 'h', code: 'ERR_BLOCKED_BY_N8N' },
		alone,
		'…',
		'n8n does not allow requests to this address …',
	],
	[
		'serviceUnreachable',
		{ host: 'h', code: 'Z_DATA_ERROR' },
		alone,
		'…',
		'The answer is compressed in a different way …',
	],
	['serviceUnreachable', { host: 'h', code: 'E_X' }, alone, '…', 'There was no answer (E_X). Check …'],
	['keyRefused', {}, ofAgent, '…', 'Stop: … The key is wrong or has expired…'],
	['keyNotAllowed', {}, alone, '…', 'The key may be limited to other models. … or choose another model.'],
	['keyNotAllowed', {}, batch, '…', '… Use a key that may use this model.'],
	['keyNotAllowed', {}, ofAgent, '…', 'Stop: … use this model, … The key …'],
	['keyNotAllowed', {}, reading, '…', '… Use a key that is allowed to make this request.'],
	['keyNotAllowed', {}, { ...ofAgent, operation: 'getTask' }, '…', 'Stop: … make this request, … The key …'],
	['contentDeclined', {}, alone, '…', 'Change the prompt or the images…'],
	['contentDeclined', {}, batch, '…', ''],
	['requestRejected', {}, alone, '…', 'Compare the fields …'],
	['requestRejected', {}, batch, '…', ''],
	['requestNotProcessed', {}, alone, '…', 'This is usually temporary. Retry …'],
	...['getTask', 'waitForTask', 'get', 'wait', 'getResult'].map(
		(operation) =>
			[
				'notFound',
				{},
				{ ...alone, operation },
				'…',
				'Check the ID, and that the credential …',
			] as (typeof ROWS)[number],
	),
	...['generate', 'getAll', 'forget'].map(
		(operation) =>
			['taskUnknown', { id }, { ...alone, operation }, '…', 'Check that the credential …'] as (typeof ROWS)[number],
	),
	['rateLimited', {}, alone, '…', 'Lower Requests per Second in the credential. Retry …'],
	['noFreePlace', { time: '5 min' }, alone, '…', '… Retry … If you raise Timeout first, …'],
	['noFreePlace', { time: '5 min', sameKey: true }, ofItem, '…', 'Another task with the same Purchase Key …'],
	['noFreePlace', { time: '5 min' }, ofItem, '…', '… Run only this item again later.'],
	['serviceRedirects', { target: 'x.example' }, alone, '… to x.example', '…'],
	['serviceRedirects', {}, alone, 'The service redirects requests', '…'],
	['answerTooLarge', { megabytes: 8, values: '5' }, alone, '…', '… to url for new tasks. Retrying this execution …'],
	['answerTooLarge', { megabytes: 8, values: '5' }, ofItem, '…', '… to url for new tasks.'],
	['answerTooLarge', { megabytes: 8, values: '5' }, reading, '…', '… in the credential.'],

	[
		'outcomeUnknown',
		{ thing: 'task', what: 'No answer came' },
		alone,
		'… this task',
		'No answer came. Look … created then. …',
	],
	['outcomeStillUnknown', { thing: 'task' }, alone, '…', 'Look in …'],
	['outcomeStillUnknown', { thing: 'task', what: 'n8n died.' }, alone, '…', 'n8n died. Look in …'],
	[
		'createdFromOtherRequest',
		{ thing: 'group', id: '8' },
		alone,
		'… the group 8 for …',
		'… The avatar group can be used …',
	],
	['createdFromOtherRequest', { thing: 'token', id: '' }, alone, '… the API key for …', '…'],
	['submissionNotRecorded', { words }, alone, '…', '… Then retry …'],
	['submittedByOtherRetry', { execution }, alone, '… (execution 55)', '… execution 55 … retry once more.'],
	['submittedByOtherRetry', { execution }, batch, '…', '… look for the result there.'],
	['notSubmitted', { because, scope: 'beta-v3' }, alone, '…', '… submitted for beta-v3 because … Then retry …'],
	['notSubmitted', { because }, alone, '…', 'Nothing more was submitted because … is wrong. Solve …'],

	['purchaseLogUnavailable', { why }, alone, '…', '… it is off. … Then retry …'],
	['purchaseKeyConflict', { execution, time }, alone, '…', 'It did so on 2026-01-31 at 14:05 UTC. …'],
	['purchaseKeyConflict', { execution, time, id }, alone, '…', 'It bought task task-7. …'],
	['purchaseKeyUnclear', { execution, time }, alone, '…', '… created on 2026-01-31 around 14:05 UTC. … Then save, …'],
	['purchaseKeyUnclear', { execution }, ofItem, '…', '… a task created. … Then run only this item again.'],

	['createdTaskNotFound', { id, mediaKind: 'image' }, alone, '…', 'Check Image Task Status Path … Then retry …'],
	[
		'createdTaskRefused',
		{ id, why: 'no credits' },
		alone,
		'… task-7, but … show it: no credits',
		'Check the API key … Then retry …',
	],
	['backgroundNotPossible', {}, alone, '… it needs n8n 2.41 …', 'Save the workflow, or … Until then, …'],
	['backgroundNotPossible', { missing: 'If' }, alone, '… excludes the node "If"', 'Remove it from … Until then, …'],
	['noTaskStatus', {}, alone, '…', '… Then retry …'],
	['taskFailed', { id, status: 'failed' }, alone, '…', 'To try again, …'],
	[
		'taskFailed',
		{ id, status: 'lost' },
		{ ...alone, serviceAdvice: 'Wait.' },
		'…',
		'The status of the task is "lost". Wait.',
	],
	['timedOut', { thing: 'task', id, after: '5 min' }, alone, 'Task task-7 … 5 min', 'Retry …'],
	[
		'timedOut',
		{ thing: 'task', id, after: '5 min', status: 'queued' },
		ofItem,
		'… (last status: queued)',
		'It is still running. To get …',
	],
	[
		'timedOut',
		{ thing: 'task', id, after: '5 min', status: 'queued', progress: 0 },
		ofAgent,
		'… (last status: queued, 0 %)',
		'It is still running. Timeout (Minutes) in the options of this tool ended the call. To get …',
	],
	[
		'timedOut',
		{ thing: 'asset', id, after: '5 min', trouble: 'HTTP 500' },
		alone,
		'Asset …',
		'It is still being processed. … The last check got no status: HTTP 500.',
	],
	['timedOut', { thing: 'verification', id, after: '5 min' }, alone, '…', 'Nobody has passed so far. … 120 seconds…'],
	['timedOut', { thing: 'group', id, after: '5 min' }, alone, 'Group …', ''],
	[
		'timedOutEarly',
		{ thing: 'task', id, asked: '1 h', left: '5 s' },
		ofAgent,
		'Task … 1 h, but only 5 s are left',
		'… ended the call. …',
	],
	['timedOutEarly', { thing: 'group', id, asked: '1 h', left: '5 s' }, alone, '…', ''],
	['resultNotPassedOn', {}, alone, 'The result of this item …', '… until every task has finished.'],
	['resultNotPassedOn', { id }, alone, '… task task-7 …', '… nothing is lost. Retry …'],
	['storedItemUnreadable', {}, alone, '… of this item …', `… in the data table ${TABLE_NAME}.`],
	['storedItemUnreadable', { id }, alone, '… of task task-7 …', '… The task is not lost. Retry …'],
	[
		'storedByNewerVersion',
		{},
		alone,
		'… this item, …',
		`… Nothing more is submitted … in the data table ${TABLE_NAME}.`,
	],
	['storedByNewerVersion', { id }, alone, '… task task-7, …', 'Install the newer version again. Retry …'],
	[
		'waitingNotStarted',
		{ words },
		alone,
		'… this item',
		`n8n says: "${words}". Nothing was bought for this item. Retry …`,
	],
	['waitingNotStarted', { words, id }, alone, '… task task-7', `n8n says: "${words}". Fix this in n8n. Then retry …`],
	['waitingInterrupted', { id }, alone, '… was interrupted', 'It was stopped, … Retry …'],
	['waitingInterrupted', { id, why: 'No key' }, alone, '… was interrupted: No key', 'Retry …'],

	['noResultUrl', { id, record }, alone, '…', 'If …, enter its path as Result Path …'],
	[
		'noResultAtPath',
		{ id, record, path: 'a.b' },
		alone,
		'… at a.b …',
		'Enter the right path as Result Path … The record: {}',
	],
	['downloadNotAllowed', { ...result, host: '10.0.0.1' }, alone, '…', `… Then retry … Result URLs: ${urls}`],
	['downloadFailed', { ...result, what: 'It broke off' }, alone, '…', `It broke off. … Retry … Result URLs: ${urls}`],
	['downloadFailed', { ...result, what: 'It broke off' }, batch, '…', '… 1 item is submitted.'],
	['downloadFailed', { ...result, what: 'It broke off' }, { ...batch, others: 0 }, '…', `… Result URLs: ${urls}`],
	[
		'tooManyResultFiles',
		{ ...result, count: 9, max: 5 },
		alone,
		'… 9 … 5',
		'… Get Task … you pay again. Result URLs: …',
	],
	['resultTooLarge', { ...result, limit: '1 GB', which: '' }, alone, '…', '… 1 GB … you pay again. Result URLs: …'],
	[
		'resultTooLargeToStore',
		{ ...result, size: '9 MB', limit: '5 MB' },
		alone,
		'…',
		'It is 9 MB: … 5 MB. … Then retry …',
	],
	['resultNotStored', { ...result, words }, batch, '…', '… Then retry … 1 item is submitted.'],

	['itemUnreadable', {}, alone, 'The item could not be read', ''],
	['itemUnreadable', { words: 'Bad expression', more: 'Look at it.' }, alone, 'Bad expression', 'Look at it.'],
	['fieldEmpty', { label: 'Prompt' }, alone, '…', 'Enter a value for Prompt.'],
	['fieldEmpty', { label: 'Prompt', enter: 'Write one.' }, alone, '…', 'Write one.'],
	['textTooLong', { label: 'Prompt', length: 9, max: 5 }, alone, '…: at most 5 are allowed', '…'],
	['textTooLong', { label: 'Prompt', length: 9, max: 5, model: 'beta-v3' }, alone, '…: beta-v3 allows at most 5', '…'],
	['noBinaryField', { label: 'Image', name: 'data', there: '' }, alone, '…', 'It has no binary data at all. …'],
	['noBinaryField', { label: 'Image', name: 'data', there: 'photo' }, alone, '…', 'It has: photo. …'],
	['binaryFieldEmpty', { label: 'Image', there: '' }, alone, '…', 'Enter the name of a binary field, or …'],
	['binaryFieldEmpty', { label: 'Image', there: 'photo' }, alone, '…', '… (the item has photo), or …'],
	['notAnImage', { label: 'Image', name: 'data', mimeType: '' }, alone, '…', 'Its type is unknown. …'],
	[
		'fileUnreadable',
		{ label: 'Image 2', name: 'a.png', words: 'x' },
		alone,
		'Image 2: the file "a.png" could not …',
		'n8n says: "x". …',
	],
	['fileUnreadable', { name: 'a.png', words: 'x' }, alone, 'The file "a.png" could not be read', '…'],

	[
		'valueNotAllowed',
		{ label: 'Size', value: '9', model: 'm', allowed: '1' },
		alone,
		'…',
		'Change Size to an allowed value.',
	],
	[
		'valueNotInForm',
		{ label: 'Size', value: '9', allowed: '1', path: 'size' },
		alone,
		'…',
		'Change Size to … as size in Additional Fields.',
	],
	['assetNotAccepted', { label: 'Image', value: 'a', model: 'm' }, alone, '…', `… for ${CUSTOM_MODEL_LABEL}. …`],
	['tooManyEntries', limit, alone, '… at most 1 is allowed', ''],
	['tooManyEntries', { ...limit, max: 2, advice: 'Remove one.' }, alone, '… at most 2 are allowed', 'Remove one.'],
	['fieldNotForModel', { label: 'Audio', path: 'audio', model: 'm' }, alone, '…', ''],
	[
		'fieldNotForModel',
		{ label: 'Audio', path: 'audio', model: 'm', advice: 'Leave it.', takers: 'n' },
		alone,
		'…',
		'Leave it. Models that have it: n.',
	],
];

test.each(ROWS)(
	'the reason %s, with %j known and in the situation %j, reads: %s. %s',
	(reason, data, situation, ...texts) => {
		const [message, advice] = textsOf(reason, data, situation);
		expect(message).toMatch(textLike(texts[0]));
		expect(advice).toMatch(textLike(texts[1]));
	},
);
