import { z } from 'zod';
import { codeOf, type GatewayError } from '../errors';
import { getPath, isPlainObject, type JsonObject } from '../json';
import type { Purchase } from '../orders/order';

/**
 * The states of a row, in the sequence in which those of one attempt may follow each other: a row never changes, and the state
 * that comes last here counts, whatever the sequence in which the rows were written.
 *
 * | State | Meaning |
 * |---|---|
 * | `submitting` | written before the request: without a later row, its outcome is not known |
 * | `unknown` | the request was sent, and it is not known whether the service has accepted it |
 * | `not_accepted` | the service surely has not accepted it |
 * | `accepted` | the service has given an ID |
 * | `failed` | the task has failed: it may be created again, unless `more` says `permanent` |
 */
export const STATES = ['submitting', 'unknown', 'not_accepted', 'accepted', 'failed'] as const;

export type AttemptState = (typeof STATES)[number];

/** In the place of a state: an execution claims a run. See `journal.ts`. */
export const LEASE = 'lease';

/** In the place of a state: the credits that the account has used during a run. */
export const RUN = 'run';

/** PostgreSQL refuses a text with this character, and with it all rows that are written together. */
const writable = z.string().transform((text) => text.replaceAll('\0', ''));

/** Long names are cut off, because they are only shown. Nothing by which rows are found is. */
const shown = writable.transform((text) => text.slice(0, 200)).default('');
const exact = writable.pipe(z.string().max(2000));

/** The columns that are the same in all rows of an execution. */
export const runColumns = z.object({
	/** The run that an execution and its retries share: see `nameOfRun`. */
	run: exact,
	/** The execution of its first try. Empty where a retry has found nothing of that. */
	first: exact.default(''),
	/** The execution that writes. */
	execution: exact,
	workflow: shown,
	node: shown,
	/** The ID of the credential. */
	account: exact.default(''),
});

export type RunColumns = z.infer<typeof runColumns>;

/** A row as it is written: never a prompt, a key or a result. */
export const journalRow = runColumns.extend({
	/** The running number of an attempt in its run, from 0: without gaps as long as no row is missing. Of `submitting` only. */
	number: z.number().int().nonnegative().nullable().default(null),
	item: z.number().int().nonnegative().default(0),
	/** Joins the rows of one request; the name of a lease. */
	attempt: exact,
	state: z.enum([...STATES, LEASE, RUN]),
	task_id: exact.default(''),
	/** The error code, where it has ended badly. */
	code: shown,
	request_hash: exact.default(''),
	/** The claim of the row: the hash of a Purchase Key, or, in a lease, the run. */
	key_hash: exact.default(''),
	model: shown,
	credits: z.number().nullable().default(null),
	/** JSON for all that has no column: n8n cannot add one later. */
	more: exact.default(''),
});

export type JournalRow = z.infer<typeof journalRow>;

/** The columns of the table, in the sequence in which n8n shows them. Each is read: by a retry, by n8n's filter, or by people. */
export const COLUMNS: Record<keyof JournalRow, 'string' | 'number'> = {
	state: 'string',
	task_id: 'string',
	code: 'string',
	model: 'string',
	workflow: 'string',
	node: 'string',
	execution: 'string',
	item: 'number',
	credits: 'number',
	account: 'string',
	run: 'string',
	first: 'string',
	number: 'number',
	attempt: 'string',
	request_hash: 'string',
	key_hash: 'string',
	more: 'string',
};

const text = exact.nullish().transform((value) => value ?? '');
const number = z
	.number()
	.int()
	.nonnegative()
	.nullish()
	.transform((value) => value ?? undefined);

/** A row as it is read. What a person has changed by hand may be no row of ours any more. */
const storedRow = z.object({
	/** n8n's own number of the row: higher in rows that are written later, as long as the table is not cleared. */
	id: z.number().int().nonnegative(),
	/** By the clock of the database. Unix milliseconds. */
	createdAt: z.union([z.string().datetime({ offset: true }), z.date()]).transform((date) => new Date(date).getTime()),
	run: exact,
	first: text,
	execution: exact,
	node: text,
	account: text,
	number,
	item: number.transform((item) => item ?? 0),
	attempt: exact,
	state: z.enum([...STATES, LEASE, RUN]),
	task_id: text,
	code: text,
	request_hash: text,
	key_hash: text,
	more: text.transform(parseMore),
});

