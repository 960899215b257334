/** kill -9 at random moments of many executions, always the same: `CRASH_SEED=… npm run test:crash -- random` plays others. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pLimit from 'p-limit';
import { isSwitchedOn } from '../../tools/suite.mjs';
import { deactivate } from '../n8n/support/production.mts';
import { pause } from '../n8n/support/until.mts';
import { executionsOfBatch, prepareBatch, startBatch, tasksOf, type Batch, type Order } from './support/batch.mts';
import { answeredAtMs, ON_ITS_WAY_MS, outcomeOf } from './support/outcome.mts';
import { startTarget, type Target } from './support/target.mts';

const seed = Number(process.env.CRASH_SEED ?? 188_367);
const atLeast = isSwitchedOn('full') ? 500 : 20;
const mostRounds = isSwitchedOn('full') ? 12 : 2;
/** In each round. One half sleeps before its first check, the other waits in memory. */
const executions = isSwitchedOn('full') ? 150 : 36;
/** A round of many takes longer: each execution is retried twice. */
const roundTimeoutMs = isSwitchedOn('full') ? 900_000 : 420_000;
/** As little as n8n sleeps in its database. */
const SHORTEST_SLEEP_SECONDS = 66;
const SPREAD_SECONDS = 16;
/** n8n answers a retry when it has ended, and hundreds of retries in parallel take it minutes. */
const SETTLED_IN_PARALLEL = 30;

/** The same numbers for the same seed, from 0 to below 1. */
function numbersOf(start: number): () => number {
	let state = start;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

interface Planned extends Order {
	/** After the beginning of the round. */
	startMs: number;
}

function planRound(round: number, random: () => number): { orders: Planned[]; killMs: number } {
	const upTo = (most: number) => Math.floor(random() * most);
	// The checks of those that sleep, and the lives of the others, are spread over the time around it.
	const killMs = 1_000 * (SHORTEST_SLEEP_SECONDS + 6) + upTo(1_000 * SPREAD_SECONDS);
	const orders = Array.from({ length: executions }, (_, index): Planned => {
		const name = `random-${round}-${index}`;
		const sleeps = index % 2 === 0;
		const survives = sleeps || random() < 0.5;
		const startMs = sleeps ? upTo(6_000) : killMs - upTo(1_000 * SPREAD_SECONDS);
		const prompts = Array.from({ length: 1 + upTo(3) }, (__, item) => {
			const file = random() < 0.3 ? ' bytes=1 bytes_per_second=200000' : '';
			const answer = random() < 0.3 ? ` create=slow:${upTo(3_000)}ms${random() < 0.5 ? '!after' : ''}` : '';
			return `${name} ${item} [[sandbox duration=${1 + upTo(20)}s${file}${answer}]]`;
		});
		return {
			name,
			survives,
			isBackwards: random() < 0.5,
			startMs,
			prompts,
			options: sleeps ? { pollIntervalSeconds: SHORTEST_SLEEP_SECONDS + upTo(SPREAD_SECONDS) } : {},
		};
	});
	return { orders, killMs };
}

let target: Target;
before(
	async () => {
		target = await startTarget('n8n');
	},
	{ timeout: 200_000 },
);
after(() => target?.close());

/** True where n8n died while the results were being passed to the workflow: its output then names each task instead. */
const wasPassedOn = ({ alone, ids }: Awaited<ReturnType<typeof outcomeOf>>) =>
	alone === 'errors' && ids.includes('execution');
/** That takes milliseconds, on a busy machine some more. */
const MOST_PASSED_ON = 2;

/** Returns how many executions were in the middle of something when n8n was killed. */
async function playRound(round: number, random: () => number): Promise<number> {
	const { orders, killMs } = planRound(round, random);
	const batches: Array<Batch & { startMs: number }> = [];
	for (const order of orders) batches.push({ ...(await prepareBatch(target, order)), startMs: order.startMs });
	const beganAtMs = Date.now();
	await Promise.all(
		batches.map(async (batch) => {
			await pause(batch.startMs);
			await startBatch(batch);
		}),
	);
	await pause(beganAtMs + killMs - Date.now());
	const killedAtMs = Date.now();
	await target.end('SIGKILL');
	await target.restart();
	const inTurn = pLimit(SETTLED_IN_PARALLEL);
	const outcomes = await Promise.all(
		batches.map((batch) =>
			inTurn(async () => {
				const outcome = await outcomeOf(target, batch, killedAtMs);
				await deactivate(target, batch.workflowId);
				const [parent] = await executionsOfBatch(target, batch);
				// For one that has crashed, n8n notes when its last node had begun.
				// What the service had accepted well before needs nobody: at most n8n's own retry, when a later node was hit.
				const last = Math.max(...tasksOf(target, batch).map(answeredAtMs));
				if (
					batch.survives &&
					tasksOf(target, batch).length === batch.prompts.length &&
					last < killedAtMs - ON_ITS_WAY_MS
				)
					assert.ok(
						[outcome.alone, ...outcome.retries].includes('results') || wasPassedOn(outcome),
						`${batch.name}: ${JSON.stringify(outcome)}`,
					);
				const wasHit = outcome.alone === 'crashed' || Date.parse(parent?.record.stoppedAt) > killedAtMs;
				return { ...outcome, wasHit };
			}),
		),
	);
	assert.ok(
		outcomes.filter((outcome, index) => batches[index].survives && wasPassedOn(outcome)).length <= MOST_PASSED_ON,
		'results that were being passed on',
	);
	const hit = outcomes.filter(({ wasHit }) => wasHit);
	const counts = new Map<string, number>();
	for (const { alone, retries } of hit) {
		const what = [alone, ...retries].join(', ');
		counts.set(what, (counts.get(what) ?? 0) + 1);
	}
	console.log(`Seed ${seed}, round ${round}: ${hit.length} executions were hit:`, Object.fromEntries(counts));
	return hit.length;
}

test(
	`killed at random moments, seed ${seed}: nothing is bought twice, lost, or taken for finished`,
	{ timeout: mostRounds * roundTimeoutMs },
	async () => {
		const random = numbersOf(seed);
		let hits = 0;
		for (let round = 0; round < mostRounds && hits < atLeast; round++) hits += await playRound(round, random);
		assert.ok(hits >= atLeast, `only ${hits} executions were hit`);
	},
);
