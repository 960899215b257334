/** Requests made up from the schema of the service: mostly as it asks for, and a part of them spoiled. */
import fc from 'fast-check';

export interface Schema {
	$ref?: string;
	type?: string | string[];
	const?: unknown;
	enum?: unknown[];
	examples?: unknown[];
	pattern?: string;
	maxLength?: number;
	minimum?: number;
	maximum?: number;
	properties?: Record<string, Schema>;
	required?: string[];
	items?: Schema;
	anyOf?: Schema[];
	oneOf?: Schema[];
}

const LINKS = [
	'https://example.com/a.png',
	'http://example.com/b.mp4?c=d#e',
	'asset://pa_123',
	'HTTPS://EXAMPLE.COM/F',
];
const ODD_TEXTS = [
	'',
	' ',
	'A cat',
	'<<<image_1>>> and <<<image_2>>>',
	'data:image/png;base64,iVBORw0K',
	'asset://nobody',
	'ftp://a/b',
	'reference_image',
	'😀'.repeat(51),
	'x'.repeat(51),
	'x'.repeat(32_001),
	'\u0000',
	'__proto__',
];
const ANYTHING = fc.oneof(
	fc.constantFrom<unknown>(null, true, false, -1, 0, 4.5, 1e30, '5', [], {}, [[]], [null], {
		url: 'https://example.com/a.png',
	}),
	fc.constantFrom(...ODD_TEXTS),
	fc.jsonValue({ maxDepth: 3 }),
);

/** Bodies whose fields each fit by themselves. The rules between fields are left to chance. */
export function fitting(schema: Schema, resolve: (ref: string) => Schema): fc.Arbitrary<unknown> {
	const inner = (each: Schema) => fitting(each, resolve);
	if (schema.$ref !== undefined) return inner(resolve(schema.$ref));
	if ('const' in schema) return fc.constant(schema.const);
	if (schema.enum ?? schema.examples) return fc.constantFrom(...(schema.enum ?? schema.examples ?? []));
	const choices = schema.anyOf ?? schema.oneOf;
	if (choices && !schema.properties) return fc.oneof(...choices.map(inner));
	switch (schema.type) {
		case 'string':
			if (schema.pattern?.includes(':')) return fc.constantFrom(...LINKS);
			return fc.oneof(
				fc.constantFrom('A cat', '<<<image_1>>> a cat'),
				fc.string({ minLength: 1, maxLength: Math.min(schema.maxLength ?? 60, 60) }),
			);
		case 'integer':
			return fc.integer({ min: schema.minimum ?? -5, max: schema.maximum ?? 100 });
		case 'number':
			return fc.double({ min: schema.minimum ?? -5, max: schema.maximum ?? 1e6, noNaN: true });
		case 'boolean':
			return fc.boolean();
		case 'array':
			return fc.array(inner(schema.items ?? {}), { maxLength: 3 });
		case 'object':
			return fc.record(
				Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, each]) => [name, inner(each)])),
				{ requiredKeys: schema.required ?? [] },
			);
		default:
			return ANYTHING;
	}
}

/** The same, with one of its fields left out or replaced by anything, or with another field beside them. */
export function spoiled(body: fc.Arbitrary<unknown>, fields: string[]): fc.Arbitrary<unknown> {
	return fc
		.tuple(body, fc.constantFrom(...fields, 'other'), fc.oneof(fc.constant(undefined), ANYTHING))
		.map(([good, field, value]) => {
			const rest = Object.fromEntries(Object.entries(good as object).filter(([name]) => name !== field)) as Record<
				string,
				unknown
			>;
			return value === undefined ? rest : { ...rest, [field]: value };
		});
}
