/** kill -9 at random moments of many executions, always the same: `CRASH_SEED=… npm run test:crash -- random` plays others. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pLimit from 'p-limit';
import { isSwitchedOn } from '../../tools/suite.mjs';
import { asleepWorkflows, deactivate } from '../n8n/support/production.mts';
import { withSlowdown } from '../n8n/support/slowdown.mts';
import { pause } from '../n8n/support/until.mts';
import { executionsOfBatch, prepareBatch, startBatch, type Batch, type Order } from './support/batch.mts';
import { outcomeOf } from './support/outcome.mts';
import { startTarget, type Target } from './support/target.mts';

const seed = Number(process.env.CRASH_SEED ?? 188_367);
const atLeast = isSwitchedOn('full') ? 500 : 20;
const mostRounds = isSwitchedOn('full') ? 26 : 2;
/** Each plays rounds with an n8n of its own: for most of a round, nothing happens but sleep. */
const LANES = isSwitchedOn('full') ? 2 : 1;
/**
 * In each round. One half sleeps before its first check, the other waits in memory. In parallel they must leave n8n some
 * processor time: with 60 of them it falls asleep seconds after the acceptance, and a kill shows how slow the machine is.
 */
const executions = isSwitchedOn('full') ? 28 : 36;
/** Until the last of those has started that sleep. */
const SLEEPERS_START_WITHIN_MS = isSwitchedOn('full') ? 20_000 : 6_000;
/** At what sleeps. */
const LOOK_EVERY_MS = 1_000;
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
		const startMs = sleeps ? upTo(SLEEPERS_START_WITHIN_MS) : killMs - upTo(1_000 * SPREAD_SECONDS);
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

const targets: Target[] = [];
before(async () => {
	for (let lane = 0; lane < LANES; lane++) targets.push(await startTarget('n8n'));
});
after(async () => {
	for (const target of targets) await target.close();
});

/** True where n8n died while the results were being passed to the workflow: its output then names each task instead. */
const wasPassedOn = ({ alone, ids }: Awaited<ReturnType<typeof outcomeOf>>) =>
	alone === 'errors' && ids.includes('execution');
/** That takes milliseconds. On a busy machine it takes longer, and hits more. */
const MOST_PASSED_ON = 2;

/** Returns how many executions were in the middle of something when n8n was killed, and which promises were broken. */
async function playRound(
	target: Target,
	round: number,
	{ orders, killMs }: ReturnType<typeof planRound>,
): Promise<{ hits: number; broken: string[] }> {
	const batches: Array<Batch & { startMs: number }> = [];
	for (const order of orders) batches.push({ ...(await prepareBatch(target, order)), startMs: order.startMs });
	const beganAtMs = Date.now();
	const starting = batches.map(async (batch) => {
		await pause(batch.startMs);
		await startBatch(batch);
	});
	const asleep = new Set<string>();
	const lookUntilKill = async () => {
		for (let leftMs = killMs; leftMs > 0; leftMs = beganAtMs + killMs - Date.now()) {
			await pause(Math.min(LOOK_EVERY_MS, leftMs));
			for (const workflowId of await asleepWorkflows(target)) asleep.add(workflowId);
		}
	};
	const { slowdown } = await withSlowdown(lookUntilKill());
	await Promise.all(starting);
	const awake = batches.filter(({ options, workflowId }) => options?.pollIntervalSeconds && !asleep.has(workflowId));
	assert.deepEqual(
		awake.map(({ name }) => name),
		[],
		'all that sleep were asleep',
	);
	const killedAtMs = Date.now();
	await target.end('SIGKILL');
	await target.restart();
	const inTurn = pLimit(SETTLED_IN_PARALLEL);
	const settled = await Promise.allSettled(
		batches.map((batch) =>
			inTurn(async () => {
				const outcome = await outcomeOf(target, batch, killedAtMs, asleep);
				await deactivate(target, batch.workflowId);
				const [parent] = await executionsOfBatch(target, batch);
				// What slept with all its tasks needs nobody: at most n8n's own retry, when a later node was hit.
				if (outcome.mustArrive && outcome.accepted === batch.prompts.length)
					assert.ok(
						[outcome.alone, ...outcome.retries].includes('results') || wasPassedOn(outcome),
						`${batch.name}: ${JSON.stringify(outcome)}`,
					);
				// For one that has crashed, n8n notes when its last node had begun.
				const wasHit = outcome.alone === 'crashed' || Date.parse(parent?.record.stoppedAt) > killedAtMs;
				return { ...outcome, survives: batch.survives, wasHit };
			}),
		),
	);
	const broken = settled.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
	const outcomes = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
	assert.ok(
		outcomes.filter((outcome) => outcome.survives && wasPassedOn(outcome)).length <= MOST_PASSED_ON * slowdown,
		'results that were being passed on',
	);
	const hit = outcomes.filter(({ wasHit }) => wasHit);
	const counts = new Map<string, number>();
	for (const { alone, retries } of hit) {
		const what = [alone, ...retries].join(', ');
		counts.set(what, (counts.get(what) ?? 0) + 1);
	}
	console.log(`Seed ${seed}, round ${round}: ${hit.length} executions were hit:`, Object.fromEntries(counts));
	for (const what of broken) console.log(what);
	return { hits: hit.length, broken };
}

test(`killed at random moments, seed ${seed}: nothing is bought twice, lost, or taken for finished`, async () => {
	const random = numbersOf(seed);
	const plans = Array.from({ length: mostRounds }, (_, round) => planRound(round, random));
	let next = 0;
	let hits = 0;
	const broken: string[] = [];
	await Promise.all(
		targets.map(async (target) => {
			while (next < mostRounds && hits < atLeast) {
				const round = next++;
				const played = await playRound(target, round, plans[round] as (typeof plans)[number]);
				hits += played.hits;
				broken.push(...played.broken);
			}
		}),
	);
	assert.deepEqual(broken, []);
	assert.ok(hits >= atLeast, `only ${hits} executions were hit`);
});
