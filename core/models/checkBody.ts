import { z } from 'zod';
import { gatewayError, GatewayError } from '../errors';
import { asArray, getPath, isPlainObject, type JsonObject } from '../json';
import { show } from '../text';
import { isHttpUrl } from '../urls';
import { checkList, describeNumber, labelOf, notAllowed } from './describe';
import { checkImages, checkRoles } from './images';
import { checkRule } from './rules';
import { allFields, allowedValues, IMAGE_ROLES_WIRE, isVisible, type FieldSpec, type ModelSpec } from './spec';

/**
 * Checks a request body against its model: every bound of its fields and every rule between them, on what is really
 * sent (Additional Fields included). Throws a `badInput` error that names the field by its label, its value, and what
 * is allowed; what else is wrong is in `others`.
 */
export function checkBody(model: ModelSpec, body: JsonObject): void {
	const [first, ...others] = [
		...checkContainers(model, body),
		...fieldsFor(model, body).flatMap((field) => checkField(model, field, body)),
		...model.rules.map((rule) => checkRule(rule, body, (path) => labelOf(model, path))),
	].filter((issue) => issue !== undefined);
	if (first !== undefined) throw new GatewayError(first.kind, first.message, { ...first.details, others });
}

/**
 * The fields that the form would show for this body; of several fields for one path, the one that applies. A
 * hidden field counts, too, when Additional Fields gave it a value.
 */
function fieldsFor(model: ModelSpec, body: JsonObject): FieldSpec[] {
	const fields = allFields(model);
	const valueOf = (parameter: string) => {
		const field = fields.find(({ name }) => name === parameter);
		return field && (getPath(body, field.wire) ?? field.notSent ?? field.default);
	};
	const isGivenAnyway = ({ wire }: FieldSpec) =>
		fields.filter((field) => field.wire === wire).length === 1 && getPath(body, wire) !== undefined;
	return fields.filter((field) => isVisible(field, valueOf) || isGivenAnyway(field));
}

/** What holds fields (`metadata`, `video_list`) must be an object or a list, or they could not be looked at. */
function checkContainers(model: ModelSpec, body: JsonObject): GatewayError[] {
	const containers = new Map<string, boolean>();
	for (const { wire } of allFields(model)) {
		const keys = wire.split('.');
		keys.slice(1).forEach((key, index) => containers.set(keys.slice(0, index + 1).join('.'), /^\d+$/.test(key)));
	}
	return [...containers].flatMap(([path, isList]) => {
		const value = getPath(body, path);
		const fits = isList ? Array.isArray(value) : isPlainObject(value);
		if (value === undefined || fits) return [];
		return [gatewayError('wrongContainer', { label: path, value: show(value), model: model.id, allowed: isList ? 'a list' : 'an object' })];
	});
}

function checkField(model: ModelSpec, field: FieldSpec, body: JsonObject): Array<GatewayError | undefined> {
	const value = getPath(body, field.wire);
	return [
		value === undefined ? checkAbsent(field) : checkValue(model, field, value),
		field.shape === 'imagesWithRoles' ? checkRoles(model, field, getPath(body, IMAGE_ROLES_WIRE)) : undefined,
	];
}

function checkAbsent(field: FieldSpec): GatewayError | undefined {
	return field.required ? gatewayError('fieldEmpty', { label: field.displayName }) : undefined;
}

function checkValue(model: ModelSpec, field: FieldSpec, value: unknown): GatewayError | undefined {
	if (field.shape === 'images' || field.shape === 'imagesWithRoles') {
		return checkList(model, field, value) ?? checkImages(model, field, value);
	}
	if (field.shape === 'urls') return checkList(model, field, value) ?? checkUrls(field, value);
	const allowed = allowedValues(field);
	if (allowed) return allowed.some((each) => each === value) ? undefined : notAllowed(model, field, value, allowed.join(', '));
	if (field.type === 'number') return checkNumber(model, field, value);
	if (field.type === 'boolean') return typeof value === 'boolean' ? undefined : notAllowed(model, field, value, 'true or false');
	return checkText(model, field, value);
}

function checkNumber(model: ModelSpec, field: FieldSpec, value: unknown): GatewayError | undefined {
	const { minValue, maxValue, numberPrecision } = field.typeOptions ?? {};
	let schema = z.number().finite();
	if (numberPrecision === 0) schema = schema.int();
	if (minValue !== undefined) schema = schema.min(minValue);
	if (maxValue !== undefined) schema = schema.max(maxValue);
	return schema.safeParse(value).success ? undefined : notAllowed(model, field, value, describeNumber(field));
}

function checkText(model: ModelSpec, field: FieldSpec, value: unknown): GatewayError | undefined {
	if (typeof value !== 'string') return notAllowed(model, field, value, 'text');
	if (field.required && value.trim() === '') return checkAbsent(field);
	if (field.format === 'url' && !isHttpUrl(value)) return checkUrls(field, value);
	const { length } = [...value];
	if (field.maxLength === undefined || length <= field.maxLength) return undefined;
	return gatewayError('tooLong', { label: field.displayName, length, model: model.id, maxLength: field.maxLength });
}

function checkUrls(field: FieldSpec, value: unknown): GatewayError | undefined {
	const wrong = asArray(value).find((url) => !isHttpUrl(url));
	return wrong === undefined ? undefined : gatewayError('noUrl', { label: field.displayName, value: show(wrong) });
}
