/** A model is data, written once: form, validation, request body and the tables in `docs/reference` come from it. */
import type { INodeProperties, INodePropertyCollection, INodePropertyOptions } from 'n8n-workflow';
import { CUSTOM_MODEL, CUSTOM_MODEL_LABEL } from '../labels';
import type { GatewayError } from '../errors';
import type { JsonObject } from '../json';

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
 * A field is the literal of an n8n property plus a few keys of ours, so that n8n's lint rules see it; what n8n's literal
 * already says (options, default, required) is not said again.
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
	/** Additional Fields may give more, where the contract does not list all: `values` of the same type, `all` of any. */
	extraValues?: 'values' | 'all';
	/** Additional Fields cannot remove it, as if it were required. */
	alwaysSent?: true;
	/** A choice made where the form does not show it is sent, too: a rule then says that it does not go with the others. */
	sentHidden?: true;
}

/**
 * - `images`: an ordered list of URLs and binary fields; `array of URLs` in the body
 * - `imagesWithRoles`: the same, each with an optional role; with roles they go to `IMAGE_ROLES_PATH` instead
 * - `urls`: a list of URLs
 * - `number`: a text field that may be empty, as n8n's number field may not
 * - `object`: any JSON object
 */
type FieldShape = 'images' | 'imagesWithRoles' | 'urls' | 'number' | 'object';

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

/** The keys of a field that are not n8n's. */
const OWN_KEYS: ReadonlySet<string> = new Set<Exclude<keyof FieldSpec, keyof INodeProperties>>([
	...(['bodyPath', 'shape', 'notSent', 'min', 'max', 'integer', 'maxLength'] as const),
	...(['format', 'docNote', 'extraValues', 'alwaysSent', 'sentHidden'] as const),
]);

