import type { GatewayClient, MediaKind } from '../client';
import { isAhead } from '../clock';
import { asGatewayError, gatewayError, namingTask, type GatewayError, type TaskReference } from '../errors';
import { judgeTask, type AskedFor } from '../polling/taskEnd';
import { waitForTask, type PollStatus, type PollTarget, type Waited, type WaitWatcher } from '../polling/waitForTask';
import type { TaskRecord } from '../records/taskRecord';
import { buyOnce, endPurchase, type BuyPorts, type Creation } from './buyOnce';
import { runJobs, type Job, type JobControls, type JobOutcome, type JobsOptions } from './jobs';
import { MAX_ID_LENGTH, MAX_OTHER_IDS, type Order, type Output } from '../orders/order';
import type { SubmitAgain } from '../orders/ledger';
import type { SleepCoordinator } from './sleepCoordinator';
import { endBadly, endWell, errorOf } from '../orders/states';
import { explainTaskError, failedTask } from '../orders/taskErrors';

/** The endpoints of tasks (contract 3.1, 4.4, 4.5, 4.8). */
export type TaskClient = Pick<
	GatewayClient,
	'service' | 'createTask' | 'getTask' | 'fetchTask' | 'survivalTable' | 'fileRules'
>;

/** The answer to the request that has created a task. */
export type NewTask = TaskRecord & { id: string };

/** The answers about a task whose order ends well. */
export interface Seen extends Partial<Waited<TaskRecord>> {
	/** Absent where an earlier try, node or execution has created it. */
	answer?: NewTask;
}

/** The tools for making an output, beside the order. */
export interface OutputTools {
	controls: JobControls;
	/** Hints for the output panel. */
	hints: Set<string>;
}

/** The ports of the engine: it knows no n8n. */
export interface Ports extends BuyPorts {
	client: TaskClient & Pick<GatewayClient, 'backlogMs'> & BuyPorts['client'];
	/** Makes the output item of a task, with its files. Throws where the answers are no success. */
	deliver: (order: Order, seen: Seen, tools: OutputTools) => Promise<Output>;
	/** Decides when the execution can sleep, because no order is due soon. */
	sleep?: SleepCoordinator;
	/** Tells the user how the wait for an order goes. */
	watch?: (order: Order) => WaitWatcher;
}

export interface Advanced<T> {
	/** One outcome for each, in their sequence. That of an order has no value: the order itself says if it has ended. */
	outcomes: Array<JobOutcome<T | undefined>>;
	/** The time to go on, in Unix milliseconds; undefined when all have ended, or no execution sleeps. */
	wakeAtMs?: number;
}

/**
 * Advances orders side by side, under the promises about money: returns when all have ended, or when none of them is due
 * soon. The same code runs in the memory of the node and in the execution that sleeps in n8n's database.
 *
 * @param works orders, and jobs that need none: they only read
 * @param ports for the orders
 */
export async function advanceAll<T = never>(
	works: ReadonlyArray<Order | Job<T>>,
	ports: Ports | undefined,
	options: JobsOptions,
): Promise<Advanced<T>> {
	const jobs = works.map((work) => ('run' in work ? work : toJob(work, ports)));
	const outcomes = await runJobs<T | undefined>(jobs, options);
	return { outcomes, wakeAtMs: ports?.sleep?.until };
}

function toJob(order: Order, ports: Ports | undefined): Job<undefined> {
	if (ports === undefined) throw gatewayError('packageBug', { words: 'an operation makes orders of nothing' });
	const { sleep } = ports;
	return {
		scope: order.scope,
		run: async (controls) => {
			// Those that sleep stay in flight: the others are submitted after the sleep.
			if (sleep?.signal.aborted) return endIfHeldBack(order, controls);
			sleep?.began();
			try {
				await advance(order, ports, controls);
				return undefined;
			} finally {
				sleep?.finished();
			}
		},
	};
}

/** Ends an order that is not sent because of another: after a sleep, its item would not know of that one. */
function endIfHeldBack(order: Order, { heldBack }: JobControls): undefined {
	const error = order.state === 'planned' ? heldBack() : undefined;
	if (error !== undefined) throw endBadly(order, error);
}

/**
 * The life of a task: it is bought, read or polled, and delivered. Returns when its order has ended well, or is to go on after a
 * sleep or elsewhere; throws the error that it has ended with.
 */
export async function advance(order: Order, ports: Ports, controls: JobControls): Promise<void> {
	if (order.state === 'ended') {
		const error = errorOf(order);
		if (error !== undefined) throw error;
		return;
	}
	const hints = new Set<string>();
	// The order loses its request as soon as it is accepted.
	const { submitAgainFor } = order.request ?? {};
	let answer: NewTask | undefined;
	try {
		if (order.state === 'planned') answer = await buyOnce(order, taskCreation(order, ports.client), ports, controls);
		const seen = await see(order, ports, controls, answer);
		if (seen === undefined) return;
		const output = await ports.deliver(order, { answer, ...seen }, { controls, hints });
		if (order.then !== 'nothing') ports.events.finished(order);
		endWell(order, output, hints);
	} catch (thrown) {
		// One that was just created is not what the form has named.
		throw endTask(thrown, order, ports, { hints, ...(answer === undefined && { submitAgainFor }) });
	}
}

/** The request that creates the task of an order. */
export function taskCreation(order: Order, client: Pick<TaskClient, 'createTask' | 'service'>): Creation<NewTask> {
	return {
		status: 'queued',
		send: async (body, attempt) => {
			const record = await client.createTask(order.kind as MediaKind, body, attempt);
			order.service = client.service;
			return record;
		},
	};
}

