import type { INodePropertyOptions } from 'n8n-workflow';
import { gatewayError, type GatewayError } from '../errors';
import { either, show } from '../text';
import { allFields, IMAGE_ROLES_PATH, isNumeric, type BodySpec, type FieldSpec } from './spec';

/** The label of the field that writes to this path of the request body. */
export function labelOf(spec: BodySpec, path: string): string {
	const bodyPath = path === IMAGE_ROLES_PATH ? 'image_urls' : path;
	const fields = allFields(spec);
	const exact = fields.find((field) => field.bodyPath === bodyPath);
	return (exact ?? fields.find((field) => field.bodyPath.startsWith(`${bodyPath}.`)))?.displayName ?? path;
}

/** The conditions under which the form shows a field: "Resolution is 4K", "Reference Video is None or Feature". */
export function describeConditions(spec: BodySpec, field: FieldSpec): string[] {
	return Object.entries(field.displayOptions?.show ?? {}).map(([name, values]) => {
		const other = allFields(spec).find((field) => field.name === name.replace(/^\//, ''));
		const options = other?.options as INodePropertyOptions[] | undefined;
		const nameOf = (value: unknown) => options?.find((option) => option.value === value)?.name ?? String(value);
		return `${other?.displayName ?? name} is ${either((values ?? []).map(nameOf))}`;
	});
}

/** "whole numbers from 4 to 12" */
export function describeNumber(field: FieldSpec): string {
	const { min, max, integer } = field;
	const kind = integer ? 'whole numbers' : 'numbers';
	if (min !== undefined && max !== undefined) return `${kind} from ${min} to ${max}`;
	return `${kind}${min === undefined ? '' : ` from ${min}`}`;
}

/** The model of a body, or the service, for messages. */
export function takerOf({ id = 'the service' }: BodySpec): string {
	return id;
}

export function notAllowed(spec: BodySpec, field: FieldSpec, value: unknown, allowed: string): GatewayError {
	const given = { label: field.displayName, value: show(value) };
	const reason = field.reasons?.type ?? field.reasons?.format;
	if (reason) return gatewayError(reason, given);
	if (spec.id === undefined && !isNumeric(field))
		return allowed === 'text' ? gatewayError('notText', given) : gatewayError('notAChoice', { ...given, allowed });
	const conditions = describeConditions(spec, field);
	const when = conditions.length > 0 ? ` when ${conditions.join(' and ')}` : '';
	return gatewayError('valueNotAllowed', {
		...given,
		model: takerOf(spec),
		allowed: `${allowed}${when}`,
	});
}

/** The error of a value that is no list: only Additional Fields can give one. */
export function checkList(spec: BodySpec, field: FieldSpec, value: unknown): GatewayError | undefined {
	return Array.isArray(value) ? undefined : notAllowed(spec, field, value, 'a list');
}
