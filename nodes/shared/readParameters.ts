import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { GatewayError } from '../../core/errors';
import { show } from '../../core/model/issues';

/** A text of the form; a number from an expression is one, too. Empty when there is none. */
export function readText(context: IExecuteFunctions, itemIndex: number, { name, displayName }: Pick<INodeProperties, 'name' | 'displayName'>): string {
	const value = context.getNodeParameter(name, itemIndex, '') as unknown;
	if (value === null || value === undefined) return '';
	if (typeof value === 'string' || typeof value === 'number') return String(value).trim();
	throw new GatewayError('badInput', `${displayName} is ${show(value)}, which is not a text`, {
		field: displayName,
		description: `Change ${displayName} to a text. Nothing was sent.`,
	});
}

/** The same for a field that must not be empty. `advice` says what to enter. */
export function readRequiredText(
	context: IExecuteFunctions,
	itemIndex: number,
	field: Pick<INodeProperties, 'name' | 'displayName'>,
	advice: string,
): string {
	const text = readText(context, itemIndex, field);
	if (text !== '') return text;
	throw new GatewayError('badInput', `${field.displayName} is empty`, {
		field: field.displayName,
		description: `${advice} Nothing was sent.`,
	});
}

/**
 * The value of a dropdown, which an expression may have given. Nothing at all means its default; any other value is
 * refused, because what it was meant to be cannot be known.
 */
export function readChoice(context: IExecuteFunctions, itemIndex: number, { name, displayName, options, default: first }: INodeProperties): string {
	const allowed = (options ?? []).flatMap((option) => ('value' in option ? [String(option.value)] : []));
	const value = (context.getNodeParameter(name, itemIndex, null) as unknown) ?? first;
	if (typeof value === 'string' && allowed.includes(value)) return value;
	throw new GatewayError('badInput', `${displayName} is ${show(value)}: ${allowed.join(', ')} are allowed`, {
		field: displayName,
		description: `Change ${displayName} to one of them. Nothing was sent.`,
	});
}

/** A number of an option, which an expression may have given. Throws a `badInput` error that names it. */
export function readNumber(value: unknown, label: string, min: number, fallback: number): number {
	if (value === undefined || value === null || value === '') return fallback;
	const number = typeof value === 'boolean' ? NaN : Number(value);
	if (Number.isFinite(number) && number >= min) return number;
	throw new GatewayError('badInput', `${label} is ${JSON.stringify(value)}: numbers from ${min} are allowed`, {
		field: label,
		description: `Change ${label} in the options. Nothing was sent.`,
	});
}
