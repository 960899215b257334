/** The outcome of an execution during which n8n was killed, and what must be true of each. */
import assert from 'node:assert/strict';
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { SandboxTask } from '../../../sandbox/index.mts';
import { itemsOf, type Execution } from '../../../tools/n8n/executions.mjs';
import { readPurchases } from '../../n8n/support/purchaseLog.mts';
import { until } from '../../n8n/support/until.mts';
import { creationsOf, resultsIn, retry, tasksOf, untilSettled, type Batch } from './batch.mts';
import { assertPromisesKept, readLoggedItems } from './loggedItems.mts';
import type { Target } from './target.mts';

/** An answer that left the service this short before the end may not have arrived. */
export const ON_ITS_WAY_MS = 2_000;

/** An ID is in the purchase log within a second; later where other things keep the machine busy. */
const LOGGED_WITHIN_MS = 4_000;

export interface Outcome {
	/**
	 * Left to itself. `errors`: the workflow goes on with items that are loudly no results. `doubtful`: all are results, but
	 * for those that say that nobody knows whether the service has accepted them. `notPassedOn`: n8n has ended the execution that
	 * waits, and handed on what that was given.
	 */
	alone: 'results' | 'doubtful' | 'errors' | 'notPassedOn' | 'crashed' | 'nothing' | 'workerLost';
	/** The places where a user finds the IDs of what was accepted before the end. */
	ids: Place[];
	/** Retry with the original workflow, then with the currently saved one. Empty where the execution has succeeded. */
	retries: Array<'results' | 'doubtful' | 'unknown' | 'refused' | 'empty'>;
	/** IDs of results that the workflow did not get. */
	open: string[];
	/** Tasks that were accepted after it. */
	later: number;
}

const EARLIER_TRY = /may or may not have accepted this task in an earlier try/;

type Place = 'execution' | 'sub-execution' | 'dataTable' | 'log' | 'nowhere';

/** The outcome of an execution of which nothing is left. */
export const NOTHING: Outcome = {
	alone: 'nothing',
	ids: [],
	retries: [],
	open: [],
	later: 0,
};

/**
 * Reads what is left, retries it in both ways, and asserts that nothing is bought twice, lost, or taken for finished.
 *
 * @param asleep the workflows of which an execution was seen to sleep before the end
 */
export async function outcomeOf(
	target: Target,
	batch: Batch,
	endedAtMs: number,
	asleep: ReadonlySet<string>,
): Promise<Outcome> {
	const { name } = batch;
	const accepted = tasksOf(target, batch).filter(({ acceptedAt }) => acceptedAt <= endedAtMs);
	const [parent, ...others] = await untilSettled(target, batch);
	if (parent === undefined) {
		assert.deepEqual(accepted, [], `${name}: n8n knows nothing of an execution that has bought`);
		return NOTHING;
	}
	const read = await readResult(target, batch, parent, endedAtMs);
	if (read === 'notPassedOn') {
		// Only n8n's queue does that: it has called the job of the execution that waits lost.
		const supervisor = others.find(({ record }) => record.workflowData?.name === 'Wait Across Restarts');
		assert.deepEqual([name, target.victim, supervisor?.status === 'success'], [name, 'worker', false]);
	}
	const alone = read === 'unknown' && batch.survives && asleep.has(batch.workflowId) ? 'doubtful' : read;
	if (alone === 'unknown') throw new Error(`${name}: it has taken itself for a retry`);

	const log = target.log();
	const logged = new Set(
		batch.logs ? (await readLoggedItems(target, batch)).flatMap(({ has, ids }) => (has === 'id' ? ids : [])) : [],
	);
	const places = accepted.map((task): Place => {
		const { id } = task;
		if (logged.has(id)) return 'dataTable';
		assert.ok(
			!batch.logs || isOnItsWay(task, endedAtMs, LOGGED_WITHIN_MS),
			`${name}: the ID ${id} is not in the purchase log`,
		);
		if (JSON.stringify(itemsOf(parent, 'Generate')).includes(id)) return 'execution';
		if (others.some((other) => JSON.stringify(itemsOf(other, 'Start')).includes(id))) return 'sub-execution';
		// Its row was still to be written: the page says that this takes seconds.
		if (log.includes(`task ${id} `)) return batch.logs ? 'dataTable' : 'log';
		assert.ok(isOnItsWay(task, endedAtMs), `${name}: the ID ${id} is lost`);
		return 'nowhere';
	});

	const { retries, got } =
		parent.status === 'success'
			? { retries: [], got: arrivedIn(parent) }
			: await retryTwice(target, batch, parent, endedAtMs);
	for (const prompt of batch.prompts) {
		const bought = tasksOf(target, batch).filter(({ body }) => body.prompt === prompt).length;
		assert.ok(bought <= 1, `${name}: "${prompt}" was bought ${bought} times`);
	}
	const hasResults = alone === 'results' || retries.includes('results');
	const open = accepted.flatMap(({ id }, index) => (places[index] === 'nowhere' || got.has(id) ? [] : [id]));
	const ids = [...new Set(places)].sort();
	const later = tasksOf(target, batch).length - accepted.length;
	// Of an execution that n8n gives up with its worker nothing is left, whatever it had already.
	const hadArrived = alone === 'workerLost' && batch.hangs === 'behind';
	// With Across Restarts: it slept in the database before the end, so what was accepted arrives by itself.
	const mustArrive = batch.survives && !hadArrived && asleep.has(batch.workflowId);
	const outcome = { alone, ids, retries, open, later };
	if (mustArrive)
		assert.ok(
			hasResults || alone === 'doubtful' || alone === 'notPassedOn',
			`${name}: what was accepted well before has not arrived by itself, ${JSON.stringify(outcome)}`,
		);
	return outcome;
}