/** The n8n literal alone: the keys of ours are for the core. */
export function toProperty(field: INodeProperties): INodeProperties {
	return Object.fromEntries(Object.entries(field).filter(([key]) => !OWN_KEYS.has(key))) as unknown as INodeProperties;
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

/** True when the form shows a field: n8n's `displayOptions` for plain lists of values, which is all that models use. */
export function isVisible({ displayOptions }: INodeProperties, valueOf: (parameter: string) => unknown): boolean {
	return Object.entries(displayOptions?.show ?? {}).every(
		([name, values]) => Array.isArray(values) && values.includes(valueOf(name.replace(/^\//, '')) as string),
	);
}

/** The entries of the model dropdown, sorted as n8n wants it; one of them opens Other Model (by ID). */
export function toModelOptions(models: readonly ModelSpec[]): INodePropertyOptions[] {
	return [
		...models.map(({ id, summary }) => ({ name: id, value: id, description: summary })),
		{
			name: CUSTOM_MODEL_LABEL,
			value: CUSTOM_MODEL,
			description:
				'A model that is not in the list. Enter its ID and request body: n8n then clears the prompt and the other fields of the model.',
		},
	].sort((a, b) => a.name.localeCompare(b.name));
}

/**
 * The form of all models. A field that several models share to the letter becomes one property, shown for these.
 *
 * While the model is an expression, n8n takes the fields of all models for shown, and keeps of several with one name only
 * what the last of them has. So those of one name hold all that any of them holds, each entry for its models.
 */
export function toProperties(models: readonly ModelSpec[]): INodeProperties[] {
	const all = shared(models);
	return inOrderOf(models, all).flatMap(({ property, models: having }) => {
		const { displayOptions, required, type } = property;
		const conditions = displayOptions?.show ?? {};
		const hide = otherwise(models, having, conditions);
		const show = { model: having.map(({ id }) => id), ...conditions };
		if (required) return markRequired(property, show);
		const shown = { ...property, displayOptions: displayOptions?.show ? { hide } : { show } };
		if (type === 'fixedCollection') return [shown, otherShape(property, hide)];
		return hasSeveralDefaults(property.name, all) ? [withNoChoice(shown), noChoice(property)] : [shown];
	});
}

/** A field of several models, the same to the letter. */
interface Shared {
	property: INodeProperties;
	models: ModelSpec[];
	/** The position of the field in each of the models. */
	positions: Map<ModelSpec, number>;
}

/** Groups identical fields, each with the models that have it. */
function shared(models: readonly ModelSpec[]): Shared[] {
	const found = new Map<string, Shared>();
	for (const model of models) {
		for (const [position, field] of model.fields.entries()) {
			const property = withRowsOfAll(toProperty(field), models);
			const key = JSON.stringify(property);
			const entry: Shared = found.get(key) ?? { property, models: [], positions: new Map() };
			entry.models.push(model);
			entry.positions.set(model, position);
			found.set(key, entry);
		}
	}
	return [...found.values()];
}

/** Sorts fields so that those of each model keep their order: next comes a field before which none of its models has another. */
function inOrderOf(models: readonly ModelSpec[], all: Shared[]): Shared[] {
	const ordered: Shared[] = [];
	let left = all;
	while (left.length > 0) {
		const first = (model: ModelSpec) => Math.min(...left.map(({ positions }) => positions.get(model) ?? Infinity));
		const isNext = (entry: Shared) => models.every((model) => (entry.positions.get(model) ?? -1) <= first(model));
		const next = left.find(isNext) ?? (left[0] as Shared);
		ordered.push(next);
		left = left.filter((entry) => entry !== next);
	}
	return ordered;
}

/** The list with the fields of a row that any model has in its list of that name, those of some for these only. */
function withRowsOfAll(property: INodeProperties, models: readonly ModelSpec[]): INodeProperties {
	if (property.type !== 'fixedCollection') return property;
	const lists = models.flatMap((model) =>
		model.fields
			.filter(({ name }) => name === property.name)
			.map(({ options }) => ({ id: model.id, row: rowOf(options) })),
	);
	const entries = new Map(lists.flatMap(({ row }) => row.values.map((entry) => [JSON.stringify(entry), entry])));
	const values = [...entries].map(([key, entry]) => {
		const having = lists.filter(({ row }) => row.values.some((each) => JSON.stringify(each) === key));
		if (having.length === lists.length) return entry;
		const show = { '/model': having.map(({ id }) => id), ...entry.displayOptions?.show };
		return { ...entry, displayOptions: { ...entry.displayOptions, show } };
	});
	return { ...property, options: [{ ...rowOf(property.options), values }] };
}

const rowOf = (options: INodeProperties['options']) =>
	(options as INodePropertyCollection[])[0] as INodePropertyCollection;

type Conditions = NonNullable<NonNullable<INodeProperties['displayOptions']>['hide']>;

/**
 * The conditions, turned into what hides the field: where `show` meets an expression, n8n checks no further. So a size
 * of another resolution, with its default, does not count while the model is an expression.
 */
function otherwise(models: readonly ModelSpec[], having: ModelSpec[], show: Conditions): Conditions {
	const fields = having.flatMap((model) => model.fields);
	const hide: Conditions = {
		model: [...models.filter((model) => !having.includes(model)).map(({ id }) => id), CUSTOM_MODEL],
	};
	for (const [name, wanted] of Object.entries(show)) {
		const choice = fields.find((field) => field.name === name.replace(/^\//, ''));
		const values = (choice && allowedValues(choice)) ?? [];
		hide[name] = values.filter((value) => !wanted?.includes(value));
	}
	return hide;
}

/**
 * A required field of some models. While the model is an expression, n8n takes the fields of all models for shown, and
 * would refuse to run because of an empty required one that the model may not even have. So the field becomes several of
 * the same name, of which the form shows one at a time: with the mark for each choice made there, without it while a
 * choice is an expression. The core refuses an empty one in any case.
 *
 * @param show the choices that it is shown for
 */
export function markRequired({ required, ...unmarked }: INodeProperties, show: Conditions): INodeProperties[] {
	const last = Object.keys(show).at(-1) as string;
	return [
		// Said as "hide otherwise": where `show` meets an expression, n8n looks no further.
		...combinations(show).map((hide) => ({ ...unmarked, required, displayOptions: { hide } })),
		{ ...unmarked, displayOptions: { show: { ...show, [last]: [isExpression] } } },
	];
}

/** The combinations of values that meet the conditions, as conditions that hide the field otherwise. */
function combinations(show: Conditions): Conditions[] {
	return Object.entries(show).reduce<Conditions[]>(
		(found, [choice, values = []]) =>
			found.flatMap((others) => values.map((value) => ({ ...others, [choice]: [{ _cnd: { not: value as string } }] }))),
		[{}],
	);
}

/** Met by an expression: n8n compares with its text, which begins with `=`. */
export const isExpression = { _cnd: { startsWith: '=' } };

/**
 * A hidden property after a list. n8n makes an empty list of everything that is no list of rows, such as an expression in
 * the place of the whole list, or URLs in JSON that a person or a program wrote: the request would be bought without its
 * images. Of a hidden property n8n keeps the value as it is, and the last property of a name counts.
 *
 * @param hide the conditions that hide the list, too
 */
export function otherShape({ displayName, name, options }: INodeProperties, hide: Conditions = {}): INodeProperties {
	const displayOptions = { hide: { ...hide, [`/${name}.${rowOf(options).name}`]: [areRows] } };
	return { displayName, name, type: 'hidden', default: {}, displayOptions };
}

/**
 * Met by rows, of which n8n compares the text. The hidden property does not count for them: only in the list itself does
 * n8n fill in the defaults of a row, and remove what belongs to another model.
 */
const areRows = { _cnd: { between: { from: String({}), to: String({}) } } };

/** True where two models have a field of this name with different defaults. */
function hasSeveralDefaults(name: string, all: Shared[]): boolean {
	const namesakes = all.filter(({ property }) => property.name === name);
	const defaultOf = ({ property }: Shared) => JSON.stringify(property.default);
	const isOfOthers = (one: Shared, other: Shared) =>
		one.models.some((model) => other.models.some((its) => its !== model));
	return namesakes.some((one) =>
		namesakes.some((other) => defaultOf(one) !== defaultOf(other) && isOfOthers(one, other)),
	);
}

const NO_CHOICE = '';

const SERVICE_DEFAULT = { name: 'Service Default', value: NO_CHOICE };

/**
 * A hidden property after each one of several defaults. While the model is an expression, n8n fills in the default of
 * the last property of a name: this one's, which says that nothing was chosen. So each model has its own default.
 */
function noChoice({ displayName, name }: INodeProperties): INodeProperties {
	return { displayName, name, type: 'hidden', default: NO_CHOICE, displayOptions: { show: { model: [isExpression] } } };
}

/** The dropdown with the value of `noChoice`: without it the editor would call the value unsupported. */
function withNoChoice(property: INodeProperties): INodeProperties {
	if (property.type !== 'options') return property;
	const options = property.options as INodePropertyOptions[];
	if (options.some(({ value }) => value === NO_CHOICE)) return property;
	const before = options.findIndex(({ name }) => SERVICE_DEFAULT.name.localeCompare(name) < 0);
	const place = before === -1 ? options.length : before;
	return { ...property, options: [...options.slice(0, place), SERVICE_DEFAULT, ...options.slice(place)] };
}
