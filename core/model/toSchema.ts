import { z } from 'zod';
import { GatewayError } from '../errors';
import { checkRule, type ModelIssue } from './rules';
import { getPath, isPlainObject, isUnset, type Body } from './paths';
import {
	allFields,
	allowedValues,
	IMAGE_ROLES_WIRE,
	isVisible,
	ROLES,
	type FieldSpec,
	type ModelSpec,
} from './spec';

/**
 * The zod schema of a model's request body: every bound of its fields and every rule between them, checked on
 * what is really sent (Additional Fields included). `pendingUploads` are markers that stand for images which
 * are uploaded only after everything is known to be right.
 */
export function toSchema(model: ModelSpec, pendingUploads: ReadonlySet<string> = new Set()) {
	return z.record(z.unknown()).superRefine((body, context) => {
		const report = (path: string, { message, advice }: ModelIssue) =>
			context.addIssue({ code: z.ZodIssueCode.custom, path: [path], message, params: { advice } });
		for (const issue of checkContainers(model, body)) report('', issue);
		for (const field of fieldsFor(model, body)) {
			const value = getPath(body, field.wire);
			const issue = value === undefined ? checkAbsent(field) : checkValue(model, field, value, pendingUploads);
			if (issue) report(field.wire, issue);
			if (field.shape === 'imagesWithRoles') {
				const roles = checkRoles(model, field, getPath(body, IMAGE_ROLES_WIRE), pendingUploads);
				if (roles) report(IMAGE_ROLES_WIRE, roles);
			}
		}
		for (const rule of model.rules) {
			const issue = checkRule(rule, body, (path) => labelOf(model, path));
			if (issue) report('', issue);
		}
	});
}

/** Throws a `badInput` error that names the field by its label, its value, and what is allowed. */
export function checkBody(model: ModelSpec, body: Body, pendingUploads?: ReadonlySet<string>): void {
	const result = toSchema(model, pendingUploads).safeParse(body);
	if (result.success) return;
	const [first, ...others] = result.error.issues;
	const adviceOf = (issue: z.ZodIssue) => ('params' in issue ? String(issue.params?.advice ?? '') : '');
	throw new GatewayError('badInput', first.message, {
		field: labelOf(model, String(first.path[0] ?? '')),
		description: [
			adviceOf(first),
			'Nothing was sent.',
			...others.map((issue) => `Also: ${issue.message}. ${adviceOf(issue)}`),
		]
			.join(' ')
			.trim(),
	});
}

/**
 * The fields that the form would show for this body; of several fields for one path, the one that applies. A
 * hidden field counts, too, when Additional Fields gave it a value.
 */
