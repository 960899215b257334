/** A run whose orders go on in another execution, without n8n. */
import { OrderLedger } from '../../core/orders/ledger';
import type { Order } from '../../core/orders/order';
import { endWell } from '../../core/orders/states';
import { durable } from '../../nodes/durable/startDurableWait';
import type { Run } from '../../nodes/run/run';
import type { Worked } from '../../nodes/run/toItem';
import { lightContext, untilDone, type LightOptions } from './lightContext.mts';
import { acceptedOrder, batchOf } from './orders.mts';

const passing = {
	beforeUploads: async () => await Promise.resolve(),
	guard: async (_: unknown, send: (gate: object) => Promise<unknown>) =>
		await send({
			begin: async () => await Promise.resolve(),
			sending: async () => await Promise.resolve(),
			putOff: () => {},
		}),
};

/** The run, and what happens to it. */
export function durableRun(options: LightOptions & { run?: object; writeAhead?: object } = {}) {
	const light = lightContext(options);
	const happened: string[] = [];
	const hints = new Set<string>();
	const ledger = new OrderLedger({ store: {}, executionId: 'own', runIndex: 0 });
	const clear = jest.spyOn(ledger, 'clearRun');
	const deferred = jest.spyOn(ledger, 'deferred');
	const run = {
		...{ context: light.context, ledger, hints, files: new Map(), batch: batchOf() },
		log: {
			accepted: () => {},
			continued: () => {},
			finished: ({ item }: Order) => happened.push(`finished ${item}`),
			stopped: () => happened.push('stopped'),
		},
		writeAhead: {
			...passing,
			defer: async ({ item }: Order) => await Promise.resolve(void happened.push(`deferred ${item}`)),
			end: async (signal: unknown) => {
				expect(signal).toBe(light.context.getExecutionCancelSignal());
				await Promise.resolve(void happened.push('ended'));
			},
			...options.writeAhead,
		},
		...options.run,
	} as unknown as Run;
	const start = async (worked: Array<Worked | Order>) =>
		await untilDone(
			durable.startDurableWait(
				run,
				worked.map((each) => ('state' in each ? { order: each } : each)),
			),
		);
	return { ...light, run, hints, ledger, clear, deferred, happened, start };
}

/** Has ended well. */
export const done = (item: number) => {
	const order = acceptedOrder(item);
	endWell(order, { json: { task_id: 'done' } });
	return order;
};
