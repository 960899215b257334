import type { INodeProperties } from 'n8n-workflow';
import type { JsonObject } from '../../core/json';
import { allFields, isVisible, type BodySpec, type FieldSpec } from '../../core/models/spec';
import { toBody, toChosen, type Chosen, type FormValues } from '../../core/models/toBody';
import type { ChoiceField, FieldReader } from '../form/fieldReader';
import { additionalFieldsOption } from '../form/options';
import type { Item } from './item';

/** The request of a form. */
export interface FormRequest {
	body: JsonObject;
	chosen: Chosen;
}

/**
 * The request that the form of one item describes, Additional Fields included, checked as it is sent. Throws a
 * `badInput` error; sends nothing.
 *
 * @param made values that are made in another way, and need not be read
 */
export function readBody(item: Item, spec: BodySpec, made: FormValues = {}): FormRequest {
	const values: FormValues = {};
	const read = (from: FieldReader, fields: INodeProperties[]) => {
		for (const field of fields) {
			const isShown = !(field.name in made) && isVisible(field, (name) => item.value({ name }));
			if (isShown) values[field.name] = readValue(from, field);
		}
	};
	read(item, spec.fields);
	read(item.options, spec.optionalFields ?? []);
	read(item, spec.choices ?? []);
	for (const field of allFields(spec)) {
		// A limit that was added and is empty would be none.
		if (field.type === 'number' && item.options.has(field)) item.options.assertNumberGiven(field);
	}
	// What they were to say, such as a limit or the URL of a callback, would be missing.
	item.options.assertNotLost(additionalFieldsOption);
	const additionalFields = item.options.json(additionalFieldsOption);
	const all = { ...values, ...made };
	return { body: toBody(spec, all, additionalFields), chosen: toChosen(spec, all, additionalFields) };
}

/** Reads one field. Most values are taken as they are: `toBody` converts them, and `checkBody` refuses what is wrong. */
export function readValue(from: FieldReader, field: FieldSpec | INodeProperties): unknown {
	const { shape, bodyValues, bodyPath }: Partial<FieldSpec> = field;
	if (bodyPath === undefined || bodyValues) return from.givenChoice(field as ChoiceField<string>);
	// The service has given a number: it gets one.
	if (shape === 'id' && typeof from.value(field) === 'number') return from.value(field);
	// Its length is checked in the body.
	const text = { ...field, maxLength: undefined };
	if (shape === 'name' || shape === 'id') return field.required ? from.requiredText(text) : from.text(text);
	// Left empty, the service would decide.
	return shape === 'number' && field.required ? from.requiredText(text) : from.value(field);
}
