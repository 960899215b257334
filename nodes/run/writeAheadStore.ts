import { createHash } from 'crypto';
import { jsonStringify, type DeduplicationHelperFunctions, type IExecuteFunctions } from 'n8n-workflow';
import { asGatewayError } from '../../core/errors';
import { WriteAheadLog, type WriteAheadScope, type WriteAheadStore } from '../../core/orders/writeAheadLog';
import { lastTurns } from '../../core/processMemory';
import type { OrderLedger } from '../../core/orders/ledger';
import { nameRun } from '../../core/orders/runs';
import { storeOfToolCall } from './agentTools';
import { nodeMemory, sayWhere } from './whereItRuns';

/**
 * The names that n8n keeps for a node: each try of a run takes two, and the oldest are dropped. So a crash is
 * remembered for 2,500 runs of the node. n8n reads and writes them as a whole (140 kB), which takes about 4 ms with
 * SQLite; with 20,000 it takes 14.
 */
const MOST_NAMES = 5000;

const OPTIONS = { mode: 'entries', maxEntries: MOST_NAMES } as const;

/** The log that keeps a retry after a crash from buying again, in n8n's table of processed data. */
export function createWriteAheadLog(
	context: IExecuteFunctions,
	ledger: OrderLedger,
): { writeAhead: WriteAheadLog; store?: WriteAheadStore } {
	const { scope, store } = openWriteAhead(context, ledger);
	return { writeAhead: new WriteAheadLog(scope, ledger, store), store };
}

/** The same for a run that was handed to this execution. */
export function writeAheadOfRun(
	context: IExecuteFunctions,
	ledger: OrderLedger,
	establishedAtMs: number | string,
): { writeAhead: WriteAheadLog; store?: WriteAheadStore } {
	const { executionId, runIndex } = ledger.scope;
	const scope = {
		execution: `established ${establishedAtMs}`,
		isLasting: true,
		deadRun: nameRun(String(establishedAtMs), runIndex),
		establishedAtMs: Number(establishedAtMs),
		...{ executionId, runIndex, isRetry: true },
	};
	const store = recordOf(context);
	return { writeAhead: new WriteAheadLog(scope, ledger, store), store };
}

/** The name that tells the run from others, and the store; without one, nothing is written ahead. */
function openWriteAhead(
	context: IExecuteFunctions,
	ledger: OrderLedger,
): { scope: WriteAheadScope; store?: WriteAheadStore } {
	const { executionId } = ledger.scope;
	const callStore = storeOfToolCall(context) && ledger.scope.store;
	// Nothing else of this context may be used: it holds credentials.
	const establishedAtMs = context.getExecutionContext?.()?.establishedAt;
	const isLasting = establishedAtMs !== undefined;
	const name = isLasting ? String(establishedAtMs) : hashOfInput(context);
	const runIndex = isLasting && callStore !== undefined ? numberOfCall(context, callStore) : ledger.scope.runIndex;
	const scope = {
		execution: isLasting ? `established ${name}` : `input ${name}`,
		isLasting,
		deadRun: nameRun(name, runIndex),
		establishedAtMs,
		executionId,
		runIndex,
		isRetry: context.getMode() === 'retry',
	};
	// Calls of an agent without such a name come from n8n's MCP server, where nothing is retried, or from an old n8n.
	const hasName = isLasting || callStore === undefined;
	return { scope, store: hasName && executionId ? recordOf(context) : undefined };
}

/**
 * The number of an agent's call. All calls have the run index 0 here, and each has a store of its own. After a crash
 * the node's context is gone, so the calls of a retry get the numbers of the calls before.
 */
function numberOfCall(context: IExecuteFunctions, callStore: Record<string, unknown>): number {
	const ofExecution = nodeMemory(context);
	const next = Number(ofExecution[CALLS] ?? 0);
	const number = Number(callStore[CALLS] ?? next);
	if (number === next) ofExecution[CALLS] = next + 1;
	callStore[CALLS] = number;
	return number;
}

const CALLS = 'generationGatewayCalls';

/** The store in n8n's table of processed data; undefined where n8n has no such table. */
function recordOf(context: IExecuteFunctions): WriteAheadStore | undefined {
	const { checkProcessedAndRecord, removeProcessed } = context.helpers as Partial<DeduplicationHelperFunctions>;
	if (checkProcessedAndRecord === undefined || removeProcessed === undefined) return undefined;
	const row = `${context.getWorkflow().id} ${context.getNode().id}`;
	const use = async <T>(access: () => Promise<T>) => await inTurn(row, async () => await twice(access, context));
	return {
		record: async (names) =>
			(await use(async () => await checkProcessedAndRecord(names, 'node', OPTIONS))).processed.map(String),
		remove: async (names) => await use(async () => await removeProcessed(names, 'node', OPTIONS)),
	};
}

/**
 * Lets the runs of a node in one process take turns: n8n's helper reads the row, changes it and writes it, without a
 * lock. Between two processes (workers of the queue mode) one write may undo another of the same few milliseconds. Then
 * a name is missing, and a crash of that very run is not guarded; or a removed name is back, and a retry is more
 * careful than it needs to be.
 */
async function inTurn<T>(row: string, work: () => Promise<T>): Promise<T> {
	const turn = (lastTurns.get(row) ?? Promise.resolve()).then(work);
	const ended = turn.then(
		() => {},
		() => {},
	);
	lastTurns.set(row, ended);
	try {
		return await turn;
	} finally {
		if (lastTurns.get(row) === ended) lastTurns.delete(row);
	}
}

/** Tries twice: another process may have made the row in between, or may hold the database. */
async function twice<T>(access: () => Promise<T>, context: IExecuteFunctions): Promise<T> {
	try {
		return await access().catch(access);
	} catch (thrown) {
		const words = thrown instanceof Error ? thrown.message : '';
		context.logger.warn(
			`Generation Gateway: n8n's record of what is submitted could not be used (${words.slice(0, 200)}), ${sayWhere(context)}`,
		);
		throw asGatewayError(thrown);
	}
}

function hashOfInput(context: IExecuteFunctions): string {
	const input = context.getInputData().map(({ json }) => json);
	return createHash('sha256')
		.update(jsonStringify(input, { replaceCircularRefs: true }))
		.digest('base64')
		.slice(0, 22);
}
