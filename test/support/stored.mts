/**
 * The files of test/stored: what the package leaves in n8n, as version 1.0.0 has stored it. An entry is never changed: n8n may hold
 * such a thing for years.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { IDataObject } from 'n8n-workflow';
import { hashOfKey } from '../../nodes/run/runMemory';
import type { Sandbox } from './nodes.mts';

/** Adds what the files do not have yet, and changes nothing that they have. */
const isAdding = process.env.ADD_STORED !== undefined;

/** The moment at which all that is in the files was stored. */
export const STORED_AT_MS = Date.UTC(2027, 0, 1);

export const PURCHASE_KEYS = ['order 7', 'order 8', 'order 9', 'order 10', 'order 11'];
const BASE_URL = 'https://gateway.example.com';

/** The way to change what the product stores. */
const ADVICE: Record<string, string> = {
	'orders.json': 'Raise ORDER_VERSION in core/orders/order.ts, read both versions',
	'table.json':
		'A table without a column of today is refused, and n8n cannot add one: put it into the column "more" (core/journal/row.ts)',
	'rows.json': 'Each version reads the rows of all others: read the old form, too (parseRow in core/journal/row.ts)',
	'subWorkflow.json': 'Executions that sleep go on with the stored one: keep its steps and the names of its nodes',
	'codes.json': 'Workflows compare with a code, and orders are stored with the name of its reason: neither changes',
	'requests.json':
		'A saved form must send the same request and have the same hash: otherwise a retry does not find its row, and buys again. Count a new field only where a person has chosen it. If it is meant',
};

const fileOf = (name: string) => new URL(`../stored/${name}`, import.meta.url);

export function readStored<T = IDataObject>(file: string): Record<string, T> {
	return existsSync(fileOf(file)) ? (JSON.parse(readFileSync(fileOf(file), 'utf8')) as Record<string, T>) : {};
}

/** Words for people may change. */
const withoutWords = (value: unknown): unknown =>
	JSON.parse(
		JSON.stringify(value ?? null, (name, each: unknown) => (WORDS.has(name) && typeof each === 'string' ? '…' : each)),
	);
const WORDS = new Set(['error', 'message', 'serviceMessage', 'content']);

/** Fails where the product stores one of these in another form than the file has. */
function expectAsStored(file: string, written: Record<string, unknown>): void {
	const all = readStored<unknown>(file);
	for (const [name, one] of Object.entries(written)) {
		if (isAdding && !(name in all)) {
			all[name] = one;
			writeFileSync(fileOf(file), `${JSON.stringify(all, undefined, '\t')}\n`);
		}
		try {
			expect(withoutWords(one)).toEqual(withoutWords(all[name]));
		} catch (thrown) {
			const advice = ADVICE[file] ?? 'Go on reading the old form';
			throw new Error(
				`"${name}" is stored in another form than test/stored/${file} has, and n8n holds that for years. ${advice}, and add the new form under a name of its own (ADD_STORED=1, see test/README.md).\n\n${(thrown as Error).message}`,
			);
		}
	}
}

/** Longer than any test takes. */
const ROUNDED_TO_MS = 600_000;
const NEAR_MS = 3 * 86_400_000;

/** The JSON with its times moved: Unix milliseconds, the same in base 36 (names of attempts) and ISO dates. */
function moveTimes(text: string, fromMs: number, toMs: number): string {
	const move = (atMs: number) => {
		const afterMs = Math.round((atMs - fromMs) / ROUNDED_TO_MS) * ROUNDED_TO_MS;
		return Math.abs(afterMs) > NEAR_MS ? undefined : toMs + afterMs;
	};
	return text
		.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:[\d.]+Z/g, (iso) => new Date(move(Date.parse(iso)) ?? iso).toISOString())
		.replace(/(?<![\w.])\d{13}(?:\.\d+(?=[,}\]]))?(?!\d)/g, (digits) => String(move(Number(digits)) ?? digits))
		.replace(/(?<=["-])[0-9a-z]{8}(?=[0-9a-z]{0,4}["-.])/g, (word) => move(parseInt(word, 36))?.toString(36) ?? word);
}

/** The entries of a ledger by their items: they are in the sequence of the answers, and IDs are named as they come. */
function inSequence(value: unknown): unknown {
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
	const entries = Object.entries(value);
	const isOfItem = ([key]: [string, unknown]) => /^\d+\.\d+$/.test(key);
	const ofItems = entries.filter(isOfItem).sort(([a], [b]) => Number(a) - Number(b));
	return Object.fromEntries([...entries.filter((entry) => !isOfItem(entry)), ...ofItems]);
}

/** Durations, and the prices of the sandbox. */
const MEASURED = /"(elapsedMs|tookMs|atMs|waited_seconds|credits)":\d{1,6}(?:\.\d+)?(?=[,}])/g;

/** Turns what the product stores in a test into the names and times of the files, and what these hold into those of the test. */
export class StoredFiles {
	private readonly startedAtMs = Date.now();

	private readonly ids = new Map<string, string>();

	/** Parts of the files, and what they are called in the test. */
	private readonly names: Array<[stored: string, now: string]>;

	constructor(private readonly sandbox: Sandbox) {
		const service = (baseUrl: string) => createHash('sha256').update(baseUrl).digest('base64').slice(0, 16);
		const keys = (baseUrl: string) =>
			PURCHASE_KEYS.map((key) => hashOfKey(key, { account: 'generationGatewayApi', baseUrl }));
		const all = (baseUrl: string) => [...keys(baseUrl), service(baseUrl), baseUrl];
		const now = all(sandbox.baseUrl);
		this.names = all(BASE_URL).map((stored, index) => [stored, now[index]]);
		this.names.push(['https://files.example.com', sandbox.filesUrl]);
	}

	expect(file: string, written: Record<string, unknown>): void {
		let text = JSON.stringify(written, (_, value: unknown) => inSequence(value));
		for (const [stored, now] of this.names) text = text.replaceAll(now, stored);
		text = text.replace(/\b([a-z]+_)[0-9a-z]{4}A{18}/g, (id, prefix: string) => {
			const ofKind = [...this.ids.values()].filter((other) => other.startsWith(prefix));
			if (!this.ids.has(id)) this.ids.set(id, `${prefix}${ofKind.length + 1}`);
			return this.ids.get(id) ?? id;
		});
		text = moveTimes(text, this.startedAtMs, STORED_AT_MS).replace(MEASURED, '"$1":1000');
		expectAsStored(file, JSON.parse(text) as Record<string, unknown>);
	}

	/** The same as if it had been stored in this test, or so long before: the n-th task is the n-th of the sandbox. */
	read<T>(stored: unknown, agoMs = 0): T {
		let text = JSON.stringify(stored);
		for (const [name, now] of this.names) text = text.replaceAll(name, now);
		text = text.replace(/\bimg_(\d)\b/g, (id, number: string) => this.sandbox.tasks[Number(number) - 1]?.id ?? id);
		return JSON.parse(moveTimes(text, STORED_AT_MS, this.startedAtMs - agoMs)) as T;
	}
}
