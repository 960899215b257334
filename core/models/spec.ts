import type { INodeProperties } from 'n8n-workflow';

/**
 * A model is data, written once: the form, the validation, the request body and the table in the README all
 * come from it. A field is the literal of an n8n property plus a few keys of ours, so that n8n's lint rules
 * see it; what n8n's literal already says (options, default, required) is not said again.
 */
export interface FieldSpec extends INodeProperties {
	/** The path of the value in the request body, e.g. `metadata.resolution` or `video_list.0.video_url`. */
	bodyPath: string;
	/** The body's values of the form's choices, where they differ. */
	bodyValues?: Record<string, string | number | boolean>;
	/** A number is multiplied by it on its way into the body. */
	scale?: number;
	/** The choice field that gives the unit of the value, and what each unit changes. */
	units?: { field: string; of: Record<string, Pick<FieldSpec, 'scale'>> };
	/** Sent next to its value, which has no effect without it. */
	sentAlong?: Record<string, unknown>;
	/** The conversion of the form's value to the body's; absent: none. */
	shape?: FieldShape;
	/** The choice that means "not used": it is not sent. */
	notSent?: string;
	/**
	 * The bounds of a number. Not n8n's `minValue`, `maxValue` and `numberPrecision`: with them, its number field
	 * silently turns what was typed into another, valid number: 1 into 4, 15 into 1, -5 into 5, and 1.5 into 15.
	 */
	min?: number;
	max?: number;
	integer?: boolean;
	/** The most characters. */
	maxLength?: number;
	/** A text that must be a public http(s) URL, or any address that a browser can open. */
	format?: 'url' | 'address';
	/** Reasons of their own for a value that breaks one of the keys. */
	reasons?: {
		type?: 'amountNotANumber' | 'notUnixSeconds';
		integer?: 'amountNotWhole';
		maxLength?: 'tokenNameTooLong';
		format?: 'sourceNotAUrl' | 'callbackNotAUrl';
		/** The file itself in the place of its URL. */
		file?: 'sourceIsFile';
	};
	/** More from the contract, for the documentation. */
	docNote?: string;
	/**
	 * Additional Fields may give more than the form, where the contract does not list all values: `values` of the same
	 * type, `all` of any type.
	 */
	extraValues?: 'values' | 'all';
	/** True: Additional Fields cannot remove it, as if it were required. False: they can, although the form requires it. */
	alwaysSent?: boolean;
}

/** The keys of a field that are not n8n's. */
export const OWN_KEYS: ReadonlySet<string> = new Set<Exclude<keyof FieldSpec, keyof INodeProperties>>([
	'bodyPath',
	'bodyValues',
	'scale',
	'units',
	'sentAlong',
	'reasons',
	'shape',
	'notSent',
	'min',
	'max',
	'integer',
	'maxLength',
	'format',
	'docNote',
	'extraValues',
	'alwaysSent',
]);

/**
 * - `images`: an ordered list of URLs and binary fields; `array of URLs` in the body
 * - `imagesWithRoles`: the same, each with an optional role; with roles they go to `IMAGE_ROLES_PATH` instead
 * - `urls`: a list of URLs
 * - `number`: a text field that may be empty, as n8n's number field may not
 * - `object`: any JSON object
 * - `name`: a text without the spaces around it
 * - `names`: a list of names; separated by commas in the body, together with those of other fields
 * - `unixSeconds`: a date
 */
export type FieldShape =
	| 'images'
	| 'imagesWithRoles'
	| 'urls'
	| 'number'
	| 'object'
	| 'name'
	| 'names'
	| 'id'
	| 'unixSeconds';

/** The request body of something that is bought. */
export interface BodySpec {
	/** The model that the body is for, if any: messages name it, and the body begins with it. */
	id?: string;
	/**
	 * Always in the form. Every default shown is sent, but for sound that is off; where the contract shows none, the default is empty and nothing is.
	 * Fields of one meaning have one name and one label in all models: what is entered counts for each of them.
	 */
	fields: FieldSpec[];
	/** Fields in the Options, sent only when added. */
	optionalFields?: FieldSpec[];
	/** Fields of the contract that the form does not show: checked where Additional Fields give them. */
	otherFields?: FieldSpec[];
	/** Sent with every request; only Additional Fields can change them. */
	constants?: Record<string, unknown>;
	/**
	 * True: an image may be `asset://<ASSET_ID>`. The contract does not show which field carries it (4.4.5): assumed of
	 * each whose images are not called public http(s) URLs.
	 */
	acceptsAssets?: boolean;
	/** Choices of the form that other fields depend on, and that are not sent themselves. */
	choices?: INodeProperties[];
	rules: Rule[];
}

