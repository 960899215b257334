import { gatewayError } from '../errors';
import { advance, type Ports } from './advance';
import { runJobs, type JobsOptions, type Job, type JobControls, type JobOutcome } from './jobs';
import type { Order } from '../orders/order';
import { endBadly } from '../orders/states';

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
