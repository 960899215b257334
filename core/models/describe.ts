import { gatewayError, type GatewayError } from '../errors';
import { either, show } from '../text';
import { allFields, IMAGE_ROLES_PATH, type BodySpec, type FieldSpec } from './spec';

/** The label of the field that writes to this path of the request body. */
export function labelOf(model: BodySpec, path: string): string {
	const bodyPath = path === IMAGE_ROLES_PATH ? 'image_urls' : path;
	const fields = allFields(model);
	const exact = fields.find((field) => field.bodyPath === bodyPath);
	return (exact ?? fields.find((field) => field.bodyPath.startsWith(`${bodyPath}.`)))?.displayName ?? path;
}

/** The conditions under which the form shows a field: "Resolution is 4K", "Reference Video is None or Feature". */
export function describeConditions(model: BodySpec, field: FieldSpec): string[] {
	return Object.entries(field.displayOptions?.show ?? {}).map(([name, values]) => {
		const other = allFields(model).find((field) => field.name === name.replace(/^\//, ''));
		const nameOf = (value: unknown) =>
			other?.options?.find((option) => 'value' in option && option.value === value)?.name ?? String(value);
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

export function notAllowed(model: BodySpec, field: FieldSpec, value: unknown, allowed: string): GatewayError {
	const given = { label: field.displayName, value: show(value) };
	if (field.reasons?.type) return gatewayError(field.reasons.type, given);
	if (model.id === undefined)
		return allowed === 'text' ? gatewayError('notText', given) : gatewayError('notAChoice', { ...given, allowed });
	const conditions = describeConditions(model, field);
	const when = conditions.length > 0 ? ` when ${conditions.join(' and ')}` : '';
	return gatewayError('valueNotAllowed', {
		...given,
		model: model.id,
		allowed: `${allowed}${when}`,
	});
}

/** The error of a value that is no list: only Additional Fields can give one. */
export function checkList(model: BodySpec, field: FieldSpec, value: unknown): GatewayError | undefined {
	return Array.isArray(value) ? undefined : notAllowed(model, field, value, 'a list');
}
