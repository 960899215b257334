import type { IExecuteFunctions, INodeProperties } from 'n8n-workflow';
import { GatewayError } from '../../core/errors';
import { show } from '../../core/models/issues';

/** A text of the form. Empty when there is none. */
export function readText(context: IExecuteFunctions, itemIndex: number, { name, displayName }: Pick<INodeProperties, 'name' | 'displayName'>): string {
	return toText(context.getNodeParameter(name, itemIndex, ''), displayName);
}

/** A number from an expression is a text, too. Throws a `badInput` error that names the field. */
export function toText(value: unknown, label: string): string {
	if (value === null || value === undefined) return '';
	if (typeof value === 'string' || Number.isFinite(value)) return String(value).trim();
	throw new GatewayError('badInput', `${label} is ${show(value)}, which is not a text`, {
		field: label,
		description: `Change ${label} to a text. Nothing was sent.`,
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
	throw noChoice(displayName, value, allowed);
}

/** A switch, which an expression may have given as text. Nothing at all means its default. `path`: for an option. */
export function readBoolean(
	context: IExecuteFunctions,
	itemIndex: number,
	{ name, displayName, default: first }: INodeProperties,
	path = name,
): boolean {
	const value = context.getNodeParameter(path, itemIndex, null) as unknown;
	if (value === null || value === undefined || value === '') return first === true;
	if (value === true || value === 'true') return true;
	if (value === false || value === 'false') return false;
	throw noChoice(displayName, value, ['true', 'false']);
}

function noChoice(label: string, value: unknown, allowed: string[]): GatewayError {
	return new GatewayError('badInput', `${label} is ${show(value)}: ${allowed.join(', ')} are allowed`, {
		field: label,
		description: `Change ${label} to one of them. Nothing was sent.`,
	});
}

/** A number of an option, which an expression may have given. Throws a `badInput` error that names it. */
export function readNumber(value: unknown, label: string, min: number, fallback: number): number {
	if (value === undefined || value === null || value === '') return fallback;
	return readRequiredNumber(value, label, min);
}

/** The same where nothing must not stand for any number: a limit that is gone would be passed by unnoticed. */
export function readRequiredNumber(value: unknown, label: string, min: number): number {
	const isNumeric = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');
	const number = isNumeric ? Number(value) : NaN;
	if (Number.isFinite(number) && number >= min) return number;
	const isEmpty = value === undefined || value === null || value === '';
	throw new GatewayError('badInput', isEmpty ? `${label} is empty` : `${label} is ${show(value)}: numbers from ${min} are allowed`, {
		field: label,
		description: `Change ${label} to a number from ${min}. Nothing was sent.`,
	});
}
