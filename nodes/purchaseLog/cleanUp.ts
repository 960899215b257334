import type { IExecuteFunctions, INodeParameters } from 'n8n-workflow';
import { cleanedTables } from '../../core/processMemory';
import { wordsOf } from '../../core/purchases/purchaseLog';
import { TABLE_NAME } from '../../core/purchases/purchaseRow';
import { useDataTable } from './dataTable';
import { inSequence, matching, onRows } from './table';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Rows of this age are removed. */
const OLD_MS = 90 * DAY_MS;

/** With more rows than these, younger ones are removed, too, but not those that somebody may still need. */
const MOST_ROWS = 50_000;
const NEEDED_MS = 31 * DAY_MS;

/** Rows to remove at once: n8n reads what it removes into memory. */
const PIECE = 1000;

/** Pieces of one day; the rest is removed on the next one. */
const MOST_PIECES = 100;

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
	const use = async (operation: string, parameters: INodeParameters) =>
		await useDataTable(context, onRows(tableId, operation, parameters));
	const idAtEnd = async (direction: 'ASC' | 'DESC') => {
		const [row] = await use('get', { ...inSequence(direction), limit: 1 });
		return Number(row?.id ?? 0);
	};
	const count = (await idAtEnd('DESC')) - (await idAtEnd('ASC')) + 1;
	const before = new Date(nowMs - (count > MOST_ROWS ? NEEDED_MS : OLD_MS)).toISOString();
	const isOld = { keyName: 'time', condition: 'lt', keyValue: before };
	for (let piece = 0; piece < MOST_PIECES; piece++) {
		const rows = await use('get', { ...matching([isOld]), ...inSequence('ASC'), limit: PIECE });
		const last = rows.at(-1)?.id;
		if (last === undefined) return;
		await use('deleteRows', matching([isOld, { keyName: 'id', condition: 'lte', keyValue: Number(last) }]));
		if (rows.length < PIECE) return;
	}
}
