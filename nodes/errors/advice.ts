import type { CreatedThing, GatewayError, Happened } from '../../core/errors';
import type { DataOf, Reason } from '../../core/reasons';
import { shorten } from '../../core/text';
import {
	buysAgain,
	createAgain,
	decideYourself,
	getFile,
	readAgain,
	then,
	tryLater,
	TWICE,
	upperFirst,
	waitForAsset,
	waitOn,
	withNode,
	type Situation,
} from './recovery';

/** How to go on, for each reason of the core. What a rule of a model or the form says itself comes first. */
type Advice<R extends Reason> = (data: DataOf<R>, situation: Situation) => string;

const REASONS_OF_CONNECTION = new Map([
	['ECONNREFUSED', 'Nothing accepts connections at this address.'],
	['ENOTFOUND', 'The host name does not exist.'],
	['EAI_AGAIN', 'The host name could not be resolved.'],
	['ECONNABORTED', 'No answer came in time.'],
	['ETIMEDOUT', 'No answer came in time.'],
	['Z_DATA_ERROR', 'The answer is compressed in a different way than its header says.'],
]);

/** Operations whose form asks for an ID. */
const GIVES_AN_ID = /^(getTask|waitForTask|get|wait|getResult)$/;

const CONTINUE_AFTER_TIMEOUT: Partial<Record<CreatedThing, (situation: Situation) => string>> = {
	task: (situation) => `It is still running at the service and is not lost. ${waitOn(situation)}`,
	asset: (situation) => `It is still being processed and is not lost. ${waitForAsset(situation)}`,
	verification: () =>
		'Nobody has passed so far. The link is valid for 120 seconds: create a new verification when the person is ready.',
};

const GROUP: Record<string, string> = {
	real: 'For real avatars, use the group_id of a verification that a person has passed for this account. Groups from Group → Create are for private avatars.',
	private:
		'For private avatars, use the group_id that Group → Create returned. Groups of verified people are for real avatars.',
};
const ofGroup = ({ avatarKind }: { avatarKind: string }) => GROUP[avatarKind] ?? '';
const checkBaseUrl = () => 'Check the Base URL in the credential.';
const idUnknown = (operation: string) =>
	`Check ${GIVES_AN_ID.test(operation) ? 'the ID, and ' : ''}that the credential belongs to the account that created it. The service keeps results for a limited time.`;
const fromModel = () => ''; // its rule says it
const nothingThere = () =>
	'Check the Base URL in the credential: it must be the address of the service, without the path of an endpoint.';
const compareFields = () =>
	'Compare the fields of this node with what the service says, and change the one that it names.';

