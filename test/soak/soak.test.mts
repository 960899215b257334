/**
 * An hour of production in queue mode, at a service that fails in all its ways, while n8n restarts and a worker is killed.
 * `npm run test:soak -- 10` takes ten minutes; `-- write` writes figures and picture of docs/durability.md.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { itemsOf, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { devDir, projectDir } from '../../tools/paths.mjs';
import { isSwitchedOn, numberGiven } from '../../tools/suite.mjs';
import { retry } from '../crash/support/batch.mts';
import { sandboxKey } from '../n8n/support/instance.mts';
import { deactivate, listExecutions } from '../n8n/support/production.mts';
import { pause, until } from '../n8n/support/until.mts';
import { createWorkflow, waitForTasks } from '../n8n/support/workflow.mts';
import { startCluster, type Cluster } from '../queue/support/cluster.mts';
import { disturb, type Event } from './support/events.mts';
import { endingOf, schedule, type Scheduled } from './support/workload.mts';
import { judgeItems, judgePurchases, noProblems, placeOf, readRuns, type Run } from './support/judge.mts';
import { writePage } from './support/page.mts';
import { heapsOf, idleTimersOf, readSamples, type Process } from './support/samples.mts';

const minutes = numberGiven() ?? 60;
/** Of executions of both workflows: some sleep for minutes, and a worker may have to do with all of them. */
const CONCURRENCY = 20;
/** Time for three samples. */
const IDLE_MS = 35_000;
/** The longest execution takes four minutes, and n8n needs two to notice a dead one. */
const SETTLED_WITHIN_MS = 900_000;
/** A shorter run says nothing about memory: n8n is still warming up. */
const MINUTES_FOR_MEMORY = 10;
/** The line through the heap may rise by this, from the end of the warm-up to the end. */
const HEAP_RISE = { share: 0.1, mb: 5 };
/** n8n's own come and go. One that stays for each execution would be many more. */
const MORE_TIMERS = 5;

let cluster: Cluster;
let scheduled: Scheduled[] = [];
let events: Event[] = [];
let processes: Process[] = [];
const span = { startMs: 0, endMs: 0 };
const problems = noProblems();
const samplesFolder = mkdtempSync(join(tmpdir(), 'generation-gateway-soak-'));
/** The figures, in the order in which they are told. */
const figures: Record<string, number> = {};

const logs = () => [cluster.main, ...cluster.workers].map(({ logFile }) => readFileSync(logFile, 'utf8')).join('\n');
const count = (name: string, by = 1) => {
	figures[name] = (figures[name] ?? 0) + by;
};

async function untilSettled(): Promise<void> {
	// What a dead worker had started itself is said to run for hours.
	const isOpen = ({ status, mode }: { status: string; mode: string }) =>
		status === 'waiting' || (['new', 'running'].includes(status) && mode !== 'integrated');
	await until(
		'all executions have ended',
		async () =>
			(await Promise.all(scheduled.map(async ({ workflowId }) => await listExecutions(cluster, workflowId)))).every(
				(all) => !all.some(isOpen),
			),
		SETTLED_WITHIN_MS,
		5_000,
	);
}

before(async () => {
	const probe = join(projectDir, 'test', 'soak', 'support', 'probe.cjs');
	cluster = await startCluster({
		workers: 2,
		concurrency: CONCURRENCY,
		env: { NODE_OPTIONS: `--require ${probe}`, SOAK_SAMPLES: samplesFolder },
	});
	await pause(IDLE_MS);
	span.startMs = Date.now();
	scheduled = await schedule(cluster);
	events = await disturb(cluster, minutes);
	span.endMs = Date.now();
	for (const { workflowId } of scheduled) await deactivate(cluster, workflowId);
	await untilSettled();
	await pause(IDLE_MS);
	processes = [cluster.main, ...cluster.workers].map(({ port }, index) => ({
		name: index === 0 ? 'Main' : `Worker ${index}`,
		samples: readSamples(samplesFolder, port),
	}));
	const measured = { minutes, span, events, figures, processes };
	try {
		await judge();
	} finally {
		writeFileSync(join(devDir, 'soak.json'), JSON.stringify({ ...measured, problems }));
	}
	console.log({ figures, heaps: heapsOf(processes, span), timers: idleTimersOf(processes, span) });
	if (isSwitchedOn('write')) writePage(measured);
});
after(async () => {
	await cluster?.close();
	rmSync(samplesFolder, { recursive: true, force: true });
});