/** Ends the order of a task with what was thrown, unless that is a stop. Returns the error to throw. */
export function endTask(
	thrown: unknown,
	order: Order,
	ports: Pick<Ports, 'client' | 'events' | 'ledger'>,
	about: { hints?: ReadonlySet<string> } & SubmitAgain = {},
): GatewayError {
	const explain = (error: GatewayError) => explainTaskError(order, error, ports.client);
	return endPurchase(thrown, order, ports, { ...about, explain });
}

/**
 * Reads or polls a task that was accepted. Undefined where its order is to go on after a sleep.
 *
 * @param answer where this order has just created it: then it is known how it is
 */
async function see(order: Order, ports: Ports, controls: JobControls, answer: unknown): Promise<Seen | undefined> {
	const { task, then } = order;
	if (task === undefined || (then === 'nothing' && answer !== undefined)) return {};
	if (then === 'poll') return await poll(order, task, ports, controls);
	const { client } = ports;
	if (then === 'nothing') return { record: await readUnawaited(taskTarget(order, task, client)) };
	const judge = (record: TaskRecord) => judgeTask(record, askedFor(order, task, client));
	return { record: await namingTask(task, client.getTask(order.kind as MediaKind, task.taskId, judge)) };
}

/**
 * Reads a task once that the run does not wait for. Undefined where that does not work: then it is not known how the task is, which is no
 * error. The path of its status may even be another one, because nothing else here needs it.
 */
async function readUnawaited({ task, ...target }: PollTarget<TaskRecord>): Promise<TaskRecord | undefined> {
	const record = await target.fetch().catch((thrown: unknown) => {
		if (asGatewayError(thrown).kind === 'stopped') throw thrown;
		return undefined;
	});
	if (record === undefined) return undefined;
	const { state, status, progress } = target.statusOf(record);
	Object.assign(task, { status, progress });
	// A failure is an error for who buys something, although the run does not wait for it: it may be bought again then.
	if (state === 'failed') throw target.toFailure(record).withTask(task);
	return record;
}

/** n8n wakes an execution within this time. Milliseconds. */
const WAKES_UP_MS = 130_000;

async function poll(order: Order, task: TaskReference, ports: Ports, controls: JobControls): Promise<Seen | undefined> {
	const { clock, client, sleep } = ports;
	const { wait, acceptedAtMs } = order;
	if (wait === undefined) throw gatewayError('packageBug', { words: 'an order without a wait was polled' });
	// In a retry the timeout starts again; and where the clock was set back while the order slept, once and for all.
	if (wait.startedAtMs === undefined || isAhead(wait.startedAtMs, clock.now())) {
		wait.startedAtMs = clock.now();
		delete wait.notBeforeMs;
	}
	const leave = client.places?.occupy(task.taskId);
	let asleepForMs: number | undefined;
	const signals = sleep === undefined ? [controls.signal] : [controls.signal, sleep.signal];
	const own = sleep?.clockOf(order) ?? clock;
	// The clock of the computer may have been set since the other one began.
	const aheadMs = own.now() - clock.now();
	try {
		return await waitForTask(taskTarget(order, task, client), {
			...wait,
			kept: wait,
			acceptedAtMs: acceptedAtMs === undefined ? undefined : acceptedAtMs + aheadMs,
			startedAtMs: wait.startedAtMs + aheadMs,
			wallClock: clock,
			survivalTable: (model) => client.survivalTable(order.kind as MediaKind, order.model ?? model),
			backlogMs: () => client.backlogMs,
			watcher: ports.watch?.(order),
			clock: own,
			signal: AbortSignal.any(signals),
		});
	} catch (thrown) {
		if (sleep?.signal.aborted !== true || controls.signal.aborted) throw asGatewayError(thrown);
		asleepForMs = (sleep.until ?? 0) - clock.now() + WAKES_UP_MS;
		return undefined;
	} finally {
		leave?.(asleepForMs);
	}
}

/** A task as a poll target. */
export function taskTarget(order: Order, task: TaskReference, client: TaskClient): PollTarget<TaskRecord> {
	return {
		thing: 'task',
		task,
		fetch: async (beforeSend) => {
			const record = await client.fetchTask(order.kind as MediaKind, task.taskId, beforeSend);
			const judged = judgeTask(record, askedFor(order, task, client));
			const { wait } = order;
			if (wait !== undefined && isUnfinished(judged) && judged.ids.length > 0) wait.otherIds = otherIdsOf(judged, task);
			return judged;
		},
		statusOf: toPollStatus,
		toFailure: (record) => failedTask(task.taskId, record),
	};
}

const isUnfinished = ({ state }: TaskRecord) => state === 'queued' || state === 'in_progress';

/** IDs by which the end of the task is known, too. Those of the last unfinished record: a stray one is soon forgotten. */
const otherIdsOf = ({ ids }: TaskRecord, { taskId }: TaskReference) =>
	ids.filter((id) => id !== taskId && id.length <= MAX_ID_LENGTH).slice(0, MAX_OTHER_IDS);

function askedFor({ kind, wait, result }: Order, { taskId }: TaskReference, { fileRules }: TaskClient): AskedFor {
	const { resultPath, requestUrls } = result ?? {};
	const { baseUrl } = fileRules;
	return { taskId, otherIds: wait?.otherIds, resultPath, requestUrls, baseUrl, kind: kind as MediaKind };
}

function toPollStatus({ state, status, progress, model, createdAt, retryAfterMs }: TaskRecord): PollStatus {
	return {
		state: state === 'completed' ? 'done' : state === 'failed' ? 'failed' : 'pending',
		status,
		progress,
		model,
		createdAtMs: createdAt === undefined ? undefined : createdAt * 1000,
		retryAfterMs,
	};
}
