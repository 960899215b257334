/** The journal of a run in n8n's engine: its rows, what they cost, and what a run without them does. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { TABLE_NAME } from '../../core/labels';
import { COLUMNS, journalRow } from '../../core/journal/row';
import { PAUSES_MS } from '../../core/journal/table';
import { realClock } from '../../nodes/connection/transport';
import { fromItem, inItems, useJournal } from '../support/journalRuns.mts';
import { orderOf } from '../support/orders.mts';
import { hurry, pause, prompts, quick, runToEnter, type RunOptions } from '../support/nodes.mts';

const runs = useJournal({ assetMs: 300 });

// Rows that no request waits for are tried for a minute: for so long they would go on after this file. The longest pause is also the
// time that n8n gets for a table: on a busy machine it needs seconds.
const { sleep } = realClock;
const shortened = (pauseMs: number) => (pauseMs === Math.max(...PAUSES_MS) ? 10_000 : pauseMs / 100);
realClock.sleep = async (delayMs, ...more) => {
	await sleep(PAUSES_MS.includes(delayMs) ? shortened(delayMs) : delayMs, ...more);
};

const establishedAt = Date.now();
const first: RunOptions = { mode: 'trigger', kept: { executionId: '1', establishedAt } };
const retry: RunOptions = { mode: 'retry', kept: { executionId: '2', establishedAt } };
const statesOf = async () => (await runs.rows()).map(({ model, state }) => `${model} ${state}`);

describe('the rows of a run', () => {
	test('a task has two rows behind the lease of its execution, with what tells who has bought it', async () => {
		const { json, hints } = await runs.run('image', fromItem, { ...first, items: prompts('a') });
		const [lease, submitting, accepted, ...others] = await runs.rows();
		const run = `${establishedAt}.0 1 wf`;
		const ofRun = { run, first: '1', execution: '1', workflow: 'wf', node: 'Node', account: 'generationGatewayApi' };
		expect(lease).toMatchObject({ ...ofRun, state: 'lease', key_hash: run, number: null, request_hash: '' });
		expect(submitting).toMatchObject({ ...ofRun, state: 'submitting', number: 0, item: 0, task_id: '', key_hash: '' });
		expect(accepted).toMatchObject({ ...ofRun, state: 'accepted', number: null, task_id: json[0]?.task_id });
		expect(accepted?.attempt).toBe(submitting?.attempt);
		expect(accepted?.model).toBe('gamma-image-2');
		expect(others).toEqual([]);
		expect(Object.keys(lease ?? {}).sort()).toEqual([...Object.keys(COLUMNS), 'createdAt', 'id'].sort());
		expect(hints.join()).not.toMatch(/not recorded|rows are missing|has no effect/);
	});

	test('groups, verifications, assets and API keys have rows, and nothing of what they are called', async () => {
		const { json } = await runs.run('avatar', { resource: 'group', operation: 'create', groupName: 'Anna' });
		const groupId = String(json[0]?.group_id);
		const verification = { resource: 'verification', operation: 'create', callbackUrl: 'https://example.com/done' };
		await runs.run('avatar', verification);
		const sourceUrl = 'https://example.com/face.png';
		const asset = { avatarKind: 'private', assetType: 'image', sourceUrl, groupId, options: quick };
		await runs.run('avatar', { resource: 'asset', operation: 'upload', ...asset });
		const created = await runs.run('token', { operation: 'create', name: 'Anna', quota: 'unlimited' });
		expect((await statesOf()).filter((row) => !row.endsWith('lease'))).toEqual(
			['group', 'verification', 'asset', 'token'].flatMap((thing) => [`${thing} submitting`, `${thing} accepted`]),
		);
		const [group] = runs.tables.rows.filter(({ state }) => state === 'accepted');
		expect(group?.task_id).toBe(groupId);
		const text = JSON.stringify(runs.tables.rows);
		for (const secret of ['Anna', 'example.com', String(created.json[0]?.api_key)]) expect(text).not.toContain(secret);
	});

	test('no row has a prompt, the key of the credential or a result', async () => {
		const failing = prompts('a secret lighthouse', 'a secret [[sandbox fail]]', 'a secret [[sandbox create=400]]');
		await runs.run('image', fromItem, { items: failing, ...inItems });
		const text = JSON.stringify(await runs.rows());
		for (const secret of ['secret', runs.sandbox.apiKey, '/files/', '://']) expect(text).not.toContain(secret);
	});

	test.each([
		['create=400', 'not_accepted', 'request_rejected', ''],
		['create=504', 'unknown', 'outcome_unknown', ''],
		['fail', 'accepted failed', 'task_failed', ''],
		['fail=content_policy_violation', 'accepted failed', 'content_declined', '{"permanent":true}'],
	])('of a request that ends with %s, the rows say %s, and why', async (directive, states, code, more) => {
		await runs.run('image', fromItem, { items: prompts(`a [[sandbox ${directive}]]`), ...inItems });
		const ends = (await runs.rows()).filter(({ state }) => state !== 'lease' && state !== 'submitting');
		expect(ends.map(({ state }) => state).join(' ')).toBe(states);
		expect([ends.at(-1)?.code, ends.at(-1)?.more]).toEqual([code, more]);
	});

	test('a request that is sent again after a 429 has a row for each try, numbered without gaps', async () => {
		await runs.run('image', fromItem, { items: prompts('a [[sandbox create=429:0]]') });
		const rows = (await runs.rows()).filter(({ state }) => state !== 'lease');
		expect(rows.map(({ state, number }) => [state, number])).toEqual([
			['submitting', 0],
			['not_accepted', null],
			['submitting', 1],
			['accepted', null],
		]);
		expect(new Set(rows.map(({ attempt }) => attempt)).size).toBe(2);
	});

	test('a retry has the run and the first execution of the try before it, and its own in the row', async () => {
		const items = prompts('a [[sandbox create=504]]');
		expect(runToEnter((await runs.run('image', fromItem, { ...first, items })).error)).toBe('1.0');
		const options = { ...quick, submitAgainForRun: '1.0' };
		await runs.run('image', { ...fromItem, options }, { ...retry, items });
		const rows = (await runs.rows()).filter(({ state }) => state === 'submitting' || state === 'lease');
		expect(rows.map(({ state, run, first: of, execution, number }) => [state, run, of, execution, number])).toEqual(
			['1', '2'].flatMap((execution, number) => [
				// That of a retry names no first try: see `core/journal/journal.ts`.
				['lease', `${establishedAt}.0 1 wf`, number === 0 ? '1' : '', execution, null],
				['submitting', `${establishedAt}.0 1 wf`, '1', execution, number],
			]),
		);
	});

	test('with Report Credits, a row has what the account has used', async () => {
		const options = { ...quick, reportCredits: true };
		await runs.run('image', { ...fromItem, options }, { items: prompts('a', 'b') });
		const [credits, ...others] = (await runs.rows()).filter(({ state }) => state === 'run');
		expect(credits).toMatchObject({ model: 'gamma-image-2', credits: 8, task_id: '', number: null });
		expect(others).toEqual([]);
	});
});

describe('what rows cost', () => {
	const ofRun = async (count: number, options: IDataObject = {}) => {
		await runs.run('image', fromItem, { items: prompts('before') });
		await runs.rows();
		runs.tables.subExecutions.length = 0;
		const items = prompts(...Array.from({ length: count }, (_, index) => `${index}`));
		await runs.run('image', { ...fromItem, options: { ...quick, ...options } }, { items });
		await runs.rows();
		return runs.tables.subExecutions;
	};

	test('a run of one item has two sub-executions once the table is known', async () => {
		expect(await ofRun(1)).toEqual([['insert', 'get'], ['insert']]);
	});

	test('with a Purchase Key, it has one more, which looks for the key', async () => {
		expect(await ofRun(1, { purchaseKey: 'k' })).toEqual([['list', 'get'], ['insert', 'get'], ['insert']]);
	});

	test('rows of a batch are written together', async () => {
		const operations = await ofRun(10);
		expect(operations.length).toBeLessThan(10 + 10);
		const rows = (await runs.rows()).filter(({ run }) => run === runs.tables.rows.at(-1)?.run);
		expect(rows).toHaveLength(1 + 2 * 10);
	});
});

const OTHER_COLUMNS = Object.keys(COLUMNS).map((name) => ({ name, type: 'string' }));
const FULL = 'Validation error with data table request: Data table size limit exceeded: 200MB used, limit is 200MB';
const OFF = 'Attempted to use Data table node but the module is disabled';
const always = (operation: string, fault: string) => () => {
	for (let time = 0; time < 50; time++) runs.tables.faults.push([operation, fault]);
};

describe('a run for which n8n has no table', () => {
	const reasons: Array<[why: string, more: RunOptions, prepare: () => void, words: string]> = [
		['the module is off', {}, always('list', OFF), 'n8n’s data tables are turned off'],
		[
			'the node is excluded',
			{ excluded: 'n8n-nodes-base.dataTable' },
			() => {},
			'this n8n does not have the node "Data table"',
		],
		[
			'n8n is too old',
			{},
			always('list', "Cannot read properties of undefined (reading 'execute')"),
			'it needs n8n 2.41 or later',
		],
		['the engine is 2.0', { kept: { executionId: '0af91a5c-1', establishedAt } }, () => {}, 'n8n’s engine 2.0'],
		['an evaluation runs it', { mode: 'evaluation' }, () => {}, 'an evaluation runs the workflow'],
		[
			'the table has other columns',
			{},
			() => void runs.tables.tables.push({ id: 'o', name: TABLE_NAME, columns: OTHER_COLUMNS, rows: [] }),
			'rename or delete this table',
		],
		['the storage is full', {}, always('insert', FULL), 'the storage of n8n’s data tables is full'],
	];

	test.each(reasons)('because %s: it buys without rows, and one hint says why', async (_, more, prepare, words) => {
		prepare();
		const { json, hints } = await runs.run('image', fromItem, { ...first, items: prompts('a', 'b'), ...more });
		expect(json.map(({ status }) => status)).toEqual(['completed', 'completed']);
		expect(await runs.rows()).toEqual([]);
		const about = hints.filter((hint) => hint.includes(TABLE_NAME));
		expect(about).toEqual([expect.stringContaining(words)]);
		expect(about[0]).toMatch(/^Purchases of this run are not recorded in .* a retry after a crash of n8n .* nothing/s);
	});

	test.each(reasons.filter(([, { mode }]) => mode === undefined))(
		'because %s: after a crash, a retry submits nothing, also where there is a table by then',
		async (_, more, prepare) => {
			prepare();
			await runs.crashAtTheEnd(fromItem, { ...first, items: prompts('a'), ...more });
			for (const id of ['2', '3']) {
				if (id === '2') prepare();
				else runs.tables.faults.length = 0;
				const kept = { executionId: id, establishedAt };
				const { error } = await runs.run('image', fromItem, { ...retry, items: prompts('a', 'b'), kept });
				expect(error?.message).toMatch(/^The service may or may not have accepted this task in an earlier try/);
				expect(error?.description).toContain(`enter ${establishedAt}.0 as Submit Again for Run`);
			}
			expect(runs.sandbox.tasks).toHaveLength(1);
		},
	);

	test('a workflow that is not saved has none either', async () => {
		const started = runs.begin('image', fromItem, { items: prompts('a') });
		started.workflow.id = '';
		const { data } = await started.promise;
		const hints = (data.resultData.runData.Node?.[0]?.hints ?? []).map(({ message }) => message);
		expect(hints.filter((hint) => hint.includes('the workflow has not been saved'))).toHaveLength(1);
		expect(runs.tables.operations).toEqual([]);
	});

	test('turned off in the credential, nothing is read or written, and no hint says so', async () => {
		const credential = { advanced: true, purchaseLog: false };
		const { json, hints } = await runs.run('image', fromItem, { credential, items: prompts('a') });
		expect(json[0]?.status).toBe('completed');
		expect(hints.join()).not.toMatch(/not recorded|rows are missing|has no effect/);
		expect(runs.tables.operations).toEqual([]);
	});

	test('rows of before tell a retry for which there is no table that something was sent', async () => {
		await runs.crashAtTheEnd(fromItem, { ...first, items: prompts('a') });
		always('list', OFF)();
		const { error } = await runs.run('image', fromItem, { ...retry, items: prompts('a') });
		expect(error?.message).toMatch(/may or may not have accepted/);
		expect(runs.sandbox.tasks).toHaveLength(1);
	});

	test('an item with a Purchase Key is not bought, and says why', async () => {
		always('list', OFF)();
		const options = { ...quick, purchaseKey: 'k' };
		const { error } = await runs.run('image', { ...fromItem, options }, { items: prompts('a') });
		expect(error?.message).toBe('This item has a Purchase Key, but the purchase log cannot be used');
		expect(error?.description).toContain('n8n’s data tables are turned off');
		expect(runs.sandbox.requests).toHaveLength(0);
	});
});

describe('a run that goes on in another execution', () => {
	const waiting: Array<[wait: string, more: IDataObject]> = [
		['acrossRestarts', {}],
		['inAnotherWorkflow', { workflowId: { __rl: true, mode: 'id', value: 'other' } }],
	];

	test.each(waiting)('with Wait = %s has the rows of its canary, and no hint about them', async (wait, more) => {
		const items = prompts('a', 'b');
		const { hints, error, handed } = await runs.handOver({ ...fromItem, wait, ...more }, { ...first, items });
		expect([error, handed[0]?.map((item) => orderOf(item).state)]).toEqual([undefined, ['accepted', 'planned']]);
		expect((await runs.rows()).map(({ state, item }) => `${state} ${item}`)).toEqual([
			...['lease 0', 'submitting 0', 'accepted 0'],
		]);
		expect(hints.join()).not.toMatch(/not recorded|rows are missing|has no effect/);
	});

	const NO_EFFECT = /^Across Restarts has no effect here: it needs the data table/;
	const LOG_OFF = { credential: { purchaseLog: false, advanced: true } };
	test.each<[string, RunOptions, () => void, string, RegExp]>([
		['the log is off', LOG_OFF, () => {}, 'Purchase Log is turned off in the credential', NO_EFFECT],
		['n8n has no table', {}, always('list', OFF), 'n8n’s data tables are turned off', NO_EFFECT],
		[
			'the table is full',
			{},
			always('insert', FULL),
			'the storage of n8n’s data tables is full',
			/^Purchases of this run/,
		],
	])(
		'where %s, Across Restarts waits in memory, and In Another Workflow is refused before anything is sent',
		async (_, more, prepare, why, hint) => {
			prepare();
			const options = { ...first, ...more, items: prompts('a') };
			const [[wait, of], [otherWait, ofOther]] = waiting as [(typeof waiting)[0], (typeof waiting)[0]];
			const refused = await runs.handOver({ ...fromItem, wait: otherWait, ...ofOther }, options);
			expect(refused.error?.message).toMatch(/^Wait cannot be In Another Workflow here: /);
			expect(refused.error?.message).toContain(why);
			expect([refused.handed, runs.sandbox.requests]).toEqual([[], []]);
			const { json, hints, handed } = await runs.handOver({ ...fromItem, wait, ...of }, options);
			expect([json[0]?.status, handed]).toEqual(['completed', []]);
			expect(hints.find((each) => hint.test(each))).toContain(why);
		},
	);

	test.each(waiting)(
		'with Wait = %s, a retry goes on with what a crashed run in memory has bought, and the other way round',
		async (wait, more) => {
			const items = prompts('a', 'b');
			await runs.crashAtTheEnd(fromItem, { ...first, items });
			const waits = await runs.handOver({ ...fromItem, wait, ...more }, { ...retry, items });
			const ids = runs.sandbox.tasks.map(({ id }) => id);
			expect(waits.handed[0]?.map((item) => orderOf(item).task?.taskId)).toEqual(ids);
			runs.reset();
			const kept = { executionId: '3', establishedAt: establishedAt + 1 };
			await runs.handOver({ ...fromItem, wait, ...more }, { ...first, items: prompts('c', 'd'), kept });
			await runs.dieAtTheEnd();
			const again = { ...retry, items: prompts('c', 'd'), kept: { ...kept, executionId: '4' } };
			const { json } = await runs.run('image', fromItem, again);
			expect(runs.sandbox.tasks.map(({ body }) => body.prompt)).toEqual(['a', 'b', 'c', 'd']);
			expect(json.map(({ task_id: id }) => id)).toEqual(runs.sandbox.tasks.slice(2).map(({ id }) => id));
		},
	);

	const inBackground = { ...fromItem, wait: 'inAnotherWorkflow', ...waiting[1]?.[1] };
	/** An execution that has just begun. */
	const begun = (items: unknown) => ({
		resultData: { runData: {} },
		executionData: { nodeExecutionStack: [{ data: { main: [items] } }] },
	});
	/** One that has slept. */
	const slept = (items: unknown) => ({ resultData: { runData: { Start: [{ data: { main: [items] } }] } } });
	const stopped = { resultData: { runData: {}, error: { message: 'cancelled' } } };

	/** The execution in the background, `supervisor`, begins to wait; then n8n dies before it has saved that of the node. */
	async function dieInBackground(items: INodeExecutionData[], executionId = '1', supervisor = '101') {
		const kept = { executionId, establishedAt };
		const { handed } = await runs.handOver(inBackground, { ...first, kept, items, ...inItems });
		const waits = { executionId: supervisor, establishedAt: establishedAt + 1 };
		await runs.handOver({ operation: 'durableKeepWaiting' }, { mode: 'integrated', kept: waits, items: handed[0] });
		await runs.dieAtTheEnd();
		return handed[0] ?? [];
	}
	const endsOf = (json: IDataObject[]) => json.map(({ code, execution_id: id }) => code ?? id);

	test.each<[string, (items: unknown) => object | undefined, boolean]>([
		['works', slept, true],
		['has just begun', begun, true],
		['was stopped', () => stopped, false],
		['was deleted', () => undefined, false],
	])(
		'a retry after a crash leaves the orders to the execution in the background only where that works: it %s',
		async (_, stored, keeps) => {
			const items = prompts('a', 'b');
			const of = stored(await dieInBackground(items));
			const again = await runs.handOver(inBackground, { ...retry, items }, of && { 101: of });
			expect(again.error).toBeUndefined();
			expect(endsOf(again.json)).toEqual(['101', '101']);
			const states = again.handed[0]?.map((item) => orderOf(item).state);
			expect([states, runs.sandbox.tasks.length]).toEqual([
				keeps ? undefined : ['accepted', 'accepted'],
				keeps ? 1 : 2,
			]);
		},
	);

	const NOT_THERE = 'submitted_by_other_retry';
	test.each<[string, string[], string[], string[], typeof slept]>([
		[
			'the node has refused it',
			['a [[sandbox create=422]]', 'b'],
			['a [[sandbox create=422]]', 'b'],
			[NOT_THERE, '101'],
			slept,
		],
		['nodes before return other items now', ['a', 'b'], ['c', 'a'], [NOT_THERE, '101'], slept],
		['there is one more of the same', ['a', 'b'], ['c', 'b', 'b'], [NOT_THERE, '101', NOT_THERE], slept],
		['its orders cannot be read', ['a', 'b'], ['a', 'b'], [NOT_THERE, NOT_THERE], () => slept([{ json: {} }])],
	])(
		'an item that the living execution in the background does not have is told not to be submitted: %s',
		async (_, texts, now, ends, stored) => {
			const handed = await dieInBackground(prompts(...texts));
			const bought = runs.sandbox.tasks.length;
			const again = await runs.handOver(
				inBackground,
				// n8n runs it again where the first item has an error.
				{ ...retry, items: prompts(...now), settings: { ...inItems.settings, retryOnFail: true, waitBetweenTries: 1 } },
				{ 101: stored(handed) },
			);
			expect(endsOf(again.json)).toEqual(ends);
			expect([again.handed, runs.sandbox.tasks.length]).toEqual([[], bought]);
			const leases = (await runs.rows()).filter(({ state, execution }) => state === 'lease' && execution === '2');
			expect(leases).toEqual([]);
		},
	);

	test('of two runs that began in the same millisecond, a retry submits nothing, and stops neither', async () => {
		const items = prompts('a', 'b');
		const stored = {
			101: slept(await dieInBackground(items, '1', '101')),
			102: slept(await dieInBackground(items, '3', '102')),
		};
		const again = await runs.handOver(inBackground, { ...retry, items, ...inItems }, stored);
		expect(endsOf(again.json)).toEqual(['outcome_still_unknown', 'outcome_still_unknown']);
		expect(again.json[0]?.details).toContain('Two executions began in the same millisecond');
		expect([again.handed, runs.sandbox.tasks.length]).toEqual([[], 2]);
		const leases = (await runs.rows()).filter(({ state }) => state === 'lease');
		expect(leases.map(({ execution }) => execution)).toEqual(['1', '101', '3', '102']);
	});
});

