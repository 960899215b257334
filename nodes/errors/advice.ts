import type { CreatedThing, GatewayError, Happened } from '../../core/errors';
import type { DataOf, Reason } from '../../core/reasons';
import { shorten } from '../../core/text';

/** Where it happened, and why. */
interface Situation {
	/** The value of the operation; empty in triggers and in the credential's test. */
	operation: string;
	/** The reason that the service's own words give. */
	because?: Happened;
}

/** How to go on, for each reason of the core. What a rule of a model or the form says itself comes first. */
type Advice<R extends Reason> = (data: DataOf<R>, situation: Situation) => string;

const REASONS_OF_CONNECTION = new Map([
	['ECONNREFUSED', 'Nothing accepts connections at this address.'],
	['ENOTFOUND', 'The host name does not exist.'],
	['EAI_AGAIN', 'The host name could not be looked up.'],
	['ECONNABORTED', 'No answer came in time.'],
	['ETIMEDOUT', 'No answer came in time.'],
	['Z_DATA_ERROR', 'The answer was compressed in another way than it says.'],
]);

/** Operations whose form asks for an ID. */
const GIVES_AN_ID = /^(getTask|waitForTask|get|wait|getResult)$/;

const TWICE: Record<CreatedThing, string> = {
	task: 'the task might be paid for twice',
	token: 'there might be two tokens then',
	verification: 'there might be two verifications then',
	group: 'there might be two groups then',
	asset: 'the asset might be uploaded twice',
};

const decideYourself = (thing: CreatedThing) =>
	`Look into your account: if no ${thing} was created, turn on Submit Again in the options, save, and retry this execution with the currently saved workflow. (A new execution would submit every item anew.)`;

const CONTINUE_AFTER_TIMEOUT: Partial<Record<CreatedThing, string>> = {
	task: 'It goes on in the service and is not lost: read it with the operation Wait for Task or Get Task and this ID, or raise Timeout in the options.',
	asset: 'It goes on being processed and is not lost: continue with Asset → Wait for Asset and this ID, or raise Timeout in the options.',
	verification: 'Nobody has passed so far. The link is valid for 120 seconds: create a new verification when the person is ready.',
};

const GROUP: Record<string, string> = {
	real: 'For real avatars, use the group_id of a verification that a person of this account has passed. Groups of private avatars have their own kind.',
	private: 'For private avatars, use the group_id that Group → Create returned. Groups of verified persons are of the kind Real.',
};
const ofGroup = ({ avatarKind }: { avatarKind: string }) => GROUP[avatarKind] ?? '';
const checkBaseUrl = () => 'Check the Base URL in the credential.';
const sameVerification = () => 'Use task ID and vendor token of the same verification, as Verification → Create or Get returned them.';
const fromModel = () => ''; // its rule says it
const nothingThere = () => 'Check the Base URL in the credential: it must be the address of the service, without the path of an endpoint.';
const compareFields = () => 'Compare the fields of this node with what the service says, and change what it names.';

