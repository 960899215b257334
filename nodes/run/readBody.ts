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
	for (const field of allFields(spec)) {
		// A limit that was added and is empty would be none.
		if (field.type === 'number' && item.options.has(field)) item.options.assertNumberGiven(field);
	}
	// What they were to say, such as a limit or the URL of a callback, would be missing.
	item.options.assertNotLost(additionalFieldsOption);
	const additionalFields = item.options.json(additionalFieldsOption);
	return toBody(spec, { ...values, ...made }, additionalFields);
}

/** Reads one field. Most values are taken as they are: `toBody` converts them, and `checkBody` refuses what is wrong. */
export function readValue(item: Item, field: FieldSpec | INodeProperties): unknown {
	const { shape, bodyValues, bodyPath, inOptions }: Partial<FieldSpec> = field;
	const from = inOptions ? item.options : item;
	if (bodyPath === undefined || bodyValues) return item.givenChoice(field as ChoiceField<string>);
	if (shape === 'names') return readNames(item, field);
	if (shape === 'unixSeconds') return readUnixSeconds(from.value(field), field, item.context.getTimezone());
	// The service has given a number: it gets one.
	if (shape === 'id' && typeof from.value(field) === 'number') return from.value(field);
	// Its length is checked in the body.
	const text = { ...field, maxLength: undefined };
	if (shape === 'name' || shape === 'id') return field.required ? from.requiredText(text) : from.text(text);
	// Left empty, the service would decide.
	return shape === 'number' && field.required ? from.requiredText(text) : from.value(field);
}

/**
 * One name per entry. No entry means no limit, but an expression that gives nothing does not: nobody would notice that
 * the limit is missing.
 */
function readNames(item: Item, field: INodeProperties): unknown[] {
	const { displayName: label } = field;
	const given = item.value(field);
	const names = asArray(given ?? []).map((name) => (typeof name === 'string' ? name.trim() : name));
	const areLost = names.includes(undefined) || names.every((name) => name === '');
	if (areLost && item.isExpression(field.name)) throw gatewayError('expressionGaveNothing', { label });
	const wrong = names.filter((name) => typeof name !== 'string' || /[,\n\r\t"'[\]{}]/.test(name));
	if (wrong.length > 0) throw gatewayError('notOneModel', { label, value: show(wrong[0]) });
	return names;
}
