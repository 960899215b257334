/** One end of n8n for all moments: an execution is held at each of them, with and without Survive Restarts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { itemsOf, startExecution, untilFinished } from '../../../tools/n8n/executions.mjs';
import { startInstance, type Instance } from '../../n8n/support/instance.mts';
import { pause, until } from '../../n8n/support/until.mts';
import { createWorkflow, waitForTasks } from '../../n8n/support/workflow.mts';
import { prepareBatch, startBatch, type Batch } from './batch.mts';
import { moments, type Moment } from './moments.mts';
import { outcomeOf, type Outcome } from './outcome.mts';
import { checkPage, type TableRow } from './table.mts';

/** Those that sleep are checked for the first time a little later. */
const LATE_MS = 58_000;

interface Held {
	moment: Moment;
	batch: Batch;
}

export function testMatrix(signal: 'SIGKILL' | 'SIGTERM'): void {
	let instance: Instance;
	let endedAtMs = 0;
	const held: Held[] = [];
	const outcomes = new Map<string, Outcome>();

	const startAll = async (start: Moment['start']) => {
		const all = held.filter(({ moment }) => moment.start === start);
		for (const { batch } of all) await startBatch(batch);
		return all;
	};
	const areHeld = async (all: Held[]) => {
		for (const { moment, batch } of all) await until(`${batch.name} is held`, async () => await moment.isReached(instance, batch));
	};

	before(async () => {
		instance = await startInstance();
		for (const moment of moments) {
			for (const survives of [true, false]) {
				const name = `${moment.key}-${survives ? 'with' : 'without'}`;
				const { options, hangs } = moment;
				held.push({ moment, batch: await prepareBatch(instance, { name, survives, options, hangs, isBackwards: !survives, prompts: moment.prompts(name) }) });
			}
		}
		const startedAtMs = Date.now();
		const early = await startAll('early');
		await pause(startedAtMs + LATE_MS - Date.now());
		await areHeld(await startAll('late'));
		await areHeld(early);
		await areHeld(await startAll('last'));
		endedAtMs = Date.now();
		await instance.end(signal);
		await instance.restart();
		await Promise.all(held.map(async ({ batch }) => outcomes.set(batch.name, await outcomeOf(instance, batch, endedAtMs).catch((error: unknown) => failed(batch, error)))));
	}, { timeout: 800_000 });
	after(() => instance?.close());

	/** Each execution is a test of its own: one that fails must not hide the others. */
	const failures = new Map<string, unknown>();
	function failed({ name }: Batch, error: unknown): Outcome {
		failures.set(name, new Error(String(error), { cause: error }));
		return { alone: 'nothing', ids: [], retries: [], open: [] };
	}

	for (const { key, words } of moments) {
		for (const option of ['with', 'without']) {
			test(`${signal} ${words}, ${option} Survive Restarts: nothing is bought twice, lost, or taken for finished`, () => {
				if (failures.has(`${key}-${option}`)) throw failures.get(`${key}-${option}`);
				assert.ok(outcomes.has(`${key}-${option}`));
			});
		}
	}

	test(`${signal}: Wait for Task finishes what the workflows did not get`, { timeout: 150_000 }, async () => {
		const open = [...outcomes.values()].flatMap((outcome) => outcome.open);
		assert.ok(open.length > 0);
		const workflowId = await createWorkflow(instance, open.map((id) => ({ task_id: id })), [waitForTasks]);
		const finished = await untilFinished(instance.rest, await startExecution(instance.rest, workflowId, 'Start'), { timeoutMs: 120_000 });
		assert.deepEqual(itemsOf(finished, 'Wait').map(({ json, binary }) => [json.task_id, json.status, binary !== undefined]), open.map((id) => [id, 'completed', true]));
	});

	test(`${signal}: the table in docs/durability.md says what was seen`, () => {
		const rows = moments.map(({ key, words }): TableRow => ({ words, withOption: outcomes.get(`${key}-with`) as Outcome, without: outcomes.get(`${key}-without`) as Outcome }));
		assert.equal(failures.size, 0);
		checkPage(rows, { mayWrite: signal === 'SIGKILL' });
	});
}