export const ADVICE: { [R in Reason]: Advice<R> } = {
	pathLeadsElsewhere: () => 'Turn off Custom Paths in the credential, or enter paths that begin with a slash.',
	idImpossible: () => 'Enter the ID as the service gave it.',

	unreachable: ({ code }) =>
		`${REASONS_OF_CONNECTION.get(code) ?? `The connection ended without an answer (${code}).`} Check the Base URL in the credential and the network of the n8n host, then try again.`,
	noKeySent: () => 'Enter the API Key in the Generation Gateway API credential that this node uses.',
	keyRefused: () => 'The key is wrong or has expired. Check the API Key in the Generation Gateway API credential.',
	tooFewCredits: () =>
		'Add credits to the account. If the API key has reached a limit of its own (in all, per day or per month), use another key, or wait until the limit starts anew.',
	contentDeclined: () => 'Change the prompt or the images: the same request will be declined again.',
	userUnknown: () => 'Check that the account still exists and that the API key belongs to it.',
	usedBalanceUnread: () => 'This is a passing condition of the service. Try again in a minute.',
	notFound: (_, { operation }) =>
		GIVES_AN_ID.test(operation)
			? 'Check the ID, and that the credential is the one of the account that created it. Results are kept for a limited time.'
			: 'Check that the credential is the one of the account that created it. Results are kept for a limited time.',
	rateLimited: () => 'Lower Requests per Second or Concurrent Tasks in the options, or run the workflow again later.',
	notAllowedForKey: () => 'The key may be limited to other models. Use a key that may use this model, or choose another model.',
	fileTooLarge: () => 'Make the file smaller. A limit of 20 MiB per image is usual.',
	requestRejected: compareFields,
	notProcessed: () => 'This is usually a passing condition of the service. Try again later.',
	redirected: () => 'Redirects are not followed, because the API key would travel along. Enter the final address as Base URL in the credential.',
	unavailable: () => 'This is usually a passing condition. Try again later.',
	notTheService: () => 'Check the Base URL in the credential: the address answered with something other than JSON.',
	answerTooLarge: () =>
		'It is read up to 8 MB, or 300,000 values, so that it cannot fill the memory of n8n. Check the Base URL in the credential. If the service puts whole files into the record of a task, choose URL as Response Format when you create tasks. The task is not lost, and retrying this execution does not buy it again.',
	ownMistake: () => 'Report it with this text and what led to it, so that it can be corrected: see Bugs on the page of this package. Running it again meets the same.',
	nothingThere: () => 'Check the Base URL in the credential: it must be the address of the service, without a path.',
	modelNotFound: () => 'Check the model ID, or choose another model.',

	outcomeUnknown: ({ thing, what }) =>
		`The request was sent, and then ${what}. It is not submitted again on its own, because ${TWICE[thing]}. ${decideYourself(thing)}`,
	outcomeStillUnknown: ({ thing, what }) => `${what === undefined ? '' : `${what} `}It was not submitted again, because ${TWICE[thing]}. ${decideYourself(thing)}`,
	notSubmitted: ({ because, scope }) => `Nothing more was submitted${scope === undefined ? '' : ` for ${scope}`} after another item ended with: ${because}.`,

	createdTaskNotFound: ({ mediaKind }) =>
		`The task exists, and a retry does not buy it again. The path may be wrong: check ${mediaKind === 'image' ? 'Image' : 'Video'} Task Status Path under Custom Paths in the credential.`,
	noTaskState: () => 'Check the Task Status Path under Custom Paths in the credential, if it is in use.',
	taskFailed: ({ status }, { operation, because }) =>
		`The status of the task is "${status}". ${because ? say(because, { operation }) : operation === 'generate' ? 'A retry of this execution creates it again.' : 'To try again, create a new task with Generate.'}`,
	noResultUrl: ({ record }) =>
		`If the record holds the result, name its place as Result Path in the options of Get Task, which reads the task again. If not, ask the operator of the service with this ID. The record: ${record}`,
	noResultAtPath: ({ record }) =>
		`The task is not lost: correct or remove Result Path in the options, save, and retry this execution with the currently saved workflow, or read the task with Get Task. The record: ${record}`,
	timedOut: ({ thing, trouble }) => [CONTINUE_AFTER_TIMEOUT[thing], trouble && `The last look got no state: ${trouble}.`].filter(Boolean).join(' '),
	toldToWait: ({ thing }) => CONTINUE_AFTER_TIMEOUT[thing] ?? '',
	notHandedOut: ({ id }) =>
		id === undefined
			? 'It waits in n8n for the other items of its batch, in the execution of the same workflow that is called Survive Restarts.'
			: 'n8n holds it until every task of the batch has finished. If n8n ended at the wrong moment, nothing is lost: get the result with the operation Wait for Task and this ID.',
	notHandedOver: ({ words }) => `n8n says: "${words}". The task is accepted and not lost: a retry of this execution does not submit it again. Or get the result with the operation Wait for Task and this ID.`,
	waitingEnded: () => 'The execution was stopped, or n8n ended again and again while it was checking. The task is still running at the service: get the result with the operation Wait for Task and this ID.',
	downloadNotAllowed: ({ urls }) =>
		`The task is complete and is not created again. Result files are not downloaded from addresses of private networks, so that a service cannot read what only the n8n host can reach. If this address belongs to your service, turn on Allow Private Addresses in the credential, then use the operation Get Task with this ID and Download Result. Result URLs: ${urls}`,
	notDownloaded: ({ what, urls }) =>
		`The task is complete and is not created again: ${what}. Run the workflow again with Retry, or use the operation Get Task with this ID and Download Result. Result URLs: ${urls}`,
	noUploadHere: () => 'Check Image Upload Path under Custom Paths in the credential.',
	notStored: ({ words, urls }) =>
		`The task is complete and is not created again. n8n says: "${words}". When n8n can store the file, use Retry, or the operation Get Task with this ID and Download Result. Result URLs: ${urls}`,
	noUploadUrl: () => 'Check the Image Upload Path in the credential.',
	stopped: () => '',

	noBalanceHere: nothingThere,
	noAccountBalance: checkBaseUrl,
	creditsUnknown: () => 'Check the Base URL and the API Key in the credential.',
	tokenNameTooLong: () => 'Use at most 50 characters.',
	tokenNotCreated: () => 'Look into the list of tokens before you try again, so that no token is created twice.',

	verificationUnknown: () => 'Check the ID, and that the credential is the one of the account that created it.',
	resultUnknown: sameVerification,
	vendorTokenForeign: sameVerification,
	vendorTokenRefused: sameVerification,
	noVerificationLink: ({ status }) =>
		`${status === undefined ? '' : `The status of its session is "${status}". `}Read it once more with Verification → Get and this ID, or create a new verification.`,
	noVerificationResult: checkBaseUrl,
	notVerified: ({ status }) => `The verify_status is "${status}". Create a new verification, and send its link to the person.`,
	notPassedInTime: () =>
		'The link is valid for 120 seconds. Create a new verification when the person is ready. If the person has passed, check that task ID and vendor token are those of the same verification.',
	groupUnknown: ofGroup,
	groupForeign: ofGroup,
	assetUnknown: () => 'Check the asset ID, the avatar kind, and that the credential is the one of the account that uploaded it.',
	noAssetState: checkBaseUrl,
	assetFailed: ({ status }) => `The status of the asset is "${status}", and it cannot be used. Check the file behind Source URL, then upload it again.`,

	fieldEmpty: ({ label }) => `Enter a value for ${label}.`,
	notAllowed: ({ label }) => `Change ${label} to an allowed value.`,
	wrongContainer: () => 'Change it in Additional Fields.',
	tooLong: ({ label }) => `Shorten ${label}.`,
	noUrl: () => 'Enter a public address that starts with https:// or http://.',
	imageEmpty: () => 'Enter a URL, choose Binary Field as its source, or remove the row.',
	imageNoUrl: () => 'Enter a public address that starts with https:// or http://, or set the source to Binary Field.',
	imageIsFile: () => 'Set the source of the image to Binary Field: the image is then uploaded first.',
	assetNotAccepted: () =>
		'This model asks for public http(s) URLs. Asset references go with alpha-video-1-5-pro, beta-v3 and Other Model (by ID); to send one here all the same, give the field in Additional Fields.',
	assetNoId: () => 'Enter the reference that Asset → Upload returned, e.g. asset://pa_123.',
	roleMissing: () => 'Give each entry of image_with_roles the role first_frame or last_frame, or use image_urls.',
	roleUnknown: () => 'Set Role to First Frame or Last Frame; an expression gives first_frame or last_frame.',
	roleTwice: fromModel,
	rolesMixed: fromModel,
	excludeEachOther: fromModel,
	oneNeeded: fromModel,
	tooMany: fromModel,
	notForModel: fromModel,
	imageNotThere: ({ images, count }) => `Add the image to ${images}, or use a number from 1 to ${Math.max(1, count)}.`,
};

