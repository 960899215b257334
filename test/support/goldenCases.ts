/** Every case that follows from the fields of a golden file: in the form, left over in it, and in Additional Fields. */
import { optionsOf, type Field, type GoldenModel, type Parameters, type Value } from './goldens.mts';
import { sampleOf, samplesOf, startOf } from './goldenSamples';

export interface GoldenCase {
	name: string;
	parameters: Parameters;
	/** Accepted: what the body holds at which path; undefined for nothing. */
	sent: Record<string, Value | undefined>;
	/** Refused with this message, if there is one. */
	message?: string;
	/** The same in Additional Fields instead of the form, where the field can be given there by itself. */
	instead?: Parameters;
}

/** @param models whose values are tried, too, where the field has the same label */
export function casesOf(model: GoldenModel, models: GoldenModel[]): GoldenCase[] {
	return [
		...model.fields.flatMap((field) =>
			choicesWith(field).flatMap((choices) => casesOfField(model, models, field, choices)),
		),
		...model.fields.flatMap((field) => leftOverCases(model, field)),
		...containerCases(model),
	];
}

/** Each way to make the form show the field. */
function choicesWith({ when }: Field): Parameters[] {
	return Object.entries(when).reduce<Parameters[]>(
		(found, [parameter, values]) =>
			found.flatMap((choices) => values.map((value) => ({ ...choices, [parameter]: value }))),
		[{}],
	);
}

function casesOfField(model: GoldenModel, models: GoldenModel[], field: Field, choices: Parameters): GoldenCase[] {
	const base = { ...model.minimal, ...field.with, ...choices };
	const name = [field.label, ...Object.values(choices).map(String)].join(' at ');
	const samples = samplesOf(model, models, field)
		.filter(
			({ inBody, expected }) => !inBody || (isOfItsOwn(field) && ('message' in expected || !decides(model, field))),
		)
		.map(({ value, inBody, expected }) => ({
			name: `${name}${inBody ? ' in Additional Fields' : ''}: ${shown(value)}`,
			parameters: inBody
				? { ...base, options: { additionalFields: nested(field.path, value) } }
				: withValue(base, field.parameter, value),
			...(!inBody &&
				isOfItsOwn(field) &&
				!hasRoles(value) && {
					instead: withValue(
						{ ...base, options: { additionalFields: nested(field.path, inBodyOf(field, value)) } },
						field.parameter,
						EMPTY[field.type] ?? '',
					),
				}),
			...('message' in expected
				? { sent: {}, message: expected.message }
				: { sent: { [expected.path ?? field.path]: expected.sent } }),
		}));
	const hasStart = !field.required && ['text', 'integer', 'boolean'].includes(field.type);
	const untouched = Object.fromEntries(Object.entries(base).filter(([parameter]) => parameter !== field.parameter));
	return [
		...(hasStart
			? [{ name: `${name}, untouched`, parameters: untouched, sent: { [field.path]: startOf(field) } }]
			: []),
		...samples,
	];
}

/** A field of the form that says nothing. */
const EMPTY: Partial<Record<Field['type'], Value>> = { images: [], urls: [] };

const hasRoles = (value: Value) =>
	Array.isArray(value) && value.some((row) => typeof row === 'object' && row !== null && 'role' in row);

/** Rows of a list are a list of URLs there. */
const inBodyOf = (field: Field, value: Value): Value =>
	Array.isArray(value) && (field.type === 'images' || field.type === 'urls')
		? value.map((row) => (row as { url: string }).url)
		: value;

/** Additional Fields replace a whole list: a field in one would come without the others. */
const isOfItsOwn = ({ path }: Field) => !/\.\d/.test(path);

/** The form changes others with it, which Additional Fields do not. */
const decides = ({ fields }: GoldenModel, { parameter }: Field) => fields.some(({ when }) => parameter in when);

/** A value in a field that the form does not show any more. */
function leftOverCases(model: GoldenModel, field: Field): GoldenCase[] {
	const samePath = model.fields.filter(({ path }) => path === field.path);
	return Object.keys(field.when).flatMap((parameter) => {
		const choices = model.fields.filter((other) => other.parameter === parameter).flatMap(optionsOf);
		const hiding = choices.filter(([value]) => !samePath.some(({ when }) => when[parameter]?.includes(String(value))));
		return hiding.map(([value]) => ({
			name: `${field.label} left over at ${String(value)}`,
			parameters: withValue({ ...model.minimal, ...field.with, [parameter]: value }, field.parameter, sampleOf(field)),
			sent: { [field.path]: undefined },
		}));
	});
}

/** A value that holds fields must be an object, or a list. */
function containerCases({ id, fields, minimal }: GoldenModel): GoldenCase[] {
	const containers = fields.flatMap(({ path }) =>
		[...path.matchAll(/\.(\d)?/g)].map(({ index, 1: digit }) => ({
			path: path.slice(0, index),
			isList: digit !== undefined,
		})),
	);
	const once = new Map(containers.map(({ path, isList }) => [path, isList]));
	return [...once].map(([path, isList]) => ({
		name: `${path} as text in Additional Fields`,
		parameters: { ...minimal, options: { additionalFields: nested(path, 'x') } },
		sent: {},
		message: `${path} is "x": ${id} takes ${isList ? 'a list' : 'an object'}`,
	}));
}

/** For the name of a test. */
function shown(value: Value): string {
	if (typeof value === 'number') return String(value);
	const entries = Array.isArray(value)
		? value.map((entry) => (typeof entry === 'object' && entry !== null ? Object.values(entry).join(' ') : entry))
		: value;
	const text = JSON.stringify(entries);
	if (text.length <= 100) return text;
	const size = Array.isArray(value) ? `${value.length} entries` : `${[...String(value)].length} characters`;
	return `${size}, ${[...text].slice(0, 40).join('')}…`;
}

/** With the value of one parameter, which may be one in a collection. */
export function withValue(parameters: Parameters, path: string, value: Value): Parameters {
	const [first, ...rest] = path.split('.');
	const before = parameters[first];
	const collection = typeof before === 'object' && before !== null && !Array.isArray(before) ? before : {};
	return { ...parameters, [first]: rest.length === 0 ? value : { ...collection, [rest.join('.')]: value } };
}

/** `metadata.audio` → { metadata: { audio: value } } */
function nested(path: string, value: Value): Value {
	const [first, ...rest] = path.split('.');
	const inner = rest.length === 0 ? value : nested(rest.join('.'), value);
	return /^\d+$/.test(first) ? [inner] : { [first]: inner };
}
