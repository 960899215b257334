import { isInexact } from '../longIntegers';
import { asArray, deletePath, getPath, isUnset, mergeDeep, setPath, type JsonObject } from '../json';
import { asText } from '../text';
import { checkBody } from './checkBody';
import type { PendingUpload } from './images';
import {
	allFields,
	allowedValues,
	IMAGE_ROLES_PATH,
	isNumeric,
	isVisible,
	type FieldSpec,
	type BodySpec,
} from './spec';

/** One row of an image list: a URL, an asset reference, or a file that is still to be uploaded. */
export interface ImageInput {
	reference: string | PendingUpload;
	/** `first_frame` or `last_frame`; absent: the position in the list decides. */
	role?: string;
}

/** The values of the form by parameter name. Image lists come as `ImageInput[]`, URL lists as `string[]`. */
export type FormValues = Record<string, unknown>;

/**
 * The request body of a form (contract 4.4, 4.5), checked as it is sent. Throws a `badInput` error.
 *
 * @param additionalFields are merged in last
 */
export function toBody(spec: BodySpec, values: FormValues, additionalFields: JsonObject = {}): JsonObject {
	const body = writeBody(spec, values, additionalFields);
	checkBody(spec, body, additionalFields);
	return body;
}

/**
 * Writes what the model has into the body, nothing else. Values that the form would
 * not show for these choices are left out; `additionalFields` are merged in last.
 *
 * A choice that goes with no other (`atMostOne`) is not left out: it may be shown for another model, while the model is
 * an expression, and the rule then says that it cannot be kept.
 */
function writeBody(spec: BodySpec, values: FormValues, additionalFields: JsonObject): JsonObject {
	const body: JsonObject = { ...(spec.id === undefined ? {} : { model: spec.id }), ...spec.constants };
	for (const field of sentFields(spec, values)) writeField(body, inUnit(field, values), valueIn(spec, field, values));
	const merged = mergeDeep(body, additionalFields);
	dropRedundantFalse(spec, merged, additionalFields);
	addSentAlong(spec, merged);
	return merged;
}

/** The fields whose values count for these choices. */
function sentFields(spec: BodySpec, values: FormValues): FieldSpec[] {
	const hidden = hiddenChoices(spec, values).filter(({ bodyPath }) => isExclusive(spec, bodyPath));
	return allFields(spec).filter((field) => isVisible(field, valueOf(spec, values)) || hidden.includes(field));
}

/** One of the Options has no default: it counts only when it was added. */
const valueIn = (spec: BodySpec, field: FieldSpec, values: FormValues): unknown =>
	spec.fields.includes(field) ? orDefault(field, values[field.name]) : values[field.name];

/** The choices of a user, which tell one request from another. */
export interface Chosen {
	model?: string;
	/** Values of the form that are not the default, in their places in the body; null where a default was emptied. */
	form: JsonObject;
	/** As they were given. */
	additionalFields: JsonObject;
}

/**
 * The choices behind a body. Defaults and constants are not among them: a release that adds or changes one would else make
 * another request of the same form, and a retry after the update would buy it again. Two forms with the same choices have
 * the same body.
 *
 * Additional Fields are not merged in, also where they give a default: what they override may decide about other defaults, and
 * a value that they give stays when the default changes.
 */
export function toChosen(spec: BodySpec, values: FormValues, additionalFields: JsonObject = {}): Chosen {
	const form: JsonObject = {};
	for (const field of sentFields(spec, values)) {
		const value = valueIn(spec, field, values);
		const written = JSON.stringify(writtenAlone(inUnit(field, values), value));
		if (written === JSON.stringify(defaultOf(spec, field))) continue;
		if (written === NOTHING) setPath(form, field.bodyPath, null);
		else writeField(form, inUnit(field, values), value);
	}
	return { ...(spec.id === undefined ? {} : { model: spec.id }), form, additionalFields };
}

const NOTHING = JSON.stringify({});

function writtenAlone(field: FieldSpec, value: unknown): JsonObject {
	const body: JsonObject = {};
	writeField(body, field, value);
	return body;
}

/** The default of a field in the body, in the unit that the form begins with. */
function defaultOf(spec: BodySpec, field: FieldSpec): JsonObject {
	const choices = (spec.choices ?? []).map(({ name, default: value }) => [name, value] as const);
	return writtenAlone(inUnit(field, Object.fromEntries(choices)), valueIn(spec, field, {}));
}

/** Adds what a value has no effect without, wherever the value came from. What Additional Fields say of it stays. */
function addSentAlong(spec: BodySpec, body: JsonObject): void {
	for (const { bodyPath, sentAlong = {} } of allFields(spec)) {
		if (isUnset(getPath(body, bodyPath))) continue;
		for (const [name, value] of Object.entries(sentAlong)) body[name] ??= value;
	}
}