export const ADVICE: { [R in Reason]: Advice<R> } = {
	customPathLeadsElsewhere: () => 'Turn off Custom Paths in the credential, or enter paths that begin with a slash.',
	notAnId: () => 'Enter the ID exactly as the service returned it.',

	serviceUnreachable: ({ code }) =>
		`${REASONS_OF_CONNECTION.get(code) ?? `There was no answer (${code}).`} Check the Base URL in the credential and the network of the n8n host, then try again.`,
	noKeySent: () => 'Enter the API Key in the Generation Gateway API credential that this node uses.',
	keyRefused: () => 'The key is wrong or has expired. Check the API Key in the Generation Gateway API credential.',
	balanceTooLow: () =>
		'Add credits to the account. If the API key has reached its own limit (total, daily or monthly), use another key or wait until the limit resets.',
	contentDeclined: () => 'Change the prompt or the images: the same request will be declined again.',
	userUnknown: () => 'Check that the account still exists and that the API key belongs to it.',
	usedBalanceUnknown: () => 'This is usually temporary. Try again in a minute.',
	notFound: (_, { operation }) => idUnknown(operation),
	taskUnknown: (_, { operation }) => idUnknown(operation),
	rateLimited: (_, situation) => `Lower Requests per Second or Concurrent Tasks in the options. ${tryLater(situation)}`,
	keyNotAllowed: () =>
		'The key may be limited to other models. Use a key that may use this model, or choose another model.',
	uploadTooLarge: () => 'Make the file smaller. A limit of 20 MiB per image is usual.',
	requestRejected: compareFields,
	requestNotProcessed: (_, situation) => `This is usually temporary. ${tryLater(situation)}`,
	serviceRedirects: () =>
		'The node does not follow redirects, because the API key would be sent along. Enter the final address as Base URL in the credential.',
	serviceUnavailable: (_, situation) => `This is usually temporary. ${tryLater(situation)}`,
	notTheService: () => 'Check the Base URL in the credential: the address answered with something other than JSON.',
	answerTooLarge: ({ megabytes }, { operation, way }) =>
		`To protect the memory of n8n, the node reads at most ${megabytes} MB, or 300,000 values. Check the Base URL in the credential. If the service puts whole files into the record of a task, create tasks without response_format in Additional Fields (JSON) or Body (JSON), or with the value url.${
			operation !== 'generate'
				? ''
				: way === 'retry'
					? ' The task is not lost: retrying this execution in the Executions list does not buy it again.'
					: ' The task is not lost.'
		}`,
	packageBug: () =>
		'This is a bug in this package. Report it with this text and the steps that led to it: see Bugs on the page of this package. Running it again leads to the same result.',
	endpointNotFound: () =>
		'Check the Base URL in the credential: it must be the address of the service, without a path.',
	modelNotFound: () => 'Check the model ID, or choose another model.',

	outcomeUnknown: ({ thing, what }, situation) =>
		`${what}. The node does not send the request again on its own, because ${TWICE[thing]}. ${decideYourself(thing, situation)}`,
	outcomeStillUnknown: ({ thing, what }, situation) =>
		`${what === undefined ? '' : `${what} `}It was not submitted again, because ${TWICE[thing]}. ${decideYourself(thing, situation)}`,
	notSubmitted: ({ because, scope }) =>
		`Nothing more was submitted${scope === undefined ? '' : ` for ${scope}`} because of another item: ${because}.`,

	createdTaskNotFound: ({ mediaKind }, situation) =>
		`The task exists. The path may be wrong: check ${mediaKind === 'image' ? 'Image' : 'Video'} Task Status Path under Custom Paths in the credential. ${then(waitOn(situation))}`,
	noTaskStatus: () => 'If you use Custom Paths in the credential, check the Task Status Path there.',
	taskFailed: ({ status }, situation) => {
		const { because, ...here } = situation;
		const next = because ? say(because, here) : createAgain(here);
		return `The status of the task is "${status}". ${next}`;
	},
	noResultUrl: ({ record }, situation) =>
		`If the record contains the result, ${readAgain(situation, 'its path')} If the record does not contain it, ask the operator of the service about this ID. The record: ${record}. Get Task returns all of it with Simplify turned off.`,
	noResultAtPath: ({ record }, situation) =>
		`The task is not lost. ${upperFirst(readAgain(situation, 'the right path'))} The record: ${record}. Get Task returns all of it with Simplify turned off.`,
	timedOut: ({ thing, trouble }, situation) =>
		[CONTINUE_AFTER_TIMEOUT[thing]?.(situation), trouble && `The last check got no status: ${trouble}.`]
			.filter(Boolean)
			.join(' '),
	timedOutEarly: ({ thing }, situation) => CONTINUE_AFTER_TIMEOUT[thing]?.(situation) ?? '',
	resultNotPassedOn: ({ id }, situation) =>
		id === undefined
			? 'n8n keeps it until every task of the batch has finished, in the execution of this workflow named Survive Restarts.'
			: `n8n keeps it until every task of the batch has finished. If n8n shut down at the wrong moment, nothing is lost. ${waitOn(situation)}`,
	storedItemUnreadable: ({ id }, situation) =>
		id === undefined
			? "It was changed or damaged. The IDs of all tasks are in n8n's log."
			: `It was changed or damaged. The task is not lost. ${waitOn(situation)}`,
	waitingNotStarted: ({ words }, situation) =>
		`n8n says: "${words}". The task was accepted and is not lost. ${waitOn(situation)}`,
	waitingInterrupted: (_, situation) =>
		`The execution was stopped, or n8n shut down several times while it was checking the task. The task is still running at the service. ${waitOn(situation)}`,
	downloadFailed: ({ what, urls }, situation) =>
		`${what}. The task is complete, and its result is not lost. ${getFile(situation)} Result URLs: ${urls}`,
	downloadNotAllowed: ({ urls }, situation) =>
		`The task is complete, and its result is not lost. The node does not download result files from addresses in private networks, so that a service cannot read what only the n8n host can reach. If this address belongs to your service, turn on Allow Private Addresses in the credential. ${then(getFile(situation))} Result URLs: ${urls}`,
	uploadEndpointNotFound: () => 'Check Image Upload Path under Custom Paths in the credential.',
	resultNotStored: ({ words, urls }, situation) =>
		`The task is complete, and its result is not lost. n8n says: "${words}". Fix this in n8n. ${then(getFile(situation))} Result URLs: ${urls}`,
	tooManyResultFiles: ({ urls }, situation) =>
		`Nothing was downloaded. The task is complete, and its result is not lost. To get the list of all URLs, ${withNode(situation, 'Get Task with this task ID and Download Result turned off')}. Then download the files that you need with the HTTP Request node. If these URLs are not the result, enter its path as Result Path in the options.${buysAgain(situation)} Result URLs: ${urls}`,
	resultTooLarge: ({ limit, which, urls }, situation) =>
		`The task is complete, and its result is not lost. The node downloads at most ${limit} for one task${which}. Download the file from its URL in another way.${buysAgain(situation)} Result URLs: ${urls}`,
	resultTooLargeToStore: ({ size, limit, urls }, situation) =>
		`The task is complete, and its result is not lost. The file is ${size}, and this n8n stores at most ${limit}. Use the URLs below, or change how n8n stores binary data. ${then(getFile(situation))} Result URLs: ${urls}`,
	noUploadUrl: () => 'Check the Image Upload Path in the credential.',
	executionStopped: () => '',

	balanceNotFound: nothingThere,
	notAnAccountBalance: checkBaseUrl,
	creditsUnknown: () => 'Check the Base URL and the API Key in the credential.',
	tokenNameTooLong: () => 'Use at most 50 characters.',
	tokenNotCreated: () =>
		'Check the list of tokens in your account before you try again, so that you do not create the token twice.',

	verificationUnknown: () => 'Check the ID, and that the credential belongs to the account that created it.',
	verificationResultNotGiven: () =>
		'This may mean that nobody has passed yet: check again later, or turn on Wait Until Verified. It may also mean that the link has expired, that the verification belongs to another account, or that the task ID and the vendor token are not those of the same verification.',
	noVerificationLink: ({ status }) =>
		`${status === undefined ? '' : `The status of its session is "${status}". `}Try again with Verification → Get and this ID, or create a new verification.`,
	noVerificationResult: checkBaseUrl,
	notVerified: ({ status }) =>
		`The verify_status is "${status}". Create a new verification, and send its link to the person.`,
	notVerifiedInTime: () =>
		'The link is valid for 120 seconds. Create a new verification when the person is ready. If the person has passed, check that the task ID and the vendor token belong to the same verification.',
	groupUnknown: ofGroup,
	groupNotAllowed: ofGroup,
	assetUnknown: () =>
		'Check the asset ID, the avatar kind, and that the credential belongs to the account that uploaded it.',
	noAssetStatus: checkBaseUrl,
	assetFailed: ({ status }) =>
		`The status of the asset is "${status}", and it cannot be used. Check the file behind Source URL, then upload it again.`,

	fieldEmpty: ({ label }) => `Enter a value for ${label}.`,
	valueNotInForm: ({ label, path }) =>
		`Change ${label} to an allowed value. Not all values of this model are documented: to send this one, enter it as ${path} in Additional Fields.`,
	valueNotAllowed: ({ label }) => `Change ${label} to an allowed value.`,
	valueOfWrongType: () => 'Change it in Additional Fields.',
	textTooLong: ({ label }) => `Shorten ${label}.`,
	notAUrl: () => 'Enter a public URL that starts with https:// or http://.',
	imageEmpty: () => 'Enter a URL, choose Binary Field as its source, or remove the row.',
	imageNotAUrl: () => 'Enter a public URL that starts with https:// or http://, or set the source to Binary Field.',
	imageIsFile: () => 'Set the source of the image to Binary Field: the image is then uploaded first.',
	assetNotAccepted: () =>
		'This model takes public http(s) URLs. You can enter asset references for alpha-video-1-5-pro, beta-v3 and Other Model (by ID). To send one with this model anyway, use Additional Fields.',
	notAnAssetReference: () => 'Enter the reference that Asset → Upload returned, e.g. asset://pa_123.',
	roleMissing: () => 'Give each entry of image_with_roles the role first_frame or last_frame, or use image_urls.',
	roleNotSupported: () => 'Set Role to First Frame or Last Frame. An expression must return first_frame or last_frame.',
	roleTwice: fromModel,
	rolesMixed: fromModel,
	fieldsExcludeEachOther: fromModel,
	oneFieldRequired: fromModel,
	tooManyEntries: fromModel,
	fieldNotForModel: fromModel,
};

