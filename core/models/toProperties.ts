import type { INodeProperties, INodePropertyCollection, INodePropertyOptions } from 'n8n-workflow';
import { isExpression, markRequired } from './markRequired';
import { allFields, allowedValues, CUSTOM_MODEL, CUSTOM_MODEL_LABEL, OWN_KEYS, type ModelSpec } from './spec';

/** The entries of the model dropdown, sorted as n8n wants it; one of them opens Other Model (by ID). */
export function toModelOptions(models: readonly ModelSpec[]): INodePropertyOptions[] {
	return [
		...models.map(({ id, summary }) => ({ name: id, value: id, description: summary })),
		{
			name: CUSTOM_MODEL_LABEL,
			value: CUSTOM_MODEL,
			description:
				'A model that is not in the list. Enter its ID and request body: n8n clears the prompt and the other fields of the model before.',
		},
	].sort(byName);
}

/**
 * The form of all models: each field is shown for the models that have it. A field that several models share to
 * the letter becomes one property.
 *
 * While the model is an expression, n8n takes the fields of all models for shown, and keeps of several with one name only
 * what the last of them has. So those of one name hold all that any of them holds, each entry for its models.
 */
export function toProperties(models: readonly ModelSpec[]): INodeProperties[] {
	const ofModels = models.flatMap((model) => model.fields.map((field) => ({ model, property: toProperty(field) })));
	const together = ofModels.map(({ model, property }) => ({
		model,
		property:
			'options' in property
				? {
						...property,
						options: allEntries(
							ofModels.filter((other) => other.property.name === property.name),
							property,
						),
					}
				: property,
	}));
	const differing = namesOfDifferentDefaults(ofModels);
	return inOrderOf(models, shared(together)).flatMap(({ value, models: having }) => {
		const isDiffering = differing.has(value.name);
		const property = isDiffering ? withNoChoice(value) : value;
		const { displayOptions } = property;
		const show = { model: having.map(({ id }) => id), ...displayOptions?.show };
		if (property.required) return markRequired(property, show);
		const shown = {
			...property,
			displayOptions: displayOptions?.show ? { hide: otherwise(models, having, displayOptions.show) } : { show },
		};
		if (property.type === 'fixedCollection')
			return [shown, otherShape(property, otherwise(models, having, displayOptions?.show ?? {}))];
		return isDiffering ? [shown, noChoice(property)] : [shown];
	});
}

/** Names of fields whose default differs between models. */
function namesOfDifferentDefaults(ofModels: Array<OfModel<INodeProperties>>): Set<string> {
	const differing = new Set<string>();
	for (const { model, property } of ofModels) {
		const isOther = (other: OfModel<INodeProperties>) =>
			other.model !== model &&
			other.property.name === property.name &&
			JSON.stringify(other.property.default) !== JSON.stringify(property.default);
		if (ofModels.some(isOther)) differing.add(property.name);
	}
	return differing;
}

/**
 * A hidden property after each one of several defaults. While the model is an expression, n8n fills in the default of
 * the last property of a name: this one's, which says that nobody chose. So each model then has its own default, and a
 * choice is never taken for a default.
 */
function noChoice({ displayName, name }: INodeProperties): INodeProperties {
	return { displayName, name, type: 'hidden', default: NO_CHOICE, displayOptions: { show: { model: [isExpression] } } };
}

/**
 * A hidden property after a list. n8n makes an empty list of everything that is no list of rows, such as an expression in
 * the place of the whole list, or URLs in JSON that a person or a program wrote: the request would be bought without its
 * images. Of a hidden property n8n keeps the value as it is, and the last property of a name counts.
 *
 * @param hide the conditions that hide the list, too
 */
export function otherShape({ displayName, name, options }: INodeProperties, hide: Conditions = {}): INodeProperties {
	const [row] = options as INodePropertyCollection[];
	return {
		displayName,
		name,
		type: 'hidden',
		default: {},
		displayOptions: { hide: { ...hide, [`/${name}.${row?.name}`]: [areRows] } },
	};
}

/**
 * Met by rows, of which n8n compares the text. The hidden property does not count for them: only in the list itself does
 * n8n fill in the defaults of a row, and remove what belongs to another model.
 */
const areRows = { _cnd: { between: { from: String({}), to: String({}) } } };

