import { allFields, type FieldSpec, type ModelSpec } from './spec';

/** What is wrong with a value or a combination, and what to do about it. */
export interface ModelIssue {
	message: string;
	advice: string;
}

export function notAllowed(model: ModelSpec, field: FieldSpec, value: unknown, allowed: string): ModelIssue {
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

export function asArray(value: unknown): unknown[] {
	return Array.isArray(value) ? value : [value];
}

/** A value as it is shown in a message: short, in quotes when it is text. */
export function show(value: unknown): string {
	if (typeof value === 'number') return String(value);
	const text = typeof value === 'string' ? `"${value}"` : (JSON.stringify(value) ?? String(value));
	return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** Only Additional Fields can give something else. */
export function checkList(model: ModelSpec, field: FieldSpec, value: unknown): ModelIssue | undefined {
	return Array.isArray(value) ? undefined : notAllowed(model, field, value, 'a list');
}
