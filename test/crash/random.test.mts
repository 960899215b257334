/**
 * Random kills of a real n8n (one process, SQLite) with executions of all ways to wait, which are retried as a person would,
 * until each has ended well. `npm run test:crash -- random 200` plays 200 executions; CRASH_SEED=7 before it plays the draws of
 * a seed again. On schedule.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { readExecution, type Execution } from '../../tools/n8n/executions.mjs';
import { numberGiven } from '../../tools/suite.mjs';
import { sandboxKey, startInstance, type Instance } from '../n8n/support/instance.mts';
import { listExecutions, openExecutions } from '../n8n/support/production.mts';
import { readPurchases } from '../n8n/support/purchaseLog.mts';
import { withSlowdown } from '../n8n/support/slowdown.mts';
import { pause, until } from '../n8n/support/until.mts';
import { startBatch } from './support/batch.mts';
import { count, figures, isOfWebhook, isToEndWell, judgeOrder, problems, type Thread } from './support/randomJudge.mts';
import { drawOrder, saveWays, seeded, type Draw, type Order, type Saved } from './support/randomOrders.mts';

const executions = numberGiven() ?? 40;
const seed = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 1_000_000));

/** Of a round: from n8n's start to its end. On a busy machine, as much longer as n8n takes for its work. */
const KILLED_AFTER_MS = [100, 12_000] as const;
/** From a start to a second end: n8n may be starting still. */
const KILLED_AGAIN_AFTER_MS = [1_000, 9_000] as const;
const AT_ONCE = [12, 20] as const;
const RESTS_WITHIN_MS = 900_000;
/** After a retry that was killed, or two. */
const MOST_LAST_RETRIES = 4;
const OPEN = ['new', 'running', 'waiting'];

let n8n: Instance;
let ways: Saved[] = [];
let receiverId = '';
const orders: Order[] = [];
const killsAtMs: number[] = [];
const asleep = new Set<string>();
/** Times that this machine takes longer than an idle one: as n8n started last, and at most. */
const slowdown = { now: 1, most: 1 };
let isOver = false;
let stillOpen: string[] = [];

before(async () => {
	console.log(`${executions} executions, CRASH_SEED=${seed}`);
	({ result: n8n, slowdown: slowdown.now } = await withSlowdown(startInstance()));
	({ ways, receiverId } = await saveWays(n8n));
	void watchSleepers();
	for (let number = 1; orders.length < executions; number++) await playRound(number, seeded(1_000 * seed + number));
	await retryUntilAllIsWell(seeded(seed));
	isOver = true;
	await judge();
	console.log(figures);
});
after(async () => {
	isOver = true;
	await n8n?.close();
});

/** New executions and retries of crashed ones, n8n's end in the midst of them, and its start. */
async function playRound(number: number, draw: Draw): Promise<void> {
	const beganAtMs = Date.now();
	const killedAfterMs = slowdown.now * draw.between(...KILLED_AFTER_MS);
	const killedAgainAfterMs = draw.isLucky(0.25) ? slowdown.now * draw.between(...KILLED_AGAIN_AFTER_MS) : undefined;
	const isLeftAlone = draw.isLucky(0.4);
	const size = Math.min(executions - orders.length, Math.round(draw.between(...AT_ONCE)));
	const fresh = Array.from({ length: size }, (_, index) =>
		drawOrder(draw, ways, orders.length + index + 1, killedAfterMs),
	);
	orders.push(...fresh);
	const crashed = (await readThreads()).filter(isToRetry).filter(() => draw.isLucky(0.7));

	for (const order of fresh) for (const ms of order.callsAtMs) void later(ms, async () => await callWebhook(order));
	for (const thread of crashed) void later(draw.between(0, killedAfterMs), async () => await retry(draw, thread));
	await pause(killedAfterMs);
	await kill();
	if (killedAgainAfterMs !== undefined) {
		void n8n.restart().catch(() => undefined);
		await pause(killedAgainAfterMs);
		await kill();
	}
	slowdown.now = (await withSlowdown(n8n.restart())).slowdown;
	slowdown.most = Math.max(slowdown.most, slowdown.now);
	if (isLeftAlone) await untilAtRest();
	const again = killedAgainAfterMs === undefined ? '' : ` and after ${Math.round(killedAgainAfterMs)} ms`;
	console.log(
		`Round ${number}: ${size} executions, ${crashed.length} retries, killed after ${Math.round(killedAfterMs)} ms${again}` +
			`${isLeftAlone ? ', left alone' : ''}; ${Math.round((Date.now() - beganAtMs) / 1_000)} s, ${n8n.sandbox.tasks.length} tasks`,
	);
}

