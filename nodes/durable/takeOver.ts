import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { getPath } from '../../core/json';
import type { Order } from '../../core/orders/order';
import { WaveLog } from '../../core/orders/waveLog';
import { realClock } from '../connection/transport';
import { readData } from './parentExecutions';
import { parseRows, salvageRows } from './rows';
import { POLL_TASKS } from './storedNames';
import { waveNames } from './waveNames';

/** The remains of an execution that has polled. */
interface Left {
	/** The orders as it has put them out at its end, or had saved them; as it had got them, where it had saved nothing yet. */
	orders?: Order[];
	/** A person has stopped it. */
	wasStopped: boolean;
}

/** Reads what is left of an execution. */
export async function leftOf(context: IExecuteFunctions, executionId: unknown): Promise<Left> {
	const data = typeof executionId === 'string' ? await readData(context, executionId) : undefined;
	if (data === undefined) return { wasStopped: false };
	const { runData, error } = data.resultData;
	const saved = getPath(data.executionData, ['contextData', `node:${POLL_TASKS}`, 'rows']);
	const orders =
		salvageRows(saved) ??
		// Whoever has come to the end has no other place for them.
		salvageRows(runData[POLL_TASKS]?.at(-1)?.data?.main?.[0]) ??
		parseRows(runData.Start?.[0]?.data?.main?.[0]);
	// The error of an orderly end of n8n has another reason, or none.
	return { orders, wasStopped: (error as IDataObject | undefined)?.reason === 'manual' };
}

/** The order for an execution that goes on in the place of one that has died. */
export function takenOver(order: Order): Order {
	return order.batch === undefined ? order : { ...order, batch: { ...order.batch, isTakenOver: true } };
}

/** Finds out which requests the dead execution may have sent, where nobody goes on. */
export async function settle(context: IExecuteFunctions, orders: Order[]): Promise<Order[]> {
	const batch = orders.find((order) => order.batch !== undefined)?.batch;
	if (batch === undefined) return orders;
	const known = orders.map((order) => (order.batch === undefined ? order : { ...order, batch }));
	const store = { save: async () => {}, changed: () => {}, ...waveNames(context, batch) };
	await new WaveLog(store, realClock, batch).settle(known);
	return known;
}
