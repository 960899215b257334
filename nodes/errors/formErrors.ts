import { GatewayError, type GatewayErrorKind } from '../../core/errors';

/** A field by its label, and its value as it is shown: see `show`. */
interface Field {
	label: string;
	value?: string;
}

interface Row {
	message: (data: never) => string;
	/** What to do next. */
	advice: (data: never) => string;
	/** Bad input unless it says otherwise: then nothing was sent. */
	kind?: GatewayErrorKind;
}

const uploadFirst = 'For an image in a binary field, get a URL with Gateway Image Generation → Upload Image first.';
const publicAddress = 'Enter a public URL that starts with https:// or http://.';

/** What can be wrong with a form: of the credential, of a node, of one item. The names are public: see `toCode`. */
export const FORM_REASONS = {
	credentialEmpty: {
		message: ({ label }: Field) => `${label} in the credential is empty`,
		advice: () => 'Enter the address of the service, e.g. https://gateway.example.com.',
	},
	credentialNotAnAddress: {
		message: ({ label }: Field) => `${label} in the credential is not a web address`,
		advice: () => 'It must start with https://, e.g. https://gateway.example.com.',
	},
	credentialMoreThanAddress: {
		message: ({ label }: Field) => `${label} in the credential contains more than an address`,
		advice: () => 'Enter the address only, without user name, password, query or #.',
	},
	credentialIsEndpoint: {
		message: ({ label }: Field) => `${label} in the credential is the path of an endpoint`,
		advice: ({ address }: { address: string }) => `Enter the address without it: ${address}.`,
	},
	credentialPlainHttp: {
		message: ({ label }: Field) =>
			`${label} in the credential uses plain http, so the API key would be sent unencrypted`,
		advice: () => 'Use https://, or turn on Allow Plain HTTP if the service is in your own private network.',
	},
	credentialCharacterNotAllowed: {
		message: ({ label, shown, position }: Field & { shown: string; position: number }) =>
			`${label} in the credential has ${shown} as character ${position}, which HTTP does not allow`,
		advice: () =>
			'Copy the key again from the key management page of your account, and paste it without anything before or after it.',
	},
	credentialAbsoluteUrl: {
		message: ({ label }: Field) =>
			`${label} in the credential is an absolute URL, so the API key would be sent to another host`,
		advice: ({ example }: { example: string }) => `Enter only a path on the service, e.g. ${example}.`,
	},
	credentialNotAPath: {
		message: ({ label }: Field) => `${label} in the credential is not a path on the service`,
		advice: ({ example }: { example: string }) => `A path starts with /, e.g. ${example}.`,
	},
	credentialWithoutTaskId: {
		message: ({ label }: Field) => `${label} in the credential does not say where the task ID goes`,
		advice: ({ example }: { example: string }) => `Put {task_id} in its place, e.g. ${example}.`,
	},
	credentialNotAFieldName: {
		message: ({ label }: Field) => `${label} in the credential is not the name of a field`,
		advice: ({ example }: { example: string }) => `Enter a name of letters, digits and underscores, e.g. ${example}.`,
	},

	operationUnknown: {
		message: ({ label, value }: Field & { value: string }) => `${label} is ${value}, which this node does not have`,
		advice: ({ known }: { known: string }) =>
			`Choose one of ${known}. The workflow may come from a newer version of this package.`,
	},
	fieldEmpty: { message: ({ label }: Field) => `${label} is empty`, advice: ({ enter }: { enter: string }) => enter },
	expressionGaveNothing: {
		message: ({ label }: Field) => `The expression in ${label} gave nothing for this item`,
		advice: ({ label }: Field) => `Check the expression in ${label}: the item may not have the field that it uses.`,
	},
	notText: {
		message: ({ label, value }: Field) => `${label} is ${value}, which is not text`,
		advice: ({ label }: Field) => `Change ${label} to text.`,
	},
	notAChoice: {
		message: ({ label, value, allowed }: Field & { allowed: string }) => `${label} is ${value}: it must be ${allowed}`,
		advice: ({ label }: Field) => `Change ${label} to one of them.`,
	},
	notANumber: {
		message: ({ label, value, min }: Field & { min: number }) =>
			`${label} is ${value}: it must be a number, ${min} or more`,
		advice: ({ label, min }: Field & { min: number }) => `Change ${label} to a number, ${min} or more.`,
	},
	numberTooLarge: {
		message: ({ label, value, max }: Field & { max: number }) => `${label} is ${value}: it must be ${max} or less`,
		advice: ({ label, max }: Field & { max: number }) => `Change ${label} to a number, ${max} or less.`,
	},
	textTooLong: {
		message: ({ label, length, max }: Field & { length: number; max: number }) =>
			`${label} has ${length} characters: at most ${max} are allowed`,
		advice: ({ label }: Field) => `Shorten ${label}.`,
	},
	tooManyUrls: {
		message: ({ count, max, choice }: { count: number; max: number; choice: string }) =>
			`The request contains ${count} URLs: with ${choice}, at most ${max} are allowed`,
		advice: () => 'Remove URLs from the prompt or the body of the request.',
	},
	notJson: {
		message: ({ label }: Field) => `${label} is not valid JSON`,
		advice: ({ where }: { where: string }) => `Check quotes, commas and brackets (${where}).`,
	},
	notAJsonObject: {
		message: ({ label }: Field) => `${label} must be a JSON object`,
		advice: () => 'Write it in braces, e.g. {"seed": 42}.',
	},
	numberInexact: {
		message: ({ label, value }: Field) => `${label} contains the number ${value}, which cannot be sent exactly`,
		advice: () =>
			`Enter a number of at most 15 digits. Where the service takes text, too, write the number in quotes; in an expression, pass it on as text from where it comes.`,
	},
	idRounded: {
		message: ({ label, value }: Field) => `${label} is the number ${value}, which has been rounded`,
		advice: ({ label }: Field) =>
			`Change ${label} to text: a number of more than 15 digits loses its last ones. Pass it on as text from where it comes.`,
	},
	noBinaryField: {
		message: ({ label, name }: Field & { name: string }) => `${label}: the item has no binary field "${name}"`,
		advice: ({ there }: { there: string[] }) =>
			`${there.length > 0 ? `It has: ${there.join(', ')}.` : 'It has no binary data at all.'} Enter the name of a binary field of the input item.`,
	},
	binaryFieldEmpty: {
		message: ({ label }: Field) => `${label} is empty`,
		advice: ({ there }: { there: string[] }) =>
			`Enter the name of a binary field${there.length > 0 ? ` (the item has ${there.join(', ')})` : ''}, or an expression that returns a file from another node.`,
	},
	notAFile: {
		message: ({ label }: Field) => `${label} is an object, but not a file`,
		advice: () => 'Enter the name of a binary field, or an expression that returns one file.',
	},
	notAnImage: {
		message: ({ label, name }: Field & { name: string }) => `${label}: the binary field "${name}" is not an image`,
		advice: ({ mimeType }: { mimeType: string }) =>
			`Its type is ${mimeType || 'unknown'}. Choose a field that contains an image.`,
	},
	modelNotInList: {
		message: ({ model }: { model: string }) => `Model is "${model}", which this node does not know`,
		advice: ({ known }: { known: string[] }) =>
			`Choose one of ${known.join(', ')}, or Other Model (by ID) for any other.`,
	},
	modelInAdditionalFields: {
		message: ({ label }: Field) => `${label} contains the field "model", which cannot be changed there`,
		advice: () =>
			'Remove it there. To use a model that is not in the list, choose Other Model (by ID) and enter its ID as Model ID.',
	},
	bodyUnchanged: {
		message: ({ label }: Field) => `${label} is unchanged: it has an empty prompt and nothing else`,
		advice: () => 'Enter the prompt and whatever else the model needs.',
	},
	roleNotForModel: {
		message: ({ label, role, model }: Field & { role: string; model: string }) =>
			`${label} has the role ${role}, but ${model} has no roles`,
		advice: () => 'Set Role to By Position and put the images in their order, or choose a model with roles.',
	},
	notAFieldName: {
		message: ({ label, value }: Field) => `${label} is ${value}, which is not the name of a field`,
		advice: ({ assumed }: { assumed: string }) => `Enter a name of letters, digits and underscores, e.g. ${assumed}.`,
	},
	/** An expression that could not be resolved, for example: n8n's own words say it best. */
	itemUnreadable: {
		message: ({ words }: { words?: string }) => words ?? 'The item could not be read',
		advice: ({ more }: { more?: string }) => more ?? '',
	},

	callbackNotAUrl: {
		message: ({ label, value }: Field) => `${label} is ${value}, which is not a URL`,
		advice: () =>
			'Enter {{ $execution.resumeUrl }} as an expression, the production URL of a Gateway Avatar Verification Trigger, or another URL with its beginning, e.g. https:// or myapp://.',
	},
	sourceNotAUrl: {
		message: ({ label, value }: Field) => `${label} is ${value}, which is not an http(s) URL`,
		advice: () => `${publicAddress} ${uploadFirst}`,
	},
	sourceIsFile: {
		message: ({ label }: Field) => `${label} contains the file itself: the service accepts a URL only`,
		advice: () => `${publicAddress} ${uploadFirst}`,
	},
	sourceIsBinaryField: {
		message: ({ label, name }: Field & { name: string }) =>
			`${label} is the name of the binary field "${name}": the service accepts a URL only`,
		advice: () => `${publicAddress} ${uploadFirst}`,
	},

	tokenNameTooLong: {
		message: ({ label, length, max }: Field & { length: number; max: number }) =>
			`${label} has ${length} characters: at most ${max} are allowed`,
		advice: () => 'Shorten the name.',
	},
	amountNotWhole: {
		message: ({ label, value }: Field) => `${label} is ${value}: internal units are whole numbers`,
		advice: () => 'Enter a whole number (500000 units are 1 USD), or choose another unit.',
	},
	amountNotANumber: {
		message: ({ label, value }: Field) => `${label} is ${value}: it must be a number, 0 or more`,
		advice: ({ label }: Field) => `Change ${label} to a number.`,
	},
	creditsNotANumber: {
		message: ({ label, value }: Field) => `${label} is ${value}, which is not a number`,
		advice: () => 'Change it in Additional Fields.',
	},
	tooManyItems: {
		message: ({ count, max, choice }: { count: number; max: number; choice: string }) =>
			`There are ${count} items, but Concurrent Tasks is ${max}, and ${choice} submits all items together`,
		advice: () =>
			'Raise Concurrent Tasks in the options if the service allows it, or put a Loop Over Items with a smaller batch before this node.',
	},
	operationNotForWorkflows: {
		message: () => 'This operation cannot be used in workflows: it is reserved for the option Survive Restarts',
		advice: () => 'Use Generate or Wait for Task with the option Survive Restarts.',
	},
	passedDataTooLarge: {
		message: ({ bytes, max }: { bytes: number; max: number }) =>
			`The data passed along has ${bytes} bytes: at most ${max} are allowed`,
		advice: () =>
			'Pass along only what you need to identify the item, such as an ID, or turn off Include Input Fields in the options.',
	},
	backgroundNotPossible: {
		message: () => 'Start a Workflow is not possible here: it needs n8n 2.41 or later and a saved workflow',
		advice: () =>
			'Save the workflow, or update n8n. Until then, set When Done to Return Immediately and get the results with Wait for Task.',
	},
	workflowLoops: {
		message: () => 'The workflow could start this node again with its own results, and pay each time',
		advice: () =>
			'Choose a different workflow. To stay in this one, connect its trigger When Executed by Another Workflow to nodes that do not lead back here.',
	},
	workflowNotPublished: {
		message: ({ name }: { name: string }) =>
			`The workflow ${name} is not published or does not exist, so n8n could not start it with the results`,
		advice: () => 'Publish that workflow. If it has been deleted or comes from another n8n, choose a different one.',
	},
	workflowWithoutTrigger: {
		message: ({ name }: { name: string }) => `The workflow ${name} cannot be started by another workflow`,
		advice: () => 'Add the trigger When Executed by Another Workflow to it, and publish it.',
	},
	workflowNotStartable: {
		message: ({ name }: { name: string }) => `n8n cannot start the workflow ${name}`,
		advice: ({ words }: { words: string }) =>
			`n8n says: "${words}". Check the settings of that workflow, especially which workflows can call it, and the credentials of its nodes.`,
	},
	waitingNotPossible: {
		message: () => 'n8n cannot start the execution that is to wait for the tasks',
		advice: ({ words }: { words: string }) =>
			`n8n says: "${words}". Nothing was sent. If it is about the credential, ask its owner to share it with you, or have somebody run the workflow who may use it.`,
	},
	notOneModel: {
		message: ({ label, value }: Field) => `${label} contains ${value}, which is not a single model`,
		advice: () => 'Enter one model per row, without commas or spaces.',
	},
	expiryInPast: {
		message: ({ label, value }: Field) => `${label} is ${value}, which is not in the future`,
		advice: () => 'Choose a later date, or Never as expiry.',
	},
	notUnixSeconds: {
		message: ({ label, value }: Field) => `${label} is ${value}, which is not a time in Unix seconds`,
		advice: () => 'Enter a whole number of seconds, e.g. 1893456000, or -1 for a token that never expires.',
	},
	notADate: {
		message: ({ label, value }: Field) => `${label} is ${value}, which is not a date`,
		advice: () =>
			'Choose a date and time, e.g. 2030-01-31T12:00:00 or Unix seconds such as 1893456000, or Never as expiry.',
	},
	tokenKeyGone: {
		kind: 'outcomeUnknown',
		message: ({ name }: { name: string }) =>
			`The token "${name}" was created in an earlier try, and its key was shown only then`,
		advice: ({ id }: { id: string }) =>
			`Delete the token${id && ` with the ID ${id}`} in your account, turn on Submit Again in the options, save, and in the Executions list choose Retry with currently saved workflow: that creates a new token.`,
	},
	creditsBelowLimit: {
		kind: 'balance',
		message: ({ credits, wanted }: { credits: number; wanted: number }) =>
			`Only ${credits} credits are left, but Stop Below (Credits) is ${wanted}`,
		advice: () =>
			'Add credits to the account, and retry this execution in the Executions list. Or lower Stop Below (Credits), save, and choose Retry with currently saved workflow there.',
	},
} satisfies Record<string, Row>;

type FormReason = keyof typeof FORM_REASONS;
type Taken<F> = F extends () => string ? unknown : F extends (data: infer Data) => string ? Data : never;
type FormData<R extends FormReason> = Taken<(typeof FORM_REASONS)[R]['message']> &
	Taken<(typeof FORM_REASONS)[R]['advice']>;

/** The error for one of the reasons, with what to do about it. */
export function formError<R extends FormReason>(reason: R, data: FormData<R>, cause?: unknown): GatewayError {
	const {
		message,
		advice,
		kind = 'badInput',
	} = FORM_REASONS[reason] as { [K in keyof Row]: K extends 'kind' ? Row[K] : (data: FormData<R>) => string };
	return new GatewayError(kind, message(data), { reason, advice: advice(data), cause });
}
