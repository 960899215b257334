import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { asGatewayError } from '../../core/errors';
import type { Order } from '../../core/orders/order';
import { dropRequest, endBadly, hasEnded, makeRefused } from '../../core/orders/states';
import { realClock } from '../connection/transport';
import { HINTS } from '../run/hints';
import { reportCredits } from '../run/runCredits';
import type { Run } from '../run/run';
import { onErrorOf, type Worked } from '../run/toItem';
import { advanceOrders } from './advanceOrders';
import { readBackground, startInBackground } from './background';
import { toNodeOutput } from './toNodeOutput';
import { obstacle } from './obstacle';
import { outermostOf } from './parentExecutions';
import { toPlaceholder, toOrderItems } from './orderItems';
import { stepOf } from './steps';
import { waitAndOutputResults } from './subWorkflow';
import { adviceFor, whyWokenLate } from './wakeUp';

/** Waiting in n8n's database, and its hidden operations. */
export const durable = { stepOf, obstacle, readBackground, startDurableWait };

/** Hands the tasks of the run to a sub-execution, and sleeps with it. Returns what is left of the items until n8n replaces it. */
async function startDurableWait(run: Run, worked: Worked[]): Promise<INodeExecutionData[]> {
	const { context } = run;
	const orders = worked.map(toOrder);
	for (const { state, wait } of orders) if (wait !== undefined && state === 'accepted') wait.startedAtMs ??= Date.now();
	notePlacesOfFiles(run, orders);
	await keepName(run, orders);
	const why = whyWokenLate();
	if (why !== undefined) run.hints.add(HINTS.wokenLate({ why, advice: adviceFor(why) }));
	const end = async () => await run.writeAhead.end(context.getExecutionCancelSignal());
	// Where n8n could not record that they go on, nothing is left to wait for.
	if (orders.every(hasEnded)) return await waitInMemory(run, orders).finally(end);
	if (run.background) return await startInBackground(run, orders, run.background).finally(end);
	if (run.batch !== undefined) run.batch.outermost = await outermostOf(context);
	const id = await startSleeping(run, orders);
	if (id === undefined) return await waitInMemory(run, orders).finally(end);
	await end();
	run.ledger.handedOver(orders, Date.now());
	run.hints.add(HINTS.asleep({ id }));
	if (context.getExecutionCancelSignal()?.aborted) run.log.stopped();
	const items = orders.map(toPlaceholder);
	// When somebody stops and then retries this execution, n8n passes on what it has stored as the input of this node.
	context.getExecuteData().data = { main: [items] };
	return orders.map((order, item) => ({ json: toWaiting(order, id), pairedItem: { item } }));
}

/** Nothing may have been submitted so far, but it will be: a second retry of the same execution must find the name. */
async function keepName({ writeAhead }: Run, orders: Order[]): Promise<void> {
	for (const order of orders) {
		if (order.request === undefined || order.state !== 'planned') continue;
		await writeAhead.defer(order).catch((thrown) => endBadly(order, thrown));
	}
}

/** The output until n8n replaces it. It has no `error`: n8n would take that for the outcome of a try. */
function toWaiting({ state, task }: Order, executionId: string): IDataObject {
	if (state === 'ended') return { status: 'ended', execution_id: executionId };
	if (task === undefined) return { status: 'to be submitted', execution_id: executionId };
	return { task_id: task.taskId, status: 'waiting', execution_id: executionId };
}

/** Notes where n8n keeps the files that are still to be uploaded. Without them, what an earlier try has bought is not bought again. */
function notePlacesOfFiles({ files }: Run, orders: Order[]): void {
	for (const order of orders) {
		const { request, state } = order;
		const pending = [...(files.get(order) ?? [])];
		if (request === undefined || request.uploads !== undefined || pending.length === 0) continue;
		const stored = pending.flatMap(([reference, file]) => {
			const place = file.stored();
			return place === undefined ? [] : [[reference, place] as const];
		});
		if (stored.length === pending.length || state === 'planned') request.files = Object.fromEntries(stored);
		else dropRequest(order);
	}
}

/** An item that could not be read, or was not submitted, is handed over as what it is. */
function toOrder({ order, error, prompt }: Worked, index: number): Order {
	if (order !== undefined && (error === undefined || order.state === 'ended')) return order;
	const refused = makeRefused(index, asGatewayError(error));
	const { task, input } = order ?? {};
	return { ...refused, ...(prompt && { prompt }), ...(input && { input }), ...(task && { task }) };
}

/** Returns the execution that sleeps; undefined where n8n does not run it. */
async function startSleeping(run: Run, orders: Order[]): Promise<string | undefined> {
	const { context } = run;
	const node = context.getNode();
	try {
		const code = waitAndOutputResults(node, onErrorOf(context));
		const { executionId, waitTill } = await context.executeWorkflow({ code }, toOrderItems(orders), undefined, {
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
		const wakeAtMs = await advanceOrders(context, orders, {
			batch: run.batch,
			signal,
			writeAhead: run.writeAhead,
			ledger: run.ledger,
			events: run.log,
			filesOf: (order) => run.files.get(order) ?? new Map(),
		});
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
	await reportCredits(run, orders);
	if (orders.every(({ end }) => end?.error === undefined)) run.ledger.clearRun();
	return items;
}
