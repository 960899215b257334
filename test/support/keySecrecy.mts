/** The key of the credential is in nothing that a run leaves: looked for after every test that runs a node in n8n's engine. */
import { ExecuteContext } from 'n8n-core';

interface Left {
	key: string;
	place: string;
	/** Taken when the test is over. */
	value: () => unknown;
}

let ofTest: Left[] = [];
const always: Left[] = [];
const keys = new Set<string>();

let log: string[] = [];

const keep = (message: string, meta?: object) =>
	void log.push(meta && Object.keys(meta).length > 0 ? `${message} ${JSON.stringify(meta)}` : message);
const logger = { debug: keep, info: keep, warn: keep, error: keep };
/** All contexts of nodes inherit it from there. */
let contexts: object = ExecuteContext.prototype;
while (!Object.hasOwn(contexts, 'logger')) contexts = Object.getPrototypeOf(contexts) as object;
Object.defineProperty(contexts, 'logger', { configurable: true, get: () => logger });

/** The lines that the nodes of this test have written to n8n's log. */
export const logLines = (): string[] => log;

/** What a run with this key leaves there, or tells somebody else. */
export function leaves(key: string, place: string, value: () => unknown): void {
	keys.add(key);
	ofTest.push({ key, place, value });
}

/** The same for what lives longer than a test. */
export function alwaysLeaves(key: string, place: string, value: () => unknown): void {
	always.push({ key, place, value });
}

/** Begins anew: what was found is told once. */
export function assertNoKeyIsLeft(): void {
	const all = [...ofTest, ...always, ...[...keys].map((key) => ({ key, place: "n8n's log", value: () => log }))];
	const found = all.flatMap(({ key, place, value }) => (contains(value(), key) ? [place] : []));
	ofTest = [];
	log = [];
	keys.clear();
	if (found.length > 0) throw new Error(`The key of the credential is in ${[...new Set(found)].join(', ')}`);
}

// Modules that are loaded within a test are looked after by the first ones. The benchmarks have no tests.
if (typeof afterEach === 'function' && expect.getState().currentTestName === undefined) afterEach(assertNoKeyIsLeft);

/** n8n's own objects, which hold the credential, and are not stored. */
const N8N = new Set(['additionalData', 'hooks', 'credentialsHelper']);

/** Looks as deep as it goes: hostile answers are deeper than calls may be. */
function contains(start: unknown, key: string): boolean {
	const seen = new Set<object>();
	const left: unknown[] = [start];
	while (left.length > 0) {
		const value = left.pop();
		if (typeof value === 'string' && value.includes(key)) return true;
		if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || seen.has(value)) continue;
		seen.add(value);
		if (value instanceof Error) left.push(value.message, value.stack, value.cause);
		for (const [name, inner] of Object.entries(value)) {
			if (N8N.has(name)) continue;
			if (name.length >= key.length) left.push(name);
			left.push(inner);
		}
	}
	return false;
}
