import type { IExecuteFunctions } from 'n8n-workflow';
import { advanceAll } from '../../core/orders/engine';
import type { Order } from '../../core/orders/order';
import { SleepCoordinator } from '../../core/orders/sleepCoordinator';
import { WriteAheadLog } from '../../core/orders/writeAheadLog';
import { TaskLedger } from '../../core/orders/ledger';
import { createClient } from '../connection/createClient';
import { realClock } from '../connection/transport';
import { taskProduct } from '../generation/taskProduct';

/**
 * Polls in memory until every order has ended, or none of them is due soon. Each that has finished is delivered at once,
 * files included. Returns when somebody has to go on, in Unix milliseconds; undefined when all have ended.
 *
 * @param signal aborts when nobody wants the results any more
 */
export async function advanceOrders(
	context: IExecuteFunctions,
	orders: Order[],
	signal?: AbortSignal,
): Promise<number | undefined> {
	const unfinished = orders.filter(({ state }) => state !== 'ended');
	const [first] = unfinished;
	if (first === undefined) return undefined;
	const client = await createClient(context, { requestsPerSecond: first.wait?.requestsPerSecond, signal });
	const ledger = new TaskLedger({ store: {}, executionId: context.getExecutionId(), runIndex: 0 });
	const scope = { execution: '', isLasting: false, executionId: '', runIndex: 0, isRetry: false };
	const ports = {
		product: taskProduct({ client, context }),
		client,
		clock: realClock,
		ledger,
		writeAhead: new WriteAheadLog(scope, ledger),
		events: { accepted: () => {}, continued: () => {}, finished: () => {} },
		filesOf: () => new Map<string, never>(),
		uploadImage: client.uploadImage.bind(client),
		polls: true,
		sleep: new SleepCoordinator(realClock, unfinished.length),
	};
	const { wakeAtMs } = await advanceAll(unfinished, ports, {
		concurrency: unfinished.length,
		continueOnError: true,
		signal,
	});
	return wakeAtMs;
}
