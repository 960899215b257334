/**
 * What can happen between this package and the service, as past facts: one row for each reason, with the kind that
 * decides what follows and the words that say what happened. How to go on depends on where it happened, so that is
 * said in `nodes/errors/advice.ts`, which has a row for each reason, too. The names are public: see `toCode`.
 */
export type GatewayErrorKind =
	| 'badInput' // known before anything was sent
	| 'authentication' // 401
	| 'balance' // 402
	| 'permission' // 403
	| 'notFound' // 404
	| 'rejected' // any other 4xx: the request itself is not acceptable
	| 'contentPolicy' // the same request will be refused again
	| 'rateLimited' // 429 for longer than we repeat
	| 'unavailable' // the service or a proxy in front of it is in trouble
	| 'unreachable' // no connection
	| 'unexpectedAnswer' // an answer that is not this service's
	| 'outcomeUnknown' // a creating request may or may not have been accepted
	| 'taskFailed'
	| 'taskTimedOut'
	| 'noResult' // completed, but without a result URL
	| 'download'
	| 'notSubmitted' // held back because of what happened to another item
	| 'stopped'
	| 'ownMistake'; // of this package: it ends at once and names itself

/** What a creating request creates, and what is waited for, in words for messages. */
export type CreatedThing = 'task' | 'token' | 'verification' | 'group' | 'asset';

interface Row {
	kind: GatewayErrorKind;
	message: (data: never) => string;
}

/** A field of the form, by its label. `value` is shown as it is: see `show`. */
interface Field {
	label: string;
	value?: string;
}

