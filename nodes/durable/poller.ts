import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import { gatewayError } from '../../core/errors';
import { isPlainObject, type JsonObject } from '../../core/json';
import type { Journal } from '../../core/journal/journal';
import { advanceAll } from '../../core/engine/advance';
import type { WriteAhead } from '../../core/journal/marks';
import type { HandOver } from '../../core/orders/handOver';
import { OrderLedger } from '../../core/orders/ledger';
import type { Order } from '../../core/orders/order';
import { MIN_SLEEP_MS, SleepCoordinator } from '../../core/engine/sleepCoordinator';
import { endsWell, hasEnded, reopenForRetry, staysFailed } from '../../core/orders/states';
import { SubmissionGate } from '../../core/engine/jobs';
import { createClient } from '../connection/createClient';
import { realClock } from '../connection/transport';
import { deliverTask } from '../generation/deliverTask';
import { MOST_CHARACTERS_ASLEEP, StoredSize } from '../run/storedSize';
import { TaskLog, trace } from '../run/taskLog';
import { sayWhere } from '../run/whereItRuns';
import {
	canceledError,
	endAll,
	asCanceled,
	handOverOf,
	itemsOfStart,
	requireOrders,
	salvageOrderItems,
	toOrderItems,
	type OrderItem,
} from './orderItems';
import { continueAsRead, credentialOf, journalHandedOver, readAndContinue, rememberSaved } from './handedOver';
import { isDeleted, ParentExecutions, pauseBeforeSendingMs, whileParentsWait } from './parentExecutions';
import { NOTE_ADDRESS } from './subWorkflow';

/** Whatever a stored time says: waking up for nothing costs little. */
const MAX_SLEEP_MS = 86_400_000;

/** The memory of a poller, which n8n saves when the execution sleeps. */
export interface PollMemory {
	/** The orders as they were when it fell asleep. */
	rows?: unknown;
	/** Ledger and journal. */
	kept?: unknown;
	/** The tries of Retry On Fail so far. */
	tried?: unknown;
	/** True when all around have been seen asleep. */
	hasSlept?: unknown;
	/** True when no execution waits any more for what has not finished: the next run of the node ends the execution. */
	isCanceled?: unknown;
	parents?: unknown;
}

/**
 * Submits and polls in memory, and sleeps when no order is due soon, until all have ended. It ends to sleep, to deliver, or once to be
 * listed as canceled, never to be saved: what it has bought is in the rows, which each poller replays.
 */
export async function pollTasks(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	if (hasNotSleptYet(context)) return [];
	const memory = context.getContext('node') as PollMemory;
	if (memory.isCanceled === true) throw canceledError(context, await requireOrders(context.getInputData()));
	const start = itemsOfStart(context);
	const orders = (await salvageOrderItems(memory.rows)) ?? (await requireOrders(memory.rows ?? start));
	// A person has clicked Retry: the supervisor has started another poller in the place of this one, which may have submitted all.
	if (context.getMode() === 'retry') return await cancel(context, memory, orders);
	const handOver = handOverOf(start);
	if (handOver === undefined) throw gatewayError('operationNotForWorkflows', {});
	const parents = new ParentExecutions(context, memory, handOver.outermost);
	let poller = undefined as Poller | undefined;
	const work = async (signal: AbortSignal) => {
		poller = new Poller(context, { orders, handOver, memory, parents, signal });
		return (await whenToReadAgain(context, handOver)) ?? (await poller.untilDue());
	};
	const { done: wakeAtMs, isOver } = await whileParentsWait(context, parents, work);
	const goesOn = wakeAtMs !== undefined && !isOver && !(await parents.isGone());
	// n8n would never wake what a person has deleted.
	if (goesOn && !(await isDeleted(context, context.getExecutionId()))) {
		memory.rows = await toOrderItems(orders);
		memory.hasSlept = true;
		await context.putExecutionToWait(new Date(Math.min(wakeAtMs, Date.now() + MAX_SLEEP_MS)));
		return [{ json: countsOf(orders) }];
	}
	if (memory.hasSlept !== true) await parents.untilAsleep();
	return await cancel(context, memory, orders, poller);
}

