/** The fields of a schema that no stored data have. */
import type { z } from 'zod';

interface Definition {
	/** Of an object. */
	shape?: () => Record<string, z.ZodTypeAny>;
	/** Of a wrapper, a list, a choice or a record: the schemas within. */
	innerType?: z.ZodTypeAny;
	schema?: z.ZodTypeAny;
	type?: z.ZodTypeAny;
	valueType?: z.ZodTypeAny;
	options?: Iterable<z.ZodTypeAny>;
}

/**
 * @param values what is stored in this place, in all files
 * @returns paths of fields that none of them has
 */
export function missingFields(schema: z.ZodTypeAny, values: unknown[], path = ''): string[] {
	const { shape, innerType, schema: inner, type, valueType, options = [] } = schema._def as Definition;
	if (typeof type === 'object' || valueType !== undefined)
		return missingFields((valueType ?? type) as z.ZodTypeAny, values.flatMap(entriesOf), `${path}.*`);
	const within = [innerType, inner, ...options].flatMap((each) => each ?? []);
	return [
		...within.flatMap((each) => missingFields(each, values, path)),
		...Object.entries(shape?.() ?? {}).flatMap(([name, field]) => {
			const stored = values
				.map((value) => (value as Record<string, unknown>)[name])
				.filter((value) => value !== undefined);
			const place = `${path}.${name}`;
			return stored.length === 0 ? [place] : missingFields(field, stored, place);
		}),
	];
}

const entriesOf = (value: unknown) => Object.values(value as object);
