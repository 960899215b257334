import type { INodeProperties } from 'n8n-workflow';
import type { GatewayError } from '../errors';
import type { JsonObject } from '../json';

/**
 * A model is data, written once: the form, the validation, the request body and the tables in `docs/reference` all
 * come from it. A field is the literal of an n8n property plus a few keys of ours, so that n8n's lint rules
 * see it; what n8n's literal already says (options, default, required) is not said again.
 */
export interface FieldSpec extends INodeProperties {
	/** The path of the value in the request body, e.g. `metadata.resolution` or `video_list.0.video_url`. */
	bodyPath: string;
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
	/** A text that must be a public http(s) URL. */
	format?: 'url';
	/** More from the contract, for the documentation. */
	docNote?: string;
	/**
	 * Additional Fields may give more than the form, where the contract does not list all values: `values` of the same
	 * type, `all` of any type.
	 */
	extraValues?: 'values' | 'all';
	/** Additional Fields cannot remove it, as if it were required. */
	alwaysSent?: true;
	/** A choice made where the form does not show it is sent, too: a rule then says that it does not go with the others. */
	sentHidden?: true;
}

/** The keys of a field that are not n8n's. */
export const OWN_KEYS: ReadonlySet<string> = new Set<Exclude<keyof FieldSpec, keyof INodeProperties>>([
	'bodyPath',
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
	'sentHidden',
]);

/**
 * - `images`: an ordered list of URLs and binary fields; `array of URLs` in the body
 * - `imagesWithRoles`: the same, each with an optional role; with roles they go to `IMAGE_ROLES_PATH` instead
 * - `urls`: a list of URLs
 * - `number`: a text field that may be empty, as n8n's number field may not
 * - `object`: any JSON object
 */
export type FieldShape = 'images' | 'imagesWithRoles' | 'urls' | 'number' | 'object';

export interface ModelSpec {
	/** The model identifier exactly as the contract writes it. */
	id: string;
	/** One line for the dropdown. */
	summary: string;
	/**
	 * Always in the form. Every default shown is sent, but for sound that is off; where the contract shows none, the default is empty and nothing is.
	 * Fields of one meaning have one name and one label in all models: what is entered counts for each of them.
	 */
	fields: FieldSpec[];
	/** Fields of the contract that the form does not show: checked where Additional Fields give them. */
	otherFields?: FieldSpec[];
	/** Sent with every request; only Additional Fields can change them. */
	constants?: Record<string, unknown>;
	/**
	 * True: an image may be `asset://<ASSET_ID>`. The contract does not show which field carries it (4.4.5): assumed of
	 * each whose images are not called public http(s) URLs.
	 */
	acceptsAssets?: boolean;
	/** True: `<<<image_N>>>` in the prompt names an image; one that is not there is worth a hint. */
	namesImages?: boolean;
	rules: Rule[];
}

/**
 * A rule between fields: a small function beside the model. It sees the body that is sent, and what Additional Fields gave of it, which
 * may be more than the form has where the contract does not close it.
 */
export interface Rule {
	/** For the documentation, and the way to continue in the error. */
	advice: string;
	/** The error of a body that breaks the rule. */
	refuse?: (body: JsonObject, additionalFields: JsonObject) => GatewayError | undefined;
	/** The body without what the service would not use. */
	shorten?: (body: JsonObject, additionalFields: JsonObject) => JsonObject;
}

/**
 * True when the form shows a field, given the values of the others: the meaning of n8n's `displayOptions` for plain
 * lists of values, which is all that models use.
 */
export function isVisible({ displayOptions }: INodeProperties, valueOf: (parameter: string) => unknown): boolean {
	return Object.entries(displayOptions?.show ?? {}).every(
		([name, values]) => Array.isArray(values) && values.includes(valueOf(name.replace(/^\//, '')) as string),
	);
}

/** True when its value is a number, also in a text field. */
export function isNumeric({ type, shape }: FieldSpec): boolean {
	return type === 'number' || shape === 'number';
}

/** The values that a field allows in the form, or undefined where it is no choice. */
export function allowedValues({ type, options }: FieldSpec): Array<string | number | boolean> | undefined {
	if (type === 'boolean') return [true, false];
	if (type !== 'options' || !options) return undefined;
	return options.flatMap((option) => ('value' in option ? [option.value] : []));
}
