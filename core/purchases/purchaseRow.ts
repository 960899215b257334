import { z } from 'zod';
import { getPath } from '../json';

/** The data table of n8n that holds the log. Users see it, and open it by this name. */
export const TABLE_NAME = 'Gateway Purchases';

/**
 * The states of a purchase, in the sequence in which they may follow each other. A row never changes: each state is a
 * row of its own.
 *
 * | State | Meaning |
 * |---|---|
 * | `submitting` | written before the request: without a later row, nobody knows whether it was accepted |
 * | `accepted` | the service has given an ID |
 * | `completed` | ended well |
 * | `failed` | the task has failed: it may be created again |
 * | `failed_permanently` | it has failed, and the same request would again |
 * | `not_accepted` | surely nothing was created |
 * | `unknown` | the request was sent, and nobody knows whether it was accepted |
 */
export const STATES = [
	'submitting',
	'unknown',
	'not_accepted',
	'accepted',
	'failed',
	'failed_permanently',
	'completed',
] as const;

export type PurchaseState = (typeof STATES)[number];

/** In the place of a state: the row is about a whole run, and says what it has cost. */
export const RUN = 'run';

/** PostgreSQL refuses a text with this character, and with it all rows that are written together. */
const writable = z.string().transform((text) => text.replaceAll('\0', ''));

/** Long names are cut off, because they are only shown. Nothing by which rows are found is. */
const shown = writable.transform((text) => text.slice(0, 200)).default('');
const exact = writable.pipe(z.string().max(2000));

/** The columns that are the same in all rows of a run. */
export const runColumns = z.object({
	workflow: shown,
	workflow_id: exact,
	node: shown,
	node_id: exact,
	execution: exact,
	/** The name of the run: see `core/orders/runs.ts`. A retry has one of its own. */
	run: exact,
	/** The name that the run and its retries share: their rows are found by it. */
	origin: exact,
	/** Two executions that began in the same millisecond have the same `origin`: only this tells a retry from another one. */
	retry: z.boolean(),
	/** The ID of the credential. */
	account: exact.default(''),
	base_url: exact,
});

export type RunColumns = z.infer<typeof runColumns>;

/** A row as it is written: never a prompt, a key or a result. */
export const purchaseRow = runColumns.extend({
	/** ISO 8601. */
	time: z.string().datetime(),
	state: z.enum([...STATES, RUN]),
	task_id: exact.default(''),
	/** The error code, where it has ended badly. */
	code: shown,
	thing: exact,
	model: shown,
	item: z.number().int().nonnegative(),
	/** Joins the rows of one request. */
	attempt: exact,
	request_hash: exact,
	/** The hash of the Purchase Key. */
	key_hash: exact.default(''),
	/** The credits that the account has used during the run: those of one purchase nobody knows. */
	credits: z.number().nullable().default(null),
});

export type PurchaseRow = z.infer<typeof purchaseRow>;

/** The columns of the table, in the sequence in which n8n shows them. */
export const COLUMNS: Record<keyof PurchaseRow, 'string' | 'number' | 'boolean' | 'date'> = {
	time: 'date',
	state: 'string',
	task_id: 'string',
	code: 'string',
	thing: 'string',
	model: 'string',
	workflow: 'string',
	workflow_id: 'string',
	node: 'string',
	node_id: 'string',
	execution: 'string',
	run: 'string',
	origin: 'string',
	retry: 'boolean',
	item: 'number',
	attempt: 'string',
	account: 'string',
	base_url: 'string',
	request_hash: 'string',
	key_hash: 'string',
	credits: 'number',
};

/** The columns that a retry, or another order with the same key, goes by. What somebody has changed by hand is not one of these rows any more. */
const storedRow = z.object({
	/** n8n's own number of the row: rows that are written later have a higher one. */
	id: z.number().int().nonnegative().catch(0),
	// With PostgreSQL, n8n gives a date.
	time: z.union([z.string().datetime({ offset: true }), z.date().transform((date) => date.toISOString())]),
	state: z.enum(STATES),
	task_id: z
		.string()
		.nullish()
		.transform((id) => id ?? ''),
	execution: exact,
	run: exact,
	// SQLite has numbers for them.
	retry: z.union([z.boolean(), z.literal(0), z.literal(1)]).transform(Boolean),
	item: z.number().int().nonnegative(),
	attempt: exact,
	request_hash: exact,
	key_hash: exact.nullish().transform((hash) => hash ?? ''),
});

export type StoredRow = z.infer<typeof storedRow>;

/** Reads a row of the table; undefined where it is none of ours. Anybody in the project may edit the table. */
export function parseRow(value: unknown): StoredRow | undefined {
	return storedRow.safeParse(value).data;
}

/** A row of a purchase; undefined where it cannot be read. */
export type ParsedRow = StoredRow | undefined;

/** Reads the rows of purchases among those of a run. */
export function parseRows(values: readonly unknown[]): ParsedRow[] {
	return values.filter((value) => getPath(value, 'state') !== RUN).map(parseRow);
}

/** Rows that are read without a break. */
const ROWS_AT_ONCE = 100;

/** The same of a large run. */
export async function parseManyRows(values: readonly unknown[], breakIfDue: () => Promise<void>): Promise<ParsedRow[]> {
	const rows: ParsedRow[] = [];
	for (let from = 0; from < values.length; from += ROWS_AT_ONCE) {
		await breakIfDue();
		rows.push(...parseRows(values.slice(from, from + ROWS_AT_ONCE)));
	}
	return rows;
}
