import type { IExecuteFunctions } from 'n8n-workflow';
import { advanceAll } from '../../core/orders/engine';
import type { Batch } from '../../core/orders/batch';
import type { Order } from '../../core/orders/order';
import { SleepCoordinator } from '../../core/orders/sleepCoordinator';
import { hasEnded } from '../../core/orders/states';
import type { SubmitPorts } from '../../core/orders/submit';
import { createClient } from '../connection/createClient';
import { realClock } from '../connection/transport';
import { taskProduct } from '../generation/taskProduct';

/** The ports of the engine that depend on where it runs. */
export interface EnginePorts extends Pick<SubmitPorts, 'writeAhead' | 'filesOf' | 'events' | 'ledger'> {
	batch?: Pick<Batch, 'places' | 'stopsAtError'>;
	/** Aborts when nobody wants the results any more. */
	signal?: AbortSignal;
}

/**
 * Submits and polls in memory until every order has ended, or none of them is due soon. Each that has finished is delivered
 * at once, files included. Returns when somebody has to go on, in Unix milliseconds; undefined when all have ended.
 */
export async function advanceOrders(
	context: IExecuteFunctions,
	orders: Order[],
	{ batch, signal, ...ports }: EnginePorts,
): Promise<number | undefined> {
	const unfinished = orders.filter((order) => !hasEnded(order));
	if (unfinished.length === 0) return undefined;
	const client = await createClient(context, { signal });
	// Those that run are in flight already.
	const running = unfinished.filter(({ state }) => state === 'accepted');
	const others = unfinished.filter(({ state }) => state !== 'accepted');
	const concurrency = batch?.places ?? unfinished.length;
	const enginePorts = {
		...ports,
		product: taskProduct({ client, context }),
		client,
		clock: realClock,
		uploadImage: client.uploadImage.bind(client),
		sleep: new SleepCoordinator(realClock, unfinished.length, concurrency),
	};
	const { wakeAtMs } = await advanceAll([...running, ...others], enginePorts, {
		concurrency,
		inFlight: running.length,
		continueOnError: true,
		stopsSubmitting: batch?.stopsAtError,
		signal,
	});
	return wakeAtMs;
}
