/** A retry goes on with what the journal tells of the try before it, and two executions of one run never send the same request. */
import type { IDataObject } from 'n8n-workflow';
import { TABLE_NAME } from '../../core/labels';
import { COLUMNS } from '../../core/journal/row';
import { realClock } from '../../nodes/connection/transport';
import { useBinaryMode } from '../support/engine.mts';
import { fromItem, inItems, outcomeOf, useJournal } from '../support/journalRuns.mts';
import { hurry, pause, pngField, prompts, quick, type RunOptions } from '../support/nodes.mts';

const runs = useJournal();

const establishedAt = Date.now();
const first: RunOptions = { mode: 'trigger', kept: { executionId: '1', establishedAt } };
/** n8n gives it another ID, and has nothing of the node. */
const retryAs = (executionId: string): RunOptions => ({ mode: 'retry', kept: { executionId, establishedAt } });
const naming = (submitAgainForRun: string) => ({ ...fromItem, options: { ...quick, submitAgainForRun } });
const accepted = () => runs.tables.rows.filter(({ state }) => state === 'accepted').length;
const creating = () => runs.sandbox.requests.filter(({ method }) => method === 'POST');
const ids = () => runs.sandbox.tasks.map(({ id }) => id);
const elapsedMs = () => realClock.elapsed?.() ?? NaN;
const endsOf = (json: IDataObject[]) => json.map(({ code, status }) => code ?? status);

/** With a request that no answer comes of before n8n dies: the others have their IDs. */
const SLOW = 'slow [[sandbox create=slow:1s]]';
async function crashInRequest(texts: string[]) {
	const { length } = texts;
	const isMoment = () => accepted() === length - 1 && creating().length === length;
	await runs.crash(fromItem, { ...first, items: prompts(...texts) }, isMoment);
	while (runs.sandbox.tasks.length < length) await pause(10);
}

