import type { INodePropertyOptions } from 'n8n-workflow';
import { gatewayError, GatewayError, invalidInput } from '../errors';
import { asArray, getPath, isPlainObject, isUnset, mergeDeep, setPath, type JsonObject } from '../json';
import { isInexact } from '../longIntegers';
import { asText, either, show } from '../text';
import { isAssetLike, isAssetReference, isFileContent, isHttpUrl, isSeveralUrls } from '../urls';
import { IMAGE_NAMES, imageLabel, imagesAt, PendingUpload } from './images';
import { allowedValues, isNumeric, isVisible, type FieldSpec, type ModelSpec } from './model';
import { IMAGE_ROLES_PATH, IMAGE_URLS_PATH, ROLE_LABELS, ROLES } from '../labels';

/** One row of an image list: a URL, an asset reference, or a file that is still to be uploaded. */
export interface ImageInput {
	reference: string | PendingUpload;
	/** `first_frame` or `last_frame`; absent: the position in the list decides. */
	role?: string;
}

/** The values of the form by parameter name. Image lists come as `ImageInput[]`, URL lists as `string[]`. */
export type FormValues = Record<string, unknown>;

/**
 * The request body of a form (contract 4.4, 4.5): what the model has, and nothing else, checked as it is sent. Values that the form
 * would not show for these choices are left out. Throws a `badInput` error.
 *
 * @param additionalFields are merged in last
 */
export function toBody(model: ModelSpec, values: FormValues, additionalFields: JsonObject = {}): JsonObject {
	const body: JsonObject = { model: model.id, ...model.constants };
	for (const field of sentFields(model, values)) writeField(body, field, orDefault(field, values[field.name]));
	const merged = mergeDeep(body, additionalFields);
	checkBody(model, merged, additionalFields);
	return merged;
}

/** The body without what the service would not use. */
export function withoutUnused({ rules }: ModelSpec, body: JsonObject, additionalFields: JsonObject): JsonObject {
	return rules.reduce((rest, { shorten }) => shorten?.(rest, additionalFields) ?? rest, body);
}

/** The choices of a user, which tell one request from another. */
export interface Chosen {
	model?: string;
	/** Values of the form that are not the default, in their places in the body; null where a default was emptied. */
	form: JsonObject;
	/** As they were given. */
	additionalFields: JsonObject;
}

/**
 * The choices behind a body. Defaults and constants are not among them: a release that changes one would else make
 * another request of the same form, and a retry would buy it again. Two forms with the same choices have the same body.
 *
 * Additional Fields are not merged in, also where they give a default: what they override may decide about other defaults, and
 * a value that they give stays when the default changes.
 */
export function toChosen(model: ModelSpec, values: FormValues, additionalFields: JsonObject = {}): Chosen {
	const form: JsonObject = {};
	for (const field of sentFields(model, values)) {
		const value = orDefault(field, values[field.name]);
		const written = writtenAlone(field, value);
		if (written === writtenAlone(field, field.default)) continue;
		if (written === NOTHING) setPath(form, field.bodyPath, null);
		else writeField(form, field, value);
	}
	return { model: model.id, form: withoutUnused(model, form, additionalFields), additionalFields };
}

const NOTHING = JSON.stringify({});

function writtenAlone(field: FieldSpec, value: unknown): string {
	const body: JsonObject = {};
	writeField(body, field, value);
	return JSON.stringify(body);
}

/** The fields whose values count for these choices. */
function sentFields(model: ModelSpec, values: FormValues): FieldSpec[] {
	const hidden = hiddenChoices(model, values);
	return model.fields.filter(
		(field) => isVisible(field, valueOf(model, values)) || (field.sentHidden && hidden.includes(field)),
	);
}

/** Fields with a value that the form does not show for these choices: n8n passes it on if a choice is an expression. */
export function hiddenChoices({ fields, ...model }: ModelSpec, values: FormValues): FieldSpec[] {
	const isShown = (field: FieldSpec) => isVisible(field, valueOf({ ...model, fields }, values));
	return fields.filter((field) => {
		const value = values[field.name];
		const isChosen = !isUnset(value) && value !== 'false' && value !== field.default && value !== field.notSent;
		return isChosen && !fields.some((other) => other.name === field.name && isShown(other));
	});
}