export interface ModelSpec extends BodySpec {
	/** The model identifier exactly as the contract writes it. */
	id: string;
	/** One line for the dropdown. */
	summary: string;
}

/** A fixed choice of rule kinds. Paths are those of the request body; the rules see the body that is sent. */
export type Rule =
	/** At most one of these is present. A `false` counts as absent, and is not sent next to another. */
	| { kind: 'atMostOne'; of: string[]; advice: string }
	| { kind: 'exactlyOne'; of: string[]; advice: string }
	/** `inForm`: the contract does not close it, so Additional Fields may give more. */
	| { kind: 'maxItems'; of: string; max: number; when?: Condition; inForm?: true; advice: string }
	/** Some images in the one list, some in the other. */
	| { kind: 'rolesForAllOrNone'; without: string; with: string; advice: string }
	/** More are allowed; the service uses the first ones, so only those are sent. */
	| { kind: 'usesFirst'; of: string; count: number; advice: string }
	/** A text that may be empty only next to another. */
	| { kind: 'neededWithout'; of: string; other: string; advice: string }
	/** Each role at most once. */
	| { kind: 'uniqueRoles'; of: string; advice: string }
	/** The contract has the field for other models only. Off is what the model does anyway. */
	| { kind: 'absent'; of: string; label: string; advice: string }
	/** `<<<image_N>>>` in the prompt names an image; one that is not there is worth a hint. */
	| { kind: 'imageReferences'; prompt: string };

export interface Condition {
	path: string;
	is: unknown;
}

/** The value of the model dropdown that opens Other Model (by ID). */
export const CUSTOM_MODEL = 'custom';
export const CUSTOM_MODEL_LABEL = 'Other Model (by ID)';

export const ROLES = ['first_frame', 'last_frame'] as const;

/** The labels of the roles in the form. */
export const ROLE_LABELS: Record<string, string> = {
	first_frame: 'First Frame',
	last_frame: 'Last Frame',
} satisfies Record<(typeof ROLES)[number], string>;

/** The origin of a value: a field of the form, or Additional Fields, which may give more than the form has. */
export type ValueSource = 'form' | 'json';

export const IMAGE_URLS_PATH = 'image_urls';
export const IMAGE_ROLES_PATH = 'image_with_roles';

/** The fields of the form. */
export function allFields({ fields, optionalFields = [] }: BodySpec): FieldSpec[] {
	return [...fields, ...optionalFields];
}

/**
 * The body that a form describes: each of its fields with a `bodyPath` is sent, those of the Options only when added.
 *
 * @param more what the form does not say
 */
export function toBodySpec(
	form: Array<INodeProperties | FieldSpec>,
	options: INodeProperties[] = [],
	more: Partial<Pick<BodySpec, 'constants' | 'otherFields'>> = {},
): BodySpec {
	return {
		fields: form.filter(isSent),
		choices: form.filter((field) => field.type === 'options' && !isSent(field)),
		optionalFields: options.filter(isSent),
		rules: [],
		...more,
	};
}

const isSent = (field: INodeProperties): field is FieldSpec => 'bodyPath' in field;

/**
 * True when the form shows a field, given the values of the others: the meaning of n8n's `displayOptions` for plain
 * lists of values, which is all that models use.
 */
export function isVisible(field: INodeProperties, valueOf: (parameter: string) => unknown): boolean {
	const { show = {}, hide = {} } = field.displayOptions ?? {};
	const isMet = ([name, values]: [string, unknown]) =>
		Array.isArray(values) && values.includes(valueOf(name.replace(/^\//, '')));
	return Object.entries(show).every(isMet) && !Object.entries(hide).some(isMet);
}

/** True when its value is a number, also in a text field. */
export function isNumeric({ type, shape }: FieldSpec): boolean {
	return type === 'number' || shape === 'number' || shape === 'unixSeconds';
}

/** The values that an option field allows in the form, or undefined for a field of any other type. */
export function allowedValues(field: FieldSpec): Array<string | number | boolean> | undefined {
	if (field.type !== 'options' || !field.options) return undefined;
	return field.options.flatMap((option) => ('value' in option ? [option.value] : []));
}