/** The dropdown with the value of `noChoice`: without it the editor would call the value unsupported. */
function withNoChoice(property: INodeProperties): INodeProperties {
	if (property.type !== 'options') return property;
	const options = property.options as INodePropertyOptions[];
	if (options.some(({ value }) => value === NO_CHOICE)) return property;
	const before = options.findIndex(({ name }) => SERVICE_DEFAULT.name.localeCompare(name) < 0);
	const place = before === -1 ? options.length : before;
	return { ...property, options: [...options.slice(0, place), SERVICE_DEFAULT, ...options.slice(place)] };
}

const NO_CHOICE = '';
const SERVICE_DEFAULT = { name: 'Service Default', value: NO_CHOICE };
const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);

interface OfModel<T> {
	model: ModelSpec;
	property: T;
}

interface Shared<T> {
	value: T;
	models: ModelSpec[];
	/** The position of the field in each of the models. */
	positions: Map<ModelSpec, number>;
}

/** Groups identical fields, each with the models that have it. */
function shared<T>(ofModels: Array<OfModel<T>>): Array<Shared<T>> {
	const found = new Map<string, Shared<T>>();
	for (const [position, { model, property }] of ofModels.entries()) {
		const key = JSON.stringify(property);
		const entry: Shared<T> = found.get(key) ?? { value: property, models: [], positions: new Map() };
		entry.models.push(model);
		entry.positions.set(model, position);
		found.set(key, entry);
	}
	return [...found.values()];
}

/** Sorts fields so that those of each model keep their order: next comes a field before which none of its models has another. */
function inOrderOf<T>(models: readonly ModelSpec[], all: Array<Shared<T>>): Array<Shared<T>> {
	const ordered: Array<Shared<T>> = [];
	let left = all;
	while (left.length > 0) {
		const first = (model: ModelSpec) => Math.min(...left.map(({ positions }) => positions.get(model) ?? Infinity));
		const isNext = (entry: Shared<T>) => models.every((model) => (entry.positions.get(model) ?? -1) <= first(model));
		const next = left.find(isNext) ?? (left[0] as Shared<T>);
		ordered.push(next);
		left = left.filter((entry) => entry !== next);
	}
	return ordered;
}

/** The entries of all lists of one name. */
function allEntries(
	namesakes: Array<OfModel<INodeProperties>>,
	{ type, options }: INodeProperties,
): INodeProperties['options'] {
	if (type !== 'fixedCollection') return options;
	return (options as INodePropertyCollection[]).map((row) => {
		const values = entriesOf<INodePropertyCollection>(namesakes)
			.filter(({ property }) => property.name === row.name)
			.flatMap(({ model, property }) => property.values.map((value) => ({ model, property: value })));
		return { ...row, values: forTheirModels(values, namesakes) };
	});
}

const entriesOf = <T>(namesakes: Array<OfModel<INodeProperties>>): Array<OfModel<T>> =>
	namesakes.flatMap(({ model, property: { options = [] } }) =>
		(options as T[]).map((property) => ({ model, property })),
	);

function forTheirModels(
	entries: Array<OfModel<INodeProperties>>,
	namesakes: Array<OfModel<INodeProperties>>,
): INodeProperties[] {
	const all = new Set(namesakes.map(({ model }) => model));
	return shared(entries).map(({ value: entry, models }) => {
		if (models.length === all.size) return entry;
		const { displayOptions } = entry;
		return {
			...entry,
			displayOptions: { ...displayOptions, show: { '/model': models.map(({ id }) => id), ...displayOptions?.show } },
		};
	});
}

type Conditions = NonNullable<NonNullable<INodeProperties['displayOptions']>['hide']>;

/**
 * The conditions, turned into what hides the field: where `show` meets an expression, n8n checks no further. So a size
 * of another resolution, with its default, does not count while the model is an expression.
 */
function otherwise(models: readonly ModelSpec[], having: ModelSpec[], show: Conditions): Conditions {
	const fields = having.flatMap(allFields);
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

/** The n8n literal alone: the keys of ours are for the core. */
export function toProperty(field: INodeProperties): INodeProperties {
	return Object.fromEntries(Object.entries(field).filter(([key]) => !OWN_KEYS.has(key))) as unknown as INodeProperties;
}