describe('a retry after a crash', () => {
	test('goes on with the tasks that have IDs, submits what was not sent, and pays for each once', async () => {
		await runs.crash(fromItem, { ...first, items: prompts('a', 'b') }, () => accepted() === 2);
		const bought = ids();
		const items = prompts('a', 'b', 'c');
		const { json, hints } = await runs.run('image', fromItem, { ...retryAs('2'), items });
		expect(endsOf(json)).toEqual(['completed', 'completed', 'completed']);
		expect(json.slice(0, 2).map(({ task_id: id }) => id)).toEqual(bought);
		expect([runs.sandbox.tasks.length, hints.join().includes(TABLE_NAME)]).toEqual([3, false]);
	});

	test('submits all items where n8n died before anything was written', async () => {
		await runs.crash(fromItem, { ...first, items: prompts('a', 'b') }, () => runs.tables.operations.length > 0);
		expect([runs.tables.rows, creating()]).toEqual([[], []]);
		const { json } = await runs.run('image', fromItem, { ...retryAs('2'), items: prompts('a', 'b') });
		expect(endsOf(json)).toEqual(['completed', 'completed']);
		expect(runs.sandbox.tasks).toHaveLength(2);
	});

	test('submits nothing that has a row without an outcome, although its request has not left', async () => {
		await runs.crash(fromItem, { ...first, items: prompts('a', 'b') }, () => runs.tables.rows.length > 0);
		expect(creating()).toEqual([]);
		runs.age();
		const { json } = await runs.run('image', fromItem, { ...retryAs('2'), items: prompts('a', 'b', 'c'), ...inItems });
		expect(endsOf(json)).toEqual(['outcome_still_unknown', 'outcome_still_unknown', 'completed']);
		expect(runs.sandbox.tasks).toHaveLength(1);
	});

	test('tells of a request without an outcome only when none can come any more, and submits the others meanwhile', async () => {
		await crashInRequest(['a', SLOW]);
		runs.age(1);
		// A minute lasts so long that a busy machine submits within it.
		hurry(8);
		const sinceMs = elapsedMs();
		const items = prompts('a', SLOW, 'c');
		const { promise } = runs.begin('image', fromItem, { ...retryAs('2'), items, ...inItems });
		while (runs.sandbox.tasks.length < 3) await pause(5);
		const submittedMs = elapsedMs() - sinceMs;
		const { json } = await outcomeOf({ promise } as never);
		// A request takes 120 s, and the row is 60 s old.
		expect([submittedMs < 60_000, elapsedMs() - sinceMs >= 60_000]).toEqual([true, true]);
		expect(endsOf(json)).toEqual(['completed', 'outcome_still_unknown', 'completed']);
		expect(json[1]?.details).toMatch(/^Look in the task list of your account for a task created around/);
		expect(creating()).toHaveLength(3);
	});

	test('waits for a task whose ID is written while it reads again', async () => {
		await crashInRequest(['a', SLOW]);
		hurry(20);
		const { promise } = runs.begin('image', fromItem, { ...retryAs('2'), items: prompts('a', SLOW), ...inItems });
		let isOver = false;
		void promise.then(() => (isOver = true));
		const [row] = runs.tables.rows.filter(({ state, item }) => state === 'submitting' && item === 1);
		// Before and behind its lease it has read, and then once more.
		while (runs.tables.operations.filter((each) => each === 'get').length < 4 && !isOver) await pause(2);
		const late = { ...row, state: 'accepted', task_id: ids()[1] };
		runs.tables.rows.push({ ...late, number: null, id: Number(runs.tables.rows.at(-1)?.id) + 1 } as never);
		const { json } = await outcomeOf({ promise } as never);
		expect(json.map(({ task_id: id }) => id)).toEqual(ids());
		expect(creating()).toHaveLength(2);
	});

	test('submits what was in doubt where a person names the run, once', async () => {
		await crashInRequest(['a', SLOW]);
		runs.age();
		const items = prompts('a', SLOW);
		const { json } = await runs.run('image', naming('1.0'), { ...retryAs('2'), items, ...inItems });
		expect(endsOf(json)).toEqual(['completed', 'completed']);
		expect(creating()).toHaveLength(3);
		const again = await runs.run('image', naming('1.0'), { ...retryAs('3'), items, ...inItems });
		expect(again.json.map(({ task_id: id }) => id)).toEqual(json.map(({ task_id: id }) => id));
		expect(creating()).toHaveLength(3);
	});

	test('knows a file by its content: the nodes before have stored it once more', async () => {
		const service = await useBinaryMode('filesystem');
		try {
			const { data, ...about } = pngField();
			const items = async (executionId: string) => {
				const place = { type: 'execution' as const, workflowId: 'wf', executionId };
				const file = await service.store(place, Buffer.from(data, 'base64'), { data: '', ...about });
				return [{ json: { prompt: 'a' }, binary: { data: file } }];
			};
			const images = { image: [{ source: 'binary', binaryPropertyName: 'data' }] };
			const form = { ...fromItem, images };
			await runs.crashAtTheEnd(form, { ...first, items: await items('1') });
			const { json } = await runs.run('image', form, { ...retryAs('2'), items: await items('2') });
			expect(json.map(({ task_id: id }) => id)).toEqual(ids());
			expect(runs.sandbox.tasks).toHaveLength(1);
		} finally {
			await useBinaryMode('default');
		}
	});

	test('gives the calls of an agent the tasks of the calls before, though their requests are the same', async () => {
		const parameters = { prompt: `={{ $fromAI('Prompt', 'what it is', 'string') }}`, options: quick };
		const calls = [{ Prompt: 'a cat' }, { Prompt: 'a cat' }];
		await runs.runTool('image', parameters, calls, first);
		await runs.dieAtTheEnd();
		const bought = ids();
		const { answers } = await runs.runTool('image', parameters, [...calls, { Prompt: 'a dog' }], retryAs('2'));
		expect(answers.map(({ text, error }) => error ?? /img_\w+/.exec(text ?? '')?.[0])).toEqual(ids());
		expect([bought, ids().length]).toEqual([ids().slice(0, 2), 3]);
	});

	test('of a token, which cannot be had again, creates no second one', async () => {
		const form = { operation: 'create', name: 'a', quota: 'unlimited' };
		await runs.crashAtTheEnd(form, first, 'token');
		const sent = creating().length;
		const { error } = await runs.run('token', form, retryAs('2'));
		expect(error?.message).toMatch(/was created in an earlier try/);
		expect(creating()).toHaveLength(sent);
	});
});

