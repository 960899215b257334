import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { onAbort } from '../../core/abort';
import { asGatewayError } from '../../core/errors';
import type { Order } from '../../core/orders/order';
import { makeRefused } from '../../core/orders/states';
import { realClock } from '../connection/transport';
import { HINTS } from '../run/hints';
import type { Run } from '../run/run';
import { onErrorOf, type Worked } from '../run/toItem';
import { advanceOrders } from './advanceOrders';
import { readBackground, startInBackground } from './background';
import { toNodeOutput } from './toNodeOutput';
import { obstacle } from './obstacle';
import { parseRows, toPlaceholder, toRows } from './rows';
import { steps } from './steps';
import { untilStopped } from './stops';
import { waitAndHandOut } from './subWorkflow';

/** Where a node waits, and which hidden operations help it. */
export const durable = { steps, obstacle, readBackground, startDurableWait };

/** Hands the tasks of the run to a sub-execution. Returns the output, if all have finished soon; otherwise the execution sleeps. */
async function startDurableWait(run: Run, worked: Worked[]): Promise<INodeExecutionData[]> {
	const { context, limits } = run;
	const orders = worked.map(toOrder);
	for (const { wait } of orders) {
		if (wait === undefined) continue;
		wait.requestsPerSecond = limits.requestsPerSecond;
		wait.startedAtMs ??= Date.now();
	}
	if (run.background) return await startInBackground(run, orders, run.background);
	const stopped = stopOf(context);
	try {
		const ended = await Promise.race([stopped.promise, waitInSubExecution(run, orders)]);
		if (ended === undefined) {
			run.log.stopped();
			return [];
		}
		if ('asleep' in ended) {
			run.hints.add(HINTS.asleep({ id: ended.asleep }));
			const rows = orders.map(toPlaceholder);
			// n8n would take it for the outcome of a try.
			return context.getNode().retryOnFail
				? rows.map(({ json: { error, ...rest } }) => ({ json: { ...rest, asleep: error } }))
				: rows;
		}
		for (const order of ended.orders) {
			for (const hint of order.end?.hints ?? []) run.hints.add(hint);
			run.log.finished(order);
		}
		const items = toNodeOutput(context, ended.orders, onErrorOf(context), ended.keptIn);
		if (ended.orders.every(({ end }) => end?.error === undefined)) run.ledger.clearRun();
		return items;
	} finally {
		stopped.forget();
	}
}

/** An item that could not be read, or was not submitted, is handed over as what it is. */
function toOrder({ order, error, input }: Worked, index: number): Order {
	if (order !== undefined && (error === undefined || order.state === 'ended')) return order;
	const refused = makeRefused(index, asGatewayError(error));
	return { ...refused, ...(input === undefined ? {} : { input }), ...(order?.task ? { task: order.task } : {}) };
}

type Ended = { asleep: string } | { orders: Order[]; keptIn?: string };

async function waitInSubExecution(run: Run, orders: Order[]): Promise<Ended> {
	const { context } = run;
	const node = context.getNode();
	try {
		const startWaiting = async () =>
			await context.executeWorkflow({ code: waitAndHandOut(node, onErrorOf(context)) }, toRows(orders), undefined, {
				parentExecution: {
					executionId: context.getExecutionId(),
					workflowId: String(context.getWorkflow().id),
					shouldResume: true,
				},
				returnLastRunOnly: true,
			});
		const { executionId, waitTill, data } = await untilStopped(context, startWaiting);
		if (waitTill) return { asleep: executionId };
		const ended = parseRows(data[0]);
		if (ended?.length !== orders.length) throw new Error('it gave no results');
		return { orders: ended, keptIn: executionId };
	} catch (thrown) {
		if (context.getExecutionCancelSignal()?.aborted) return { orders };
		// The tasks are paid for: whatever n8n does not allow, their results are wanted.
		const why = thrown instanceof Error ? thrown.message : String(thrown);
		context.logger.warn(
			`Generation Gateway: n8n did not run the sub-execution (${why}), node "${node.name}" waits in memory, execution ${context.getExecutionId()}`,
		);
		run.hints.add(HINTS.awakeRefused({ words: why }));
		await waitInMemory(context, orders);
		return { orders };
	}
}

async function waitInMemory(context: IExecuteFunctions, orders: Order[]): Promise<void> {
	const signal = context.getExecutionCancelSignal();
	for (;;) {
		const wakeAtMs = await advanceOrders(context, orders, { memoryUntilMs: Infinity, signal });
		if (wakeAtMs === undefined || signal?.aborted) return;
		await realClock.sleep(wakeAtMs - Date.now(), signal);
	}
}

/** Resolves when the user stops the execution: n8n does not end what it waits for. */
function stopOf(context: IExecuteFunctions): { promise: Promise<undefined>; forget: () => void } {
	let forget = () => {};
	const promise = new Promise<undefined>(
		(resolve) => (forget = onAbort(context.getExecutionCancelSignal(), () => resolve(undefined))),
	);
	return { promise, forget };
}
