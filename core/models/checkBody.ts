import { z } from 'zod';
import { GatewayError } from '../errors';
import { checkImages, checkRoles, isPublicUrl } from './images';
import { asArray, checkList, notAllowed, show, type ModelIssue } from './issues';
import { getPath, isPlainObject, type Body } from '../json';
import { checkRule } from './rules';
import {
	allFields,
	allowedValues,
	IMAGE_ROLES_WIRE,
	isVisible,
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
	if (!field.required) return undefined;
	return { message: `${field.displayName} is empty`, advice: `Enter a value for ${field.displayName}.` };
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
	if (field.required && value.trim() === '') return checkAbsent(field);
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

function checkUrls(field: FieldSpec, value: unknown): ModelIssue | undefined {
	const wrong = asArray(value).find((url) => !isPublicUrl(url));
	if (wrong === undefined) return undefined;
	return {
		message: `${field.displayName} holds ${show(wrong)}, which is not an http(s) URL`,
		advice: 'Enter a public address that starts with https:// or http://.',
	};
}