const valueOf =
	({ fields }: ModelSpec, values: FormValues) =>
	(parameter: string): unknown => {
		const field = fields.find(({ name }) => name === parameter);
		return field && orDefault(field, values[parameter]);
	};

/** If an expression gives nothing, the form's default counts: at 4K the service's own default size is not supported. */
function orDefault(field: FieldSpec, value: unknown): unknown {
	return value === '' && allowedValues(field) ? field.default : (value ?? field.default);
}

function writeField(body: JsonObject, field: FieldSpec, value: unknown): void {
	const { bodyPath, shape, notSent, required } = field;
	if (value === notSent) return;
	if (shape === 'images' || shape === 'imagesWithRoles' || shape === 'urls') {
		if (!Array.isArray(value)) return;
		const entries: ImageInput[] = shape === 'urls' ? value.map((reference: string) => ({ reference })) : value;
		const isWithRole = ({ role }: ImageInput) => Boolean(role);
		const plain = entries.filter((image) => !isWithRole(image)).map(({ reference }) => reference);
		const withRoles = entries.filter(isWithRole).map(({ reference, role }) => ({ url: reference, role }));
		if (plain.length > 0) setPath(body, bodyPath, plain);
		if (withRoles.length > 0) setPath(body, IMAGE_ROLES_PATH, withRoles);
		return;
	}
	const typed = toTyped(field, value);
	// An emptied field means the service's own default. A required text is sent, so that it is complained about.
	if (typed === undefined || typed === null || (typed === '' && !required)) return;
	setPath(body, bodyPath, typed);
}

/** Converts numbers given as text, and texts given as a number, as expressions do. Other values stay, for the error. */
function toTyped(field: FieldSpec, value: unknown): unknown {
	if (isNumeric(field)) return toNumber(value);
	// Trimmed: a sheet or a language model adds spaces, and a retry and a Purchase Key would see another request.
	if (field.type === 'string')
		return typeof value === 'number' && isInexact(value) ? value : (asText(value)?.trim() ?? value);
	const text = asText(value)?.trim();
	return allowedValues(field)?.find((allowed) => String(allowed) === text) ?? value;
}

/** A number that is given as text, as expressions and text fields do; nothing where the text is empty. */
export function toNumber(value: unknown): unknown {
	if (typeof value !== 'string' || value.trim() === '') return value === '' ? undefined : value;
	const number = Number(value);
	// A number that would be rounded stays as it was written, to be refused.
	return Number.isNaN(number) || isInexact(number) ? value : number;
}

/** The origin of a value: a field of the form, or Additional Fields, which may give more than the form has. */
type ValueSource = 'form' | 'json';

/** A value of a body, with the field that it is checked against. */
interface Given {
	model: ModelSpec;
	field: FieldSpec;
	value: unknown;
	source: ValueSource;
}

/**
 * Checks a request body against its model: all bounds of fields and all rules between them, on what is really sent.
 * Throws a `badInput` error that names the field, its value, and what is allowed; more mistakes are in `others`.
 *
 * @param additionalFields what they gave may be more than the form has, where the contract does not close it
 */
export function checkBody(model: ModelSpec, body: JsonObject, additionalFields: JsonObject): void {
	const givenAt = (field: FieldSpec, path: string): Given => ({
		...{ model, field, value: getPath(body, path) },
		source: getPath(additionalFields, path) === undefined ? 'form' : 'json',
	});
	throwAll([
		...checkContainers(model, body),
		...fieldsFor(model, body).flatMap((field) => [
			checkField(givenAt(field, field.bodyPath)),
			field.shape === 'imagesWithRoles' ? checkRoles(givenAt(field, IMAGE_ROLES_PATH)) : undefined,
		]),
		...checkImagesElsewhere(model, body),
		...model.rules.map(({ refuse }) => refuse?.(body, additionalFields)),
	]);
}