describe('a table that has not all rows of the run', () => {
	const remove = (is: (row: IDataObject) => boolean) => {
		const [table] = runs.tables.tables.filter(({ name }) => name === TABLE_NAME);
		table.rows = table.rows.filter((row) => !is(row));
	};
	const ROWS_MISSING = 'Rows of this run are missing in the data table Gateway Purchases.';
	test.each<[string, () => void, string[], string]>([
		[
			'cleared',
			() => runs.tables.clear(),
			['outcome_still_unknown', 'outcome_still_unknown', 'outcome_still_unknown'],
			ROWS_MISSING,
		],
		[
			'renamed',
			() => runs.tables.rename(),
			['outcome_still_unknown', 'outcome_still_unknown', 'outcome_still_unknown'],
			ROWS_MISSING,
		],
		[
			'removed',
			() => void runs.tables.tables.pop(),
			['outcome_still_unknown', 'outcome_still_unknown', 'outcome_still_unknown'],
			ROWS_MISSING,
		],
		[
			'half cleared',
			() => remove(({ item, state }) => item === 0 && state !== 'lease'),
			['outcome_still_unknown', 'completed', 'outcome_still_unknown'],
			ROWS_MISSING,
		],
		[
			'without the rows from before the requests',
			() => remove(({ state }) => state === 'submitting'),
			['completed', 'completed', 'outcome_still_unknown'],
			ROWS_MISSING,
		],
		[
			'changed by hand',
			() => void (runs.tables.rows[1].state = 'done'),
			['completed', 'completed', 'outcome_still_unknown'],
			'A row of this run in the data table Gateway Purchases cannot be read',
		],
	])('%s: the IDs that are left go on, and nothing is submitted', async (_, change, ends, words) => {
		await runs.crashAtTheEnd(fromItem, { ...first, items: prompts('a', 'b') });
		change();
		const items = prompts('a', 'b', 'c');
		for (const id of ['2', '3']) {
			const { json } = await runs.run('image', fromItem, { ...retryAs(id), items, ...inItems });
			expect(endsOf(json)).toEqual(ends);
			const { details } = json.find(({ code }) => code === 'outcome_still_unknown') ?? {};
			expect(details).toMatch(id === '2' ? words : /of this run/);
			await runs.rows();
		}
		expect(runs.sandbox.tasks).toHaveLength(2);
	});

	test('restored from a time before the run is one that was cleared', async () => {
		await runs.run('image', fromItem, { items: prompts('before') });
		await runs.rows();
		const before = structuredClone(runs.tables.tables);
		await runs.crashAtTheEnd(fromItem, { ...first, items: prompts('a') });
		runs.tables.tables = before;
		const { error } = await runs.run('image', fromItem, { ...retryAs('2'), items: prompts('a') });
		expect(error?.message).toMatch(/may or may not/);
		expect(error?.description).toContain(ROWS_MISSING);
		expect(runs.sandbox.tasks).toHaveLength(2);
	});

	test('that a person names gets a new purchase', async () => {
		await runs.crashAtTheEnd(fromItem, { ...first, items: prompts('a') });
		runs.tables.clear();
		const again = async (id: string) =>
			await runs.run('image', naming(`${establishedAt}.0`), { ...retryAs(id), items: prompts('a') });
		expect((await again('2')).json[0]?.status).toBe('completed');
		await runs.rows();
		expect((await again('3')).json[0]?.task_id).toBe(ids()[1]);
		expect(runs.sandbox.tasks).toHaveLength(2);
	});
});

describe('two executions of one run', () => {
	test('of two retries at once, the later one submits; the other delivers what it has, and names it', async () => {
		await runs.crash(fromItem, { ...first, items: prompts('a') }, () => accepted() === 1);
		const items = prompts('a', 'b', 'c');
		const [one, two] = await Promise.all(
			['2', '3'].map(async (id) => await runs.run('image', fromItem, { ...retryAs(id), items, ...inItems })),
		);
		expect(runs.sandbox.tasks).toHaveLength(3);
		expect(runs.sandbox.tasks.map(({ body }) => body.prompt).sort()).toEqual(['a', 'b', 'c']);
		for (const { json } of [one, two]) expect(json[0]?.task_id).toBe(ids()[0]);
		const stopped = [one, two].flatMap(({ json }) => json.filter(({ code }) => code === 'submitted_by_other_retry'));
		expect(stopped.length).toBeGreaterThan(0);
		expect(stopped[0]?.error).toMatch(/execution [23]/);
	});

	test('a first try that was only silent ends its unsent items when a retry has begun, and names the retry', async () => {
		const items = prompts('a', 'b [[sandbox create=429:2]]', 'c');
		const silent = runs.begin(
			'image',
			{ ...fromItem, options: { ...quick, concurrentTasks: 1 } },
			{ ...first, items, ...inItems },
		);
		while (accepted() === 0) await pause(2);
		const retry = await runs.run('image', fromItem, { ...retryAs('2'), items, ...inItems });
		const { json } = await outcomeOf(silent);
		expect(endsOf(retry.json)).toEqual(['completed', 'completed', 'completed']);
		expect(json[0]?.status).toBe('completed');
		expect(runs.sandbox.tasks).toHaveLength(3);
		const stopped = json.filter(({ code }) => code === 'submitted_by_other_retry');
		expect(stopped.length).toBeGreaterThan(0);
		for (const { error } of stopped) expect(error).toContain('execution 2');
	});

	test('two first tries of one millisecond buy both, and a retry of them submits nothing without an ID', async () => {
		const run = async (executionId: string) =>
			await runs.crashAtTheEnd(fromItem, {
				...{ mode: 'trigger', items: prompts(`of ${executionId}`), kept: { executionId, establishedAt } },
			});
		expect(endsOf([...(await run('1')).json, ...(await run('2')).json])).toEqual(['completed', 'completed']);
		const items = prompts('of 1', 'new');
		const { json } = await runs.run('image', fromItem, { ...retryAs('3'), items, ...inItems });
		expect([json[0]?.task_id, json[1]?.code]).toEqual([ids()[0], 'outcome_still_unknown']);
		expect(json[1]?.details).toContain('Two executions began in the same millisecond');
		expect(runs.sandbox.tasks).toHaveLength(2);
	});
});

test('the columns of the table are those of the journal', async () => {
	await runs.run('image', fromItem, { items: prompts('a') });
	const [table] = runs.tables.tables;
	expect((table.columns as Array<{ name: string }>).map(({ name }) => name)).toEqual(Object.keys(COLUMNS));
});
