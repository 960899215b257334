import { runJobs, type BatchOptions, type JobOutcome } from './jobs';
import { advance, type Ports } from './advance';
import type { Order } from './order';

export interface Advanced {
	/**
	 * One outcome for each order, in their sequence. The value is always undefined: the order itself says if it has
	 * ended.
	 */
	outcomes: Array<JobOutcome<void>>;
	/** The time to go on, in Unix milliseconds; undefined when all have ended, or no execution sleeps. */
	wakeAtMs?: number;
}

/**
 * Advances orders side by side, under the promises about money: returns when all have ended, or when none of them is due
 * soon. The same code runs in the memory of the node and in the execution that sleeps in n8n's database.
 */
export async function advanceAll(orders: readonly Order[], ports: Ports, options: BatchOptions): Promise<Advanced> {
	const jobs = orders.map((order) => ({
		scope: order.scope,
		run: async (controls: Parameters<typeof advance>[2]) => {
			// The places of those that sleep stay taken: the others are submitted after the sleep.
			if (ports.sleep?.signal.aborted) return;
			ports.sleep?.began();
			try {
				await advance(order, ports, controls);
			} finally {
				ports.sleep?.finished();
			}
		},
	}));
	const outcomes = await runJobs(jobs, options);
	return { outcomes, wakeAtMs: ports.sleep?.until };
}
