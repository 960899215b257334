/** The memory of a run, by which a retry goes on: the ledger that n8n saves with the node, marks in a table of n8n's, and the journal. */
import { jsonStringify } from 'n8n-workflow';
import type { DeduplicationHelperFunctions, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { asGatewayError } from '../../core/errors';
import { Marks, type MarkedRun, type MarkStore } from '../../core/journal/marks';
import { lastTurns } from '../../core/processMemory';
import { wordsOf } from '../../core/text';
import type { OrderLedger, LedgerScope } from '../../core/orders/ledger';
import { storeOfToolCall, nodeMemory, sayWhere, isTool, isInEngine2 } from './whereItRuns';
import { z } from 'zod';
import { untilAborted } from '../../core/abort';
import { Journal, type JournalPorts } from '../../core/journal/journal';
import { NoTableError } from '../../core/journal/table';
import { hasPurchaseLog } from '../connection/settings';
import { CREDENTIAL, credentialIdOf, realClock } from '../connection/transport';
import { mayLackOldRows } from '../journal/cleanUp';
import { N8nJournalTable } from '../journal/journalTable';
import { findTable, whatIsMissing } from '../journal/purchasesTable';
import { HINTS } from './hints';
import type { Run } from './nodeRun';
import { shortHash } from './requestHash';

export const LOG_IS_OFF = 'Purchase Log is turned off in the credential';

/**
 * The marks that n8n keeps for a node: each try of a run takes two or three, and the oldest are dropped. So a crash is remembered for
 * the next 1,500 tries of the node at least, retries included. n8n reads and writes them as a whole (140 kB), which takes about 4 ms with SQLite; with
 * 20,000 it takes 14.
 */
const MOST_MARKS = 5000;

const OPTIONS = { mode: 'entries', maxEntries: MOST_MARKS } as const;

/**
 * The store of this run's ledger, which lives as long as the tries of one purchase, and what tells the run from others.
 * Separate calls of an agent are separate purchases.
 */
export function readLedgerScope(context: IExecuteFunctions): LedgerScope {
	const executionId = context.getExecutionId();
	const ofToolCall = storeOfToolCall(context);
	if (ofToolCall) return { store: ofToolCall, executionId, runIndex: 0 };
	const { $runIndex = 0 } = context.getWorkflowDataProxy(0) as { $runIndex?: number };
	const store = nodeMemory(context);
	const runIndex = isTool(context.getNode())
		? numberOfToolRun(context, store, $runIndex)
		: numberOfRun(context, $runIndex);
	return { store, executionId, runIndex };
}

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
 * The journal of a run that is about to buy something; the reason, where the run has no rows. That is decided here, by looking, and
 * never changes: see `core/journal/marks.ts` for the memory of such a run.
 */
export async function openJournal(
	context: IExecuteFunctions,
	{ ledger, marks, client, hints, needsRows }: Opening,
): Promise<Journal | string> {
	const credential = await context.getCredentials(CREDENTIAL);
	if (!hasPurchaseLog(credential)) return LOG_IS_OFF;
	const { run } = marks;
	const missing = whatIsMissing(context, run) ?? whyNotHere(context) ?? (await whyNoTable(context));
	const { rows } = client;
	if (missing !== undefined || rows === undefined || run.establishedAtMs === undefined) {
		const why = missing ?? 'n8n does not say when the execution began';
		hints.add(HINTS.notInPurchaseLog({ why }));
		return why;
	}
	const { id = '', name: workflow = '' } = context.getWorkflow();
	const { id: nodeId, name: node } = context.getNode();
	const journal: Journal = journalOf(context, {
		columns: { workflow, node, execution: run.executionId, account: credentialIdOf(context.getNode()) },
		identity: {
			...{ workflowId: String(id), nodeId },
			...{ establishedAtMs: run.establishedAtMs, runIndex: run.runIndex },
		},
		...{ marks, ledger, rows, needsRows },
		tell: (why) => hints.add(journal.isWithoutRows ? HINTS.notInPurchaseLog({ why }) : HINTS.rowsMissing({ why })),
	});
	return journal;
}

interface Opening extends Pick<Run, 'ledger' | 'marks' | 'client' | 'hints'> {
	/** Without rows, nothing may be bought. */
	needsRows: boolean;
}

/** The journal of a run in n8n's data table. */
export function journalOf(context: IExecuteFunctions, parts: JournalParts): Journal {
	const { rows, tableId, ...ports } = parts;
	const beganAtMs = Number(ports.identity.establishedAtMs);
	return new Journal({
		...ports,
		isRetry: ports.marks.run.isRetry,
		// The rows of a run that was handed over tell by a lease and by a number where some were removed.
		isOld: ports.handedOver === undefined && mayLackOldRows(beganAtMs),
		table: new N8nJournalTable(context, ports.tell, beganAtMs, tableId),
		rows: rows.budget,
		pace: rows.pace,
		clock: realClock,
	});
}

export interface JournalParts
	extends Pick<
		JournalPorts,
		'columns' | 'identity' | 'ledger' | 'marks' | 'handedOver' | 'tell' | 'isWanted' | 'needsRows'
	> {
	rows: { budget: JournalPorts['rows']; pace: JournalPorts['pace'] };
	/** See `N8nJournalTable`. */
	tableId?: string;
}

/** The hash by which a Purchase Key is found: the same for all nodes of a project with this account. */
export function hashOfKey(key: string, { account, baseUrl }: { account: string; baseUrl: string }): string {
	return shortHash(JSON.stringify(['Purchase Key', account, baseUrl, key]));
}

/**
 * The number of the run before a crash. For a node that had begun and was not saved, n8n invents one run after a crash,
 * and a retry counts on from there.
 */
function numberOfRun(context: IExecuteFunctions, runIndex: number): number {
	return context.getMode() === 'retry' && runIndex > 0 && isFirstRunMadeUp(context) ? runIndex - 1 : runIndex;
}

/**
 * The same for a node that an agent runs: n8n does not show its output, but keeps what is remembered here, except over a
 * crash. The tries of one run have one number.
 */
function numberOfToolRun(context: IExecuteFunctions, store: Record<string, unknown>, runIndex: number): number {
	const last = lastToolRun.parse(store.lastToolRun);
	const next = last === undefined || context.getMode() !== 'retry' ? numberOfRun(context, runIndex) : last.number + 1;
	const number = last?.runIndex === runIndex ? last.number : next;
	store.lastToolRun = { runIndex, number };
	return number;
}

function isFirstRunMadeUp(context: IExecuteFunctions): boolean {
	const { $ } = context.getWorkflowDataProxy(0) as unknown as {
		$: (node: string) => { all: (output: number, run: number) => INodeExecutionData[] };
	};
	try {
		return $(context.getNode().name).all(0, 0)[0]?.json.isArtificialRecoveredEventItem === true;
	} catch {
		return true; // without any output: it is the run that the crash has ended
	}
}

const lastToolRun = z.object({ runIndex: z.number(), number: z.number() }).optional().catch(undefined);

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

function hashOfInput(context: IExecuteFunctions): string {
	const input = context.getInputData().map(({ json }) => json);
	return shortHash(jsonStringify(input, { replaceCircularRefs: true }));
}

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

function whyNotHere(context: IExecuteFunctions): string | undefined {
	if (isInEngine2(context)) return 'it is not possible in n8n’s engine 2.0';
	return context.getMode() === 'evaluation' ? 'an evaluation runs the workflow' : undefined;
}

/**
 * The reason why n8n has no table for the rows; undefined where there is one, or where only trying tells: a database that is locked
 * for a moment must not leave a run without rows.
 */
async function whyNoTable(context: IExecuteFunctions): Promise<string | undefined> {
	try {
		// A stop does not wait for n8n's database.
		await untilAborted(findTable(context), context.getExecutionCancelSignal());
		return undefined;
	} catch (thrown) {
		return thrown instanceof NoTableError ? thrown.message : undefined;
	}
}