/** Throws the first error, with the others in it. */
export function throwAll(found: Array<GatewayError | undefined>): void {
	const [first, ...others] = found.filter((error) => error !== undefined);
	if (first !== undefined) throw new GatewayError(first.kind, first.message, { ...first.details, others });
}

/**
 * The fields that the form would show for this body; of several fields for one path, the one that applies. A
 * hidden field counts, too, when Additional Fields gave it a value.
 */
function fieldsFor({ fields, otherFields = [] }: ModelSpec, body: JsonObject): FieldSpec[] {
	const chosenIn = (parameter: string) => {
		const field = fields.find(({ name }) => name === parameter);
		return field && (getPath(body, field.bodyPath) ?? field.notSent ?? field.default);
	};
	const isGivenAnyway = ({ bodyPath }: FieldSpec) =>
		fields.filter((field) => field.bodyPath === bodyPath).length === 1 &&
		(getPath(body, bodyPath) !== undefined || hasEntry(body, bodyPath));
	const others = otherFields.filter(({ bodyPath }) => getPath(body, bodyPath) !== undefined);
	const applying = [...fields.filter((field) => isVisible(field, chosenIn) || isGivenAnyway(field)), ...others];
	return applying.filter((field, index) => applying.findIndex(({ bodyPath }) => bodyPath === field.bodyPath) === index);
}

/** True when the list has the entry that holds the field: then the entry must hold its required fields. */
function hasEntry(body: JsonObject, bodyPath: string): boolean {
	const entry = /.*\.\d+(?=\.)/.exec(bodyPath)?.[0];
	return entry !== undefined && getPath(body, entry) !== undefined;
}

/** Values that hold fields (`metadata`, `video_list`) must be objects or lists, or their fields could not be checked. */
function checkContainers({ id, fields }: ModelSpec, body: JsonObject): GatewayError[] {
	const containers = new Map<string, boolean>();
	for (const { bodyPath } of fields) {
		const keys = bodyPath.split('.');
		keys.slice(1).forEach((key, index) => containers.set(keys.slice(0, index + 1).join('.'), /^\d+$/.test(key)));
	}
	return [...containers].flatMap(([path, isList]) => {
		const value = getPath(body, path);
		const fits = isList ? Array.isArray(value) : isPlainObject(value);
		if (value === undefined || fits) return [];
		const allowed = isList ? 'a list' : 'an object';
		return [invalidInput(`${path} is ${show(value)}: ${id} takes ${allowed}`, 'Change it in Additional Fields.')];
	});
}

/** The error of a value. Where only the form does not take it, but Additional Fields do, it says no more than that. */
function checkField(given: Given): GatewayError | undefined {
	const { field, value } = given;
	if (value === undefined || (value === '' && field.alwaysSent))
		return field.alwaysSent || field.required ? isEmpty(given) : undefined;
	const issue = checkValue(given);
	const reason = issue?.details.reason;
	// No JSON can carry a number that is none, wherever it is entered.
	if (reason?.name !== 'valueNotAllowed' || isInexact(value)) return issue;
	if (checkValue({ ...given, source: 'json' })) return issue;
	const { label, value: shown, allowed } = reason.data;
	return invalidInput(
		`${label} is ${shown}: the form allows ${allowed}`,
		`Change ${label} to an allowed value. Not all values of this model are documented: to send this one, enter it as ${field.bodyPath} in Additional Fields.`,
	);
}

/** The form may have another value, which is right: the advice names the place of the one that counts. */
const isEmpty = ({ field: { displayName: label }, source }: Given) =>
	gatewayError('fieldEmpty', {
		label,
		...(source === 'json' && { enter: `Change ${label} in Additional Fields, or remove it there.` }),
	});

