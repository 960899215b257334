/**
 * An hour of production in queue mode, at a service that fails in all its ways, while n8n restarts and a worker is killed.
 * `npm run test:soak -- 10` takes ten minutes. Figures and samples are in .n8n-dev/soak.json.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { itemsOf } from '../../tools/n8n/executions.mjs';
import { devDir, projectDir } from '../../tools/paths.mjs';
import { numberGiven } from '../../tools/suite.mjs';
import { sandboxKey } from '../n8n/support/instance.mts';
import { deactivate, listExecutions, type Listed } from '../n8n/support/production.mts';
import { readPurchases } from '../n8n/support/purchaseLog.mts';
import { pause, until } from '../n8n/support/until.mts';
import { NOTICES_SOON, startCluster, type Cluster } from '../queue/support/cluster.mts';
import { disturb, type Event } from './support/events.mts';
import { judgeAnswer, judgeHandOver, judgePurchases, judgeShape, noProblems, placeOf } from './support/judge.mts';
import { answersOf, LONGEST_MS, readReceived, readRuns } from './support/runs.mts';
import { heapsOf, idleTimersOf, readSamples, type Process } from './support/samples.mts';
import { EXECUTIONS_PER_MINUTE, ITEMS, schedule, TASKS_AT_ONCE, type Scheduled } from './support/workload.mts';

const minutes = numberGiven() ?? 60;
/** Of executions: some sleep for minutes, and a worker may have to do with all of them. */
const CONCURRENCY = 20;
/** Time for three samples. */
const IDLE_MS = 70_000;
const SETTLED_WITHIN_MS = 900_000;
/** A shorter run says nothing about memory: n8n is still warming up. */
const MINUTES_FOR_MEMORY = 10;
/** The line through the heap may rise by this, from the end of the warm-up to the end. */
const HEAP_RISE = { share: 0.1, mb: 5 };
/** n8n's own come and go. One that stays for each execution would be many more. */
const MORE_TIMERS = 5;
/** Of the tasks whose acceptance was answered, so many may need a human. */
const MOST_BY_HAND = 0.005;
/** Of the executions that are to begin. */
const HALF = (EXECUTIONS_PER_MINUTE * minutes) / 2;

let cluster: Cluster;
let scheduled: Scheduled[] = [];
let receiverId = '';
let events: Event[] = [];
let processes: Process[] = [];
const span = { startMs: 0, endMs: 0 };
const problems = noProblems();
/** Tasks that need a human, for the eye. */
const byHand: string[] = [];
const samplesFolder = mkdtempSync(join(tmpdir(), 'generation-gateway-soak-'));
/** The figures, for the eye. */
const figures: Record<string, number> = {};

const logs = () => [cluster.main, ...cluster.workers].map(({ logFile }) => readFileSync(logFile, 'utf8')).join('\n');
const count = (name: string, by = 1) => {
	figures[name] = (figures[name] ?? 0) + by;
};

async function untilSettled(): Promise<void> {
	// A dead worker has started some, too, which are said to run for hours.
	const isOpen = ({ status, mode, createdAt }: Listed) =>
		status === 'waiting' ||
		(['new', 'running'].includes(status) && (mode !== 'integrated' || Date.now() - Date.parse(createdAt) < LONGEST_MS));
	const workflowIds = [receiverId, ...scheduled.map(({ workflowId }) => workflowId)];
	await until(
		'all executions have ended',
		async () =>
			(await Promise.all(workflowIds.map(async (id) => await listExecutions(cluster, id)))).every(
				(all) => !all.some(isOpen),
			),
		{ withinMs: SETTLED_WITHIN_MS, everyMs: 5_000 },
	);
}

before(async () => {
	const probe = join(projectDir, 'test', 'soak', 'support', 'probe.cjs');
	cluster = await startCluster({
		workers: 2,
		concurrency: CONCURRENCY,
		sandbox: { tasksAtOnce: TASKS_AT_ONCE, balanceUsd: 10_000 },
		env: { ...NOTICES_SOON, NODE_OPTIONS: `--require ${probe}`, SOAK_SAMPLES: samplesFolder },
	});
	await pause(IDLE_MS);
	span.startMs = Date.now();
	({ scheduled, receiverId } = await schedule(cluster));
	events = await disturb(cluster, minutes);
	span.endMs = Date.now();
	for (const { workflowId } of scheduled) await deactivate(cluster, workflowId);
	await untilSettled();
	await pause(IDLE_MS);
	processes = [cluster.main, ...cluster.workers].map(({ port }, index) => ({
		name: index === 0 ? 'Main' : `Worker ${index}`,
		samples: readSamples(samplesFolder, port),
	}));
	try {
		await judge();
	} finally {
		writeFileSync(
			join(devDir, 'soak.json'),
			JSON.stringify({ minutes, span, events, figures, processes, problems, byHand }),
		);
	}
	console.log({ figures, heaps: heapsOf(processes, span), timers: idleTimersOf(processes, span) });
});
after(async () => {
	await cluster?.close();
	rmSync(samplesFolder, { recursive: true, force: true });
});