function say<R extends Reason>({ reason, data }: Happened<R>, situation: Situation): string {
	return ADVICE[reason](data, situation);
}

/** What stands below the message: how to go on, and what the service said. */
export function describe({ kind, details }: GatewayError, operation = ''): string {
	const adviceFor = ({ advice, happened, because }: GatewayError['details']) => advice ?? (happened && say(happened, { operation, because })) ?? '';
	const words = kind === 'badInput' ? 'Nothing was sent.' : quote(kind, details);
	// Why something has failed is read first; elsewhere what to do is.
	return [
		...(kind === 'taskFailed' ? [words, adviceFor(details)] : [adviceFor(details), words]),
		...(details.others ?? []).map((other) => `Also: ${other.message}. ${adviceFor(other.details)}`),
	]
		.filter(Boolean)
		.join(' ')
		.trim();
}

/** The service's own words: the only place where they may stand. */
function quote(kind: GatewayError['kind'], { serviceMessage, serviceCode, httpStatus }: GatewayError['details']): string {
	const status = httpStatus === undefined || kind === 'outcomeUnknown' ? '' : ` (HTTP ${httpStatus})`;
	const code = serviceCode === undefined ? '' : `, code ${serviceCode}`;
	if (serviceMessage) return `The service says: "${shorten(serviceMessage)}"${code}${status}.`;
	if (serviceCode !== undefined) return `The service gives the code ${serviceCode}${status}.`;
	return status === '' ? '' : `The service answered with${status.replace(/[()]/g, '')}.`;
}
