import type { IDataObject, INodeExecutionData, IExecuteFunctions } from 'n8n-workflow';
import { untilAborted } from '../../core/abort';
import { asGatewayError, GatewayError, gatewayError } from '../../core/errors';
import type { HandOver } from '../../core/orders/handOver';
import type { Order } from '../../core/orders/order';
import { hasEnded, makeRefused } from '../../core/orders/states';
import { wordsOf } from '../../core/text';
import { HINTS } from '../run/hints';
import type { Run } from '../run/nodeRun';
import { parentOf } from '../connection/subExecution';
import { onErrorOf, type Worked, type OnError } from '../run/toItem';
import { sayWhere } from '../run/whereItRuns';
import { findHandedOver, readBackground, startInBackground } from './background';
import { obstacle } from './obstacle';
import { outermostOf } from './parentExecutions';
import {
	inPieces,
	isEndedItem,
	isHandedOut,
	ordersOfStart,
	requireOrders,
	toOrderItems,
	toPlaceholder,
	withHandOver,
} from './orderItems';
import { waitAndOutputResults, workerOf, STEPS } from './subWorkflow';
import { adviceFor, whyWokenLate, resumeUrlOf } from './wakeUp';
import { toNodeError, listIds } from '../errors/toNodeError';
import { outputResults } from './outputResults';
import { pollTasks, type PollMemory } from './poller';
import { keepWaiting } from './supervisor';

/** Waiting in n8n's database, and its hidden operations. */
export const durable = { stepOf, obstacle, readBackground, findHandedOver, handOver };

/** After the last timeout of an order, its execution has so long to end: to wake up, and to fetch what has finished. */
const TO_END_MS = 600_000;

/** The name of a step begins like this in every version: so each knows those of another one as steps. */
const PREFIX = 'durable';

/**
 * Hands the orders of the run to a sub-execution, and sleeps with it. Returns what is left of the items until n8n replaces it;
 * undefined where n8n does not run it, so that the node waits in memory.
 */
async function handOver(run: Run, worked: Worked[]): Promise<INodeExecutionData[] | undefined> {
	const { context } = run;
	const orders = worked.map(toOrder);
	for (const { state, wait } of orders) if (wait !== undefined && state === 'accepted') wait.startedAtMs ??= Date.now();
	const why = whyWokenLate();
	if (why !== undefined) run.hints.add(HINTS.wokenLate({ why, advice: adviceFor(why) }));
	const facts = factsOf(run, orders);
	if (run.background) return await startInBackground(run, run.background, orders, facts);
	const id = await startSleeping(run, orders, { ...facts, outermost: await outermostOf(context) });
	if (id === undefined) return undefined;
	run.ledger.handedOver(orders);
	if (id !== '') run.hints.add(HINTS.asleep({ id }));
	if (orders.some(({ result }) => result?.split)) run.hints.add(HINTS.furtherFiles());
	if (context.getExecutionCancelSignal()?.aborted) run.log.stopped();
	const items = await inPieces(orders, toPlaceholder);
	// When a person stops and then retries this execution, n8n passes on what it has stored as the input of this node.
	context.getExecuteData().data = { main: [items] };
	if (id === '') return [];
	return orders.map((order, item) => ({ json: toWaiting(order, id), pairedItem: { item } }));
}

function factsOf({ context, concurrency, background, retryOnFail, credits, ...run }: Run, orders: Order[]) {
	const { journal, ledger, marks } = run;
	const { establishedAtMs, runIndex } = marks.run;
	// The outcome of a request may come yet: the execution that goes on waits for it as this one would, by the rows.
	const toSubmit = orders.filter((order) => order.state === 'planned' && journal?.isUnsettled(order) !== true);
	const known = ledger.entriesOf(toSubmit.map(({ item }) => item));
	const timeouts = orders.map(({ wait }) => wait?.timeoutMs ?? 0);
	const longestMs = timeouts.reduce((longest, each) => Math.max(longest, each), 0);
	const { id: nodeId, name: node } = context.getNode();
	const { name: workflow = '' } = context.getWorkflow();
	return {
		concurrency,
		// In the background, the node has succeeded: what becomes of an error is up to the other workflow.
		stopsAtError: background === undefined && !context.continueOnFail(),
		// An order waits for a place no longer than its timeout, and then for its task.
		deadlineMs: Date.now() + 2 * longestMs + TO_END_MS,
		// Where rows are missing, an earlier try may have bought another task in the place of one that has failed.
		...(retryOnFail && journal?.isInDoubt !== true && { retry: retryOnFail }),
		...(credits && { credits }),
		...(journal !== undefined &&
			establishedAtMs !== undefined && {
				run: {
					...{ workflow, node, nodeId, by: context.getExecutionId(), establishedAtMs, runIndex },
					...journal.toHandOver,
					...(Object.keys(known).length > 0 && { ledger: known }),
				},
			}),
	} satisfies HandOver;
}

