/**
 * The files of test/golden: what each model takes, and the requests that its form sends, written by hand from the
 * contract. Nothing in them is made from the code of the nodes, which they are to check.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { z } from 'zod';

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const value = z.union([scalar, z.null(), z.array(z.unknown()), z.record(z.unknown())]);
/** Of a node, as a workflow stores them. */
const parameters = z.record(value);
const notShown = z.literal('not shown');

const place = {
	label: z.string(),
	/** The parameter that sets it: `duration`; of a list its rows: `images.image`. */
	parameter: z.string(),
	/** Its place in the request body: `metadata.resolution`, `video_list.0.video_url`. */
	path: z.string(),
	/** Needed: an empty one is refused. */
	required: z.boolean().default(false),
	/** The value that the form starts with, and sends. */
	default: scalar.optional(),
	/** In the form, and sent, only with these values of other parameters. */
	when: z.record(z.array(z.string())).default({}),
	/** Parameters that a test sets along with it. */
	with: parameters.default({}),
	/** The contract does not close it: what the form does not take, Additional Fields do, such as these. */
	openInBody: z.array(value).optional(),
	/** The message when Additional Fields remove it, though it is not marked as needed. */
	withoutIt: z.string().optional(),
};
const maxItems = z.union([z.number(), notShown]);

const text = z.strictObject({
	...place,
	type: z.literal('text'),
	maxLength: z.number().optional(),
	/** The values of the contract, in the order of the form; or the name of each in the form. */
	values: z.union([z.array(z.string()), z.record(z.string())]).optional(),
	/** The contract does not show all values: any well-formed one passes, such as these. */
	open: z.array(z.string()).optional(),
	/** The value that means "not used": nothing is sent. */
	notSent: z.string().optional(),
	/** The dropdown has Service Default, too, which stands for no choice. */
	offersDefault: z.boolean().default(false),
});
const integer = z.strictObject({
	...place,
	type: z.literal('integer'),
	min: z.number().optional(),
	max: z.number().optional(),
	values: z.union([z.array(z.number()), z.record(z.string())]).optional(),
	open: z.array(z.number()).optional(),
	offersDefault: z.boolean().default(false),
});
const boolean = z.strictObject({
	...place,
	type: z.literal('boolean'),
	/** Of a dropdown: the name of each choice in the form, in its order. */
	values: z.record(z.string()).optional(),
	notSent: z.string().optional(),
});
/** Public http(s) addresses, one or a list. */
const url = z.strictObject({ ...place, type: z.literal('url') });
const urls = z.strictObject({ ...place, type: z.literal('urls'), maxItems });
const images = z.strictObject({
	...place,
	type: z.literal('images'),
	maxItems,
	/** More are allowed, and only so many are sent. */
	used: z.number().optional(),
	/** asset://<ASSET_ID> may be one of them in the form, too (contract 4.4.5). */
	assets: z.boolean().default(false),
	/** Images with a role go to a place of their own. */
	roles: z.strictObject({ path: z.string(), values: z.array(z.string()) }).optional(),
});
const field = z
	.discriminatedUnion('type', [text, integer, boolean, url, urls, images])
	.refine(
		(given) =>
			given.type !== 'integer' || given.values || given.open || (given.min !== undefined && given.max !== undefined),
		{
			message: 'An integer has two bounds, or values, or is open',
		},
	);

const name = z.string();
const body = z.strictObject({ name, parameters, body: z.record(value) });
/** `says`: what must occur in the message. */
const refused = z.strictObject({
	name,
	parameters,
	says: z.union([z.string().transform((words) => [words]), z.array(z.string())]),
});
const model = {
	/** The section of it. */
	contract: z.string(),
	/** The least that is accepted. */
	minimal: parameters,
	/** From top to bottom. */
	fields: z.array(field),
	/** Requests that are sent exactly like this. */
	bodies: z.array(body),
	/** The bodies that the rules between fields refuse. */
	refused: z.array(refused),
};
const file = z.discriminatedUnion('kind', [
	z.strictObject({ kind: z.literal('image'), ...model }),
	z.strictObject({ kind: z.literal('video'), ...model }),
	z.strictObject({ kind: z.literal('custom'), bodies: z.array(body), refused: z.array(refused) }),
	z.strictObject({ kind: z.literal('token'), bodies: z.array(body) }),
	z.strictObject({ kind: z.literal('avatar'), bodies: z.array(body.extend({ path: z.string() })) }),
]);

/** With the name of its file: of a model its identifier. */
export type Golden = z.infer<typeof file> & { id: string };
export type GoldenModel = Extract<Golden, { kind: 'image' | 'video' }>;
export type Field = z.infer<typeof field>;
export type Value = z.infer<typeof value>;
export type Parameters = z.infer<typeof parameters>;

const folder = new URL('../golden/', import.meta.url);

/** By name. */
export const goldens: Golden[] = readdirSync(folder)
	.sort()
	.map((name) => {
		const content: unknown = JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
		// The path is for the message about a file that is not as it should be.
		return { id: name.replace(/\.json$/, ''), ...file.parse(content, { path: [name] }) };
	});

export const goldenModels: GoldenModel[] = goldens.filter(
	(golden) => golden.kind === 'image' || golden.kind === 'video',
);

/** All that are requests for images or videos. */
export const generating = goldens.filter(
	(golden) => golden.kind === 'image' || golden.kind === 'video' || golden.kind === 'custom',
);

/** The fields that the form has for these choices; a choice that is not given is the default. */
export function shownFields({ fields }: GoldenModel, choices: Parameters = {}): Field[] {
	const chosen = (parameter: string) =>
		choices[parameter] ?? fields.find((other) => other.parameter === parameter)?.default;
	return fields.filter(({ when }) =>
		Object.entries(when).every(([parameter, values]) => values.some((value) => value === chosen(parameter))),
	);
}

/** Their labels, from top to bottom. */
export function shownLabels(golden: GoldenModel, choices: Parameters = {}): string[] {
	return shownFields(golden, choices).map(({ label }) => label);
}

/** The values that the contract names, each with its name in the form, in the order of the form. */
export function optionsOf(field: Field): Array<[value: string | number, name: string]> {
	if (field.type === 'boolean') return Object.entries(field.values ?? {});
	if ((field.type !== 'text' && field.type !== 'integer') || !field.values) return [];
	if (Array.isArray(field.values)) return field.values.map((value) => [value, String(value)]);
	return Object.entries(field.values).map(([value, name]) => [field.type === 'integer' ? Number(value) : value, name]);
}

/** The options of the dropdown. */
export function offeredOptions(field: Field): string[] {
	const names = optionsOf(field).map(([, name]) => name);
	if (!('offersDefault' in field && field.offersDefault)) return names;
	const before = names.findIndex((name) => SERVICE_DEFAULT.localeCompare(name) < 0);
	const place = before === -1 ? names.length : before;
	return [...names.slice(0, place), SERVICE_DEFAULT, ...names.slice(place)];
}

const SERVICE_DEFAULT = 'Service Default';

/** Only the values that the contract names are allowed. */
export const isClosed = (field: Field): boolean =>
	'values' in field && field.values !== undefined && !('open' in field && field.open !== undefined);

/** Each choice of which other fields depend, as the field and one value of it. */
export function decidingChoices({
	fields,
}: GoldenModel): Array<{ field: Field; value: string | number; name: string }> {
	const deciding = new Set(fields.flatMap(({ when }) => Object.keys(when)));
	return fields
		.filter(({ parameter }) => deciding.has(parameter))
		.flatMap((field) => optionsOf(field).map(([value, name]) => ({ field, value, name })));
}
