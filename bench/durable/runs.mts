/** Runs of Generate in a real n8n, with and without Survive Restarts, and what they cost. */
import { readFileSync } from 'node:fs';
import { readExecution, startExecution } from '../../tools/n8n/executions.mjs';
import type { Instance } from '../../test/n8n/support/instance.mts';
import { listExecutions } from '../../test/n8n/support/production.mts';
import { pause, until } from '../../test/n8n/support/until.mts';
import { createWorkflow, packageType } from '../../test/n8n/support/workflow.mts';
import { storedBytes } from './database.mts';

/** Linux counts the time of processes in these. */
const TICK_MS = 10;
const SAMPLE_MS = 5_000;

export interface Wanted {
	items: number;
	taskSeconds: number;
	surviveRestarts: boolean;
	concurrentTasks?: number;
	/** Characters of each prompt. */
	promptLength?: number;
	/** Characters of other fields of each item. */
	otherLength?: number;
}

/** Starts it. Returns the workflow and its execution. */
async function start(instance: Instance, wanted: Wanted) {
	const { items, taskSeconds, surviveRestarts, concurrentTasks = 50, promptLength = 60, otherLength = 0 } = wanted;
	const inputs = Array.from({ length: items }, (_, item) => ({
		prompt: `picture ${item} [[sandbox duration=${taskSeconds}s]]`.padEnd(promptLength, '.'),
		...(otherLength > 0 ? { other: '-'.repeat(otherLength) } : {}),
	}));
	const options = { concurrentTasks, surviveRestarts };
	const parameters = { prompt: '={{ $json.prompt }}', downloadResult: false, options };
	const node = { name: 'Generate', type: packageType('imageGeneration'), parameters };
	const workflowId = await createWorkflow(instance, inputs, [node]);
	return { workflowId, executionId: await startExecution(instance.rest, workflowId, 'Start') };
}

/** Asks the list only: whoever reads an execution makes n8n parse its data, which would be counted here. */
async function untilDone(instance: Instance, workflowId: string, { items, taskSeconds }: Wanted): Promise<void> {
	const hasEnded = async () =>
		(await listExecutions(instance, workflowId)).every(({ status }) => !['new', 'running', 'waiting'].includes(status));
	const withinMs = taskSeconds * 1000 * Math.ceil(items / 50) * 2 + 300_000;
	await until('all executions have ended', hasEnded, { withinMs, everyMs: 250 });
}

/** Runs the workflow to its end. */
async function run(instance: Instance, wanted: Wanted) {
	const { workflowId, executionId } = await start(instance, wanted);
	await untilDone(instance, workflowId, wanted);
	const execution = await readExecution(instance.rest, executionId);
	if (execution.status !== 'success') throw new Error(JSON.stringify(execution.error));
	return execution;
}

/** Milliseconds from the end of the last task to the end of the execution. */
export async function lateness(instance: Instance, wanted: Wanted): Promise<number> {
	instance.sandbox.reset();
	const { record } = await run(instance, wanted);
	return Date.parse(record.stoppedAt) - Math.max(...instance.sandbox.tasks.map(({ endsAt }) => endsAt));
}

/** Milliseconds from the last acceptance until everything around the innermost execution sleeps in the database. */
export async function untilAsleep(instance: Instance, wanted: Wanted): Promise<number> {
	instance.sandbox.reset();
	const { workflowId, executionId } = await start(instance, wanted);
	const isAsleep = async () => {
		const all = await listExecutions(instance, workflowId);
		return all.length > 2 && all.slice(0, -1).every(({ status }) => status === 'waiting');
	};
	await until('all around the innermost execution sleep', isAsleep, { everyMs: 20 });
	const asleepAtMs = Date.now();
	const accepted = instance.sandbox.requests.filter(({ method, status }) => method === 'POST' && status === 200);
	await instance.rest.request('POST', `/rest/executions/${executionId}/stop`);
	return asleepAtMs - Math.max(...accepted.map(({ at }) => at));
}

/** Milliseconds of processor time that n8n needs for a run. */
export async function processorTime(instance: Instance, wanted: Wanted): Promise<number> {
	const { pid } = instance.n8n.server;
	const beforeMs = processorMs(pid);
	const { workflowId } = await start(instance, wanted);
	await untilDone(instance, workflowId, wanted);
	return processorMs(pid) - beforeMs;
}

/** Of a process and of those that it has started. */
function processorMs(pid: number | string): number {
	// Behind the name of the process, which may have spaces.
	const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
		.replace(/^.*\) /, '')
		.split(' ');
	const started = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
	const ownMs = (Number(fields[11]) + Number(fields[12])) * TICK_MS;
	return started.reduce((sumMs, child) => sumMs + processorMs(child), ownMs);
}

/** The most bytes that our executions of a run have in n8n's database. */
export async function mostStored(instance: Instance, sizes: Omit<Wanted, 'surviveRestarts'>): Promise<number> {
	const wanted = { ...sizes, surviveRestarts: true };
	const { workflowId } = await start(instance, wanted);
	let most = 0;
	let isOver = false;
	const watching = (async () => {
		while (!isOver) {
			most = Math.max(most, await storedBytes(instance, workflowId));
			await pause(SAMPLE_MS);
		}
	})();
	await untilDone(instance, workflowId, wanted).finally(() => (isOver = true));
	await watching;
	return Math.max(most, await storedBytes(instance, workflowId));
}