/** The field as it is in the unit that was chosen. */
const inUnit = (field: FieldSpec, values: FormValues): FieldSpec =>
	field.units ? { ...field, ...field.units.of[String(values[field.units.field])] } : field;

const valueOf =
	(spec: BodySpec, values: FormValues) =>
	(parameter: string): unknown => {
		const field = allFields(spec).find(({ name }) => name === parameter);
		return field ? orDefault(field, values[parameter]) : values[parameter];
	};

const isExclusive = ({ rules }: BodySpec, bodyPath: string) =>
	rules.some((rule) => rule.kind === 'atMostOne' && rule.of.includes(bodyPath));

/**
 * Fields with a value that the form does not show for these choices: n8n passes them on where a choice is an
 * expression.
 */
export function hiddenChoices(spec: BodySpec, values: FormValues): FieldSpec[] {
	const fields = allFields(spec);
	const isShown = (field: FieldSpec) => isVisible(field, valueOf(spec, values));
	return fields.filter((field) => {
		const value = values[field.name];
		const isChosen = !isUnset(value) && value !== 'false' && value !== field.default && value !== field.notSent;
		return isChosen && !fields.some((other) => other.name === field.name && isShown(other));
	});
}

/**
 * The value of a choice. If an expression gives nothing, it is the form's default: at 4K the service's own default size
 * is not supported.
 */
function orDefault(field: FieldSpec, value: unknown): unknown {
	return value === '' && allowedValues(field) ? field.default : (value ?? field.default);
}

function writeField(body: JsonObject, field: FieldSpec, value: unknown): void {
	if (value === field.notSent) return;
	if (field.shape === 'images' || field.shape === 'imagesWithRoles') {
		const images = value as ImageInput[];
		if (!Array.isArray(images)) return;
		const plain = images.filter((image) => !image.role).map((image) => image.reference);
		const withRoles = images.filter((image) => image.role).map(({ reference, role }) => ({ url: reference, role }));
		if (plain.length > 0) setPath(body, field.bodyPath, plain);
		if (withRoles.length > 0) setPath(body, IMAGE_ROLES_PATH, withRoles);
		return;
	}
	if (field.shape === 'urls') {
		if (Array.isArray(value) && value.length > 0) setPath(body, field.bodyPath, value);
		return;
	}
	const typed = field.shape === 'names' ? joined(getPath(body, field.bodyPath), value) : toTyped(field, value);
	// An emptied field means the service's own default. A required text is sent, so that it is complained about.
	if (typed === undefined || typed === null || (typed === '' && !field.required)) return;
	setPath(body, field.bodyPath, typed);
}

/** The names of the body and those of the field, each once. */
function joined(before: unknown, names: unknown): string {
	return [...new Set([...String(before ?? '').split(','), ...asArray(names)])].filter((name) => name !== '').join(',');
}

/**
 * Converts numbers that are given as text, and texts that are given as a number, as expressions often do. Other values
 * stay as they are, for the error.
 */
function toTyped(field: FieldSpec, value: unknown): unknown {
	if (isNumeric(field)) return scaled(field, toNumber(value));
	if (field.type === 'boolean') return toBoolean(value);
	if (field.shape === 'id' && typeof value === 'number') return value;
	if (field.type === 'string') return toPlainText(value);
	return (
		field.bodyValues?.[String(value)] ?? allowedValues(field)?.find((allowed) => String(allowed) === value) ?? value
	);
}

/** A number below 0 stays as it was entered, to be refused. Without the crumbs of binary fractions: 200 * 0.07 is 14. */
function scaled({ scale }: FieldSpec, value: unknown): unknown {
	return scale !== undefined && typeof value === 'number' && value > 0
		? Number((value * scale).toPrecision(12))
		: value;
}

/**
 * Without the spaces around it: pasting, a sheet and a language model add some. With them, a retry and a Purchase Key would take
 * the same request for another one.
 */
const toPlainText = (value: unknown): unknown => asText(value)?.trim() ?? value;

function toNumber(value: unknown): unknown {
	if (typeof value !== 'string' || value.trim() === '') return value === '' ? undefined : value;
	const number = Number(value);
	// A number that would be rounded stays as it was written, to be refused.
	return Number.isNaN(number) || isInexact(number) ? value : number;
}

function toBoolean(value: unknown): unknown {
	if (value === 'true') return true;
	return value === 'false' ? false : value;
}

/**
 * Removes `audio: false` next to a reference video: it means nothing, and a strict service might refuse both together.
 */
function dropRedundantFalse(spec: BodySpec, body: JsonObject, additionalFields: JsonObject): void {
	for (const rule of spec.rules) {
		if (rule.kind !== 'atMostOne') continue;
		const present = rule.of.filter((path) => !isUnset(getPath(body, path)));
		if (present.length === 0) continue;
		for (const path of rule.of) {
			const ours = getPath(additionalFields, path) === undefined;
			if (ours && getPath(body, path) === false) deletePath(body, path);
		}
	}
}
