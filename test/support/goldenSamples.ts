/**
 * The values that a test tries in a field of a golden file: each bound and one step to either side, each allowed value,
 * and others.
 */
import { isClosed, optionsOf, type Field, type GoldenModel, type Value } from './goldens.mts';

const IMAGE = 'https://example.com/a.png';
const VIDEO = 'https://example.com/a.mp4';
const ASSET = 'asset://pa_123';
const BASE64 = ['data:image/png;base64,iVBORw0KGgo=', 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ'.repeat(4)];
const NO_ADDRESSES = ['ftp://example.com/a.png', 'https:///a.png', 'a.png'];
/** The number of values where the contract shows no limit. */
const MANY = 20;

/** The body's value then, at the path of the field if no other is given; or the message that refuses it. */
type Expected = { sent: Value | undefined; path?: string } | { message: string };

export interface Sample {
	value: Value;
	/** Additional Fields put it into the body; else it is entered in the form. */
	inBody?: boolean;
	expected: Expected;
}

type FieldOf<Type extends Field['type']> = Extract<Field, { type: Type }>;

const inForm = (value: Value, expected: Expected): Sample => ({ value, expected });
const inBody = (value: Value, expected: Expected): Sample => ({ value, expected, inBody: true });
const anywhere = (value: Value, expected: Expected): Sample[] => [inForm(value, expected), inBody(value, expected)];

/** @param models whose values are tried, too, where the field has the same label */
export function samplesOf(model: GoldenModel, models: GoldenModel[], field: Field): Sample[] {
	const samples = samplesOfType(model, models, field);
	return [
		...samples.filter(({ inBody, expected }) => field.openInBody === undefined || !inBody || 'sent' in expected),
		...(field.openInBody ?? []).map((value) => inBody(value, { sent: value })),
		inBody(null, removed(field)),
	];
}

/** The effect of `null` in Additional Fields. */
function removed({ label, required, withoutIt }: Field): Expected {
	const message = withoutIt ?? (required ? `${label} is empty` : undefined);
	return message === undefined ? { sent: undefined } : { message };
}

function samplesOfType(model: GoldenModel, models: GoldenModel[], field: Field): Sample[] {
	switch (field.type) {
		case 'text':
			return textSamples(model, models, field);
		case 'integer':
			return integerSamples(model, models, field);
		case 'boolean':
			return booleanSamples(model, field);
		case 'url':
			return urlSamples(model, field);
		case 'urls':
			return urlsSamples(model, field);
		case 'images':
			return [...imageSamples(model, field), ...roleSamples(model, field)];
	}
}

/** A value that the form does not start with, and that it accepts. */
export function sampleOf(field: Field): Value {
	const sample: Record<Field['type'], Value> = {
		text: 'Some text',
		integer: 1,
		boolean: field.default !== true,
		url: VIDEO,
		urls: [{ url: VIDEO }],
		images: [{ url: IMAGE }],
	};
	if (field.type !== 'text' && field.type !== 'integer') return sample[field.type];
	const bounds = field.type === 'integer' ? [field.min, field.max] : [];
	return (
		[...valuesOf(field), ...bounds].find((value) => value !== undefined && value !== field.default) ??
		sample[field.type]
	);
}

/** The value that is sent when nobody has chosen one. */
export function startOf(field: Field): Value | undefined {
	return 'notSent' in field && field.default === field.notSent ? undefined : field.default;
}

/** Those of the contract, and examples where it does not show all. */
function valuesOf(field: FieldOf<'text' | 'integer'>): Array<string | number> {
	return [...optionsOf(field).map(([value]) => value), ...(field.open ?? [])];
}

function textSamples(model: GoldenModel, models: GoldenModel[], field: FieldOf<'text'>): Sample[] {
	const { label, maxLength, notSent } = field;
	const values = valuesOf(field);
	const no = (value: Value) => notAllowed(model, field, value, isClosed(field) ? either(values) : 'text');
	const empty = { message: `${label} is empty` };
	const lengths = ['x', '😀'].flatMap((character) => {
		if (maxLength === undefined) return [];
		const message = `${label} has ${maxLength + 1} characters: ${model.id} allows at most ${maxLength}`;
		const texts = [maxLength - 1, maxLength].map((length) => character.repeat(length));
		return [
			...texts.flatMap((text) => anywhere(text, { sent: text })),
			...anywhere(character.repeat(maxLength + 1), { message }),
		];
	});
	return [
		...(values.length > 0 ? values : ['Some text']).flatMap((value) =>
			anywhere(value, { sent: value === notSent ? undefined : value }),
		),
		...lengths,
		...[[1], ...strangers(models, field)].flatMap((value) => anywhere(value, no(value))),
		// An expression gives them where a text is meant.
		...[1080, true].flatMap((value) => [
			inForm(value, field.values ? no(value) : { sent: String(value) }),
			inBody(value, no(value)),
		]),
		...(field.required
			? [...['', ' \n'].flatMap((value) => anywhere(value, empty)), inForm(null, empty)]
			: [
					inForm('', { sent: isClosed(field) ? startOf(field) : undefined }),
					...(field.values ? [] : [inForm(' \n', { sent: undefined })]),
				]),
	];
}

function integerSamples(model: GoldenModel, models: GoldenModel[], field: FieldOf<'integer'>): Sample[] {
	const { min = -Infinity, max = Infinity } = field;
	const values = valuesOf(field).map(Number);
	const fits = (value: number) => (isClosed(field) ? values.includes(value) : value >= min && value <= max);
	const edges = [...values, min, max].flatMap((value) => [value - 1, value, value + 1]);
	const tried = [...new Set([...edges, ...strangers(models, field).map(Number), 0, -1])].filter(Number.isFinite);
	const [first, ...others] = tried.filter(fits);
	const half = first + 0.5;
	const no = (value: Value) => notAllowed(model, field, value, allowedIntegers(field));
	return [
		// Expressions often give numbers as text; a dropdown knows its own values only.
		...[first, ...others].flatMap((value) => [
			...anywhere(value, { sent: value }),
			inForm(String(value), { sent: value }),
		]),
		...(isClosed(field) ? [] : [inForm(` ${first} `, { sent: first }), inForm(String(half), no(half))]),
		inForm('', { sent: isClosed(field) ? field.default : undefined }),
		...[...tried.filter((value) => !fits(value)), half, 'abc', true].flatMap((value) => anywhere(value, no(value))),
		inForm(NaN, no(NaN)),
		inBody(String(first), no(String(first))),
	];
}

function allowedIntegers(field: FieldOf<'integer'>): string {
	const { min, max } = field;
	if (isClosed(field)) return either(valuesOf(field));
	if (min !== undefined && max !== undefined) return `whole numbers from ${min} to ${max}`;
	return `whole numbers${min === undefined ? '' : ` from ${min}`}`;
}

function booleanSamples(model: GoldenModel, field: FieldOf<'boolean'>): Sample[] {
	const allowed = field.values && Object.keys(field.values);
	const no = (value: Value) =>
		notAllowed(model, field, value, allowed === undefined ? 'true or false' : either(allowed));
	const noInBody = (value: Value) =>
		notAllowed(
			model,
			field,
			value,
			allowed === undefined ? 'true or false' : either(allowed.filter((each) => each !== field.notSent)),
		);
	return [
		...[true, false].flatMap((value) => [...anywhere(value, { sent: value }), inForm(String(value), { sent: value })]),
		inForm('', { sent: undefined }),
		...['loud', 1].flatMap((value) => [inForm(value, no(value)), inBody(value, noInBody(value))]),
		inBody('true', noInBody('true')),
		...(field.notSent === undefined
			? []
			: [inForm(field.notSent, { sent: undefined }), inBody(field.notSent, noInBody(field.notSent))]),
	];
}

function urlSamples(model: GoldenModel, field: Field): Sample[] {
	return [
		...[VIDEO, 'http://example.com/b.mp4'].flatMap((url) => anywhere(url, { sent: url })),
		...[BASE64[0], ...NO_ADDRESSES].flatMap((url) => anywhere(url, noAddress(field, url))),
		inForm(ASSET, notHere(model, field)),
		inForm('asset://', noAddress(field, 'asset://')),
		inBody(ASSET, { sent: ASSET }),
		inBody('asset://', noAsset(field.label)),
		...anywhere('', { message: `${field.label} is empty` }),
	];
}

function urlsSamples(model: GoldenModel, field: FieldOf<'urls'>): Sample[] {
	const { most, refused } = counted(field, VIDEO);
	const list = (urls: string[], expected: Expected) => [inForm(rows(urls), expected), inBody(urls, expected)];
	return [
		...[[VIDEO], ['http://example.com/b.mp4'], most].flatMap((urls) => list(urls, { sent: urls })),
		...refused.flatMap((urls) => list(urls, tooMany(field))),
		...[BASE64[0], ...NO_ADDRESSES, ''].flatMap((url) => list([VIDEO, url], noAddress(field, url))),
		inForm(rows([VIDEO, ASSET]), notHere(model, field)),
		inForm(rows([VIDEO, 'asset://']), noAddress(field, 'asset://')),
		inBody([VIDEO, ASSET], { sent: [VIDEO, ASSET] }),
		inBody([VIDEO, 'asset://'], noAsset(field.label)),
		inBody(VIDEO, notAllowed(model, field, VIDEO, 'a list')),
	];
}

function imageSamples(model: GoldenModel, field: FieldOf<'images'>): Sample[] {
	const { label, assets, used } = field;
	const { most, refused } = counted(field, IMAGE);
	const list = (urls: string[], expected: Expected) => [inForm(rows(urls), expected), inBody(urls, expected)];
	return [
		...[[IMAGE], ['http://example.com/a.png'], most].flatMap((urls) => list(urls, { sent: urls.slice(0, used) })),
		inForm(rows([ASSET]), assets ? { sent: [ASSET] } : notHere(model, field)),
		inBody([ASSET], { sent: [ASSET] }),
		...list(['asset://'], noAsset(label)),
		...refused.flatMap((urls) => list(urls, tooMany(field))),
		...BASE64.flatMap((content) => list([content], isContent(label))),
		...(most.length > 1 ? list([IMAGE, BASE64[0]], isContent('Image 2')) : []),
		...list([''], { message: `${label} is empty` }),
		...NO_ADDRESSES.flatMap((url) => list([url], { message: `${label} is "${url}", which is not an http(s) URL` })),
		inBody(IMAGE, notAllowed(model, field, IMAGE, 'a list')),
	];
}

function roleSamples(model: GoldenModel, { label, assets, roles }: FieldOf<'images'>): Sample[] {
	if (!roles) return [];
	const { path, values } = roles;
	return [
		...values.flatMap((role) => [
			...[IMAGE, ...(assets ? [ASSET] : [])].map((url) => inForm(rows([url], role), { path, sent: rows([url], role) })),
			inForm(rows([IMAGE, IMAGE], role), {
				message: `Two images have the role ${role === 'first_frame' ? 'First Frame' : 'Last Frame'}`,
			}),
			inForm(rows([BASE64[0]], role), isContent(label)),
		]),
		inForm(rows([IMAGE], 'other'), { message: `Image 1 has the role "other", which ${model.id} does not support` }),
	];
}

/** Rows of a list, as the form has them. */
const rows = (urls: string[], role?: string) => urls.map((url) => (role === undefined ? { url } : { url, role }));

/** As many as are allowed, and one more, if that is known. */
function counted({ maxItems }: FieldOf<'urls' | 'images'>, url: string): { most: string[]; refused: string[][] } {
	if (maxItems === 'not shown') return { most: Array<string>(MANY).fill(url), refused: [] };
	return { most: Array<string>(maxItems).fill(url), refused: [Array<string>(maxItems + 1).fill(url)] };
}

/** The values of other models under this label, and values close to the allowed ones. */
function strangers(models: GoldenModel[], field: FieldOf<'text' | 'integer'>): Array<string | number> {
	if (!isClosed(field)) return [];
	const allowed = valuesOf(field);
	const namesakes = models.flatMap(({ fields }) => fields.filter(({ label }) => label === field.label));
	const values = namesakes.flatMap((other) => (other.type === field.type ? valuesOf(other) : []));
	const otherCase = allowed.map((value) =>
		value === String(value).toUpperCase() ? value.toLowerCase() : String(value).toUpperCase(),
	);
	return [...new Set([...values, ...otherCase, 'other'])].filter((value) => !allowed.includes(value));
}

/** "a, b or c" */
function either(choices: Array<string | number>): string {
	return choices.join(', ').replace(/, (?!.*, )/, ' or ');
}

/** "Size is "16:9": gamma-image-2 allows 1:1, 2:3 or 3:2 when Resolution is 1K" */
function notAllowed({ id, fields }: GoldenModel, field: Field, value: Value, allowed: string): Expected {
	const conditions = Object.entries(field.when).map(([parameter, values]) => {
		const other = fields.find((each) => each.parameter === parameter);
		const labels = new Map((other ? optionsOf(other) : []).map(([each, label]) => [String(each), label]));
		return `${other?.label ?? parameter} is ${either(values.map((each) => labels.get(each) ?? each))}`;
	});
	const at = conditions.length > 0 ? ` when ${conditions.join(' and ')}` : '';
	const shown = typeof value === 'number' ? String(value) : JSON.stringify(value);
	return {
		message: `${field.label} is ${shown}: ${isTakenInBody(field, value) ? 'the form' : id} allows ${allowed}${at}`,
	};
}

/** True when Additional Fields take it: for some fields any JSON value, for others any of the same type. */
function isTakenInBody({ type, openInBody = [] }: Field, value: Value): boolean {
	if (Number.isNaN(value)) return false;
	const isTyped = type === 'integer' && openInBody.every(Number.isInteger);
	return openInBody.length > 0 && (!isTyped || Number.isInteger(value));
}

const isContent = (label: string): Expected => ({
	message: `${label} contains base64 data: the service accepts image URLs only`,
});
const notHere = ({ id }: GoldenModel, { label }: Field): Expected => ({
	message: `${label} is the asset reference "${ASSET}", which ${id} does not accept`,
});
const noAsset = (label: string): Expected => ({ message: `${label} is "asset://", which does not name an asset` });
const noAddress = ({ label }: Field, url: string): Expected => ({
	message: `${label} contains "${url}", which is not an http(s) URL`,
});
const tooMany = ({ label, maxItems }: FieldOf<'urls' | 'images'>): Expected => ({
	message: `${label} has ${Number(maxItems) + 1} entries, but at most ${maxItems} ${maxItems === 1 ? 'is' : 'are'} allowed`,
});
