/** The purchases that a person who builds a workflow is spared: of requests that were bought before, and of a second click. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { takingBreaks, steady } from '../../core/clock';
import { asGatewayError, gatewayError, GatewayError } from '../../core/errors';
import { assignPurchases, purchasesIn, reusePurchase, type ReusingRun } from '../../core/journal/reuse';
import { NoTableError } from '../../core/journal/table';
import type { Order, Purchase } from '../../core/orders/order';
import { toldOfReuse, manualRuns } from '../../core/processMemory';
import { wordsOf } from '../../core/text';
import { credentialIdOf, realClock } from '../connection/transport';
import type { OptionsReader } from '../form/fieldReader';
import { reuseOption } from '../form/options';
import { N8nJournalTable } from '../journal/journalTable';
import { whatIsMissing } from '../journal/purchasesTable';
import { isToolRun } from './whereItRuns';
import { HINTS } from './hints';
import { LOG_IS_OFF } from './runMemory';
import type { Run } from './nodeRun';
import { hashOf } from './requestHash';

/** The most nodes that are remembered as told of the option. */
const MOST_TOLD = 1000;

/** Milliseconds in which a second click follows the first: so long do runs count that go on in another execution. */
const SECOND_CLICK_MS = 5_000;

const KEY = 'generationGatewayReused';

const clock = steady(realClock);

/** The option Reuse While Building; undefined where it never has an effect: only a person who builds a workflow wants it. */
export function readReuse(context: IExecuteFunctions, options: OptionsReader): boolean | undefined {
	return context.getMode() === 'manual' && !isToolRun(context) ? options.flag(reuseOption) : undefined;
}

/**
 * Gives orders the tasks that the node has bought for their requests before, where the option says so. Nothing is sent. Returns
 * the error of all orders that are still to be submitted, where it cannot be known what was bought: a person who has asked not to
 * pay must not pay because a database is busy.
 */
export async function reuseTasks(run: Run, orders: readonly Order[]): Promise<GatewayError | undefined> {
	if (run.reuses !== true) return undefined;
	const open = orders.filter(({ item, state, request }) => {
		return state === 'planned' && request !== undefined && run.ledger.find(item, request.hash) === undefined;
	});
	if (open.length === 0) return undefined;
	// The table need not be asked where it is known that there is none.
	const why = await run.openJournal();
	const obstacle = why === LOG_IS_OFF ? why : whatIsMissing(run.context, run.marks.run);
	if (obstacle !== undefined) return tellNoEffect(run, obstacle);
	try {
		await reuseFrom(run, open, await readRows(run, open));
		return undefined;
	} catch (thrown) {
		if (thrown instanceof NoTableError) return tellNoEffect(run, thrown.message);
		if (thrown instanceof GatewayError) return asGatewayError(thrown);
		return gatewayError('reuseUnavailable', { why: wordsOf(thrown) });
	}
}

async function reuseFrom(run: Run, orders: readonly Order[], rows: unknown[]): Promise<void> {
	const { context, ledger, log, hints } = run;
	const { id: nodeId } = context.getNode();
	const { executionId, runIndex, store } = ledger.scope;
	const memory = store as { [KEY]?: Record<string, string[]> };
	const ofOtherRounds = Object.entries(memory[KEY] ?? {}).filter(([round]) => round !== String(runIndex));
	const reusing: ReusingRun = {
		node: { workflowId: String(context.getWorkflow().id), nodeId },
		account: credentialIdOf(context.getNode()),
		...{ executionId, runIndex },
		taken: new Set(ofOtherRounds.flatMap(([, ids]) => ids)),
		nowMs: Date.now(),
	};
	const purchases = await purchasesIn(rows, reusing, takingBreaks(realClock));
	const assigned = assignPurchases(orders, purchases, reusing);
	if (assigned.size === 0) return;
	for (const [order, row] of assigned) {
		reusePurchase(order, row, ledger);
		log.continued(order);
	}
	const reused = [...assigned.values()];
	const ofThisRound = [...(memory[KEY]?.[runIndex] ?? []), ...reused.map(({ task_id: id }) => id)];
	memory[KEY] = { ...memory[KEY], [runIndex]: [...new Set(ofThisRound)] };
	const oldestAtMs = reused.reduce((oldest, { createdAt }) => Math.min(oldest, createdAt), Infinity);
	hints.add(HINTS.reused({ count: reused.length, time: new Date(oldestAtMs).toISOString() }));
}

