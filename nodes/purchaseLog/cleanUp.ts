import type { IDataObject, IExecuteFunctions, INodeParameters } from 'n8n-workflow';
import { cleanedTables } from '../../core/processMemory';
import { wordsOf } from '../../core/purchases/purchaseLog';
import { RUN, TABLE_NAME, type PurchaseState } from '../../core/purchases/purchaseRow';
import { runDataTableNode } from './dataTableNode';
import { inSequence, matching, onRows } from './table';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Rows of this age are removed. */
const OLD_MS = 90 * DAY_MS;

/** With more rows than these, the oldest are removed, too, but not those that somebody may still need. */
const MOST_ROWS = 50_000;
const NEEDED_MS = 31 * DAY_MS;

/** Rows to read and to remove at once: n8n reads what it removes into memory. */
const PIECE = 1000;

/** Pieces of one day, and the spans of rows that are removed of them; the rest is removed on the next one. */
const MOST_PIECES = 150;
const MOST_SPANS = 500;

/** After these states nothing comes of a purchase any more. */
const ENDS: unknown[] = ['not_accepted', 'failed', 'failed_permanently', 'completed'] satisfies PurchaseState[];

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

/**
 * Removes what is older than the newest 50,000 rows, but rows of Purchase Keys, and of purchases whose end is not there, only
 * if they are from before `neededSinceMs`. Reads from the newest to the oldest, so that an end is read before the
 * rows that it belongs to.
 */
async function removeSurplus(use: Use, neededSinceMs: number): Promise<void> {
	if (!(await mayHaveSurplus(use))) return;
	const ended = new Set<unknown>();
	const isRemovable = ({ time, state, attempt, key_hash: key }: IDataObject) =>
		Date.parse(String(time)) < neededSinceMs || (!key && (state === RUN || ended.has(attempt)));
	let [read, spans, before] = [0, 0, Number.MAX_SAFE_INTEGER];
	for (let piece = 0; piece < MOST_PIECES; piece++) {
		const older = matching([{ keyName: 'id', condition: 'lt', keyValue: before }]);
		const rows = await use('get', { ...older, ...inSequence('DESC'), limit: PIECE });
		for (const { state, attempt } of rows) if (ENDS.includes(state)) ended.add(attempt);
		for (const { newest, oldest } of spansOf(rows.slice(Math.max(0, MOST_ROWS - read)), isRemovable)) {
			if (++spans > MOST_SPANS) return;
			const from = { keyName: 'id', condition: 'gte', keyValue: idOf(oldest) };
			await use('deleteRows', matching([from, { keyName: 'id', condition: 'lte', keyValue: idOf(newest) }]));
		}
		if (rows.length < PIECE) return;
		read += rows.length;
		before = idOf(rows.at(-1));
	}
}

/** Rows that were removed leave gaps in the numbers, so there are not more rows than numbers. */
async function mayHaveSurplus(use: Use): Promise<boolean> {
	const idAtEnd = async (direction: 'ASC' | 'DESC') =>
		idOf((await use('get', { ...inSequence(direction), limit: 1 }))[0]);
	return (await idAtEnd('DESC')) - (await idAtEnd('ASC')) >= MOST_ROWS;
}

function idOf(row?: IDataObject): number {
	return Number(row?.id ?? 0);
}

/** Neighbours that are all removable, by their first and last. */
function spansOf(
	rows: IDataObject[],
	isRemovable: (row: IDataObject) => boolean,
): Array<Record<'newest' | 'oldest', IDataObject>> {
	const spans: Array<Record<'newest' | 'oldest', IDataObject>> = [];
	let span: (typeof spans)[number] | undefined;
	for (const row of rows) {
		if (!isRemovable(row)) span = undefined;
		else if (span !== undefined) span.oldest = row;
		else spans.push((span = { newest: row, oldest: row }));
	}
	return spans;
}
