import { GatewayError } from '../errors';
import { isPlainObject, isUnset, mergeDeep, deletePath, getPath, setPath, type Body } from '../json';
import { allFields, allowedValues, IMAGE_ROLES_WIRE, isVisible, type FieldSpec, type ModelSpec } from './spec';

/** One row of an image list: a URL, an asset reference, or the marker of an upload that is still to come. */
export interface ImageInput {
	reference: string;
	/** `first_frame` or `last_frame`; absent: the position in the list decides. */
	role?: string;
}

/** The values of the form by parameter name. Image lists come as `ImageInput[]`, URL lists as `string[]`. */
export type FormValues = Record<string, unknown>;

/**
 * Builds the request body (contract 4.4, 4.5): what the model has, nothing else. Values that the form would
 * not show for these choices are left out; `additionalFields` are merged in last.
 */
export function toBody(model: ModelSpec, values: FormValues, additionalFields: Body = {}): Body {
	const body: Body = { model: model.id, ...model.constants };
	const valueOf = (parameter: string) => {
		const field = allFields(model).find(({ name }) => name === parameter);
		return field ? orDefault(field, values[parameter]) : values[parameter];
	};

	for (const field of allFields(model)) {
		if (!isVisible(field, valueOf)) continue;
		const isOptional = !model.fields.includes(field);
		const value = isOptional ? values[field.name] : orDefault(field, values[field.name]);
		if (value === field.notSent && value !== undefined) continue;
		writeField(body, field, value);
	}
	const merged = mergeDeep(body, additionalFields);
	dropRedundantFalse(model, merged, additionalFields);
	return merged;
}

/** A choice that an expression left empty is the form's: at 4K the service's own default size is unsupported. */
function orDefault(field: FieldSpec, value: unknown): unknown {
	return value === '' && allowedValues(field) ? field.default : (value ?? field.default);
}

function writeField(body: Body, field: FieldSpec, value: unknown): void {
	if (field.shape === 'images' || field.shape === 'imagesWithRoles') {
		const images = value as ImageInput[];
		if (!Array.isArray(images)) return;
		const plain = images.filter((image) => !image.role).map((image) => image.reference);
		const withRoles = images
			.filter((image) => image.role)
			.map(({ reference, role }) => ({ url: reference, role }));
		if (plain.length > 0) setPath(body, field.wire, plain);
		if (withRoles.length > 0) setPath(body, IMAGE_ROLES_WIRE, withRoles);
		return;
	}
	if (field.shape === 'urls') {
		if (Array.isArray(value) && value.length > 0) setPath(body, field.wire, value);
		return;
	}
	const typed = toTyped(field, value);
	// An emptied field means the service's own default. A required text is sent, so that it is complained about.
	if (typed === undefined || typed === null || (typed === '' && !field.required)) return;
	setPath(body, field.wire, typed);
}

/** Expressions often give numbers as text. What cannot be meant stays as it is, for the schema to name. */
function toTyped(field: FieldSpec, value: unknown): unknown {
	if (field.type === 'number') return toNumber(value);
	if (field.type === 'boolean') return toBoolean(value);
	return allowedValues(field)?.find((allowed) => String(allowed) === value) ?? value;
}

function toNumber(value: unknown): unknown {
	if (typeof value !== 'string' || value.trim() === '') return value === '' ? undefined : value;
	const number = Number(value);
	return Number.isNaN(number) ? value : number;
}

function toBoolean(value: unknown): unknown {
	if (value === 'true') return true;
	return value === 'false' ? false : value;
}

/** `audio: false` next to a reference video says nothing, and a strict service might read it as both. */
function dropRedundantFalse(model: ModelSpec, body: Body, additionalFields: Body): void {
	for (const rule of model.rules) {
		if (rule.kind !== 'atMostOne') continue;
		const present = rule.of.filter((path) => !isUnset(getPath(body, path)));
		if (present.length === 0) continue;
		for (const path of rule.of) {
			const ours = getPath(additionalFields, path) === undefined;
			if (ours && getPath(body, path) === false) deletePath(body, path);
		}
	}
}

/** The JSON that the user typed into a JSON field, which may also come as an object from an expression. */
export function parseJsonField(label: string, value: unknown): Body {
	if (value === undefined || value === null || value === '') return {};
	let parsed: unknown = value;
	if (typeof value === 'string') {
		if (value.trim() === '') return {};
		try {
			parsed = JSON.parse(value) as unknown;
		} catch (cause) {
			const where = cause instanceof Error ? ` (${cause.message})` : '';
			throw invalidJson(label, where);
		}
	}
	if (!isPlainObject(parsed)) {
		throw new GatewayError('badInput', `${label} must hold a JSON object`, {
			field: label,
			description: 'Write it in braces, e.g. {"seed": 42}. Nothing was sent.',
		});
	}
	return parsed;
}

function invalidJson(label: string, where: string): GatewayError {
	return new GatewayError('badInput', `${label} does not hold valid JSON`, {
		field: label,
		description: `Check quotes, commas and brackets${where}. Nothing was sent.`,
	});
}
