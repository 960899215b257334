/** The node parameters that send a given request: its fields where the form has them, else Additional Fields. */
import { isDeepStrictEqual } from 'node:util';
import { withValue } from './goldenCases';
import { optionsOf, shownFields, type Field, type GoldenModel, type Parameters, type Value } from './goldens.mts';

/** A file of this kind may import it. */
const isSame = isDeepStrictEqual;

export type Body = { [name: string]: Value };

/** The values that a form always sends. */
const CONSTANTS = new Map<string, Body>([['gamma-image-2', { response_format: 'url' }]]);

export function parametersFor(golden: GoldenModel, { model, ...body }: Body): Parameters {
	const whole = fillIn(golden, body, () => true);
	// Several fields make up the entry of a list, and Additional Fields replace a list: all of it comes from one of them.
	const { parameters, sent } = isSame(whole.sent.video_list, body.video_list)
		? whole
		: fillIn(golden, body, ({ path }) => !path.startsWith('video_list.'));
	// Where the form advises to enter a prompt, this says that none is meant.
	const additional = { ...(body.prompt === undefined ? { prompt: null } : {}), ...difference(sent, body) };
	return withValue({ model, ...parameters }, 'options.additionalFields', JSON.stringify(additional));
}

/** The form as far as it can say the body, and what it then sends. */
function fillIn(
	golden: GoldenModel,
	body: Body,
	isUsed: (field: Field) => boolean,
): { parameters: Parameters; sent: Body } {
	const inputs = new Map(golden.fields.filter(isUsed).map((field) => [field, inputFor(field, body)]));
	const choices = Object.fromEntries(
		[...inputs].flatMap(([field, input]) => (input?.path === field.path ? [[field.parameter, input.value]] : [])),
	);
	const sent = structuredClone(CONSTANTS.get(golden.id) ?? {});
	let parameters: Parameters = {};
	for (const field of shownFields(golden, choices)) {
		const input = inputs.get(field);
		if (input) {
			parameters = withValue(parameters, field.parameter, input.value);
			setAt(sent, input.path, valueAt(body, input.path));
		} else if (field.default !== undefined && !('notSent' in field && field.notSent === field.default)) {
			setAt(sent, field.path, field.default);
		}
	}
	return { parameters, sent };
}

/** The value to enter, and its place in the body; undefined when the form has no such value. */
function inputFor(field: Field, body: Body): { value: Value; path: string } | undefined {
	if (field.type === 'images' && field.roles) {
		const entries = valueAt(body, field.roles.path);
		if (Array.isArray(entries) && entries.length > 0) return { value: entries, path: field.roles.path };
	}
	const value = valueAt(body, field.path);
	const input = value === undefined ? undefined : entered(field, value);
	return input === undefined ? undefined : { value: input, path: field.path };
}

function entered(field: Field, value: Value): Value | undefined {
	const isAddress = (each: unknown) =>
		typeof each === 'string' && (/^https?:/i.test(each) || (field.type === 'images' && field.assets));
	const isDropdown =
		(field.type === 'text' || field.type === 'integer') && field.values !== undefined && field.open === undefined;
	if (isDropdown) return optionsOf(field).some(([option]) => option === value) ? value : undefined;
	switch (field.type) {
		case 'text':
			// The form trims what is entered.
			return typeof value === 'string' && value.trim() === value && value !== '' ? value : undefined;
		case 'integer':
			return Number.isInteger(value) &&
				Number(value) >= (field.min ?? -Infinity) &&
				Number(value) <= (field.max ?? Infinity)
				? value
				: undefined;
		case 'boolean':
			return typeof value === 'boolean' ? value : undefined;
		case 'url':
			return isAddress(value) ? value : undefined;
		case 'urls':
		case 'images': {
			const isPossible =
				Array.isArray(value) &&
				value.length > 0 &&
				value.every(isAddress) &&
				(field.maxItems === 'not shown' || value.length <= field.maxItems);
			return isPossible ? value.map((url) => ({ url })) : undefined;
		}
	}
}

/** The Additional Fields that turn `from` into `to`. */
function difference(from: Body, to: Body): Body {
	const removed = Object.keys(from)
		.filter((name) => !(name in to))
		.map((name) => [name, null]);
	const changed = Object.entries(to).flatMap(([name, value]) => {
		const before = from[name];
		if (isSame(before, value)) return [];
		return [[name, isBody(before) && isBody(value) ? difference(before, value) : value]];
	});
	return Object.fromEntries([...removed, ...changed]) as Body;
}

const isBody = (value: Value | undefined): value is Body =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

function valueAt(body: Value, path: string): Value | undefined {
	return path
		.split('.')
		.reduce<
			Value | undefined
		>((value, key) => (typeof value === 'object' && value !== null ? (value as Body)[key] : undefined), body);
}

function setAt(body: Body, path: string, value: Value | undefined): void {
	const [first, ...rest] = path.split('.');
	if (value === undefined) return;
	if (rest.length === 0) body[first] = value;
	else setAt((body[first] ??= /^\d+$/.test(rest[0]) ? ([] as unknown as Body) : {}) as Body, rest.join('.'), value);
}