function fieldsFor(model: ModelSpec, body: Body): FieldSpec[] {
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
function checkContainers(model: ModelSpec, body: Body): ModelIssue[] {
	const containers = new Map<string, boolean>();
	for (const { wire } of allFields(model)) {
		const keys = wire.split('.');
		keys.slice(1).forEach((key, index) => containers.set(keys.slice(0, index + 1).join('.'), /^\d+$/.test(key)));
	}
	return [...containers].flatMap(([path, isList]) => {
		const value = getPath(body, path);
		const fits = isList ? Array.isArray(value) : isPlainObject(value);
		if (value === undefined || fits) return [];
		const wanted = isList ? 'a list' : 'an object';
		return [{ message: `${path} is ${show(value)}: ${model.id} takes ${wanted}`, advice: 'Change it in Additional Fields.' }];
	});
}

export function labelOf(model: ModelSpec, path: string): string {
	const wire = path === IMAGE_ROLES_WIRE ? 'image_urls' : path;
	const fields = allFields(model);
	const exact = fields.find((field) => field.wire === wire);
	return (exact ?? fields.find((field) => field.wire.startsWith(`${wire}.`)))?.displayName ?? path;
}

function checkAbsent(field: FieldSpec): ModelIssue | undefined {
	if (!isNeeded(field)) return undefined;
	return { message: `${field.displayName} is empty`, advice: `Enter a value for ${field.displayName}.` };
}

function isNeeded(field: FieldSpec): boolean {
	return field.required === true || field.mandatory === true;
}

function checkValue(
	model: ModelSpec,
	field: FieldSpec,
	value: unknown,
	pendingUploads: ReadonlySet<string>,
): ModelIssue | undefined {
	if (field.shape === 'images' || field.shape === 'imagesWithRoles') {
		return checkList(model, field, value) ?? checkImages(model, field, value, pendingUploads);
	}
	if (field.shape === 'urls') return checkList(model, field, value) ?? checkUrls(field, value);
	const allowed = allowedValues(field);
	if (allowed) {
		return allowed.includes(value as string)
			? undefined
			: notAllowed(model, field, value, allowed.join(', '));
	}
	if (field.type === 'number') return checkNumber(model, field, value);
	if (field.type === 'boolean') {
		return typeof value === 'boolean' ? undefined : notAllowed(model, field, value, 'true or false');
	}
	return checkText(model, field, value);
}

function checkNumber(model: ModelSpec, field: FieldSpec, value: unknown): ModelIssue | undefined {
	const { minValue, maxValue, numberPrecision } = field.typeOptions ?? {};
	let schema = z.number().finite();
	if (numberPrecision === 0) schema = schema.int();
	if (minValue !== undefined) schema = schema.min(minValue);
	if (maxValue !== undefined) schema = schema.max(maxValue);
	return schema.safeParse(value).success
		? undefined
		: notAllowed(model, field, value, describeNumber(field));
}

/** "whole numbers from 4 to 12 seconds" */
export function describeNumber(field: FieldSpec): string {
	const { minValue, maxValue, numberPrecision } = field.typeOptions ?? {};
	const kind = numberPrecision === 0 ? 'whole numbers' : 'numbers';
	const unit = field.unit ? ` ${field.unit}` : '';
	if (minValue !== undefined && maxValue !== undefined) return `${kind} from ${minValue} to ${maxValue}${unit}`;
	return `${kind}${minValue === undefined ? '' : ` from ${minValue}`}${unit && ` (${field.unit})`}`;
}

function checkText(model: ModelSpec, field: FieldSpec, value: unknown): ModelIssue | undefined {
	if (typeof value !== 'string') return notAllowed(model, field, value, 'text');
	if (isNeeded(field) && value.trim() === '') return checkAbsent(field);
	if (field.format === 'url' && !isPublicUrl(value)) return checkUrls(field, value);
	const length = [...value].length;
	if (field.maxLength !== undefined && length > field.maxLength) {
		return {
			message: `${field.displayName} has ${length} characters: ${model.id} allows at most ${field.maxLength}`,
			advice: `Shorten ${field.displayName}.`,
		};
	}
	return undefined;
}

/** Only Additional Fields can give something else. */
function checkList(model: ModelSpec, field: FieldSpec, value: unknown): ModelIssue | undefined {
	return Array.isArray(value) ? undefined : notAllowed(model, field, value, 'a list');
}

function checkUrls(field: FieldSpec, value: unknown): ModelIssue | undefined {
	const wrong = asArray(value).find((url) => !isPublicUrl(url));
	if (wrong === undefined) return undefined;
	return {
		message: `${field.displayName} holds ${show(wrong)}, which is not an http(s) URL`,
		advice: 'Enter a public address that starts with https:// or http://.',
	};
}

function checkImages(
	model: ModelSpec,
	field: FieldSpec,
	value: unknown,
	pendingUploads: ReadonlySet<string>,
): ModelIssue | undefined {
	const images = asArray(value);
	const index = images.findIndex((image) => !isImage(model, image, pendingUploads));
	if (index === -1) return undefined;
	const image = images[index];
	const name = images.length === 1 ? field.displayName : `${field.displayName}, image ${index + 1},`;
	if (isUnset(image)) {
		return { message: `${name} is empty`, advice: 'Enter a URL, choose Binary Field as its source, or remove the row.' };
	}
	if (typeof image === 'string' && image.startsWith('asset://')) {
		return {
			message: `${name} is the asset reference ${show(image)}, which ${model.id} does not accept`,
			advice: 'Avatar assets can be used with alpha-video-1-5-pro and with Custom Model.',
		};
	}
	const isData = typeof image === 'string' && (/^data:/i.test(image) || /^[A-Za-z0-9+/=\s]{100,}$/.test(image));
	return isData
		? {
				message: `${name} holds base64 data: the service accepts image URLs only`,
				advice: 'Set the source of the image to Binary Field: the image is then uploaded first.',
			}
		: {
				message: `${name} is ${show(image)}, which is not an http(s) URL`,
				advice: 'Enter a public address that starts with https:// or http://, or set the source to Binary Field.',
			};
}

function isImage(model: ModelSpec, image: unknown, pendingUploads: ReadonlySet<string>): boolean {
	if (typeof image !== 'string') return false;
	if (pendingUploads.has(image) || isPublicUrl(image)) return true;
	return model.acceptsAssets === true && /^asset:\/\/[^\s/]+$/.test(image);
}

function checkRoles(
	model: ModelSpec,
	field: FieldSpec,
	value: unknown,
	pendingUploads: ReadonlySet<string>,
): ModelIssue | undefined {
	if (value === undefined) return undefined;
	const noList = checkList(model, field, value);
	if (noList) return noList;
	const entries = asArray(value).map((entry) => ({ url: getPath(entry, 'url'), role: getPath(entry, 'role') }));
	const wrong = entries.find(({ role }) => !ROLES.some((known) => known === role));
	if (wrong) {
		return {
			message: `${field.displayName} uses the role ${show(wrong.role)}: ${model.id} allows ${ROLES.join(', ')}`,
			advice: 'Choose First Frame or Last Frame as role.',
		};
	}
	return checkImages(model, field, entries.map(({ url }) => url), pendingUploads);
}

function isPublicUrl(value: unknown): boolean {
	return typeof value === 'string' && /^https?:\/\/[^/\s]\S*$/i.test(value) && z.string().url().safeParse(value).success;
}

function notAllowed(model: ModelSpec, field: FieldSpec, value: unknown, allowed: string): ModelIssue {
	const conditions = describeConditions(model, field);
	const when = conditions.length > 0 ? ` at ${conditions.join(' and ')}` : '';
	return {
		message: `${field.displayName} is ${show(value)}: ${model.id} allows ${allowed}${when}`,
		advice: `Change ${field.displayName} to an allowed value.`,
	};
}

/** "Resolution 4K": when the form shows the field. */
export function describeConditions(model: ModelSpec, field: FieldSpec): string[] {
	return Object.entries(field.displayOptions?.show ?? {}).map(([name, values]) => {
		const label = allFields(model).find((other) => other.name === name.replace(/^\//, ''))?.displayName ?? name;
		return `${label} ${(values ?? []).join(' or ')}`;
	});
}

function asArray(value: unknown): unknown[] {
	return Array.isArray(value) ? value : [value];
}

/** A value as it is shown in a message: short, in quotes when it is text. */
function show(value: unknown): string {
	if (typeof value === 'number') return String(value);
	const text = typeof value === 'string' ? `"${value}"` : (JSON.stringify(value) ?? String(value));
	return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