function checkValue(given: Given): GatewayError | undefined {
	const { field, value } = given;
	const isJson = given.source === 'json';
	if (isJson && field.extraValues === 'all') return undefined;
	if (field.shape === 'images' || field.shape === 'imagesWithRoles') return checkList(given) ?? checkImages(given);
	if (field.shape === 'urls') return checkList(given) ?? checkUrls(given);
	if (field.shape === 'object') return isPlainObject(value) ? undefined : notAllowed(given, 'an object');
	// The form's choice for "not used" means nothing to the service.
	const allowed = allowedValues(field)?.filter((each) => each !== '' && (!isJson || each !== field.notSent));
	if (allowed) return allowed.some((each) => each === value) ? undefined : notAllowed(given, either(allowed));
	return isNumeric(field) ? checkNumber(given) : checkText(given);
}

function checkNumber(given: Given): GatewayError | undefined {
	const { field, value, source } = given;
	const { min = -Infinity, max = Infinity, integer } = field;
	const isNumber = typeof value === 'number' && (integer ? Number.isSafeInteger(value) : !isInexact(value));
	const isOpen = source === 'json' && field.extraValues !== undefined;
	if (isNumber && (isOpen || (value >= min && value <= max))) return undefined;
	return notAllowed(given, describeNumber(isOpen ? { integer } : field));
}

function checkText(given: Given): GatewayError | undefined {
	const { model, field, value } = given;
	if (typeof value !== 'string') return notAllowed(given, 'text');
	if (field.required && value.trim() === '') return isEmpty(given);
	if (field.format === 'url') return checkUrls(given);
	const { displayName: label, maxLength: max } = field;
	const { length } = [...value];
	if (max === undefined || length <= max) return undefined;
	return gatewayError('textTooLong', { label, length, max, model: model.id });
}

function checkUrls({ model, field: { displayName: label }, value, source }: Given): GatewayError | undefined {
	const isFine = (url: unknown) => isHttpUrl(url) || (source === 'json' && isAssetReference(url));
	const wrong = asArray(value).filter((url) => isSeveralUrls(url) || !isFine(url));
	if (wrong.length === 0) return undefined;
	const given = show(wrong[0]);
	if (isSeveralUrls(wrong[0])) return severalUrls(label, given);
	if (isAssetReference(wrong[0])) return gatewayError('assetNotAccepted', { label, value: given, model: model.id });
	return source === 'json' && isAssetLike(wrong[0])
		? notAnAssetReference(label, given)
		: invalidInput(
				`${label} contains ${given}, which is not an http(s) URL`,
				'Enter a public URL that starts with https:// or http://.',
			);
}

const severalUrls = (label: string, shown: string): GatewayError =>
	invalidInput(
		`${label} contains several URLs in one text: ${shown}`,
		'Enter one URL in each field or row. Where the form takes several, an expression can return a list of them.',
	);

const notAnAssetReference = (label: string, shown: string): GatewayError =>
	invalidInput(
		`${label} is ${shown}, which does not name an asset`,
		'Enter the reference that Asset → Upload returned, e.g. asset://pa_123.',
	);

const imageIsFile = (label: string): GatewayError =>
	invalidInput(
		`${label} contains base64 data: the service accepts image URLs only`,
		'Set the source of the image to Binary Field: the image is then uploaded first.',
	);

/** The error of a value that is no list: only Additional Fields can give one. */
function checkList(given: Given): GatewayError | undefined {
	return Array.isArray(given.value) ? undefined : notAllowed(given, 'a list');
}

/**
 * Checks a list of images: public URLs, pending uploads, and asset references where the model takes them or where
 * Additional Fields give the list, because the contract does not show which field carries them (4.4.5).
 */
