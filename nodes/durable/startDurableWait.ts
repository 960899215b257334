import type { INodeExecutionData } from 'n8n-workflow';
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
import { toPlaceholder, toRows } from './rows';
import { steps } from './steps';
import { waitAndHandOut } from './subWorkflow';
import { whyWokenLate } from './wakeUp';

/** Waiting in n8n's database, and its hidden operations. */
export const durable = { steps, obstacle, readBackground, startDurableWait };

/** Hands the tasks of the run to a sub-execution, and sleeps with it. Returns what is left of the items until n8n replaces it. */
async function startDurableWait(run: Run, worked: Worked[]): Promise<INodeExecutionData[]> {
	const { context, limits } = run;
	const orders = worked.map(toOrder);
	for (const { wait } of orders) {
		if (wait === undefined) continue;
		wait.requestsPerSecond = limits.requestsPerSecond;
		wait.startedAtMs ??= Date.now();
	}
	const why = whyWokenLate();
	if (why !== undefined) run.hints.add(HINTS.wokenLate({ why }));
	if (run.background) return await startInBackground(run, orders, run.background);
	const id = await startSleeping(run, orders);
	if (id === undefined) return await waitInMemory(run, orders);
	run.hints.add(HINTS.asleep({ id }));
	if (context.getExecutionCancelSignal()?.aborted) run.log.stopped();
	const rows = orders.map((order) => toPlaceholder(order));
	// When somebody stops and then retries this execution, n8n passes on what it has stored as the input of this node.
	context.getExecuteData().data = { main: [rows] };
	// n8n would take it for the outcome of a try.
	return context.getNode().retryOnFail
		? rows.map(({ json: { error, ...rest } }) => ({ json: { ...rest, asleep: error } }))
		: rows;
}

/** An item that could not be read, or was not submitted, is handed over as what it is. */
function toOrder({ order, error, input }: Worked, index: number): Order {
	if (order !== undefined && (error === undefined || order.state === 'ended')) return order;
	const refused = makeRefused(index, asGatewayError(error));
	return { ...refused, ...(input === undefined ? {} : { input }), ...(order?.task ? { task: order.task } : {}) };
}

/** Returns the execution that sleeps; undefined where n8n does not run it. */
async function startSleeping(run: Run, orders: Order[]): Promise<string | undefined> {
	const { context } = run;
	const node = context.getNode();
	try {
		const code = waitAndHandOut(node, onErrorOf(context));
		const { executionId, waitTill } = await context.executeWorkflow({ code }, toRows(orders), undefined, {
			parentExecution: {
				executionId: context.getExecutionId(),
				workflowId: String(context.getWorkflow().id),
				shouldResume: true,
			},
			returnLastRunOnly: true,
		});
		if (!waitTill) throw new Error('it did not fall asleep');
		return executionId;
	} catch (thrown) {
		// The tasks are paid for: whatever n8n does not allow, their results are wanted.
		const why = thrown instanceof Error ? thrown.message : String(thrown);
		context.logger.warn(
			`Generation Gateway: n8n did not run the sub-execution (${why}), node "${node.name}" waits in memory, execution ${context.getExecutionId()}`,
		);
		run.hints.add(HINTS.awakeRefused({ words: why }));
		return undefined;
	}
}

async function waitInMemory(run: Run, orders: Order[]): Promise<INodeExecutionData[]> {
	const { context } = run;
	const signal = context.getExecutionCancelSignal();
	for (;;) {
		const wakeAtMs = await advanceOrders(context, orders, signal);
		if (signal?.aborted) {
			run.log.stopped();
			return [];
		}
		if (wakeAtMs === undefined) break;
		await realClock.sleep(wakeAtMs - Date.now(), signal);
	}
	for (const order of orders) {
		for (const hint of order.end?.hints ?? []) run.hints.add(hint);
		run.log.finished(order);
	}
	const items = toNodeOutput(context, orders, onErrorOf(context));
	if (orders.every(({ end }) => end?.error === undefined)) run.ledger.clearRun();
	return items;
}
