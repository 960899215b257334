import { withLongIntegersAsText } from './longIntegers';

/** A JSON object: a request body, or an answer. */
export type JsonObject = Record<string, unknown>;

/** The parsed JSON; undefined for anything else. Whole numbers that would be rounded come as text: they are IDs. */
export function parseJson(text: string): unknown {
	try {
		return JSON.parse(withLongIntegersAsText(text)) as unknown;
	} catch {
		return undefined;
	}
}

/** The JSON of a text whose end was cut off, up to the last value that came whole; undefined for anything else. */
export function parseBeginning(text: string): unknown {
	const beginning = text.slice(0, LONGEST_BEGINNING);
	const ends: string[] = [];
	let wholeTo = 0;
	let before = '';
	for (const { 0: token, 1: closing, index } of beginning.matchAll(TOKEN)) {
		const end = index + token.length;
		if (token.startsWith('"')) {
			// The name of a field says nothing without its value.
			if (closing === '"' && (before === ':' || ends.at(-1) === ']')) wholeTo = end;
			continue;
		}
		if (token === '{' || token === '[') ends.push(token === '{' ? '}' : ']');
		if (token === '}' || token === ']') ends.pop();
		if (token !== ':') wholeTo = token === ',' ? index : end;
		before = token;
	}
	return parseJson(beginning.slice(0, wholeTo) + ends.reverse().join(''));
}

/** Characters of a cut-off answer that are searched: n8n has one thread, and an ID stands near the beginning. */
const LONGEST_BEGINNING = 2 ** 18;
/** A text, which may be cut off, or a sign of JSON. */
const TOKEN = /"[^"\\]*(?:\\[^][^"\\]*)*("?)|[{}[\],:]/g;

export function isPlainObject(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object or a list. */
export function isContainer(value: unknown): value is JsonObject {
	return typeof value === 'object' && value !== null;
}

export function asArray(value: unknown): unknown[] {
	return Array.isArray(value) ? value : [value];
}

/** The value at a path, dotted or as its keys; a number in a path is an index of an array. */
export function getPath(body: unknown, path: string | readonly string[]): unknown {
	let value = body;
	for (const key of typeof path === 'string' ? path.split('.') : path) {
		if (!isContainer(value)) return undefined;
		value = value[key];
	}
	return value;
}

export function setPath(body: JsonObject, path: string, value: unknown): void {
	const keys = path.split('.');
	const last = keys.pop() as string;
	let target: Record<string, unknown> = body;
	keys.forEach((key, index) => {
		const next = keys[index + 1] ?? last;
		target[key] ??= /^\d+$/.test(next) ? [] : {};
		target = target[key] as Record<string, unknown>;
	});
	target[last] = value;
}

/**
 * Objects deep, everything else (lists included) replaced; `null` removes a field, at any depth. Neither argument is
 * changed.
 * Not lodash's `merge`: it mixes lists index by index, and keeps what is null.
 */
export function mergeDeep(base: JsonObject, extra: JsonObject): JsonObject {
	const merged: JsonObject = { ...base };
	for (const [key, value] of Object.entries(extra)) {
		if (key === '__proto__') continue;
		const before = merged[key];
		if (value === null) delete merged[key];
		else merged[key] = isPlainObject(value) ? mergeDeep(isPlainObject(before) ? before : {}, value) : value;
	}
	return merged;
}

/** True for values that count as not set: nothing, an empty list or text, or `false`. */
export function isUnset(value: unknown): boolean {
	if (value === undefined || value === null || value === '' || value === false) return true;
	return Array.isArray(value) && value.length === 0;
}

/** Every value in it with its name (none for the entries of a list) and what contains it, the nearest to the top first. */
export function* valuesBelow(root: unknown): Generator<[string | undefined, unknown, object]> {
	// Without recursion: a record may be deep.
	const queue = isContainer(root) ? [root] : [];
	// It grows meanwhile.
	for (const container of queue) {
		const entries: Array<[string | undefined, unknown]> = Array.isArray(container)
			? container.map((entry: unknown) => [undefined, entry])
			: Object.entries(container);
		for (const [name, value] of entries) {
			yield [name, value, container];
			if (isContainer(value)) queue.push(value);
		}
	}
}

/** The same value, cut off below a number of levels: n8n and JSON cannot write what is deeper. */
export function withinLevels(value: unknown, levels: number): unknown {
	if (!isContainer(value)) return value;
	if (levels === 0) return '…';
	if (Array.isArray(value)) return value.map((entry) => withinLevels(entry, levels - 1));
	return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withinLevels(inner, levels - 1)]));
}

export function isDeeperThan(value: unknown, levels: number): boolean {
	let level: unknown[] = [value];
	for (let depth = 0; depth <= levels; depth++) {
		level = level.filter(isContainer).flatMap((each) => Object.values(each));
		if (level.length === 0) return false;
	}
	return true;
}
