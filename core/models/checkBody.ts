import { gatewayError, GatewayError } from '../errors';
import { asArray, getPath, isPlainObject, type JsonObject } from '../json';
import { isInexact } from '../longIntegers';
import { either, show } from '../text';
import { isAssetLike, isAssetReference, isFileContent, isHttpUrl, isUrl } from '../urls';
import { checkList, describeNumber, labelOf, notAllowed, takerOf } from './describe';
import { checkImages, checkRoles } from './images';
import { checkImagesElsewhere } from './imagesElsewhere';
import { checkRule } from './rules';
import {
	allFields,
	allowedValues,
	IMAGE_ROLES_PATH,
	isNumeric,
	isVisible,
	type FieldSpec,
	type BodySpec,
	type ValueSource,
} from './spec';

/**
 * Checks a request body against its model: every bound of its fields and every rule between them, on what is really
 * sent (Additional Fields included). Throws a `badInput` error that names the field by its label, its value, and what
 * is allowed; what else is wrong is in `others`.
 *
 * @param additionalFields what they gave may be more than the form has, where the contract does not close it
 */
export function checkBody(spec: BodySpec, body: JsonObject, additionalFields: JsonObject): void {
	const sourceOf = (path: string): ValueSource => (getPath(additionalFields, path) === undefined ? 'form' : 'json');
	const [first, ...others] = [
		...checkContainers(spec, body),
		...fieldsFor(spec, body).flatMap((field) => checkField(spec, field, body, sourceOf)),
		...(spec.id === undefined ? [] : checkImagesElsewhere(spec, body)),
		...spec.rules.map((rule) => checkRule(rule, body, sourceOf, (path) => labelOf(spec, path))),
	].filter((issue) => issue !== undefined);
	if (first !== undefined) throw new GatewayError(first.kind, first.message, { ...first.details, others });
}

/**
 * The fields that the form would show for this body; of several fields for one path, the one that applies. A
 * hidden field counts, too, when Additional Fields gave it a value.
 */
function fieldsFor(spec: BodySpec, body: JsonObject): FieldSpec[] {
	const fields = allFields(spec);
	const valueOf = (parameter: string) => {
		const field = fields.find(({ name }) => name === parameter);
		// A field that depends on such a choice is required of the form, not of Additional Fields.
		if (field?.bodyValues) return undefined;
		return field && (getPath(body, field.bodyPath) ?? field.notSent ?? field.default);
	};
	const isGivenAnyway = ({ bodyPath }: FieldSpec) =>
		fields.filter((field) => field.bodyPath === bodyPath).length === 1 &&
		(getPath(body, bodyPath) !== undefined || hasEntry(body, bodyPath));
	const others = (spec.otherFields ?? []).filter(({ bodyPath }) => getPath(body, bodyPath) !== undefined);
	const applying = [...fields.filter((field) => isVisible(field, valueOf) || isGivenAnyway(field)), ...others];
	return applying.filter((field, index) => applying.findIndex(({ bodyPath }) => bodyPath === field.bodyPath) === index);
}

/** True when the list has the entry that holds the field: then the entry must hold its required fields. */
function hasEntry(body: JsonObject, bodyPath: string): boolean {
	const entry = /.*\.\d+(?=\.)/.exec(bodyPath)?.[0];
	return entry !== undefined && getPath(body, entry) !== undefined;
}

/**
 * A value that holds fields (`metadata`, `video_list`) must be an object or a list: otherwise its fields could not be
 * checked.
 */
function checkContainers(spec: BodySpec, body: JsonObject): GatewayError[] {
	const containers = new Map<string, boolean>();
	for (const { bodyPath } of allFields(spec)) {
		const keys = bodyPath.split('.');
		keys.slice(1).forEach((key, index) => containers.set(keys.slice(0, index + 1).join('.'), /^\d+$/.test(key)));
	}
	return [...containers].flatMap(([path, isList]) => {
		const value = getPath(body, path);
		const fits = isList ? Array.isArray(value) : isPlainObject(value);
		if (value === undefined || fits) return [];
		return [
			gatewayError('valueOfWrongType', {
				label: path,
				value: show(value),
				model: takerOf(spec),
				allowed: isList ? 'a list' : 'an object',
			}),
		];
	});
}

function checkField(
	spec: BodySpec,
	field: FieldSpec,
	body: JsonObject,
	sourceOf: (path: string) => ValueSource,
): Array<GatewayError | undefined> {
	const value = getPath(body, field.bodyPath);
	return [
		value === undefined || (value === '' && field.alwaysSent)
			? checkAbsent(field)
			: checkGiven(spec, field, value, sourceOf(field.bodyPath)),
		field.shape === 'imagesWithRoles'
			? checkRoles(spec, field, getPath(body, IMAGE_ROLES_PATH), sourceOf(IMAGE_ROLES_PATH))
			: undefined,
	];
}