/** The time to wake up, where n8n cannot read the credential for now: a failure would use up one of few rounds. */
async function whenToReadAgain(context: IExecuteFunctions, { deadlineMs }: HandOver): Promise<number | undefined> {
	const nowMs = Date.now();
	if (nowMs >= deadlineMs || !(await credentialOf(context)).isAway) return undefined;
	context.logger.warn(
		`Generation Gateway: n8n cannot read the credential at the moment. The poller tries again in a minute, ${sayWhere(context)}`,
	);
	return nowMs + MIN_SLEEP_MS;
}

/** True when the items pass that n8n is to keep, before the execution sleeps. */
function hasNotSleptYet(context: IExecuteFunctions): boolean {
	const { $ } = context.getWorkflowDataProxy(0) as unknown as { $: (node: string) => { isExecuted?: boolean } };
	try {
		return $(NOTE_ADDRESS).isExecuted === false;
	} catch {
		return false;
	}
}

/** For people who look at the execution while it sleeps. */
function countsOf(orders: readonly Order[]) {
	const count = (...states: Array<Order['state']>) => orders.filter(({ state }) => states.includes(state)).length;
	return { running: count('accepted'), finished: count('ended'), to_be_submitted: count('planned', 'submitting') };
}

/**
 * The items at the end. Where some orders have not finished, the execution must not be listed as a success: the node puts out
 * their ends, and runs once more, for an error. A retry of the execution that has waited goes on with them as they were.
 */
async function cancel(
	context: IExecuteFunctions,
	memory: PollMemory,
	orders: Order[],
	poller?: Poller,
): Promise<OrderItem[]> {
	const copies = orders.map((order) => ({ ...order }));
	const isUnsent = (await poller?.readWhatWasSent(copies)) ?? (() => false);
	const items = await toOrderItems(endAll(context, copies, { isUnsent }));
	delete memory.rows;
	if (orders.every(hasEnded)) return items;
	Object.assign(memory, { isCanceled: true, rows: await toOrderItems(orders) });
	return items.map(asCanceled);
}

interface Polled {
	orders: Order[];
	handOver: HandOver;
	memory: PollMemory;
	parents: ParentExecutions;
	/** Aborts when no execution waits any more. */
	signal: AbortSignal;
}

/** One awakening of a poller. */
class Poller {
	private readonly log: TaskLog;

	private gate = new SubmissionGate();

	private journal?: Journal;

	private ledger: OrderLedger;

	private readonly stored = new StoredSize(MOST_CHARACTERS_ASLEEP);

