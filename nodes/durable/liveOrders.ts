import type { IExecuteFunctions } from 'n8n-workflow';
import { onAbort } from '../../core/abort';
import { stoppedError } from '../../core/errors';
import { DEFAULT_REQUESTS_PER_SECOND } from '../../core/account/pace';
import type { PendingFiles } from '../../core/models/images';
import { OrderLedger } from '../../core/orders/ledger';
import type { Batch } from '../../core/orders/batch';
import type { Order } from '../../core/orders/order';
import { reopenForRetry, staysFailed } from '../../core/orders/states';
import { WaveLog } from '../../core/orders/waveLog';
import { liveOrders } from '../../core/processMemory';
import { realClock } from '../connection/transport';
import { readingFile } from '../errors/unreadable';
import { noteSpending } from '../run/runCredits';
import { TaskLog } from '../run/taskLog';
import { advanceOrders } from './advanceOrders';
import { waveNames } from './waveNameStore';

/** The longest time until it is saved that the service has accepted or refused a request, with others. Milliseconds. */
const SAVE_SUBMITTED_MS = 400;
/** The same for a result: without it, it would only be read and downloaded once more. */
const SAVE_FINISHED_MS = 15_000;

/** The next thing to do for the node. Sleep: until then, in Unix milliseconds. */
type Due = { kind: 'save' | 'end'; untilMs?: undefined } | { kind: 'sleep'; untilMs: number };

interface Saving {
	/** True when requests are to be sent as soon as n8n has saved. */
	isForWave?: boolean;
	resolve: () => void;
	reject: (reason: unknown) => void;
}

/**
 * Orders that are advanced in the memory of one execution. n8n saves an execution when one of its nodes ends, so the node
 * ends whenever something is to be saved, and begins again at once: the work goes on meanwhile.
 */
export class LiveOrders {
	private readonly over = new AbortController();

	private result?: Promise<Due>;

	/** Savings that are asked for, and those that n8n is at. */
	private wanted: Saving[] = [];

	private underWay: Saving[] = [];

	private wake = () => {};

	private readonly timers = new Set<number>();

	/** @param memory of the node: the same object as long as the execution is awake */
	static of(context: IExecuteFunctions, memory: object, read: () => Order[]): LiveOrders {
		const known = liveOrders.get(memory);
		if (known instanceof LiveOrders) return known;
		const batch = new LiveOrders(context, read(), () => liveOrders.delete(memory));
		liveOrders.set(memory, batch);
		// n8n may stop the execution between two runs of the node: then no other one comes.
		batch.over.signal.addEventListener(
			'abort',
			onAbort(context.getExecutionCancelSignal(), () => batch.stop()),
		);
		return batch;
	}

	private constructor(
		private readonly context: IExecuteFunctions,
		readonly orders: Order[],
		private readonly forget: () => void,
	) {}

	/** Begins, if it has not begun, and waits until the node has to do something. */
	async untilDue(signal: AbortSignal): Promise<Due> {
		this.result ??= this.work();
		// Whoever waits for it gets it all the same.
		this.result.catch(() => {});
		const askedForMore = new Promise<Due>((resolve) => {
			this.wake = () => resolve({ kind: 'save' });
			onAbort(signal, () => resolve({ kind: 'end' }));
			if (this.wanted.length > 0) this.wake();
		});
		const due = await Promise.race([this.result, askedForMore]);
		this.underWay.push(...this.wanted.splice(0));
		return due;
	}

	/** The orders by their states. */
	get counts(): Record<'running' | 'finished' | 'to_be_submitted', number> {
		const count = (...states: Array<Order['state']>) =>
			this.orders.filter(({ state }) => states.includes(state)).length;
		return { running: count('accepted'), finished: count('ended'), to_be_submitted: count('planned', 'submitting') };
	}

	/** True when what has been saved last is sent next. */
	get submitsNext(): boolean {
		return this.underWay.some(({ isForWave }) => isForWave);
	}

	/** The node has begun again: what it has put out last is saved. */
	saved(): void {
		for (const { resolve } of this.underWay.splice(0)) resolve();
	}

