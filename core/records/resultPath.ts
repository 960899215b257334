import { isPlainObject } from '../json';

/**
 * A place in a record as people read and write it: names and indexes, separated by dots, such as `content.video_url`,
 * `results.0.url` or `results[0].url`. A name goes through lists: `results.url` is the URL of every entry. A name that
 * would read as something else is written in brackets and quotes: `["a.b"].url`.
 */
type Step = { name: string; isQuoted: boolean } | 'all';

const STEP = /\[\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\d*)\s*\]|[^.[\]]+|[[\]]/g;
const PLAIN_NAME = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u;

/** The values at a path, several where lists are on the way. Own properties only. */
export function valuesAtPath(record: unknown, path: string): unknown[] {
	const steps = parsePath(path);
	return steps.length === 0
		? []
		: steps.reduce<unknown[]>((values, step) => values.flatMap((value) => stepInto(value, step)), [record]);
}

/** The lists that a path leads through or to, except those of which it takes one entry. */
export function listsOnPath(record: unknown, path: string): unknown[][] {
	let values = [record];
	const lists: unknown[][] = [];
	for (const step of [...parsePath(path), undefined]) {
		const takesOne = step !== undefined && step !== 'all' && !step.isQuoted && /^\d+$/.test(step.name);
		if (!takesOne) lists.push(...values.filter((value) => Array.isArray(value)));
		if (step !== undefined) values = values.flatMap((value) => stepInto(value, step));
	}
	return lists;
}

/** The place one name further; lists add nothing to it. What comes out reads back as the same place. */
export function appendName(path: string, name: string): string {
	if (PLAIN_NAME.test(name)) return path === '' ? name : `${path}.${name}`;
	// It is shown in a page, too.
	const quoted = JSON.stringify(name).replace(
		/[<>&\u007f-\u009f\u2028\u2029]/g,
		(sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
	);
	return `${path}[${quoted}]`;
}

function parsePath(path: string): Step[] {
	return [...path.matchAll(STEP)].map(([whole, inBrackets]): Step => {
		if (inBrackets === undefined) return { name: whole.trim(), isQuoted: false };
		if (inBrackets === '') return 'all';
		return /^\d/.test(inBrackets)
			? { name: inBrackets, isQuoted: false }
			: { name: unquote(inBrackets), isQuoted: true };
	});
}

function unquote(quoted: string): string {
	const inner = quoted.slice(1, -1);
	if (quoted[0] === "'") return inner.replace(/\\(.)/g, '$1');
	try {
		return String(JSON.parse(quoted));
	} catch {
		return inner;
	}
}

function stepInto(value: unknown, step: Step): unknown[] {
	if (step === 'all') return Array.isArray(value) ? value : [value];
	const { name, isQuoted } = step;
	if (Array.isArray(value)) {
		if (!isQuoted && /^\d+$/.test(name)) return value.slice(Number(name), Number(name) + 1);
		return [...flattened(value, listOf)].flatMap((entry) => stepInto(entry, step));
	}
	return isPlainObject(value) && Object.hasOwn(value, name) ? [value[name]] : [];
}

const listOf = (value: unknown) => (Array.isArray(value) ? (value as unknown[]) : undefined);

/**
 * A value, or in its place what is in it, and in that, in order. Without recursion: a record can be as deep as it likes.
 *
 * @param within what is in a value; undefined where it stays as it is
 */
export function* flattened(value: unknown, within: (value: unknown) => unknown[] | undefined): Generator {
	const open = [[value].values()];
	for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
		const next = last.next();
		const inner = within(next.value);
		if (next.done) open.pop();
		else if (inner) open.push(inner.values());
		else yield next.value;
	}
}