	private requestsSent = 0;

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly polled: Polled,
	) {
		this.log = new TaskLog(context);
		this.ledger = new OrderLedger({ store: {}, executionId: context.getExecutionId(), runIndex: 0 });
		for (const { end } of polled.orders) if (end?.output !== undefined) this.stored.takes(end.output);
	}

	/** Works until all orders have ended, or none is due soon. Returns the time to wake up, in Unix milliseconds, in that case. */
	async untilDue(): Promise<number | undefined> {
		const { orders } = this.polled;
		let wakeAtMs: number | undefined;
		try {
			await this.open();
			wakeAtMs = await this.work();
			return wakeAtMs;
		} finally {
			trace(this.context, orders, this.requestsSent);
			if (wakeAtMs === undefined) await this.journal?.end(orders);
			else await this.journal?.sleep(orders);
		}
	}

	/** Opens the journal, and continues what others have created since the orders were saved. */
	private async open(): Promise<void> {
		const { orders, handOver, memory, parents, signal } = this.polled;
		const { run } = handOver;
		// Also where nothing is left to buy: a task that fails later has to free its Purchase Key.
		if (run === undefined) return;
		memory.kept = isPlainObject(memory.kept) ? memory.kept : {};
		const { rows } = await createClient(this.context, { signal });
		if (rows === undefined) throw gatewayError('packageBug', { words: 'an account without rows' });
		const opened = journalHandedOver(
			this.context,
			{ ...handOver, run },
			{
				store: memory.kept as JsonObject,
				rows,
				tell: (why) => this.context.logger.warn(`Generation Gateway: rows may be missing (${why})`),
				isWanted: async () => !(await parents.isGone(pauseBeforeSendingMs)),
			},
		);
		({ journal: this.journal, ledger: this.ledger } = opened);
		await this.journal.takeOver(orders);
		for (const order of orders) rememberSaved(order, this.ledger);
		const { failedTask } = this.journal;
		if (handOver.stopsAtError && failedTask !== undefined)
			this.gate.close(gatewayError('taskFailed', { id: failedTask, status: 'failed' }));
	}

	/** See `continueAsRead`: a poller before this one may have sent what still looks as if it were to be submitted. */
	async readWhatWasSent(orders: readonly Order[]): Promise<(order: Order) => boolean> {
		const { context, journal, ledger } = this;
		const { run, ...handOver } = this.polled.handOver;
		if (journal !== undefined) return await continueAsRead(context, orders, { journal, ledger });
		// The journal was not opened, where the credential could not be read; n8n begins nothing for an execution that was stopped.
		if (run === undefined || context.getExecutionCancelSignal()?.aborted) return () => false;
		return await readAndContinue(context, orders, async () => await Promise.resolve({ ...handOver, run }));
	}

	private async work(): Promise<number | undefined> {
		const { orders, signal } = this.polled;
		for (;;) {
			const wakeAtMs = await this.advance();
			if (signal.aborted) return undefined;
			if (orders.some((order) => this.journal?.isUnsettled(order))) await this.journal?.settle(signal);
			else if (wakeAtMs !== undefined) return wakeAtMs;
			else if (!(await this.reopen())) return undefined;
		}
	}

	/** Advances all orders until they have ended, or none is due soon. Each that has finished is delivered at once, files included. */
	private async advance(): Promise<number | undefined> {
		const { orders, handOver, signal } = this.polled;
		const { concurrency, stopsAtError } = handOver;
		const left = orders.filter((order) => !hasEnded(order) && this.journal?.isUnsettled(order) !== true);
		if (left.length === 0) return undefined;
		const client = await createClient(this.context, { signal });
		// Those that run are in flight already.
		const running = left.filter(({ state }) => state === 'accepted');
		const others = left.filter(({ state }) => state !== 'accepted');
		const ports = {
			deliver: this.stored.bounded(deliverTask({ client, context: this.context })),
			client,
			clock: realClock,
			ledger: this.ledger,
			writeAhead: this.journal ?? BUYS_NOTHING,
			filesOf: () => new Map(),
			uploadImage: client.uploadImage.bind(client),
			sleep: new SleepCoordinator(realClock, left.length, concurrency),
			events: this.log,
		};
		const { wakeAtMs } = await advanceAll([...running, ...others], ports, {
			concurrency,
			inFlight: running.length,
			continueOnError: true,
			stopsSubmitting: stopsAtError,
			gate: this.gate,
			signal,
		});
		this.requestsSent += client.requestsSent;
		return wakeAtMs;
	}

	/** Takes up again what has failed, as n8n's Retry On Fail does with a node that waits in memory. Returns false where nothing is. */
	private async reopen(): Promise<boolean> {
		const { orders, handOver, memory, signal } = this.polled;
		const { retry, stopsAtError } = handOver;
		if (retry === undefined) return false;
		const saved = z.number().int().safeParse(memory.tried).data;
		const tried = Math.max(saved ?? retry.tried, this.journal?.tries ?? 0);
		const [first] = orders;
		if (tried >= retry.tries || (retry.onlyIfFirstFails && first !== undefined && endsWell(first))) return false;
		await this.journal?.end(orders);
		// With such an error the workflow ends, whatever is bought.
		const submits = !(stopsAtError && orders.some(staysFailed));
		const nowMs = Date.now();
		if (orders.filter((order) => reopenForRetry(order, { submits, nowMs })).length === 0) return false;
		memory.tried = tried + 1;
		// Else, what has failed would hold back its own next try.
		this.gate = new SubmissionGate();
		await realClock.sleep(retry.pauseMs, signal);
		return !signal.aborted;
	}
}

/** Of a run whose tasks were all created elsewhere. */
const BUYS_NOTHING: WriteAhead = {
	beforeUploads: async () => {},
	begin: async () => await Promise.reject(gatewayError('packageBug', { words: 'a poller without a journal submits' })),
	note: () => {},
};
