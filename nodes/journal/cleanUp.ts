import type { IDataObject, IExecuteFunctions, INodeParameters } from 'n8n-workflow';
import { TABLE_NAME } from '../../core/labels';
import { LEASE, RUN, type AttemptState } from '../../core/journal/row';
import { cleanedTables } from '../../core/processMemory';
import { wordsOf } from '../../core/text';
import { runDataTableNodes } from './dataTableNode';
import { inSequence, matching, matchingAny, onRows, where } from './purchasesTable';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Rows of this age are removed, whatever they are. */
export const OLD_MS = 90 * DAY_MS;

/** With more rows than these, the oldest are removed, too, but not those that a retry or a Purchase Key may still need. */
export const MOST_ROWS = 50_000;
export const NEEDED_MS = 31 * DAY_MS;

/** Rows to read and to remove at once: n8n reads what it removes into memory. */
const PIECE = 1000;

/** Pieces of old rows that are removed on one day; the rest is removed on the next one. */
const MOST_PIECES = 150;

/** Runs that are removed by one statement, where they have few rows. */
const RUNS_AT_ONCE = 100;

/** With one of these states, the outcome of an attempt is known. */
const OUTCOMES: unknown[] = ['not_accepted', 'accepted', 'failed'] satisfies AttemptState[];

/** True for a run of which rows may have been removed, because it began so long ago. */
export function mayLackOldRows(establishedAtMs: number): boolean {
	return Date.now() - establishedAtMs > NEEDED_MS;
}

type Use = (operation: string, parameters: INodeParameters) => Promise<IDataObject[]>;

/** Removes old rows in the background, once a day for each table. */
export function cleanUp(context: IExecuteFunctions, tableId: string): void {
	const nowMs = Date.now();
	// n8n begins nothing for an execution that has been stopped.
	if (context.getExecutionCancelSignal()?.aborted) return;
	if (nowMs - (cleanedTables.get(tableId) ?? 0) < DAY_MS) return;
	if (cleanedTables.size >= 1000) cleanedTables.clear();
	cleanedTables.set(tableId, nowMs);
	void removeOldRows(context, tableId).catch((thrown: unknown) =>
		context.logger.warn(`Generation Gateway: old rows of "${TABLE_NAME}" were not removed (${wordsOf(thrown)})`),
	);
}

/** Ages are by n8n's `createdAt`, the clock of the database, and from the newest row on: the clock of a worker may be wrong. */
async function removeOldRows(context: IExecuteFunctions, tableId: string): Promise<void> {
	const use: Use = async (operation, parameters) =>
		await runDataTableNodes(context, [onRows(tableId, operation, parameters)]);
	const [newest] = await use('get', inSequence('DESC', 1));
	if (newest === undefined) return;
	await removeBefore(use, createdAtMs(newest) - OLD_MS);
	await removeSurplus(use, newest);
}

async function removeBefore(use: Use, oldMs: number): Promise<void> {
	const isOld = where('createdAt', 'lt', new Date(oldMs).toISOString());
	for (let piece = 0; piece < MOST_PIECES; piece++) {
		const rows = await use('get', { ...matching([isOld]), ...inSequence('ASC', PIECE) });
		const last = rows.at(-1);
		if (last === undefined) return;
		// The age once more: a person may have cleared the table meanwhile, and then SQLite begins at 1 again.
		await use('deleteRows', matching([isOld, where('id', 'lte', idOf(last))]));
		if (rows.length < PIECE) return;
	}
}

/** The facts about the rows of a run: those of all its tries. */
interface RunRows {
	count: number;
	isNeeded: boolean;
}

/**
 * Removes runs of which no row is among the newest 50,000; those with a Purchase Key, or with an attempt whose outcome is not
 * there, only if they are so old that no retry or key needs them. Always a whole run at once: a retry submits what has no row,
 * where others have one.
 */
async function removeSurplus(use: Use, newest: IDataObject): Promise<void> {
	const [oldest] = await use('get', inSequence('ASC', 1));
	// Rows that were removed leave gaps in the numbers, so there are not more rows than numbers.
	if (idOf(newest) - idOf(oldest) < MOST_ROWS) return;
	const runs = await readRuns(use, idOf(newest), createdAtMs(newest) - NEEDED_MS);
	let names: string[] = [];
	let count = 0;
	const remove = async () => {
		if (names.length > 0) await use('deleteRows', matchingAny('run', names));
		names = [];
		count = 0;
	};
	for (const [name, run] of runs) {
		// A person can write into the table, and n8n would evaluate what begins like an expression.
		if (run.isNeeded || name === '' || name.startsWith('=')) continue;
		if (count + run.count > PIECE || names.length >= RUNS_AT_ONCE) await remove();
		names.push(name);
		count += run.count;
	}
	await remove();
}

/** Reads from the newest to the oldest, so that an outcome is read before the rows that it belongs to. */
async function readRuns(use: Use, newestId: number, neededSinceMs: number): Promise<Map<string, RunRows>> {
	const runs = new Map<string, RunRows>();
	const ended = new Set<unknown>();
	// No larger number: PostgreSQL refuses one that its column could not hold.
	let [read, before] = [0, newestId + 1];
	for (;;) {
		const rows = await use('get', { ...matching([where('id', 'lt', before)]), ...inSequence('DESC', PIECE) });
		for (const row of rows) {
			if (OUTCOMES.includes(row.state)) ended.add(row.attempt);
			const name = String(row.run ?? '');
			const run = runs.get(name) ?? { count: 0, isNeeded: false };
			const isYoung = createdAtMs(row) >= neededSinceMs;
			run.isNeeded ||= read < MOST_ROWS || (isYoung && mayBeAskedFor(row, ended));
			run.count++;
			read++;
			runs.set(name, run);
		}
		if (rows.length < PIECE) return runs;
		before = idOf(rows.at(-1));
	}
}

/** A lease names its run as its claim: that is no Purchase Key. */
function mayBeAskedFor({ state, attempt, key_hash: key }: IDataObject, ended: Set<unknown>): boolean {
	return state !== LEASE && (Boolean(key) || (state !== RUN && !ended.has(attempt)));
}

/** 0 where there is no row. */
function idOf(row?: IDataObject): number {
	return Number(row?.id ?? 0);
}

function createdAtMs({ createdAt }: IDataObject): number {
	return Date.parse(String(createdAt));
}
