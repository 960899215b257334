/** The names of the fields that a schema knows, and of those that stored data have. */
import type { z } from 'zod';

interface Definition {
	shape?: () => Record<string, z.ZodTypeAny>;
	/** Of a wrapper, a list or a choice: the schemas within. */
	innerType?: z.ZodTypeAny;
	schema?: z.ZodTypeAny;
	type?: z.ZodTypeAny;
	options?: Iterable<z.ZodTypeAny>;
}

export function fieldsOf(schema: z.ZodTypeAny): Set<string> {
	const { shape, innerType, schema: inner, type, options = [] } = schema._def as Definition;
	const fields = Object.entries(shape?.() ?? {});
	const within = [innerType, inner, type, ...options, ...fields.map(([, field]) => field)];
	return new Set([
		...fields.map(([name]) => name),
		...within.flatMap((each) => (typeof each === 'object' ? [...fieldsOf(each)] : [])),
	]);
}

export function fieldsIn(value: unknown): Set<string> {
	if (value === null || typeof value !== 'object') return new Set();
	const names = Array.isArray(value) ? [] : Object.keys(value);
	return new Set([...names, ...Object.values(value).flatMap((inner) => [...fieldsIn(inner)])]);
}