/** Retries it in both ways. A retry without results buys nothing, except what the purchase log does not have. */
async function retryTwice(target: Target, batch: Batch, { id: executionId }: Execution, endedAtMs: number) {
	const retries: Outcome['retries'] = [];
	const got = new Set<string>();
	for (const loadWorkflow of [false, true]) {
		const before = tasksOf(target, batch).length;
		const logged = batch.logs ? await readLoggedItems(target, batch) : undefined;
		const again = await retry(target, executionId, loadWorkflow);
		// n8n throws away with a worker what a retry would go on with.
		const isLost = again !== undefined && target.victim === 'worker' && isEmpty(again);
		if (logged !== undefined && again !== undefined && !isLost) assertPromisesKept(target, logged, again);
		const result =
			again === undefined ? 'refused' : isEmpty(again) ? 'empty' : await readResult(target, batch, again, endedAtMs);
		assert.ok(
			isEndOfRetry(result, batch),
			`${batch.name}: the retry ended with ${result}, ${JSON.stringify(again?.error)}`,
		);
		if (result !== 'results' && result !== 'doubtful')
			assert.equal(tasksOf(target, batch).length, before, `${batch.name}: a retry without results has bought`);
		retries.push(result);
		if (again === undefined) continue;
		const arrived = arrivedIn(again);
		for (const id of arrived) got.add(id);
		if (batch.logs) await untilLogged(target, batch, arrived);
	}
	return { retries, got };
}

/** A run whose results are there waits for its last rows a few seconds only: on a busy machine, n8n writes them later. */
async function untilLogged(target: Target, { name }: Batch, ids: ReadonlySet<string>): Promise<void> {
	await until(
		`the IDs that a retry of ${name} has got are in the purchase log`,
		async () => {
			const logged = new Set((await readPurchases(target)).map(({ task_id: id }) => id));
			return [...ids].every((id) => logged.has(id));
		},
		{ everyMs: 500 },
	);
}

const isEndOfRetry = (
	result: Outcome['alone'] | Outcome['retries'][number],
	{ logs }: Batch,
): result is Outcome['retries'][number] =>
	['results', 'unknown', 'refused', 'empty'].includes(result) || (result === 'doubtful' && logs === true);

/** The IDs of tasks whose results the workflow has. */
const arrivedIn = (execution: Execution): Set<string> =>
	new Set(
		execution.status === 'success'
			? resultsIn(execution).flatMap(({ json }) => (json.error === undefined ? [String(json.task_id)] : []))
			: [],
	);

/** The service has accepted it before, and may hold its answer back. */
export function answeredAtMs({ acceptedAt, directives }: SandboxTask): number {
	const [first] = directives.create;
	return acceptedAt + (first?.action.when === 'after' ? (first.action.delayMs ?? 0) : 0);
}

const isOnItsWay = (task: SandboxTask, endedAtMs: number, takesMs = ON_ITS_WAY_MS) =>
	answeredAtMs(task) > endedAtMs - takesMs;

const isEmpty = ({ runData }: Execution) => Object.keys(runData).length === 0;

/** As the execution that waits was given it. The text says where the IDs are: they are read there. */
const isNotPassedOn = ({ json: { details } }: INodeExecutionData) =>
	(details as IDataObject | undefined)?.gateway_order !== undefined;

/** An item is a result, with the file of its own task, or says that it is none. */
async function readResult(
	target: Target,
	batch: Batch,
	execution: Execution,
	endedAtMs: number,
): Promise<Outcome['alone'] | 'unknown'> {
	const { name, prompts, requestsPerSecond } = batch;
	if (execution.status === 'crashed') return 'crashed';
	if (execution.status === 'error') {
		// n8n has thrown away all that it had saved of it.
		if (isEmpty(execution)) return 'workerLost';
		assert.match(JSON.stringify(execution.error), EARLIER_TRY, `${name}: ${JSON.stringify(execution.error)}`);
		return 'unknown';
	}
	assert.equal(execution.status, 'success', `${name}: ${JSON.stringify(execution.error)}`);
	const items = resultsIn(execution);
	assert.deepEqual(
		items.map(({ json }) => json.asked),
		prompts,
		`${name}: an item for each input`,
	);
	if (items.every(({ json }) => EARLIER_TRY.test(JSON.stringify(json)))) return 'unknown';
	if (batch.survives && items.every(isNotPassedOn)) return 'notPassedOn';
	let isComplete = true;
	let inDoubt = 0;
	let unsent = 0;
	for (const { json, binary } of items) {
		const task = tasksOf(target, batch).find(({ body }) => body.prompt === json.asked);
		if (json.error === undefined) {
			assert.deepEqual({ name, id: json.task_id, status: json.status }, { name, id: task?.id, status: 'completed' });
			assert.ok(
				(await target.rest.readBinary(binary?.data.id)).length > 0,
				`${name}: ${json.task_id} has an empty file`,
			);
		} else if (json.code === 'outcome_still_unknown') {
			inDoubt++;
			if (creationsOf(target, { prompts: [String(json.asked)] }).length === 0) unsent++;
			assert.ok(task === undefined || isOnItsWay(task, endedAtMs), `${name}: the outcome of ${task?.id} was known`);
		} else {
			isComplete = false;
			assert.ok(task === undefined || JSON.stringify(json).includes(task.id), `${name}: ${JSON.stringify(json)}`);
		}
	}
	assert.ok(unsent <= requestsPerSecond / 2, `${name}: ${unsent} items are in doubt that were not sent`);
	if (!isComplete) return 'errors';
	return inDoubt === 0 ? 'results' : 'doubtful';
}
