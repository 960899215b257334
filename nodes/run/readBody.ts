import type { INodeProperties } from 'n8n-workflow';
import { gatewayError } from '../../core/errors';
import { asArray, type JsonObject } from '../../core/json';
import { allFields, isVisible, type BodySpec, type FieldSpec } from '../../core/models/spec';
import { toBody, type FormValues } from '../../core/models/toBody';
import { show } from '../../core/text';
import { readUnixSeconds } from '../form/dates';
import type { ChoiceField } from '../form/fieldReader';
import { additionalFieldsOption } from '../form/options';
import type { Item } from './item';

/**
 * The request body that the form of one item describes, Additional Fields included, checked as it is sent. Throws a
 * `badInput` error; sends nothing.
 *
 * @param made values that are made of several fields
 */
export function readBody(item: Item, spec: BodySpec, made: FormValues = {}): JsonObject {
	const values: FormValues = {};
	for (const field of [...allFields(spec), ...(spec.choices ?? [])]) {
		if (isVisible(field, (name) => item.value({ name }))) values[field.name] = readValue(item, field);
	}
	const additionalFields = item.options.json(additionalFieldsOption);
	return toBody(spec, { ...values, ...made }, additionalFields);
}

/** Reads one field. Most values are taken as they are: `toBody` converts them, and `checkBody` refuses what is wrong. */
export function readValue(item: Item, field: FieldSpec | INodeProperties): unknown {
	const { shape, bodyValues, bodyPath, inOptions }: Partial<FieldSpec> = field;
	const from = inOptions ? item.options : item;
	if (bodyPath === undefined || bodyValues) return from.choice(field as ChoiceField<string>);
	if (shape === 'names') return readNames(from.value(field), field);
	if (shape === 'unixSeconds') return readUnixSeconds(from.value(field), field, item.context.getTimezone());
	// Its length is checked in the body.
	const text = { ...field, maxLength: undefined };
	if (shape === 'name') return field.required ? from.requiredText(text) : from.text(text);
	// Left empty, the service would decide.
	return shape === 'number' && field.required ? from.requiredText(text) : from.value(field);
}

/** One name per entry. */
function readNames(given: unknown, { displayName: label }: INodeProperties): unknown[] {
	const names = asArray(given ?? []).map((name) => (typeof name === 'string' ? name.trim() : name));
	const wrong = names.find((name) => typeof name !== 'string' || /[,\s]/.test(name));
	if (wrong !== undefined) throw gatewayError('notOneModel', { label, value: show(wrong) });
	return names;
}