async function kill(): Promise<void> {
	killsAtMs.push(Date.now());
	count('kills');
	await n8n.kill();
}

/** What n8n did not live to answer is seen in its executions. */
async function later(ms: number, act: () => Promise<unknown>): Promise<void> {
	await pause(ms);
	await act().catch(() => undefined);
}

/** n8n says that it is ready a moment before its webhooks are there. */
async function callWebhook(order: Order): Promise<void> {
	await until(`the webhook takes ${order.name}`, async () => {
		const error = await startBatch(order).catch(String);
		if (error !== undefined && !error.includes('answered 404')) throw new Error(error);
		return error === undefined;
	});
}

/** As a person does: any of its tries, with the original workflow or with the saved one. A sub-execution has no saved one. */
async function retry({ pick, isLucky }: Draw, thread: Thread): Promise<void> {
	count('retries');
	const path = `/rest/executions/${pick(thread).id}/retry`;
	await n8n.rest.request('POST', path, { loadWorkflow: isLucky(0.5) && isOfWebhook(thread) });
}

async function watchSleepers(): Promise<void> {
	while (!isOver) {
		const open = await openExecutions(n8n).catch(() => []);
		for (const { id, status } of open) if (status === 'waiting') asleep.add(id);
		await pause(1_000);
	}
}

/** A result wakes the execution around it a moment later: so it looks twice. */
async function untilAtRest(): Promise<void> {
	let restedOnce = false;
	const isAtRest = async () => {
		const open = await openExecutions(n8n);
		stillOpen = open.map(({ id, mode, status, workflowId }) => `${id} ${mode} ${status} of ${workflowId}`);
		const isDone = restedOnce && open.length === 0;
		restedOnce = open.length === 0;
		return isDone;
	};
	await until('n8n is at rest', isAtRest, { withinMs: RESTS_WITHIN_MS, everyMs: 2_000 });
}

async function retryUntilAllIsWell(draw: Draw): Promise<void> {
	for (let time = 1; time <= MOST_LAST_RETRIES; time++) {
		await untilAtRest();
		const crashed = (await readThreads()).filter(isToRetry);
		console.log(`At rest: ${crashed.length} to retry`);
		if (crashed.length === 0) return;
		await Promise.all(crashed.map(async (thread) => await later(0, async () => await retry(draw, thread))));
	}
	await untilAtRest();
}

/** Those that have ended need not be read again. */
const ended = new Map<string, Execution>();

async function readThreads(workflowIds = ways.map(({ workflowId }) => workflowId)): Promise<Thread[]> {
	const threads = new Map<string, Thread>();
	for (const workflowId of workflowIds) {
		for (const { id, status, retryOf } of await listExecutions(n8n, workflowId)) {
			const execution = ended.get(id) ?? (await readExecution(n8n.rest, id));
			if (!OPEN.includes(status)) ended.set(id, execution);
			const around = [...threads.values()].find((thread) => thread.some((each) => each.id === String(retryOf)));
			if (around) around.push(execution);
			else threads.set(id, [execution]);
		}
	}
	return [...threads.values()];
}

/** Nothing of it goes on, and it has no result. */
const isToRetry = (thread: Thread, _: number, all: Thread[]): boolean =>
	thread.every(({ status }) => ![...OPEN, 'success'].includes(status)) && isToEndWell(thread, all);

async function judge(): Promise<void> {
	const threads = await readThreads();
	const received = (await readThreads([receiverId])).flat();
	const rows = await readPurchases(n8n);
	const log = readFileSync(n8n.n8n.logFile, 'utf8');
	count('executions', orders.length);
	const everything = [...threads.flat(), ...received].map(({ record }) => JSON.stringify(record)).join('\n');
	count('the key in what is left', everything.split(sandboxKey).length + log.split(sandboxKey).length - 2);
	for (const order of orders) {
		const isOf = ({ record }: Execution) => JSON.stringify(record).includes(order.name);
		await judgeOrder({
			...{ target: n8n, order, rows, log, killsAtMs, asleep, slowdown: slowdown.most },
			threads: threads.filter((thread) => thread.some(isOf)),
			received: received.filter(isOf),
		});
	}
}

const none = (found: string[]) => assert.equal(found.length, 0, `CRASH_SEED=${seed}\n${found.join('\n\n')}`);

test('nothing is bought twice, and nothing is sent while it is in doubt', () => none(problems.boughtTwice));
test('no task ID is lost', () => none(problems.lost));
test('each item is the result of its own task, or says why it is none', () => none(problems.wrongItem));
test('what was asleep arrives by itself', () => none(problems.notByItself));
test('nothing waits for ever', () => none(stillOpen));
test('the key is in no log and no execution', () => assert.equal(figures['the key in what is left'], 0));
