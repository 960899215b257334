import { asGatewayError, gatewayError, GatewayError, namingTask, type TaskReference } from '../errors';
import type { GatewayClient } from '../client';
import type { JobControls } from './jobs';
import { isAhead } from '../polling/startTimes';
import { waitForTask } from '../polling/waitForTask';
import type { WaitWatcher } from '../polling/waitWatcher';
import type { Order } from './order';
import type { Product, Seen } from './product';
import type { SleepCoordinator } from './sleepCoordinator';
import { endBadly, endWell, errorOf, isGivenUp, isReplacedByRetry } from './states';
import { toNamedRun, type SubmitAgain } from './runs';
import { buyOnce, type BuyPorts } from './buyOnce';

/** The ports of the engine: it knows no n8n. */
export interface Ports extends BuyPorts {
	client: Pick<GatewayClient, 'backlogMs'> & BuyPorts['client'];
	product: Product<{ id: string }, unknown>;
	/** Decides when the execution can sleep, because no order is due soon. */
	sleep?: SleepCoordinator;
	/** Tells the user how the wait for an order goes. */
	watch?: (order: Order) => WaitWatcher;
}

/**
 * Advances one order: submits it, polls it, delivers it. Returns when it has ended well, or is to go on after a sleep
 * or elsewhere; throws the error that it has ended with.
 */
export async function advance(order: Order, ports: Ports, controls: JobControls): Promise<void> {
	if (order.state === 'ended') {
		const error = errorOf(order);
		if (error !== undefined) throw error;
		return;
	}
	const { product } = ports;
	const hints = new Set<string>();
	// The order loses its request as soon as it is accepted.
	const { submitAgainFor } = order.request ?? {};
	let answer: { id: string } | undefined;
	try {
		answer = order.state === 'planned' ? await buyOnce(order, product, ports, controls) : undefined;
		const seen = await see(order, ports, controls, answer);
		if (seen === undefined) return;
		const output = await product.output(order, { answer, ...seen }, { controls, hints });
		if (order.then !== 'nothing') ports.events.finished(order);
		endWell(order, output, hints);
	} catch (thrown) {
		// One that was just created is not what the form has named.
		throw endWithError(order, thrown, ports, {
			hints,
			submitAgainFor: answer === undefined ? submitAgainFor : undefined,
		});
	}
}

/** Ends an order with what was thrown, unless that is a stop. Returns the error to throw. */
export function endWithError(
	order: Order,
	thrown: unknown,
	{ product, events, ledger }: Pick<Ports, 'product' | 'events' | 'ledger'>,
	{ hints, ...named }: { hints?: ReadonlySet<string> } & SubmitAgain = {},
): GatewayError {
	const error = asGatewayError(thrown);
	const { otherIds = [] } = order.wait ?? {};
	if (otherIds.length > 0) ledger.isCalled(order.item, otherIds);
	// A stop says nothing about the thing: another execution may go on with it.
	if (error.kind === 'stopped') return error;
	if (error.kind === 'taskFailed') events.finished(order);
	const explained = product.explain?.(order, error) ?? error;
	if (isGivenUp(order, explained))
		return endBadly(order, explained.about(toNamedRun(named, ledger.givenUp(order.item))), hints);
	const ended = endBadly(order, explained, hints);
	if (isReplacedByRetry(order)) ledger.forget(order.item);
	return ended;
}

type SeenOf = Omit<Seen<{ id: string }, unknown>, 'answer'>;

/** n8n wakes an execution within this time. Milliseconds. */
const WAKES_UP_MS = 130_000;

/**
 * Reads or polls an order that was accepted. Undefined where it is to go on after a sleep.
 *
 * @param answer where this order has just created it: then it is known how it is
 */
async function see(order: Order, ports: Ports, controls: JobControls, answer: unknown): Promise<SeenOf | undefined> {
	const { task, thing, then } = order;
	const { product } = ports;
	if (task === undefined || (then === 'nothing' && (answer !== undefined || thing !== 'task'))) return {};
	if (then === 'poll') return await poll(order, task, ports, controls);
	if (then === 'read')
		return { record: await namingTask(task, product.read?.(order, task) ?? Promise.resolve(undefined)) };
	return { record: await readUnawaited(order, task, ports) };
}

/**
 * Reads a task once that nobody waits for. Undefined where that does not work: then it is not known how the task is, which is no
 * error. The path of its status may even be another one, because nothing else here needs it.
 */
async function readUnawaited(order: Order, task: TaskReference, { product }: Ports): Promise<unknown> {
	const target = product.target?.(order, task);
	if (target === undefined) return undefined;
	const record = await target.fetch().catch((thrown: unknown) => {
		if (asGatewayError(thrown).kind === 'stopped') throw thrown;
		return undefined;
	});
	if (record === undefined) return undefined;
	const { state, status, progress } = target.statusOf(record);
	Object.assign(task, { status, progress });
	// A failure is an error for who buys something, although nobody waits for it: it may be bought again then.
	if (state === 'failed') throw target.toFailure(record).withTask(task);
	return record;
}

async function poll(
	order: Order,
	task: TaskReference,
	ports: Ports,
	controls: JobControls,
): Promise<SeenOf | undefined> {
	const { product, clock, client, sleep } = ports;
	const { wait } = order;
	const target = product.target?.(order, task);
	if (wait === undefined || target === undefined)
		throw gatewayError('packageBug', { words: 'an order without a wait was polled' });
	// In a retry the timeout starts again; and where the clock was set back while the order slept, once and for all.
	if (wait.startedAtMs === undefined || isAhead(wait.startedAtMs, clock.now())) {
		wait.startedAtMs = clock.now();
		delete wait.notBeforeMs;
	}
	const leave = order.thing === 'task' ? client.places?.occupy(task.taskId) : undefined;
	let asleepForMs: number | undefined;
	const signals = sleep === undefined ? [controls.signal] : [controls.signal, sleep.signal];
	const own = sleep?.clockOf(order) ?? clock;
	const acceptedAtMs = order.acceptedAtMs ?? target.acceptedAtMs;
	// The clock of the computer may have been set since the other one began.
	const aheadMs = own.now() - clock.now();
	try {
		return await waitForTask(target, {
			...wait,
			kept: wait,
			acceptedAtMs: acceptedAtMs === undefined ? undefined : acceptedAtMs + aheadMs,
			startedAtMs: wait.startedAtMs + aheadMs,
			wallClock: clock,
			survivalTable: target.survivalTable,
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