/** Reads what is left. */
async function judge(): Promise<void> {
	const { sandbox } = cluster;
	const { runs, others } = await readRuns(cluster, scheduled, events);
	const succeeded = runs.filter(({ execution }) => execution.status === 'success');
	for (const { isHit, execution } of runs) {
		count(`executions ended: ${execution.status}`);
		if (execution.status !== 'success' && !isHit)
			problems.wrongEnd.push(`execution ${execution.id}: ${execution.status}, ${JSON.stringify(execution.error)}`);
	}
	for (const run of succeeded) judgeShape(run, problems);
	const received = await readReceived(cluster, receiverId, runs, events);
	judgeHandOver(succeeded, received, events, problems);
	count('bought again after a failure', judgePurchases(sandbox.tasks, runs, problems));

	const answers = [...succeeded.flatMap(answersOf), ...received];
	const results = new Set<string>();
	for (const answer of answers) {
		const id = await judgeAnswer(cluster, answer, problems);
		if (id !== undefined) results.add(id);
	}
	const outputs = runs.map(({ execution }) => [execution.runData, execution.error]);
	const inputs = others.map((other) => itemsOf(other, 'Start'));
	const elsewhere = JSON.stringify([outputs, inputs, await readPurchases(cluster)]) + logs();
	const items = JSON.stringify(answers.map(({ item }) => item.json));
	for (const task of sandbox.tasks) {
		const place = placeOf(task, { results, items, elsewhere, events });
		count(`tasks: ${place ?? 'nowhere'}`);
		const what = `task ${task.id}: ${String(task.body.prompt)}`;
		if (place === undefined) problems.lost.push(what);
		if (place === 'byHand') byHand.push(what);
	}
}

test('the service has failed, n8n was restarted and a worker killed while the workflows ran', () => {
	assert.ok(Number(figures['executions ended: success']) >= HALF, 'at least every other execution has succeeded');
	assert.deepEqual([...new Set(events.map(({ what }) => what))].sort(), ['kill', 'restart']);
});

test('no Purchase Key is bought twice', () => assert.deepEqual(problems.boughtTwice, []));
test('every purchase has an intent', () => assert.deepEqual(problems.withoutIntent, []));
test('every result is in an execution, or its task is named', () => assert.deepEqual(problems.lost, []));
test('of the tasks whose acceptance was answered, at most 0.5 % need a human', () => {
	const answered = (figures['tasks: arrived'] ?? 0) + byHand.length;
	assert.ok(answered > HALF * ITEMS, `${answered} tasks are too few to judge`);
	assert.ok(byHand.length <= MOST_BY_HAND * answered, `${byHand.length} of ${answered}: ${JSON.stringify(byHand)}`);
});
test('nothing unfinished passes for finished', () => assert.deepEqual(problems.takenForFinished, []));
test('an execution that nothing has hit ends with a result for each item that has one', () =>
	assert.deepEqual(problems.wrongEnd, []));
test('the key is in no log', () => assert.ok(!logs().includes(sandboxKey)));

test(
	'memory: the heap of no process rises by more than a tenth and 5 MB',
	{ skip: minutes < MINUTES_FOR_MEMORY },
	() => {
		const heaps = heapsOf(processes, span);
		assert.ok(heaps.some(({ name }) => name === 'Worker 2'));
		for (const { name, firstMb, lastMb } of heaps)
			assert.ok(
				lastMb - firstMb <= HEAP_RISE.share * firstMb + HEAP_RISE.mb,
				`${name}: from ${firstMb} to ${lastMb} MB`,
			);
	},
);

test('timers: when everything has ended, each process has about as many as before', () => {
	for (const { name, before: ours, afterwards } of idleTimersOf(processes, span)) {
		assert.ok(Number.isFinite(ours) && Number.isFinite(afterwards), `${name}: no samples`);
		assert.ok(afterwards <= ours + MORE_TIMERS, `${name}: ${ours} before, ${afterwards} afterwards`);
	}
});