function checkImages({ model, field, value, source }: Given): GatewayError | undefined {
	const images = asArray(value);
	const takesAssets = source === 'json' || model.acceptsAssets === true;
	const isFine = (image: unknown) =>
		image instanceof PendingUpload || isHttpUrl(image) || (takesAssets && isAssetReference(image));
	const index = images.findIndex((image) => isSeveralUrls(image) || !isFine(image));
	if (index === -1) return undefined;
	const image = images[index];
	const label = images.length === 1 ? field.displayName : imageLabel(field, index);
	const shown = show(image);
	if (isUnset(image))
		return invalidInput(`${label} is empty`, 'Enter a URL, choose Binary Field as its source, or remove the row.');
	if (isSeveralUrls(image)) return severalUrls(label, shown);
	if (isAssetReference(image)) return gatewayError('assetNotAccepted', { label, value: shown, model: model.id });
	if (isAssetLike(image)) return notAnAssetReference(label, shown);
	if (isFileContent(image)) return imageIsFile(label);
	return invalidInput(
		`${label} is ${shown}, which is not an http(s) URL`,
		'Enter a public URL that starts with https:// or http://, or set the source to Binary Field.',
	);
}

function checkRoles(given: Given): GatewayError | undefined {
	const { model, field, value } = given;
	if (value === undefined) return undefined;
	const noList = checkList(given);
	if (noList) return noList;
	const noObject = asArray(value).find((entry) => !isPlainObject(entry));
	if (noObject !== undefined) return notAllowed({ ...given, value: noObject }, 'objects with url and role');
	const entries = asArray(value).map((entry, index) => ({
		label: imageLabel(field, index),
		url: getPath(entry, 'url'),
		role: getPath(entry, 'role'),
	}));
	const without = entries.find(({ role }) => isUnset(role));
	if (without)
		return invalidInput(
			`${without.label} has no role`,
			`Give each entry of ${IMAGE_ROLES_PATH} the role ${either(ROLES)}, or use ${IMAGE_URLS_PATH}.`,
		);
	const wrong = entries.find(({ role }) => !ROLES.some((known) => known === role));
	if (wrong)
		return invalidInput(
			`${wrong.label} has the role ${show(wrong.role)}, which ${model.id} does not support`,
			`Set Role to ${either(Object.values(ROLE_LABELS))}. An expression must return ${either(ROLES)}.`,
		);
	return checkImages({ ...given, value: entries.map(({ url }) => url) });
}

/** Refuses base64 data as an image, also where the form has no such field: the service accepts none (contract 7). */
function checkImagesElsewhere({ fields, otherFields = [] }: ModelSpec, body: JsonObject): GatewayError[] {
	const known = [...fields, ...otherFields].flatMap(({ bodyPath, shape }) =>
		shape === 'imagesWithRoles' ? [bodyPath, IMAGE_ROLES_PATH] : [bodyPath],
	);
	return IMAGE_NAMES.filter((name) => !known.includes(name) && imagesAt(body, name).some(isFileContent)).map((name) =>
		imageIsFile(name),
	);
}

function notAllowed({ model, field, value, source }: Given, allowed: string): GatewayError {
	const conditions = describeConditions(model, field);
	const when = conditions.length > 0 ? ` when ${conditions.join(' and ')}` : '';
	return gatewayError('valueNotAllowed', {
		...{ label: field.displayName, value: show(value), model: model.id },
		allowed: `${allowed}${when}`,
		...(source === 'json' && { place: 'Additional Fields' }),
	});
}

/** The conditions under which the form shows a field: "Resolution is 4K", "Reference Video is None or Feature". */
export function describeConditions({ fields }: ModelSpec, field: FieldSpec): string[] {
	return Object.entries(field.displayOptions?.show ?? {}).map(([name, values]) => {
		const other = fields.find((field) => field.name === name.replace(/^\//, ''));
		const options = other?.options as INodePropertyOptions[] | undefined;
		const nameOf = (value: unknown) => options?.find((option) => option.value === value)?.name ?? String(value);
		return `${other?.displayName ?? name} is ${either((values ?? []).map(nameOf))}`;
	});
}

/** "whole numbers from 4 to 12" */
export function describeNumber({ min, max, integer }: Pick<FieldSpec, 'min' | 'max' | 'integer'>): string {
	const kind = integer ? 'whole numbers' : 'numbers';
	if (min !== undefined && max !== undefined) return `${kind} from ${min} to ${max}`;
	return `${kind}${min === undefined ? '' : ` from ${min}`}`;
}
