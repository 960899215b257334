import pLimit from 'p-limit';
import type { RememberedVerification } from './avatars/records';
import { CallbackLog, PerMinute } from './avatars/callback';
import type { ByteBudget } from './byteBudget';
import type { SurvivalTable } from './polling/survivalTable';
import type { TokenRecord } from './records/accountRecords';

/*
 * Everything that outlives a run in the memory of n8n's process, each with its bound. A restart forgets all of it, and
 * workers of the queue mode do not share it: no promise about money may depend on it.
 */

/** Keeps an entry as the one that was used last. Where there are too many, the one that was not used for longest goes. */
export function keepAsLast<T>(memory: Map<string, T>, key: string, value: T, most: number): void {
	memory.delete(key);
	memory.set(key, value);
	const [oldest] = memory.keys();
	if (memory.size > most && oldest !== undefined) memory.delete(oldest);
}

export interface AbortListener {
	wakes: Set<() => void>;
	listener: () => void;
}

/** The listener of each signal, and whom it wakes. As many as there are waits; gone with the last of them. */
export const abortListeners = new WeakMap<AbortSignal, AbortListener>();

/** Durations of earlier tasks, by service, kind and model: nothing of prompts, keys or users. At most 200 tables. */
export const survivalTables = new Map<string, SurvivalTable>();

/** Verifications of the last hour by workflow ID, then by vendor token: at most 1,000 for each workflow. */
export const verifications = new Map<string, Map<string, RememberedVerification>>();

/** Callbacks of verifications that have started a workflow: at most 10,000, for a day. */
export const toldCallbacks = new CallbackLog();

/** Lookups of verifications, while they last: callbacks that arrive at the same moment share one. */
export const lookups = new Map<string, Promise<unknown>>();

/** The same of one verification within the last minute. */
export const repeatedLookups = new PerMinute(5);

/** Callbacks with unknown tokens, for each trigger within the last minute. */
export const unknownTokens = new PerMinute(100);

/** Lines of n8n's log about those beyond, for each trigger within the last minute. */
export const linesOfIgnored = new PerMinute(1);

/** API keys that an execution has created, for its retries: they are shown once. Gone with the execution's ledger. */
export const createdTokens = new WeakMap<object, Map<string, TokenRecord>>();

/** Ledgers of tool calls that n8n makes as functions, by their arguments. Gone with these. */
export const toolCallStores = new WeakMap<object, Record<string, unknown>>();

/** The times at which n8n would have started another workflow for a node, in Unix milliseconds: at most 1,000. */
export const startableWorkflows = new Map<string, number>();

/** The last access to n8n's table of processed data, by row. Only rows in use have one. */
export const lastTurns = new Map<string, Promise<void>>();

/** Bytes of answers that are being read, beyond the first 64 KB of each: at most 64 MB (`readAnswer.ts`). */
export const answersUnderWay = { bytes: 0 };

/** Result files that n8n holds in memory until it has stored them, beyond the first 8 MiB of each: at most 512 MiB, and one file more. */
export const filesInMemory: { budget?: ByteBudget } = {};

/** Deliveries that take long and go on without a turn: at most 12. */
export const limitSlowDeliveries = pLimit(12);

/** The largest file that n8n stores, in bytes, learned when it has refused one. It changes with a restart only. */
export const learnedStorageLimit = { bytes: Infinity };

/** The last reason why n8n could not be called to wake an execution. One text. */
export const lastWakeUp: { why?: string } = {};

/** The data table of the journal as a workflow has found it. */
export interface FoundTable {
	/** Its ID, … */
	finding: Promise<string>;
	/** … once it is known. */
	id?: string;
}

/** The data tables of the journal, by workflow: at most 1,000. */
export const journalTables = new Map<string, FoundTable>();

/** The number of a row that was read. */
export interface SeenRow {
	id: number;
	/** Unix milliseconds. */
	atMs: number;
}

/** The turns of sub-executions for data tables. */
export const tableTurns = new Map<'requests' | 'outcomes', ReturnType<typeof pLimit>>();

/** The highest numbers that were read in each of these tables, the oldest first, by the table's ID: at most 1,000. */
export const seenRows = new Map<string, SeenRow[]>();

/** The times at which old rows of these tables were removed, in Unix milliseconds: at most 1,000. */
export const cleanedTables = new Map<string, number>();

/** The limits of each account, and what is learned of them, by a hash of address and key: at most 1,000. */
export const accounts = new Map<string, object>();

/** Manual runs that are under way, by workflow and node. As many as there are; those that sleep are gone seconds after they began. */
export const manualRuns = new Map<string, object>();

/** Nodes that have told of Reuse While Building, by workflow: at most 1,000. */
export const toldOfReuse = new Set<string>();

/** Purchases with a Purchase Key that are under way, by workflow and key. As many as there are; gone with their requests. */
export const keysUnderWay = new Map<string, Promise<unknown>>();
