import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { markRequired } from './markRequired';
import { CUSTOM_MODEL, OPTIONAL_FIELDS_PARAMETER, OWN_KEYS, type FieldSpec, type ModelSpec } from './spec';

/** The entries of the model dropdown, sorted as n8n wants it; one of them opens Custom Model. */
export function toModelOptions(models: readonly ModelSpec[]): INodePropertyOptions[] {
	return [
		...models.map(({ id, summary }) => ({ name: id, value: id, description: summary })),
		{
			name: 'Custom Model',
			value: CUSTOM_MODEL,
			description: 'A model that is not in this list: enter its ID and its request body',
		},
	].sort((a, b) => a.name.localeCompare(b.name));
}

/**
 * The form of all models: each field is shown for the models that have it. A field that several models share to
 * the letter becomes one property.
 */
export function toProperties(models: readonly ModelSpec[]): INodeProperties[] {
	const merged = new Map<string, { property: INodeProperties; modelIds: string[] }>();
	for (const model of models) {
		for (const property of propertiesOf(model)) {
			const key = JSON.stringify(property);
			const entry = merged.get(key) ?? { property, modelIds: [] };
			entry.modelIds.push(model.id);
			merged.set(key, entry);
		}
	}
	return [...merged.values()].flatMap(({ property, modelIds }) => {
		const { displayOptions } = property;
		const shown = { ...property, displayOptions: { ...displayOptions, show: { model: modelIds, ...displayOptions?.show } } };
		return property.required ? markRequired(shown) : [shown];
	});
}

function propertiesOf(model: ModelSpec): INodeProperties[] {
	const properties = model.fields.map(toProperty);
	if (!model.optionalFields) return properties;
	// An empty list helps nobody: one whose entries all depend on the same choice depends on it, too.
	const [condition, ...others] = model.optionalFields.map(({ displayOptions }) => displayOptions);
	const isCommon = others.every((other) => JSON.stringify(other) === JSON.stringify(condition));
	return [
		...properties,
		{
			displayName: 'Optional Fields',
			name: OPTIONAL_FIELDS_PARAMETER,
			type: 'collection',
			placeholder: 'Add Field',
			default: {},
			description: 'Fields whose default is up to the service: sent only when added',
			...(condition && isCommon && { displayOptions: condition }),
			options: model.optionalFields.map(toProperty),
		},
	];
}

/** The n8n literal alone: the keys of ours are for the core. */
function toProperty(field: FieldSpec): INodeProperties {
	return Object.fromEntries(
		Object.entries(field).filter(([key]) => !OWN_KEYS.has(key)),
	) as unknown as INodeProperties;
}