export const REASONS = {
	// Before anything is sent
	customPathLeadsElsewhere: { kind: 'badInput', message: () => 'A custom path leads to another host' },
	notAnId: { kind: 'badInput', message: ({ id }: { id: string }) => `An ID cannot be "${id}"` },

	// Connections and answers in general
	serviceUnreachable: {
		kind: 'unreachable',
		message: ({ host }: { host: string; code: string }) => `The service at ${host} could not be reached`,
	},
	noKeySent: { kind: 'authentication', message: () => 'The request reached the service without an API key' },
	keyRefused: { kind: 'authentication', message: () => 'The service did not accept the API key' },
	balanceTooLow: { kind: 'balance', message: () => 'There are not enough credits left for this request' },
	contentDeclined: { kind: 'contentPolicy', message: () => 'The service declined the content of this request' },
	userUnknown: { kind: 'rejected', message: () => 'The service does not know the user of this API key' },
	usedBalanceUnknown: { kind: 'unavailable', message: () => 'The service could not read the used balance' },
	notFound: { kind: 'notFound', message: () => 'The service could not find the requested resource' },
	taskUnknown: { kind: 'notFound', message: ({ id }: { id: string }) => `The service does not know task ${id}` },
	rateLimited: { kind: 'rateLimited', message: () => 'The service is receiving too many requests' },
	keyNotAllowed: { kind: 'permission', message: () => 'The API key is not allowed to make this request' },
	uploadTooLarge: { kind: 'rejected', message: () => 'The file is larger than the service accepts' },
	requestRejected: { kind: 'rejected', message: () => 'The service did not accept the request' },
	requestNotProcessed: { kind: 'unavailable', message: () => 'The service could not process the request' },
	serviceRedirects: {
		kind: 'unexpectedAnswer',
		message: ({ target }: { target?: string }) =>
			`The service redirects requests${target === undefined ? '' : ` to ${target}`}`,
	},
	serviceUnavailable: { kind: 'unavailable', message: () => 'The service is not available at the moment' },
	notTheService: {
		kind: 'unexpectedAnswer',
		message: () => 'The answer does not come from the Generation Gateway service',
	},
	answerTooLarge: {
		kind: 'unexpectedAnswer',
		message: ({ megabytes }: { megabytes: number }) => `The answer from the service is larger than ${megabytes} MB`,
	},
	packageBug: {
		kind: 'ownMistake',
		message: ({ words }: { words: string }) => `This node ran into something unexpected: ${words}`,
	},
	endpointNotFound: {
		kind: 'notFound',
		message: ({ path }: { path: string }) => `The service has no endpoint at ${path}`,
	},
	modelNotFound: {
		kind: 'rejected',
		message: ({ model }: { model: string }) => `The service does not know the model ${model}`,
	},

	// Creating something once
	outcomeUnknown: {
		kind: 'outcomeUnknown',
		message: ({ thing }: { thing: CreatedThing; what: string }) =>
			`It is not known whether the service accepted this ${thing}`,
	},
	outcomeStillUnknown: {
		kind: 'outcomeUnknown',
		message: ({ thing }: { thing: CreatedThing; what?: string }) =>
			`It is not known whether the service accepted this ${thing} in an earlier try`,
	},
	notSubmitted: {
		kind: 'notSubmitted',
		message: (() => 'This item was not submitted') as (data: { because: string; scope?: string }) => string,
	},

	// Tasks and results
	createdTaskNotFound: {
		kind: 'notFound',
		message: ({ id }: { id: string; mediaKind: string }) => `The service accepted task ${id}, but cannot find it`,
	},
	noTaskStatus: { kind: 'unavailable', message: () => 'The service answered without a task status' },
	taskFailed: {
		kind: 'taskFailed',
		message: ({ id }: { id: string; status: string }) => `The service could not finish task ${id}`,
	},
	noResultUrl: {
		kind: 'noResult',
		message: ({ id }: { id: string; record: string }) => `Task ${id} is complete, but the service gave no result URL`,
	},
	noResultAtPath: {
		kind: 'noResult',
		message: ({ id, path }: { id: string; path: string; record: string }) =>
			`Task ${id} is complete, but there is no URL at ${path} in its record`,
	},
	timedOut: {
		kind: 'taskTimedOut',
		message: ({
			thing,
			id,
			after,
			status,
			progress,
		}: {
			thing: CreatedThing;
			id: string;
			after: string;
			status?: string;
			progress?: number;
			trouble?: string;
		}) =>
			`${capitalize(thing)} ${id} has not finished within ${after}${status === undefined ? '' : ` (last status: ${status}${progress === undefined ? '' : `, ${progress} %`})`}`,
	},
	timedOutEarly: {
		kind: 'taskTimedOut',
		message: ({ thing, id, asked, left }: { thing: CreatedThing; id: string; asked: string; left: string }) =>
			`${capitalize(thing)} ${id} has not finished: the service asks to wait ${asked}, but only ${left} are left`,
	},
	resultNotPassedOn: {
		kind: 'stopped',
		message: ({ id }: { id?: string }) =>
			id === undefined ? 'The result of this item has not arrived yet' : `The result of task ${id} has not arrived yet`,
	},
	storedItemUnreadable: {
		kind: 'stopped',
		message: ({ id }: { id?: string }) =>
			id === undefined
				? 'What n8n has stored of this item cannot be read'
				: `What n8n has stored of task ${id} cannot be read`,
	},
	waitingNotStarted: {
		kind: 'unavailable',
		message: ({ id }: { id: string; words: string }) => `n8n did not start the execution that waits for task ${id}`,
	},
	waitingInterrupted: {
		kind: 'stopped',
		message: ({ id }: { id: string }) => `Waiting for task ${id} was interrupted`,
	},
	downloadNotAllowed: {
		kind: 'download',
		message: ({ id, host }: { id: string; host: string; urls: string }) =>
			`The result of task ${id} is at ${host}, and downloads from there are not allowed`,
	},
	downloadFailed: {
		kind: 'download',
		message: ({ id }: { id: string; what: string; urls: string }) => `The result of task ${id} could not be downloaded`,
	},
	uploadEndpointNotFound: { kind: 'rejected', message: () => 'The service does not accept images at this address' },
	tooManyResultFiles: {
		kind: 'download',
		message: ({ id, count, max }: { id: string; count: number; max: number; urls: string }) =>
			`Task ${id} has ${count} result files, and this node downloads at most ${max}`,
	},
	resultTooLarge: {
		kind: 'download',
		message: ({ id }: { id: string; limit: string; which: string; urls: string }) =>
			`The result of task ${id} is larger than this node downloads`,
	},
	resultTooLargeToStore: {
		kind: 'download',
		message: ({ id }: { id: string; size: string; limit: string; urls: string }) =>
			`The result of task ${id} is too large for this n8n, and was not downloaded`,
	},
	resultNotStored: {
		kind: 'download',
		message: ({ id }: { id: string; words: string; urls: string }) => `The result of task ${id} could not be stored`,
	},
	noUploadUrl: { kind: 'unexpectedAnswer', message: () => 'The service accepted the image but returned no URL for it' },
	executionStopped: { kind: 'stopped', message: () => 'The execution was stopped' },

	// Balance and tokens
	balanceNotFound: { kind: 'notFound', message: () => 'There is no balance at this address' },
	notAnAccountBalance: { kind: 'unexpectedAnswer', message: () => 'The answer is not an account balance' },
	creditsUnknown: { kind: 'unexpectedAnswer', message: () => 'The service does not say how many credits are left' },
	tokenNameTooLong: { kind: 'rejected', message: () => 'The token name is too long' },
	tokenNotCreated: { kind: 'outcomeUnknown', message: () => 'The service could not create the token' },

	// Avatars
	verificationUnknown: {
		kind: 'notFound',
		message: ({ id }: { id: string }) => `The service does not know the verification ${id}`,
	},
	verificationResultNotGiven: {
		kind: 'rejected',
		message: ({ id, httpStatus }: { id: string; httpStatus: number }) =>
			`The service answered ${httpStatus}${httpStatus < 300 ? ' and success: false' : ''} when asked for the result of verification ${id}`,
	},
	noVerificationLink: {
		kind: 'unexpectedAnswer',
		message: ({ id }: { id: string; status?: string }) => `The service gave no link for the verification ${id}`,
	},
	noVerificationResult: {
		kind: 'unexpectedAnswer',
		message: () => 'The service answered without a verification result',
	},
	notVerified: {
		kind: 'taskFailed',
		message: ({ id }: { id: string; status: string }) => `The person has not passed the verification ${id}`,
	},
	notVerifiedInTime: {
		kind: 'taskFailed',
		message: ({ id }: { id: string }) => `Nobody has passed the verification ${id} in time`,
	},
	groupUnknown: {
		kind: 'notFound',
		message: ({ avatarKind }: { avatarKind: string }) => `This account has no ${avatarKind} avatar group with this ID`,
	},
	groupNotAllowed: {
		kind: 'permission',
		message: ({ avatarKind }: { avatarKind: string }) => `This account has no ${avatarKind} avatar group with this ID`,
	},
	assetUnknown: {
		kind: 'notFound',
		message: ({ id, avatarKind }: { id: string; avatarKind: string }) =>
			`This account has no ${avatarKind} avatar asset ${id}`,
	},
	noAssetStatus: { kind: 'unavailable', message: () => 'The service answered without an asset status' },
	assetFailed: {
		kind: 'taskFailed',
		message: ({ id }: { id: string; status: string }) => `The service could not process the asset ${id}`,
	},

	// Values that a model does not take
	fieldEmpty: { kind: 'badInput', message: ({ label }: Field) => `${label} is empty` },
	valueNotAllowed: {
		kind: 'badInput',
		message: ({ label, value, model, allowed }: Field & { model: string; allowed: string }) =>
			`${label} is ${value}: ${model} allows ${allowed}`,
	},
	valueOfWrongType: {
		kind: 'badInput',
		message: ({ label, value, model, allowed }: Field & { model: string; allowed: string }) =>
			`${label} is ${value}: ${model} takes ${allowed}`,
	},
	textTooLong: {
		kind: 'badInput',
		message: ({ label, length, model, maxLength }: Field & { length: number; model: string; maxLength: number }) =>
			`${label} has ${length} characters: ${model} allows at most ${maxLength}`,
	},
	notAUrl: {
		kind: 'badInput',
		message: ({ label, value }: Field) => `${label} contains ${value}, which is not an http(s) URL`,
	},
	imageEmpty: { kind: 'badInput', message: ({ label }: Field) => `${label} is empty` },
	imageNotAUrl: {
		kind: 'badInput',
		message: ({ label, value }: Field) => `${label} is ${value}, which is not an http(s) URL`,
	},
	imageIsFile: {
		kind: 'badInput',
		message: ({ label }: Field) => `${label} contains base64 data: the service accepts image URLs only`,
	},
	assetNotAccepted: {
		kind: 'badInput',
		message: ({ label, value, model }: Field & { model: string }) =>
			`${label} is the asset reference ${value}, which ${model} does not accept`,
	},
	notAnAssetReference: {
		kind: 'badInput',
		message: ({ label, value }: Field) => `${label} is ${value}, which does not name an asset`,
	},
	roleMissing: { kind: 'badInput', message: ({ label }: Field) => `${label} has no role` },
	roleNotSupported: {
		kind: 'badInput',
		message: ({ label, value, model }: Field & { model: string }) =>
			`${label} has the role ${value}, which ${model} does not support`,
	},
	valueNotInForm: {
		kind: 'badInput',
		message: ({ label, value, allowed }: Field & { path: string; allowed: string }) =>
			`${label} is ${value}: the form allows ${allowed}`,
	},
	roleTwice: {
		kind: 'badInput',
		message: ({ count, role }: { count: string; role: string }) => `${count} images have the role ${role}`,
	},
	rolesMixed: { kind: 'badInput', message: () => 'Some images have a role and some have none' },
	fieldsExcludeEachOther: {
		kind: 'badInput',
		message: ({ labels }: { labels: string }) => `${labels} cannot be used together`,
	},
	oneFieldRequired: { kind: 'badInput', message: ({ labels }: { labels: string }) => `One of ${labels} is required` },
	tooManyEntries: {
		kind: 'badInput',
		message: ({ label, count, max }: Field & { count: number; max: number }) =>
			`${label} has ${count} entries, but at most ${max} ${max === 1 ? 'is' : 'are'} allowed`,
	},
	fieldNotForModel: {
		kind: 'badInput',
		message: ({ label, path, model }: Field & { path: string; model: string }) =>
			`${model} does not support ${label} (${path})`,
	},
} satisfies Record<string, Row>;

export type Reason = keyof typeof REASONS;

/** What is known when it happens: the words of the message are made from it, and so is the advice. */
export type DataOf<R extends Reason> =
	Parameters<(typeof REASONS)[R]['message']> extends [infer Data] ? Data : Record<string, never>;

/**
 * The public code of a reason, e.g. `balance_too_low`. Workflows compare with it, and orders are stored with the reason:
 * whoever renames a reason breaks both.
 */
export function toCode(reason: string): string {
	return reason.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function capitalize(text: string): string {
	return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
