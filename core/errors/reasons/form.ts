import type { Field, FieldValue, FormEntry } from '../entry';

/** Mistakes in the form of any node. */
export const FORM = {
	operationUnknown: {
		message: ({ label, value }: FieldValue) => `${label} is ${value}, which this node does not have`,
		advice: ({ known }: { known: string }) =>
			`Choose one of ${known}. The workflow may come from a newer version of this package.`,
	},
	/** An expression that could not be resolved, for example: n8n's own words say it best. */
	itemUnreadable: {
		message: ({ words }: { words?: string }) => words ?? 'The item could not be read',
		advice: ({ more }: { more?: string }) => more ?? '',
	},
	fieldEmpty: {
		message: ({ label }: Field) => `${label} is empty`,
		advice: ({ label, enter }: Field & { enter?: string }) => enter ?? `Enter a value for ${label}.`,
	},
	expressionGaveNothing: {
		message: ({ label }: Field) => `${label} is empty: its expression returned nothing for this item`,
		advice: ({ label }: Field) => `Check the expression in ${label}: the item may not have the field that it uses.`,
	},
	/** A slip that n8n does not show: the text would be bought for each item. */
	expressionIsText: {
		message: ({ label }: Field) => `${label} contains {{ … }} as text, which n8n does not evaluate`,
		advice: ({ label }: Field) =>
			`Switch ${label} from Fixed to Expression, above the field. For braces that are meant as text, use an expression, too, and write {{ '{{' }} instead of {{.`,
	},
	notText: {
		message: ({ label, value }: FieldValue) => `${label} is ${value}, which is not text`,
		advice: ({ label }: Field) => `Change ${label} to text.`,
	},
	notAChoice: {
		message: ({ label, value, allowed }: FieldValue & { allowed: string }) =>
			`${label} is ${value}: it must be ${allowed}`,
		advice: ({ label }: Field) => `Change ${label} to one of them.`,
	},
	notANumber: {
		message: ({ label, value, min }: FieldValue & { min: number }) =>
			`${label} is ${value}: it must be a number, ${min} or more`,
		advice: ({ label, min }: Field & { min: number }) => `Change ${label} to a number, ${min} or more.`,
	},
	numberTooLarge: {
		message: ({ label, value, max }: FieldValue & { max: number }) => `${label} is ${value}: it must be ${max} or less`,
		advice: ({ label, max }: Field & { max: number }) => `Change ${label} to a number, ${max} or less.`,
	},
	tooManyToDownload: {
		message: ({ label, value, max }: FieldValue & { max: number }) =>
			`${label} is ${value}: when files are downloaded, it must be ${max} or less`,
		advice: ({ label, max }: Field & { max: number }) =>
			`Change ${label} to ${max} or less, in several items if you need more, or set Result to URL Only to get all URLs.`,
	},
	textTooLong: {
		message: ({ label, length, max, model }: Field & { length: number; max: number; model?: string }) =>
			`${label} has ${length} characters: ${model === undefined ? `at most ${max} are allowed` : `${model} allows at most ${max}`}`,
		advice: ({ label }: Field) => `Shorten ${label}.`,
	},
	notAnId: {
		message: ({ id }: { id: string }) => `An ID cannot be "${id}"`,
		advice: 'Enter the ID exactly as the service returned it.',
	},
	idRounded: {
		message: ({ label, value }: FieldValue) => `${label} is the number ${value}, which has been rounded`,
		advice: ({ label }: Field) =>
			`Change ${label} to text: a number of more than 15 digits loses its last ones. Pass it on as text from where it comes.`,
	},
	notJson: {
		message: ({ label }: Field) => `${label} is not valid JSON`,
		advice: ({ where }: { where: string }) => `Check quotes, commas and brackets (${where}).`,
	},
	notAJsonObject: {
		message: ({ label }: Field) => `${label} must be a JSON object`,
		advice: 'Write it in braces, e.g. {"seed": 42}.',
	},
	collectionOfWrongShape: {
		message: ({ label, value }: FieldValue) => `${label} is ${value}, which is not an object`,
		advice: ({ label }: Field) =>
			`Add the entries of ${label} in the form. An expression or JSON must give an object with their names and values.`,
	},
	numberInexact: {
		message: ({ label, value }: FieldValue) => `${label} contains the number ${value}, which cannot be sent exactly`,
		advice:
			'Enter a number of at most 15 digits. Where the service takes text, too, write the number in quotes; in an expression, pass it on as text from where it comes.',
	},
	noBinaryField: {
		message: ({ label, name }: Field & { name: string }) => `${label}: the item has no binary field "${name}"`,
		advice: ({ there }: { there: string }) =>
			`${there === '' ? 'It has no binary data at all.' : `It has: ${there}.`} Enter the name of a binary field of the input item.`,
	},
	binaryFieldEmpty: {
		message: ({ label }: Field) => `${label} is empty`,
		advice: ({ there }: { there: string }) =>
			`Enter the name of a binary field${there && ` (the item has ${there})`}, or an expression that returns a file from another node.`,
	},
	notAFile: {
		message: ({ label }: Field) => `${label} is an object, but not a file`,
		advice: 'Enter the name of a binary field, or an expression that returns one file.',
	},
	notAnImage: {
		message: ({ label, name }: Field & { name: string }) => `${label}: the binary field "${name}" is not an image`,
		advice: ({ mimeType }: { mimeType: string }) =>
			`Its type is ${mimeType || 'unknown'}. Choose a field that contains an image.`,
	},
	fileUnreadable: {
		code: 'file_unreadable',
		message: ({ label, name }: Partial<Field> & { name: string }) =>
			`${label === undefined ? 'The' : `${label}: the`} file "${name}" could not be read`,
		advice: ({ words }: { words: string }) =>
			`n8n says: "${words}". Nothing was sent for this item. n8n keeps a file as long as the execution that has stored it. If that was deleted, get the file again: run the workflow from its beginning. You then pay again for items that were bought without a Purchase Key.`,
		// Others may have been bought before n8n was asked for it.
		created: 'nothing',
	},
	tooManyUrls: {
		message: ({ count, max, choice }: { count: number; max: number; choice: string }) =>
			`The request contains ${count} URLs: with ${choice}, at most ${max} are allowed`,
		advice: 'Remove URLs from the prompt or the body of the request.',
	},
} satisfies Record<string, FormEntry>;