describe('a run that has a table', () => {
	const creating = () => runs.sandbox.requests.filter(({ method }) => method === 'POST');

	test('sends nothing whose row cannot be written any more', async () => {
		const items = prompts('a', 'b');
		const isBought = () => runs.tables.rows.filter(({ state }) => state === 'accepted').length === 2;
		await runs.crash(fromItem, { ...first, items }, isBought);
		always('insert', FULL)();
		const more = prompts('a', 'b', 'c');
		const { json } = await runs.run('image', fromItem, { ...retry, items: more, ...inItems });
		expect(json.map(({ code, status }) => code ?? status)).toEqual([
			...['completed', 'completed', 'submission_not_recorded'],
		]);
		expect(json[2]?.details).toContain('the storage of n8n’s data tables is full');
		expect(runs.sandbox.tasks).toHaveLength(2);
	});

	test('sends nothing while n8n’s database does not answer: only trying would tell if there is a table', async () => {
		hurry();
		const locked = 'SQLITE_BUSY: database is locked';
		for (let time = 0; time < 50; time++) runs.tables.faults.push(['list', locked]);
		const { json } = await runs.run('image', fromItem, { items: prompts('a'), ...inItems });
		expect(json[0]?.code).toBe('submission_not_recorded');
		expect(json[0]?.details).toContain(`The reason: ${locked}.`);
		expect(creating()).toHaveLength(0);
	});

	test('writes again what was not confirmed, and sends one request only', async () => {
		runs.tables.faults.push(['insert', 'SQLITE_BUSY: database is locked', 'commitsAlthough']);
		const { json } = await runs.run('image', fromItem, { items: prompts('a') });
		expect(json[0]?.status).toBe('completed');
		expect(creating()).toHaveLength(1);
		expect((await runs.rows()).map(({ state }) => state)).toEqual(
			expect.arrayContaining(['submitting', 'not_accepted', 'submitting', 'accepted']),
		);
	});

	test('says in a hint that rows of outcomes are missing, which it could not write', async () => {
		const { promise } = runs.begin('image', fromItem, { items: prompts('a [[sandbox create=slow:0.5s]]') });
		while (creating().length === 0) await pause(5);
		always('insert', FULL)();
		const { data } = await promise;
		// The rows are tried for a minute.
		runs.tables.faults.length = 0;
		const hints = (data.resultData.runData.Node?.[0]?.hints ?? []).map(({ message }) => message);
		expect(hints.filter((hint) => hint.includes(TABLE_NAME))).toEqual([
			expect.stringMatching(
				/^n8n could not write or read rows of this run in the data table "Gateway Purchases": the storage/,
			),
		]);
	});

	test('rows of the journal have no column that the table does not have', () => {
		expect(Object.keys(journalRow.shape).sort()).toEqual(Object.keys(COLUMNS).sort());
	});
});