/** One that has not succeeded is retried. Collects what it puts out, and the IDs of its results. */
async function judgeRun(run: Run, outputs: unknown[], results: Set<string>): Promise<void> {
	const { execution, isHit } = run;
	count(`executions ended: ${execution.status}`);
	outputs.push(execution.runData, execution.error);
	if (execution.status === 'success') {
		for (const id of await judgeItems(cluster, run, false, problems)) results.add(id);
		return;
	}
	if (!isHit)
		problems.wrongEnd.push(
			`execution ${execution.id} ended as ${execution.status}: ${JSON.stringify(execution.error)}`,
		);
	const again = await retry(cluster, execution.id, false);
	count('retried');
	if (again?.status !== 'success' || Object.keys(again.runData).length === 0) return;
	outputs.push(again.runData);
	for (const id of await judgeItems(cluster, { ...run, execution: again }, true, problems)) results.add(id);
}

/** Reads what is left, retries what has not succeeded, and gets with Wait for Task what the workflows did not get. */
async function judge(): Promise<void> {
	const { rest, sandbox } = cluster;
	const { runs, others } = await readRuns(cluster, scheduled, events);
	const outputs: unknown[] = [];
	const results = new Set<string>();
	for (const run of runs) {
		await judgeRun(run, outputs, results).catch((error: unknown) =>
			problems.wrongEnd.push(`execution ${run.execution.id}: ${String(error)}`),
		);
	}

	count('bought again after a failure', judgePurchases(sandbox.tasks, runs, problems));
	const traces = {
		results,
		outputs: JSON.stringify(outputs),
		inputs: JSON.stringify(others.map((other) => itemsOf(other, 'Start'))),
		log: logs(),
		events,
	};
	const open: string[] = [];
	for (const task of sandbox.tasks) {
		const place = placeOf(task, traces);
		count(`tasks: ${place ?? 'nowhere'}`);
		if (place === undefined) problems.lost.push(`task ${task.id}: ${String(task.body.prompt)}`);
		else if (place !== 'result' && place !== 'onItsWay' && endingOf(String(task.body.prompt)) === 'result')
			open.push(task.id);
	}
	count('requests', sandbox.requests.length + sandbox.fileRequests.length);
	count(
		'requests that went wrong',
		[...sandbox.requests, ...sandbox.fileRequests].filter(({ status = 0 }) => status === 0 || status >= 400).length,
	);
	count('results that Wait for Task got', open.length);
	if (open.length === 0) return;
	const workflowId = await createWorkflow(
		cluster,
		open.map((id) => ({ task_id: id })),
		[waitForTasks],
	);
	const finished = await untilFinished(rest, await startExecution(rest, workflowId, 'Start'), { timeoutMs: 300_000 });
	const got = itemsOf(finished, 'Wait')
		.filter(({ json, binary }) => json.status === 'completed' && binary !== undefined)
		.map(({ json }) => json.task_id);
	problems.lost.push(
		...open
			.filter((id) => !got.includes(id))
			.map((id) => `Wait for Task did not get ${id}: ${JSON.stringify(finished.error)}`),
	);
}

test('the service has failed, n8n was restarted and a worker killed while the workflows ran', () => {
	assert.ok(Number(figures['executions ended: success']) >= minutes, 'at least every other execution has succeeded');
	assert.deepEqual([...new Set(events.map(({ what }) => what))].sort(), ['kill', 'restart']);
});

test('no intent is bought twice', () => assert.deepEqual(problems.boughtTwice, []));
test('every purchase has an intent', () => assert.deepEqual(problems.withoutIntent, []));
test('every result is in an execution, or its task is named', () => assert.deepEqual(problems.lost, []));
test('nothing unfinished passes for finished', () => assert.deepEqual(problems.takenForFinished, []));
test('an execution that nothing has hit ends with a result for each item that has one', () =>
	assert.deepEqual(problems.wrongEnd, []));
test('the key is in no log', () => assert.ok(!logs().includes(sandboxKey)));

test('memory: the heap of each process is flat', { skip: minutes < MINUTES_FOR_MEMORY }, () => {
	const heaps = heapsOf(processes, span);
	assert.ok(heaps.some(({ name }) => name === 'Worker 2'));
	for (const { name, firstMb, lastMb } of heaps)
		assert.ok(lastMb - firstMb <= HEAP_RISE.share * firstMb + HEAP_RISE.mb, `${name}: from ${firstMb} to ${lastMb} MB`);
});

test('timers: when everything has ended, each process has about as many as before', () => {
	for (const { name, before: ours, afterwards } of idleTimersOf(processes, span))
		assert.ok(afterwards <= ours + MORE_TIMERS, `${name}: ${ours} before, ${afterwards} afterwards`);
});