/** Asks the table also where it could not be found a moment ago: that may have been a database that was busy. */
async function readRows({ context, journal }: Run, orders: readonly Order[]): Promise<unknown[]> {
	const table = journal?.ports.table ?? new N8nJournalTable(context, () => {}, 0);
	return await table.rowsOfRequests([...new Set(orders.flatMap(({ request }) => request?.hash ?? []))]);
}

function tellNoEffect({ hints }: Run, why: string): undefined {
	hints.add(HINTS.nothingReused({ why }));
	return undefined;
}

/** Tells of the option, once for each node, when a person who builds a workflow has bought something without it. */
export function tellOfReuse({ context, reuses, journal, hints }: Run, orders: readonly Order[]): void {
	if (reuses !== false || journal?.isWithoutRows !== false) return;
	if (!orders.some(({ acceptedAtMs, reused }) => acceptedAtMs !== undefined && !reused)) return;
	const node = `${context.getWorkflow().id} ${context.getNode().id}`;
	if (toldOfReuse.has(node)) return;
	if (toldOfReuse.size >= MOST_TOLD) toldOfReuse.clear();
	toldOfReuse.add(node);
	hints.add(HINTS.reuseWhileBuilding());
}

/**
 * Claims the requests of a manual run in the memory of this process. A double click on Execute step starts two executions a
 * moment apart, and both would buy all items. Of the second one, Retry On Fail gets the same refusal when the first has ended.
 */
export function claimManualRun({ context, ledger }: Run, orders: Purchase[]): ManualClaim {
	const requests = orders.flatMap(({ state, request }) => (state === 'planned' && request ? [request.hash] : []));
	if (context.getMode() !== 'manual' || requests.length === 0) return NOT_CLAIMED;
	const { store, executionId: execution, runIndex } = ledger.scope;
	const key = hashOf('task', [context.getWorkflow().id, context.getNode().id, requests.sort()]);
	const memory = store as { secondOf?: Record<string, string> };
	const tryKey = `${execution} ${runIndex}`;
	const other = memory.secondOf?.[tryKey] ?? underWay(key, execution);
	if (other !== undefined) {
		memory.secondOf = { [tryKey]: other };
		return { ...NOT_CLAIMED, refusal: gatewayError('alreadyRunning', { execution: other }) };
	}
	const run: ManualRun = { execution, untilMs: Infinity };
	manualRuns.set(key, run);
	return {
		handOver: () => {
			run.untilMs = clock.now() + SECOND_CLICK_MS;
		},
		release: () => {
			if (run.untilMs === Infinity && manualRuns.get(key) === run) manualRuns.delete(key);
		},
	};
}

interface ManualClaim {
	/** The error of the orders, where another execution is buying the same. */
	refusal?: GatewayError;
	/** Called when its orders go on in another execution. */
	handOver: () => void;
	/** Called when the run is over here. */
	release: () => void;
}

const NOT_CLAIMED: ManualClaim = { handOver: () => {}, release: () => {} };

interface ManualRun {
	execution: string;
	/** The moment at which it counts as over, by a steady clock. Until then it is under way. */
	untilMs: number;
}

/** The other execution that is buying the same; forgets those that are over. */
function underWay(key: string, own: string): string | undefined {
	for (const [each, run] of manualRuns as Map<string, ManualRun>)
		if (run.untilMs < clock.now()) manualRuns.delete(each);
	const { execution } = (manualRuns.get(key) ?? {}) as Partial<ManualRun>;
	return execution === own ? undefined : execution;
}
