import type { IExecuteFunctions } from 'n8n-workflow';
import { continueKnown } from '../../core/engine/buyOnce';
import { gatewayError } from '../../core/errors';
import type { JsonObject } from '../../core/json';
import { claimForPoller } from '../../core/journal/fence';
import type { Journal, JournalPorts } from '../../core/journal/journal';
import type { HandOver, PollerClaim } from '../../core/orders/handOver';
import { OrderLedger } from '../../core/orders/ledger';
import type { Order } from '../../core/orders/order';
import { endBadly, endsWell, leaveBehind } from '../../core/orders/states';
import { cleanApiKey } from '../../core/settings';
import { wordsOf } from '../../core/text';
import { CREDENTIAL, credentialIdOf, realClock } from '../connection/transport';
import { N8nJournalTable } from '../journal/journalTable';
import { marksHandedOver, journalOf, type JournalParts } from '../run/runMemory';
import { TaskLog } from '../run/taskLog';

/** A hand-over of a run of which something may be bought. */
export type RunHandedOver = HandOver & { run: NonNullable<HandOver['run']> };

/** True where something may be bought in the executions that the orders are handed to. */
export function mayBuy(handOver: HandOver, orders: readonly Order[]): handOver is RunHandedOver {
	const isOpen = (order: Order) => order.state === 'planned' || (order.isRetried === true && !endsWell(order));
	return handOver.run !== undefined && orders.some(isOpen);
}

/**
 * Gives the ledger the ID that n8n has saved of an order, unless the rows tell of a request that was sent in its place: going on with a
 * task that has failed would buy a third. Its ID is left behind then, or no output would name it.
 */
export function rememberSaved(order: Order, ledger: OrderLedger): void {
	const { state, task, request, item, purchase, acceptedAtMs = Date.now() } = order;
	if (state !== 'planned' || task === undefined || request === undefined) return;
	const known = ledger.find(item, request.hash);
	// It is not known whether that one was accepted.
	const isInDoubt = known !== undefined && known.taskId === undefined && known.attempt !== purchase?.attempt;
	if (isInDoubt || (known?.taskId !== undefined && known.taskId !== task.taskId)) leaveBehind(order, [task.taskId]);
	else if (known?.taskId === undefined)
		ledger.accepted(item, { taskId: task.taskId, hash: request.hash, acceptedAtMs });
	delete order.task;
	delete order.acceptedAtMs;
}

/**
 * The words of n8n where a person has deleted the credential, or an expression in it reads a node that is not in this workflow: no
 * execution can go on then. `isAway` where n8n cannot read it, or its key, for now: its database, or a vault of others, does not answer.
 */
export async function credentialOf(context: IExecuteFunctions): Promise<{ deleted?: string; isAway?: true }> {
	return await context.getCredentials(CREDENTIAL).then(
		({ apiKey }) => (cleanApiKey(apiKey) === '' ? { isAway: true } : {}),
		(thrown: unknown) => {
			const words = wordsOf(thrown);
			return /^Credential with ID .* does not exist|\[Error resolving credentials\]$/.test(words)
				? { deleted: words }
				: { isAway: true };
		},
	);
}

/** Writes the lease of a poller: see `claimForPoller`. */
export async function claimPoller(
	context: IExecuteFunctions,
	{ run }: RunHandedOver,
	leases: { lease: string; lastLease?: string; sends: boolean },
): Promise<PollerClaim> {
	const { first, establishedAtMs, table } = run;
	const claim = await claimForPoller({
		...leases,
		columns: { ...columnsOf(context, run), first },
		identity: identityOf(context, run),
		table: new N8nJournalTable(context, () => {}, Number(establishedAtMs), table),
		clock: realClock,
	});
	return { ...claim, ...(leases.lastLease !== undefined && { after: leases.lastLease }) };
}

interface Keeping {
	/** Keeps what the execution knows while it sleeps. */
	store: JsonObject;
	rows: JournalParts['rows'];
	tell: JournalPorts['tell'];
	/** See `JournalPorts`. */
	isWanted?: JournalPorts['isWanted'];
}

/** The journal of a run that was handed to this execution, and its ledger. */
export function journalHandedOver(
	context: IExecuteFunctions,
	{ run, claim }: RunHandedOver,
	{ store, rows, tell, isWanted }: Keeping,
): { journal: Journal; ledger: OrderLedger } {
	const { runIndex, establishedAtMs, first, by, nextNumber, isMarked, ignored, table: tableId } = run;
	const ledger = new OrderLedger({ store, executionId: context.getExecutionId(), runIndex, handedOverBy: by });
	ledger.beginsWith(run.ledger ?? {});
	const journal = journalOf(context, {
		marks: marksHandedOver(context, ledger, establishedAtMs),
		...{ ledger, rows, tell, isWanted, tableId },
		columns: columnsOf(context, run),
		identity: identityOf(context, run),
		handedOver: { first, nextNumber, isMarked, ignored, claim },
	});
	return { journal, ledger };
}

/**
 * Lets orders that wait to be submitted go on with what the rows have shown. Returns what tells of an order without an ID that its
 * request was surely not sent.
 */
export async function continueAsRead(
	context: IExecuteFunctions,
	orders: readonly Order[],
	{ journal, ledger }: { journal: Journal; ledger: OrderLedger },
): Promise<(order: Order) => boolean> {
	const ports = { ledger, writeAhead: journal, events: new TaskLog(context) };
	for (const order of orders.filter(({ state }) => state === 'planned')) {
		rememberSaved(order, ledger);
		await continueKnown(order, { status: 'queued' }, ports).catch((thrown) => endBadly(order, thrown));
	}
	return ({ state }) => !journal.isInDoubt && state === 'planned';
}

/** The same in an execution that has not read the rows yet. Of what cannot be read, nothing is sure: an error would start another round. */
export async function readAndContinue(
	context: IExecuteFunctions,
	orders: readonly Order[],
	toRun: () => Promise<RunHandedOver>,
): Promise<(order: Order) => boolean> {
	try {
		const reader = journalOfReader(context, await toRun());
		await reader.journal.takeOver(orders);
		return await continueAsRead(context, orders, reader);
	} catch {
		return () => false;
	}
}

/** The journal of a run that was handed to this execution, which submits nothing. */
export const journalOfReader = (context: IExecuteFunctions, run: RunHandedOver) =>
	journalHandedOver(context, run, { store: {}, rows: SENDS_NOTHING, tell: () => {} });

const SENDS_NOTHING = {
	budget: {
		take: async () => await Promise.reject(gatewayError('packageBug', { words: 'an execution buys that only reads' })),
	},
	pace: { turnInMs: 0, spacingMs: 0 },
};

/** The rows name the node of the user, not the hidden ones. */
function columnsOf(context: IExecuteFunctions, { workflow, node }: RunHandedOver['run']) {
	return { workflow, node, execution: context.getExecutionId(), account: credentialIdOf(context.getNode()) };
}

function identityOf(context: IExecuteFunctions, { nodeId, establishedAtMs, runIndex }: RunHandedOver['run']) {
	return { workflowId: String(context.getWorkflow().id), nodeId, establishedAtMs, runIndex };
}
