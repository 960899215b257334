import { readsStoredInput, stopCalling, thenTryAgain, tryLater } from '../recovery';
import { wordsOfCode } from '../connectionCodes';
import type { CatalogueEntry, Situation } from '../catalogueEntry';

/** Operations whose form asks for an ID. */
const GIVES_AN_ID = /^get(Result)?$/;

const IN_BETWEEN = 'Something in front of the service, such as a firewall or a proxy,';

/** The form of Get Result is the same for images and videos, and each asks at a place of its own. */
const NODE_FITS = 'that the node fits (Gateway Image for images, Gateway Video for videos), and ';

const idUnknown = (_: unknown, { operation }: Situation) =>
	`Check ${GIVES_AN_ID.test(operation) ? `the ID, ${operation === 'getResult' ? NODE_FITS : 'and '}` : ''}that the credential belongs to the account that created it. The service usually keeps results for a limited time.`;
const usuallyTemporary = (_: unknown, situation: Situation) => `This is usually temporary. ${tryLater(situation)}`;

const CHECK_ADDRESS = 'Check the Base URL in the credential and the network of the n8n host.';

/** Connections, and answers to any request. */
export const CONNECTION = {
	serviceUnreachable: {
		kind: 'unreachable',
		message: ({ host }: { host: string }) => `The service at ${host} could not be reached`,
		advice: ({ code }: { code: string }, situation) => {
			const { said, advice = CHECK_ADDRESS } = wordsOfCode(code);
			return `${said} ${advice}${thenTryAgain(situation)}`;
		},
	},
	noKeySent: {
		kind: 'authentication',
		code: 'key_refused',
		message: 'The request reached the service without an API key',
		advice: 'Enter the API Key in the Generation Gateway API credential that this node uses.',
		created: 'nothing',
	},
	keyRefused: {
		kind: 'authentication',
		message: 'The service did not accept the API key',
		advice: (_: unknown, situation) =>
			`${stopCalling(situation, 'Its API key is not valid')}The key is wrong or has expired. Check the API Key in the Generation Gateway API credential.`,
		created: 'nothing',
	},
	keyNotAllowed: {
		kind: 'permission',
		message: 'The API key is not allowed to make this request',
		advice: (_: unknown, situation) =>
			situation.operation === 'generate'
				? `${stopCalling(situation, 'Its API key is not allowed to use this model')}The key may be limited to other models. Use a key that may use this model${situation.others ? '' : ', or choose another model'}.`
				: `${stopCalling(situation, 'Its API key is not allowed to make this request')}The key may be limited. Use a key that is allowed to make this request.`,
		serviceFirst: true,
	},
	refusedInBetween: {
		kind: 'unavailable',
		code: 'service_unavailable',
		message: ({ status }: { status: number }) => `The answer did not come from the service itself (HTTP ${status})`,
		advice: ({ status }: { status: number }, situation) =>
			`${IN_BETWEEN} ${status === 404 ? 'restarts, or the Base URL in the credential is not the address of the service' : 'refuses n8n for the moment, or the API key is wrong'}. ${tryLater(situation)}`,
	},
	accessBlocked: {
		kind: 'authentication',
		message: 'The last submissions were refused, and no answer came from the service itself',
		advice: (_: unknown, situation) =>
			`${stopCalling(situation, 'All requests are refused')}Either a firewall or a bot check in front of the service refuses n8n, or the API key is wrong. Check the API Key, and ask the operator of the service.`,
		created: 'nothing',
	},
	contentDeclined: {
		kind: 'contentPolicy',
		message: 'The service declined the content of this request',
		advice: (_: unknown, situation) =>
			`${situation.others ? '' : 'Change the prompt or the images: the same will be declined again.'}${readsStoredInput(situation)}`.trim(),
		permanent: true,
		serviceFirst: true,
	},
	requestRejected: {
		kind: 'rejected',
		message: 'The service did not accept the request',
		advice: (_: unknown, situation) =>
			GIVES_AN_ID.test(situation.operation)
				? `Check the ID. If it is right: ${tryLater(situation)}`
				: `${situation.others ? '' : 'Compare the fields of this node with what the service says.'}${readsStoredInput(situation)}`.trim(),
		permanent: true,
		serviceFirst: true,
	},
	requestNotProcessed: {
		kind: 'unavailable',
		code: 'service_unavailable',
		message: 'The service could not process the request',
		advice: usuallyTemporary,
	},
	notFound: { kind: 'notFound', message: 'The service could not find the requested resource', advice: idUnknown },
	taskUnknown: {
		kind: 'notFound',
		message: ({ id }: { id: string }) => `The service does not know task ${id}`,
		advice: idUnknown,
	},
	endpointNotFound: {
		kind: 'notFound',
		code: 'unexpected_answer',
		message: ({ path }: { path: string }) => `The service has no endpoint at ${path}`,
		advice:
			'Check the Base URL in the credential: it must be the address of the service, without the path of an endpoint.',
	},
	modelNotFound: {
		kind: 'rejected',
		message: ({ model }: { model?: string }) =>
			model === undefined ? 'The service does not know this model' : `The service does not know the model ${model}`,
		advice: 'Check the model ID, or choose another model.',
		permanent: true,
		ofScope: true,
	},
	rateLimited: {
		kind: 'rateLimited',
		message: ({ fullFor }: { fullFor?: string }) =>
			`The service is receiving too many requests${fullFor ? `: it has accepted none from this account for ${fullFor}, so this item was not sent` : ''}`,
		advice: (_: unknown, situation) =>
			`Lower Requests per Second under Advanced in the credential. ${tryLater(situation)}`,
	},
	noFreePlace: {
		kind: 'rateLimited',
		message: ({ time, sameKey }: { time: string; sameKey?: boolean }) =>
			sameKey
				? `Another item with the same Purchase Key waited for ${time}, so this item was not sent`
				: `The account was busy for ${time}, so this item was not sent`,
		advice: ({ sameKey }: { sameKey?: boolean }, situation) =>
			`${sameKey ? 'The other one has not been sent yet' : 'The account already runs as many tasks as it can'}. ${tryLater(situation)}${situation.recovery === 'retry' ? ' If you raise Timeout first, choose Retry with currently saved workflow.' : ''}`,
		created: 'nothing',
	},
	requestTooLarge: {
		kind: 'rejected',
		code: 'request_rejected',
		message: 'The request is larger than the service accepts',
		advice: 'Shorten the longest field, such as the prompt or Additional Fields.',
		permanent: true,
	},
	uploadTooLarge: {
		kind: 'rejected',
		code: 'request_rejected',
		message: 'The file is larger than the service accepts',
		advice: 'Make the file smaller. A limit of 20 MiB per image is usual.',
		permanent: true,
	},
	uploadEndpointNotFound: {
		kind: 'rejected',
		code: 'unexpected_answer',
		message: 'The service does not accept images at this address',
		advice: 'Check Image Upload Path under Custom Paths in the credential.',
	},
	noUploadUrl: {
		kind: 'unexpectedAnswer',
		code: 'unexpected_answer',
		message: 'The service accepted the image but returned no URL for it',
		advice: 'Check Image Upload Path under Custom Paths in the credential.',
	},
	serviceRedirects: {
		kind: 'unexpectedAnswer',
		code: 'unexpected_answer',
		message: ({ target }: { target?: string }) =>
			`The service redirects requests${target === undefined ? '' : ` to ${target}`}`,
		advice:
			'The node does not follow redirects, because the API key would be sent along. Enter the final address as Base URL in the credential.',
	},
	serviceUnavailable: {
		kind: 'unavailable',
		message: 'The service is not available at the moment',
		advice: usuallyTemporary,
	},
	notTheService: {
		kind: 'unexpectedAnswer',
		code: 'unexpected_answer',
		message: 'The answer does not come from the Generation Gateway service',
		advice: 'Check the Base URL in the credential: the address answered with something other than JSON.',
	},
	answerLacks: {
		kind: 'unavailable',
		code: 'unexpected_answer',
		message: ({ what, other }: { what: string; other?: string }) =>
			other === undefined ? `The service answered without ${what}` : `The answer is about ${other}`,
		advice: (_: unknown, situation) =>
			`Check the Base URL in the credential and, if Custom Paths is on, the paths there.${thenTryAgain(situation)}`,
	},
	answerTooLarge: {
		kind: 'unexpectedAnswer',
		code: 'unexpected_answer',
		message: 'The answer from the service is too large',
		advice: (limits: { megabytes: number; megabytesWithFiles: number; values: string }) =>
			`The node reads at most ${limits.megabytes} MB, with files ${limits.megabytesWithFiles} MB, or ${limits.values} values. Check the Base URL. If the record contains a file, an HTTP Request node with this credential can read it.`,
	},
	tooManyLargeAnswers: {
		kind: 'unavailable',
		code: 'service_unavailable',
		message: 'The services send more large answers at the same time than n8n can hold',
		advice: usuallyTemporary,
	},
	packageBug: {
		kind: 'ownMistake',
		message: ({ words }: { words: string }) => `This node ran into something unexpected: ${words}`,
		advice:
			'This is a bug in this package. Report it with this text under Issues on its GitHub page. Running it again leads to the same result.',
	},
} satisfies Record<string, CatalogueEntry>;
