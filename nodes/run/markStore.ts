import { createHash } from 'crypto';
import { jsonStringify, type DeduplicationHelperFunctions, type IExecuteFunctions } from 'n8n-workflow';
import { asGatewayError } from '../../core/errors';
import { Marks, type MarkedRun, type MarkStore } from '../../core/journal/marks';
import { lastTurns } from '../../core/processMemory';
import { wordsOf } from '../../core/text';
import type { OrderLedger } from '../../core/orders/ledger';
import { storeOfToolCall, nodeMemory, sayWhere } from './whereItRuns';

/**
 * The marks that n8n keeps for a node: each try of a run takes two or three, and the oldest are dropped. So a crash is remembered for
 * the next 1,500 tries of the node at least, retries included. n8n reads and writes them as a whole (140 kB), which takes about 4 ms with SQLite; with
 * 20,000 it takes 14.
 */
const MOST_MARKS = 5000;

const OPTIONS = { mode: 'entries', maxEntries: MOST_MARKS } as const;

/** The memory that keeps a retry after a crash from buying again, where the run has no rows. */
export function openMarks(context: IExecuteFunctions, ledger: OrderLedger): Marks {
	const { executionId, runIndex, store } = ledger.scope;
	const isCall = storeOfToolCall(context) !== undefined;
	// Nothing else of this context may be used: it holds credentials.
	const establishedAtMs = context.getExecutionContext?.()?.establishedAt;
	const isNamed = establishedAtMs !== undefined;
	const run: MarkedRun = {
		...(isNamed ? { establishedAtMs } : { input: hashOfInput(context) }),
		executionId,
		runIndex: isNamed && isCall ? numberOfCall(context, store) : runIndex,
		isRetry: context.getMode() === 'retry',
	};
	// Calls of an agent without such a time come from n8n's MCP server, where nothing is retried, or from an old n8n.
	const isGuarded = executionId && (isNamed || !isCall);
	return new Marks(run, ledger, isGuarded ? storeOf(context) : undefined);
}

/** The same for a run that was handed to this execution. */
export function marksHandedOver(
	context: IExecuteFunctions,
	ledger: OrderLedger,
	establishedAtMs: number | string,
): Marks {
	const { executionId, runIndex } = ledger.scope;
	const run = { establishedAtMs: Number(establishedAtMs), executionId, runIndex, isRetry: true };
	return new Marks(run, ledger, storeOf(context));
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

/** Undefined where n8n has no such table. */
function storeOf(context: IExecuteFunctions): MarkStore | undefined {
	const { checkProcessedAndRecord, removeProcessed } = context.helpers as Partial<DeduplicationHelperFunctions>;
	if (checkProcessedAndRecord === undefined || removeProcessed === undefined) return undefined;
	const row = `${context.getWorkflow().id} ${context.getNode().id}`;
	const use = async <T>(access: () => Promise<T>) => await inTurn(row, async () => await twice(access, context));
	return {
		record: async (marks) =>
			(await use(async () => await checkProcessedAndRecord(marks, 'node', OPTIONS))).processed.map(String),
		remove: async (marks) => await use(async () => await removeProcessed(marks, 'node', OPTIONS)),
	};
}

/**
 * Lets the runs of a node in one process take turns: n8n's helper reads the row, changes it and writes it, without a
 * lock. Between two processes (workers of the queue mode) one write may undo another of the same few milliseconds. Then
 * a mark is missing, and a crash of that very run is not guarded; or a removed mark is back, and a retry is more
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
		context.logger.warn(
			`Generation Gateway: n8n's record of what is submitted could not be used (${wordsOf(thrown)}), ${sayWhere(context)}`,
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
