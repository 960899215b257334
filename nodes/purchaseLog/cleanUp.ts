import type { IDataObject, IExecuteFunctions, INodeParameters } from 'n8n-workflow';
import { cleanedTables } from '../../core/processMemory';
import { wordsOf } from '../../core/text';
import { RUN, TABLE_NAME, type PurchaseState } from '../../core/purchases/purchaseRow';
import { runDataTableNode } from './dataTableNode';
import { inSequence, matching, onRows } from './table';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Rows of this age are removed, those of a run one by one: see `mayLackOldRows`. */
const OLD_MS = 90 * DAY_MS;

/** With more rows than these, the oldest are removed, too, but not those that somebody may still need. */
const MOST_ROWS = 50_000;
const NEEDED_MS = 31 * DAY_MS;

/** Rows to read and to remove at once: n8n reads what it removes into memory. */
const PIECE = 1000;

/** Pieces of old rows that are removed on one day; the rest is removed on the next one. */
const MOST_PIECES = 150;

/** Runs that are removed by one statement, where they have few rows. */
const RUNS_AT_ONCE = 100;

/** After these states nothing comes of a purchase any more. */
const ENDS: unknown[] = ['not_accepted', 'failed', 'failed_permanently', 'completed'] satisfies PurchaseState[];

/** True for a run of which rows may have been removed, because it began so long ago. */
export function mayLackOldRows(establishedAtMs: number): boolean {
	return Date.now() - establishedAtMs > OLD_MS;
}

type Use = (operation: string, parameters: INodeParameters) => Promise<IDataObject[]>;

/** Removes old rows in the background, once a day for each table. */
export function cleanUp(context: IExecuteFunctions, tableId: string): void {
	const nowMs = Date.now();
	if (nowMs - (cleanedTables.get(tableId) ?? 0) < DAY_MS) return;
	if (cleanedTables.size >= 1000) cleanedTables.clear();
	cleanedTables.set(tableId, nowMs);
	void removeOldRows(context, tableId, nowMs).catch((thrown: unknown) =>
		context.logger.warn(`Generation Gateway: old rows of "${TABLE_NAME}" were not removed (${wordsOf(thrown)})`),
	);
}

async function removeOldRows(context: IExecuteFunctions, tableId: string, nowMs: number): Promise<void> {
	const use: Use = async (operation, parameters) =>
		await runDataTableNode(context, onRows(tableId, operation, parameters));
	await removeBefore(use, new Date(nowMs - OLD_MS).toISOString());
	await removeSurplus(use, nowMs - NEEDED_MS);
}

async function removeBefore(use: Use, time: string): Promise<void> {
	const isOld = { keyName: 'time', condition: 'lt', keyValue: time };
	for (let piece = 0; piece < MOST_PIECES; piece++) {
		const rows = await use('get', { ...matching([isOld]), ...inSequence('ASC'), limit: PIECE });
		const last = rows.at(-1);
		if (last === undefined) return;
		await use('deleteRows', matching([isOld, { keyName: 'id', condition: 'lte', keyValue: idOf(last) }]));
		if (rows.length < PIECE) return;
	}
}

/** The facts about the rows of a run: those of all tries, and of all nodes whose runs have the same name. */
interface RunRows {
	count: number;
	isNeeded: boolean;
}

/**
 * Removes runs of which no row is among the newest 50,000; those with a Purchase Key, or with a purchase whose end is not
 * there, only if they are from before `neededSinceMs`. Always a whole run at once: a retry submits what has no row, where
 * others have one.
 */
async function removeSurplus(use: Use, neededSinceMs: number): Promise<void> {
	const ids = { newest: await idAtEnd(use, 'DESC'), oldest: await idAtEnd(use, 'ASC') };
	// Rows that were removed leave gaps in the numbers, so there are not more rows than numbers.
	if (ids.newest - ids.oldest < MOST_ROWS) return;
	const runs = await readRuns(use, ids.newest, neededSinceMs);
	let names: string[] = [];
	let count = 0;
	const remove = async () => {
		const conditions = names.map((origin) => ({ keyName: 'origin', condition: 'eq', keyValue: origin }));
		if (names.length > 0) await use('deleteRows', { matchType: 'anyCondition', filters: { conditions } });
		names = [];
		count = 0;
	};
	for (const [name, run] of runs) {
		if (run.isNeeded || name === '') continue;
		if (count + run.count > PIECE || names.length >= RUNS_AT_ONCE) await remove();
		names.push(name);
		count += run.count;
	}
	await remove();
}

/** Reads from the newest to the oldest, so that an end is read before the rows that it belongs to. */
async function readRuns(use: Use, newestId: number, neededSinceMs: number): Promise<Map<string, RunRows>> {
	const runs = new Map<string, RunRows>();
	const ended = new Set<unknown>();
	// No larger number: PostgreSQL refuses one that its column could not hold.
	let [read, before] = [0, newestId + 1];
	for (;;) {
		const older = matching([{ keyName: 'id', condition: 'lt', keyValue: before }]);
		const rows = await use('get', { ...older, ...inSequence('DESC'), limit: PIECE });
		for (const { origin, time, state, attempt, key_hash: key } of rows) {
			if (ENDS.includes(state)) ended.add(attempt);
			const name = String(origin ?? '');
			const run = runs.get(name) ?? { count: 0, isNeeded: false };
			const mayBeAskedFor = Boolean(key) || (state !== RUN && !ended.has(attempt));
			run.isNeeded ||= read < MOST_ROWS || (mayBeAskedFor && Date.parse(String(time)) >= neededSinceMs);
			run.count++;
			read++;
			runs.set(name, run);
		}
		if (rows.length < PIECE) return runs;
		before = idOf(rows.at(-1));
	}
}

/** 0 where there is no row. */
async function idAtEnd(use: Use, direction: 'ASC' | 'DESC'): Promise<number> {
	return idOf((await use('get', { ...inSequence(direction), limit: 1 }))[0]);
}

function idOf(row?: IDataObject): number {
	return Number(row?.id ?? 0);
}