function say<R extends Reason>({ reason, data }: Happened<R>, situation: Situation): string {
	// An order that an older version of the package has stored may name a reason that this one does not have.
	return (ADVICE as Partial<typeof ADVICE>)[reason]?.(data, situation) ?? '';
}

/** The text below the message: how to go on, and what the service said. */
export function describe(
	{ kind, details }: GatewayError,
	{ operation = '', way = 'retry', ...more }: Partial<Situation> = {},
): string {
	const adviceFor = ({ advice, happened, because }: GatewayError['details']) =>
		advice ?? (happened && say(happened, { ...more, operation, way, because })) ?? '';
	const words = kind === 'badInput' ? 'Nothing was sent.' : quote(kind, details);
	// Why something has failed is read first; elsewhere what to do is.
	return [
		...(kind === 'taskFailed' || details.happened?.reason === 'verificationResultNotGiven'
			? [words, adviceFor(details)]
			: [adviceFor(details), words]),
		...(details.others ?? []).map((other) => `Also: ${other.message}. ${adviceFor(other.details)}`),
	]
		.filter(Boolean)
		.join(' ')
		.trim();
}

/** The service's own words: the only place where they may stand. */
function quote(
	kind: GatewayError['kind'],
	{ serviceMessage, serviceCode, httpStatus }: GatewayError['details'],
): string {
	// The advice has said it; and a file comes from another host.
	const status =
		httpStatus === undefined || kind === 'outcomeUnknown' || kind === 'download' ? '' : ` (HTTP ${httpStatus})`;
	const code = serviceCode === undefined ? '' : `, code ${serviceCode}`;
	if (serviceMessage) return `The service says: "${shorten(serviceMessage)}"${code}${status}.`;
	if (serviceCode !== undefined) return `The service returned the code ${serviceCode}${status}.`;
	return status === '' ? '' : `The service answered with${status.replace(/[()]/g, '')}.`;
}
