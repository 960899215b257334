/** One end of n8n for all moments: at each of them, an execution of each way is held. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { itemsOf, startExecution, untilFinished } from '../../../tools/n8n/executions.mjs';
import type { Signal } from '../../n8n/support/instance.mts';
import { asleepWorkflows } from '../../n8n/support/production.mts';
import { pause, until } from '../../n8n/support/until.mts';
import { createWorkflow, waitForTasks } from '../../n8n/support/workflow.mts';
import { accountsOf } from './accounts.mts';
import { prepareBatch, startBatch, type Batch } from './batch.mts';
import { moments, type Moment } from './moments.mts';
import { NOTHING, outcomeOf, type Outcome } from './outcome.mts';
import { checkPage, type Way } from './table.mts';
import { startTarget, type Target, type Victim } from './target.mts';

/** Those that sleep are checked for the first time a little later. */
const LATE_MS = 58_000;
/** An execution that is not ended goes on by itself, a little after the rest has started again. */
const HANGS_FOR = { n8n: 'never', worker: 'never', main: '60s' };

/** The ways of an execution to go on after a crash. */
const WAYS = {
	with: { words: 'with Across Restarts', survives: true, logs: true },
	log: { words: 'with Until Ready', survives: false, logs: true },
	without: { words: 'with Until Ready and Purchase Log off', survives: false, logs: false },
};

/** With its worker, n8n throws away what a retry would go on with; without its main process, an execution goes on: rows change nothing. */
const waysOf = (victim: Victim): Way[] => (victim === 'n8n' ? ['with', 'log', 'without'] : ['with', 'log']);

interface Held {
	moment: Moment;
	way: Way;
	batch: Batch;
}

export function testMatrix(victim: Victim, signal: Signal): void {
	const title = `${victim} ${signal}`;
	const hangsFor = HANGS_FOR[victim];
	const ways = waysOf(victim);
	let target: Target;
	let endedAtMs = 0;
	let asleep = new Set<string>();
	const held: Held[] = [];
	const outcomes = new Map<string, Outcome>();

	const isHeld = async ({ moment, batch }: Held) =>
		await until(`${batch.name} is held`, async () => await moment.isReached(target, batch));
	const startingAt = (start: Moment['start']) => held.filter(({ moment }) => moment.start === start);
	const startAll = async (start: Moment['start']) => {
		for (const { batch } of startingAt(start)) await startBatch(batch);
	};
	const areHeld = async (start: Moment['start']) => {
		for (const each of startingAt(start)) await isHeld(each);
	};

	before(async () => {
		target = await startTarget(victim);
		const accounts = await accountsOf(target);
		for (const moment of moments) {
			const { requestsPerSecond, ...signed } = moment.isSlow ? accounts.slow : accounts.usual;
			for (const way of ways) {
				const { survives, logs } = WAYS[way];
				const name = `${moment.key}-${way}`;
				const { options, hangs, places, hasTwoModels } = moment;
				const { credential } = way === 'without' ? signed.withoutLog : signed.logs;
				const batch = await prepareBatch(
					{ ...target, credential },
					{
						name,
						survives,
						logs,
						options,
						hangs,
						places,
						hasTwoModels,
						requestsPerSecond,
						hangsFor,
						isBackwards: !survives,
						prompts: moment.prompts(name, hangsFor),
					},
				);
				if (moment.isNotCalled) target.door.holdFor(batch.workflowId);
				held.push({ moment, way, batch });
			}
		}
		const startedAtMs = Date.now();
		await startAll('early');
		await pause(startedAtMs + LATE_MS - Date.now());
		await startAll('late');
		for (const start of ['late', 'early'] as const) await areHeld(start);
		for (const start of ['awake', 'last'] as const) {
			await startAll(start);
			await areHeld(start);
		}
		// The last one is in the middle of it, with Across Restarts: it takes longest to begin.
		for (const each of [...startingAt('canary'), ...startingAt('moving').reverse()]) {
			await startBatch(each.batch);
			await isHeld(each);
		}
		asleep = new Set(await asleepWorkflows(target));
		endedAtMs = Date.now();
		await target.end(signal);
		// Nobody has to wait any more for what has held the executions at their moments.
		target.sandbox.release();
		await target.restart();
		await Promise.all(
			held.map(async ({ batch }) =>
				outcomes.set(
					batch.name,
					await outcomeOf(target, batch, endedAtMs, asleep).catch((error: unknown) => failed(batch, error)),
				),
			),
		);
	});
	after(() => target?.close());

	/** Each execution is a test of its own: one that fails must not hide the others. */
	const failures = new Map<string, unknown>();
	function failed({ name }: Batch, error: unknown): Outcome {
		failures.set(name, new Error(String(error), { cause: error }));
		return NOTHING;
	}

	for (const { key, words } of moments) {
		for (const way of ways) {
			test(`${title} ${words}, ${WAYS[way].words}: nothing is bought twice, lost, or taken for finished`, () => {
				if (failures.has(`${key}-${way}`)) throw failures.get(`${key}-${way}`);
				assert.ok(outcomes.has(`${key}-${way}`));
			});
		}
	}

	test(`${title}: Get Result finishes what the workflows did not get`, async () => {
		const open = [...outcomes.values()].flatMap((outcome) => outcome.open);
		if (victim !== 'main') assert.ok(open.length > 0);
		if (open.length === 0) return;
		const workflowId = await createWorkflow(
			target,
			open.map((id) => ({ task_id: id })),
			[waitForTasks],
		);
		const finished = await untilFinished(target.rest, await startExecution(target.rest, workflowId, 'Start'));
		assert.deepEqual(
			itemsOf(finished, 'Wait').map(({ json, binary }) => [json.task_id, json.status, binary !== undefined]),
			open.map((id) => [id, 'completed', true]),
		);
	});

	// What n8n keeps of an execution whose worker shuts down depends on how far it got: what must never happen was tested above.
	if (victim !== 'worker' || signal === 'SIGKILL')
		test(`${title}: the table in docs/evidence/crash.md says what was seen`, () => {
			assert.equal(failures.size, 0);
			const notPassedOn = [...outcomes.values()].filter(({ alone }) => alone === 'notPassedOn');
			assert.ok(notPassedOn.length <= 1, `n8n has called ${notPassedOn.length} executions that wait lost`);
			// Where the first request has left late, everything was handed over before it. And a queue that calls a job of a busy worker
			// lost has ended the execution that waits: that is no moment of the kill.
			const isMissed = ({ moment, batch }: Held) =>
				batch.survives &&
				((moment.start === 'canary' && asleep.has(batch.workflowId)) ||
					(victim === 'worker' && outcomes.get(batch.name)?.alone === 'notPassedOn'));
			const seen = held
				.filter((each) => !isMissed(each))
				.map(({ moment: { row }, way, batch }) => ({ row, way, outcome: outcomes.get(batch.name) as Outcome }));
			checkPage(victim, seen, { mayWrite: signal === 'SIGKILL' });
		});
}