/** An item that could not be read, or was not submitted, is handed over as what it is. */
function toOrder({ order, error, prompt }: Worked, index: number): Order {
	if (order !== undefined && (error === undefined || hasEnded(order))) return order;
	const refused = makeRefused(index, asGatewayError(error));
	const { task, input } = order ?? {};
	return { ...refused, ...(prompt && { prompt }), ...(input && { input }), ...(task && { task }) };
}

/** Returns the execution that sleeps; empty where a person has stopped this one meanwhile, undefined where n8n does not run it. */
async function startSleeping(run: Run, orders: Order[], facts: HandOver): Promise<string | undefined> {
	const { context } = run;
	try {
		const code = waitAndOutputResults(workerOf(context), onErrorOf(context));
		const items = withHandOver(await toOrderItems(orders), facts);
		const starting = context.executeWorkflow({ code }, items, undefined, {
			parentExecution: parentOf(context, { shouldResume: true }),
			returnLastRunOnly: true,
		});
		// A stop does not wait for n8n's database. The execution that is being started finds that no other waits for it.
		const started = await untilAborted(starting, context.getExecutionCancelSignal());
		if (started === undefined) return '';
		if (!started.waitTill) throw new Error('it did not fall asleep');
		return started.executionId;
	} catch (thrown) {
		// The tasks are paid for: whatever n8n does not allow, their results are wanted.
		const why = wordsOf(thrown);
		context.logger.warn(
			`Generation Gateway: n8n did not run the sub-execution (${why}), so the node waits in memory, ${sayWhere(context)}`,
		);
		run.hints.add(HINTS.awake({ why: `n8n did not run the sub-execution that waits in its database ("${why}")` }));
		return undefined;
	}
}

/** The output until n8n replaces it. It has no `error`: n8n would take that for the outcome of a try. */
function toWaiting({ state, task }: Order, executionId: string): IDataObject {
	if (state === 'ended') return { status: 'ended', execution_id: executionId };
	if (task === undefined) return { status: 'to be submitted', execution_id: executionId };
	return { task_id: task.taskId, status: 'waiting', execution_id: executionId };
}

/** The hidden operation of this value, which may be that of another version; undefined where it is none. */
function stepOf(operation: string): Step | undefined {
	const step = steps.get(operation) ?? (operation.startsWith(PREFIX) ? refuseOther : undefined);
	return step && withNodeErrors(step);
}

/** One output, or the two of the question in the sub-workflows. */
type Step = (context: IExecuteFunctions) => Promise<INodeExecutionData[][]>;

const withOneOutput =
	(step: (context: IExecuteFunctions) => Promise<INodeExecutionData[]>): Step =>
	async (context) => [await step(context)];

/** All items go the same way: those of a run stay together. */
const question =
	(isFinished: (item: INodeExecutionData) => boolean): Step =>
	async (context) => {
		const items = context.getInputData();
		return await Promise.resolve(items.every(isFinished) ? [items, []] : [[], items]);
	};

/** The address by which this execution is woken. The orders themselves are in Start. */
const noteAddress = async (context: IExecuteFunctions): Promise<INodeExecutionData[]> => {
	await requireOrders(context.getInputData());
	return [{ json: { details: { resume_url: resumeUrlOf(context) } } }];
};

/** The hidden operations, by their values. */
const steps = new Map<string, Step>([
	[STEPS.keepWaiting, withOneOutput(keepWaiting)],
	[STEPS.noteAddress, withOneOutput(noteAddress)],
	[STEPS.pollTasks, withOneOutput(pollTasks)],
	[STEPS.haveEnded, question(isEndedItem)],
	[STEPS.areHandedOut, question(isHandedOut)],
	...(Object.entries(STEPS.results) as Array<[OnError, string]>).map(([onError, value]): [string, Step] => [
		value,
		withOneOutput(async (context) => await outputResults(context, onError)),
	]),
]);

/** In the place of a step that another version of the package has: the execution ends, and says which tasks it had. */
const refuseOther: Step = async (context) => {
	const { rows } = context.getContext('node') as PollMemory;
	const orders = await (rows === undefined ? ordersOfStart(context) : requireOrders(rows));
	const [first, ...rest] = orders.flatMap(({ task }) => task ?? []);
	const error = gatewayError('storedByOtherVersion', { id: first?.taskId });
	const withoutId = orders.filter(({ task }) => task === undefined).length;
	const last = `Without a task ID: ${withoutId} ${withoutId === 1 ? 'item' : 'items'}. If the other version has submitted them, n8n's log has their IDs.`;
	const others = { ...(rest.length > 0 && listIds(rest, 'Other tasks')), ...(first && withoutId > 0 && { last }) };
	const errorContext = { node: context.getNode(), itemIndex: 0, isItem: true };
	throw toNodeError(error, errorContext, others);
};

const withNodeErrors =
	(step: Step): Step =>
	async (context) => {
		try {
			return await step(context);
		} catch (thrown) {
			throw thrown instanceof GatewayError ? toNodeError(thrown, { node: context.getNode(), itemIndex: 0 }) : thrown;
		}
	};