function checkAbsent(field: FieldSpec): GatewayError | undefined {
	return (field.alwaysSent ?? field.required) ? isEmpty(field) : undefined;
}

const isEmpty = ({ displayName: label }: FieldSpec) => gatewayError('fieldEmpty', { label });

/**
 * The error of a value. One that the form does not take, but Additional Fields would, gets an error that says no more
 * than that.
 */
function checkGiven(spec: BodySpec, field: FieldSpec, value: unknown, source: ValueSource): GatewayError | undefined {
	const issue = checkValue(spec, field, value, source);
	const reason = issue?.details.reason;
	// No JSON can carry a number that is none, wherever it is entered.
	if (reason?.name !== 'valueNotAllowed' || isInexact(value)) return issue;
	if (checkValue(spec, field, value, 'json')) return issue;
	return gatewayError('valueNotInForm', { ...reason.data, path: field.bodyPath });
}

function checkValue(spec: BodySpec, field: FieldSpec, value: unknown, source: ValueSource): GatewayError | undefined {
	const isJson = source === 'json';
	if (isJson && field.extraValues === 'all') return undefined;
	if (field.shape === 'images' || field.shape === 'imagesWithRoles') {
		return checkList(spec, field, value) ?? checkImages(spec, field, value, source);
	}
	if (field.shape === 'urls') return checkList(spec, field, value) ?? checkUrls(spec, field, value, source);
	if (field.shape === 'object') return isPlainObject(value) ? undefined : notAllowed(spec, field, value, 'an object');
	// The form's choice for "not used" means nothing to the service.
	const choices = field.bodyValues ? Object.values(field.bodyValues) : allowedValues(field);
	const allowed = choices?.filter((each) => each !== '' && (!isJson || each !== field.notSent));
	if (allowed)
		return allowed.some((each) => each === value) ? undefined : notAllowed(spec, field, value, either(allowed));
	if (isNumeric(field)) return checkNumber(spec, isJson && field.extraValues ? withoutBounds(field) : field, value);
	if (field.type === 'boolean')
		return typeof value === 'boolean' ? undefined : notAllowed(spec, field, value, 'true or false');
	return checkText(spec, field, value, source);
}

const withoutBounds = (field: FieldSpec): FieldSpec => ({ ...field, min: undefined, max: undefined });

function checkNumber(spec: BodySpec, field: FieldSpec, value: unknown): GatewayError | undefined {
	if (isWithin(field, value)) return undefined;
	const { displayName: label, reasons } = field;
	return reasons?.integer && isWithin({ ...field, integer: false }, value)
		? gatewayError(reasons.integer, { label, value: show(value) })
		: notAllowed(spec, field, value, describeNumber(field));
}

function isWithin({ min = -Infinity, max = Infinity, integer }: FieldSpec, value: unknown): boolean {
	const isNumber = typeof value === 'number' && (integer ? Number.isSafeInteger(value) : !isInexact(value));
	return isNumber && value >= min && value <= max;
}

function checkText(spec: BodySpec, field: FieldSpec, value: unknown, source: ValueSource): GatewayError | undefined {
	if (field.shape === 'id' && Number.isSafeInteger(value)) return undefined;
	if (typeof value !== 'string') return notAllowed(spec, field, value, 'text');
	if (field.required && value.trim() === '') return isEmpty(field);
	const { displayName: label, maxLength: max, reasons = {} } = field;
	if (reasons.format) {
		if (field.format === 'url' ? isHttpUrl(value) : isUrl(value)) return undefined;
		return reasons.file && isFileContent(value)
			? gatewayError(reasons.file, { label })
			: gatewayError(reasons.format, { label, value: show(value) });
	}
	if (field.format === 'url') return checkUrls(spec, field, value, source);
	const { length } = [...value];
	if (max === undefined || length <= max) return undefined;
	return reasons.maxLength
		? gatewayError(reasons.maxLength, { label, length, max })
		: gatewayError('textTooLong', { label, length, max, model: spec.id });
}

function checkUrls(spec: BodySpec, field: FieldSpec, value: unknown, source: ValueSource): GatewayError | undefined {
	const { displayName: label } = field;
	const index = asArray(value).findIndex((url) => !isHttpUrl(url) && !(source === 'json' && isAssetReference(url)));
	if (index === -1) return undefined;
	const wrong = asArray(value)[index];
	if (isAssetReference(wrong))
		return gatewayError('assetNotAccepted', { label, value: show(wrong), model: takerOf(spec) });
	return gatewayError(source === 'json' && isAssetLike(wrong) ? 'notAnAssetReference' : 'notAUrl', {
		label,
		value: show(wrong),
	});
}