export type StoredRow = z.infer<typeof storedRow>;

/** The row of an attempt: neither a lease nor the credits of a run. */
export type AttemptRow = StoredRow & { state: AttemptState };

export function isAttempt(row: StoredRow): row is AttemptRow {
	return row.state !== LEASE && row.state !== RUN;
}

/** Reads a row of the table; undefined where it is none of ours. Everybody in the project may edit the table. */
export function parseRow(value: unknown): StoredRow | undefined {
	return storedRow.safeParse(value).data;
}

/** Unknown keys mean nothing here: a later version may write them. */
function parseMore(more: string): JsonObject {
	if (more === '') return {};
	try {
		const parsed: unknown = JSON.parse(more);
		return isPlainObject(parsed) ? parsed : {};
	} catch {
		return {};
	}
}

/** True for the row of a task whose request would fail again. */
export function isPermanent({ more }: Pick<StoredRow, 'more'>): boolean {
	return getPath(more, 'permanent') === true;
}

/** The facts that tell the run of a node from all others, and are the same in all its tries. */
export interface RunIdentity {
	workflowId: string;
	/** The ID of the node. */
	nodeId: string;
	/** n8n's time of the first try, which its retries share. Unix milliseconds. */
	establishedAtMs: number | string;
	/** Rounds of a loop are runs of their own. */
	runIndex: number;
}

/** The value of the column `run`, e.g. `1764356783123.0 <node ID> <workflow ID>`. */
export function nameOfRun({ workflowId, nodeId, establishedAtMs, runIndex }: RunIdentity): string {
	return `${establishedAtMs}.${runIndex} ${nodeId} ${workflowId}`;
}

/** True for a run of this node, in whatever execution and round. */
export function isRunOfNode(run: string, { workflowId, nodeId }: Pick<RunIdentity, 'workflowId' | 'nodeId'>): boolean {
	return run.endsWith(` ${nodeId} ${workflowId}`);
}

/** The run index in the name of a run. */
export function roundOf(run: string): number {
	return Number(/^[^.]*\.(\d+) /.exec(run)?.[1] ?? 0);
}

/** The same for all nodes of the workflow, as n8n's condition *like* takes it. */
export function patternOfRun({ workflowId, establishedAtMs, runIndex }: RunIdentity): string {
	return `${establishedAtMs}.${runIndex} % ${workflowId}`;
}

/** The name of the lease of a poller, by the execution that supervises it. */
export const leaseOfPoller = (supervisor: string, round: number, nowMs: number) =>
	`${supervisor}-poller${round}-${nowMs.toString(36)}`;

/** True for such a name. */
export const isOfPoller = (lease: string) => /-poller\d+-[^-]*$/.test(lease);

/** In the names of leases whose execution has handed its run over, but goes on with it. */
export const TAKEN_BACK = 'back';

/** True for the lease of a first try: a witness, which outranks no other, unless it has taken its run back. */
export const isWitness = ({ execution, first, attempt }: Pick<StoredRow, 'execution' | 'first' | 'attempt'>) =>
	execution === first && !/-back\d+$/.test(attempt);

/** The row of an order's attempt; undefined where it has none. */
export function rowOfAttempt(
	columns: RunColumns,
	{ thing, model = thing, item, task, purchase }: Purchase,
	state: AttemptState,
	{ taskId = task?.taskId ?? '', error }: { taskId?: string; error?: GatewayError } = {},
): JournalRow | undefined {
	if (purchase === undefined) return undefined;
	return journalRow.parse({
		...columns,
		// The end of what is reused belongs to the run that has bought it: here, a retry would miss the rows before.
		...purchase.boughtIn,
		...{ item, state, model, task_id: taskId, code: error === undefined ? '' : codeOf(error) },
		...{ attempt: purchase.attempt, request_hash: purchase.hash, key_hash: purchase.keyHash ?? '' },
		more: error?.details.permanent && state === 'failed' ? JSON.stringify({ permanent: true }) : '',
	});
}