	/** It ends, or sleeps. */
	stop(): void {
		this.forget();
		this.over.abort();
		for (const { reject } of [...this.wanted.splice(0), ...this.underWay.splice(0)]) reject(stoppedError());
	}

	private async work(): Promise<Due> {
		const { context, orders } = this;
		const batch = orders.find((order) => order.batch !== undefined)?.batch;
		const endSpending = await noteSpending(context, context.getExecutionId(), batch?.credits);
		let untilMs: number | undefined;
		try {
			const due = await this.advance(batch);
			({ untilMs } = due);
			return due;
		} finally {
			endSpending(untilMs);
		}
	}

	private async advance(batch: Batch | undefined): Promise<Due> {
		const { context, orders } = this;
		const { signal } = this.over;
		for (const order of orders) if (order.batch !== undefined) order.batch = batch;
		const log = new TaskLog(context);
		const writeAhead = new WaveLog(
			{
				save: async () => await this.save({ isForWave: true }),
				changed: () => this.saveWithin(SAVE_SUBMITTED_MS),
				...waveNames(context, batch),
			},
			realClock,
			batch ?? { places: orders.length, requestsPerSecond: DEFAULT_REQUESTS_PER_SECOND, waves: 0 },
		);
		const isTakenOver = batch?.isTakenOver === true;
		await writeAhead.resolveInterrupted(orders);
		// The search for names has written one: after another death, it would count as a wave that was sent.
		if (isTakenOver) this.saveWithin(SAVE_SUBMITTED_MS);
		for (;;) {
			const untilMs = await advanceOrders(context, orders, {
				batch,
				signal,
				writeAhead,
				// What it knows is in the orders: they are what n8n saves here.
				ledger: new OrderLedger({ store: {}, executionId: context.getExecutionId(), runIndex: 0 }),
				filesOf: (order) => storedFiles(context, order),
				events: {
					accepted: (order) => log.accepted(order),
					unclear: (order, said) => log.unclear(order, said),
					continued: () => {},
					finished: () => this.saveWithin(SAVE_FINISHED_MS),
				},
			});
			if (untilMs !== undefined) return { kind: 'sleep', untilMs };
			if (signal.aborted || !(await this.retry(batch))) return { kind: 'end' };
		}
	}

	/** Retry On Fail, which n8n does not play with an execution that has slept. */
	private async retry({ retry, stopsAtError }: Partial<Pick<Batch, 'retry' | 'stopsAtError'>> = {}): Promise<boolean> {
		if (retry === undefined || retry.tried >= retry.tries) return false;
		// With such an error the workflow ends, whatever is bought.
		const submits = !(stopsAtError && this.orders.some(staysFailed));
		if (this.orders.filter((order) => reopenForRetry(order, { submits })).length === 0) return false;
		retry.tried++;
		await realClock.sleep(retry.pauseMs, this.over.signal);
		return !this.over.signal.aborted;
	}

	private async save(saving: Pick<Saving, 'isForWave'> = {}): Promise<void> {
		if (this.over.signal.aborted) throw stoppedError();
		await new Promise<void>((resolve, reject) => {
			this.wanted.push({ ...saving, resolve, reject });
			this.wake();
		});
	}

	/** Asks n8n to save what has happened until then, unless that comes earlier anyway. */
	private saveWithin(delayMs: number): void {
		if (this.timers.has(delayMs)) return;
		this.timers.add(delayMs);
		void realClock.sleep(delayMs, this.over.signal).then(async () => {
			this.timers.delete(delayMs);
			await this.save().catch(() => {});
		});
	}
}

/** Files of an order that are in n8n's storage. */
function storedFiles({ helpers }: IExecuteFunctions, { request }: Order): PendingFiles {
	const { files = {} } = request ?? {};
	const pending = Object.entries(files).map(([reference, stored]) => {
		const { id, fileName, mimeType } = stored;
		const content = async () => await helpers.binaryToBuffer(await helpers.getBinaryStream(id));
		const read = async () => ({ bytes: await readingFile({ fileName }, content), fileName, mimeType });
		return [reference, { read, stored: () => stored }] as const;
	});
	return new Map(pending);
}
