/** Reuse While Building: a manual execution buys nothing that its node has bought for the same request in the last 24 hours. */
import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { IDataObject } from 'n8n-workflow';
import { TABLE_NAME } from '../../core/labels';
import { MAY_BE_UNDER_WAY_MS } from '../../core/limits';
import { COLUMNS } from '../../core/journal/row';
import { journalTables, toldOfReuse } from '../../core/processMemory';
import { DataTables } from '../support/dataTables.mts';
import { useBinaryMode } from '../support/engine.mts';
import {
	hurry,
	NODES,
	pause,
	pngField,
	prompts,
	quick,
	quickSandbox,
	startGateway,
	type Kind,
	type RunOptions,
	type Sandbox,
} from '../support/nodes.mts';

let sandbox: Sandbox;
let tables: DataTables;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => {
	sandbox.reset();
	tables = new DataTables();
	const columns = Object.entries(COLUMNS).map(([name, type]) => ({ name, type }));
	tables.tables.push({ id: 'log', name: TABLE_NAME, columns, rows: [] });
	journalTables.clear();
	toldOfReuse.clear();
	hurry();
});
afterEach(() => void jest.restoreAllMocks());

const reuse = { ...quick, reuseWhileBuilding: true };
const fromItem = { operation: 'generate', prompt: '={{ $json.prompt }}', result: 'urlOnly', options: reuse };
const inItems = { settings: { onError: 'continueRegularOutput' as const } };
const withLog = { advanced: true, purchaseLog: true };

interface Execution extends RunOptions {
	kind?: Kind;
	parameters?: IDataObject;
}

function begin({ kind = 'image', parameters = {}, ...options }: Execution) {
	const form = { ...fromItem, ...parameters };
	const started = startGateway(kind, sandbox, form, { items: prompts('a'), credential: withLog, ...options });
	started.additionalData.executeWorkflow = tables.executeWorkflow as never;
	return started;
}

async function outcomeOf({ promise }: ReturnType<typeof begin>) {
	const { data } = await promise;
	const task = data.resultData.runData.Node?.at(-1);
	const json = task?.data?.main?.flatMap((items) => items?.map((item) => item.json) ?? []) ?? [];
	const hints = (task?.hints ?? []).map(({ message }) => message);
	return {
		...{ data, json, hints, error: task?.error as (Error & { description?: string }) | undefined },
		ids: json.map(({ task_id: id }) => id),
		ofReuse: hints.filter((hint) => hint.includes('Reuse While Building')),
	};
}

/** One execution, as **Execute step** begins it. */
const execute = async (execution: Execution = {}) => await outcomeOf(begin(execution));
const off = { parameters: { options: quick } };
const states = () => tables.rows.map(({ state }) => state).filter((state) => state !== 'lease');

test.each<[string, Execution]>([
	['an image', {}],
	['a video', { kind: 'video' }],
	['a task that is not waited for', { parameters: { wait: 'dontWait' } }],
])('%s that the node has bought is not bought again, and a hint says so', async (_, execution) => {
	const bought = await execute(execution);
	const [{ createdAt = '' } = {}] = tables.rows.filter(({ state }) => state === 'accepted');
	const again = await execute(execution);
	expect(again.ids).toEqual(bought.ids);
	expect([bought.json[0]?.reused, again.json[0]?.reused]).toEqual([undefined, true]);
	const time = `${createdAt.slice(0, 10)} at ${createdAt.slice(11, 16)} UTC`;
	expect(again.ofReuse).toEqual([
		`1 item got a task that this node has bought before, on ${time}. Nothing was bought for it. To buy again, turn off Reuse While Building.`,
	]);
	// The hint about a task that runs must not say that this node buys again.
	expect(again.hints.join()).not.toMatch(/pay again/);
	expect([sandbox.tasks.length, states()]).toEqual([1, ['submitting', 'accepted']]);
});

test('items with one request get a task each, those with other requests theirs, and what is missing is bought', async () => {
	const bought = await execute({ items: prompts('a', 'b', 'a') });
	const again = await execute({ items: prompts('b', 'a', 'c', 'a', 'a') });
	const [a1, b, a2] = bought.ids;
	const [c, a3] = sandbox.tasks.slice(3).map(({ id }) => id);
	expect(again.ids[0]).toBe(b);
	expect(new Set(again.ids)).toEqual(new Set([a1, b, a2, c, a3]));
	expect(again.json.map(({ reused = false }) => reused)).toEqual([true, true, false, true, false]);
	expect(again.ofReuse.join()).toMatch(/^3 items got tasks .*, the oldest on .* UTC\. Nothing was bought for them\./);
	expect(sandbox.tasks).toHaveLength(5);
});

test('the same item gets the same task each time', async () => {
	const { ids } = await execute({ items: prompts('a', 'a', 'a') });
	expect((await execute({ items: prompts('a', 'a', 'a') })).ids).toEqual(ids);
	expect((await execute({ items: prompts('a', 'a', 'a') })).ids).toEqual(ids);
});

test.each(['submitting', 'unknown'])(
	'a request that was left %s is not bought again without a word: the option has to be off',
	async (state) => {
		await execute({ items: prompts('a', 'b') });
		const [first, ...others] = tables.rows.filter((row) => row.state !== 'lease' && row.item === 0);
		for (const row of others) Object.assign(row, { state: state === 'unknown' ? state : 'lease' });
		const createdAt = new Date(Date.now() - MAY_BE_UNDER_WAY_MS - 1_000).toISOString();
		for (const row of tables.rows) Object.assign(row, { createdAt });
		const { error, json } = await execute({ items: prompts('b', 'a') });
		expect([error?.message, json]).toEqual([
			`The service may or may not have accepted the same request, which execution ${first?.execution} has sent`,
			[],
		]);
		expect(error?.description).toContain('turn off Reuse While Building');
		expect((await execute({ ...off, items: prompts('a') })).error).toBeUndefined();
		expect((await execute({ items: prompts('a') })).json[0]?.reused).toBe(true);
		expect(sandbox.tasks).toHaveLength(3);
	},
);

test('a request of an execution that was stopped is not bought again while its answer may come', async () => {
	await execute();
	const [submitting, accepted] = tables.rows.filter(({ state }) => state !== 'lease');
	Object.assign(accepted ?? {}, { state: 'lease' });
	const { error } = await execute();
	expect(error?.message).toBe(
		`Execution ${submitting?.execution} has sent the same request, and its answer may still come`,
	);
	expect(sandbox.tasks).toHaveLength(1);
	Object.assign(submitting ?? {}, { createdAt: new Date(Date.now() - MAY_BE_UNDER_WAY_MS - 1_000).toISOString() });
	expect((await execute()).error?.message).toMatch(/may or may not have accepted the same request/);
	expect(sandbox.tasks).toHaveLength(1);
});

test('a round of a loop takes nothing that an earlier one has handed over', async () => {
	await execute();
	for (const row of tables.rows) Object.assign(row, { execution: '102', first: '100' });
	expect((await execute({ kept: { executionId: '100', establishedAt: 100 } })).json[0]?.reused).toBeUndefined();
	expect((await execute({ kept: { executionId: '103', establishedAt: 103 } })).json[0]?.reused).toBe(true);
});

test('rounds of a loop buy and get tasks of their own', async () => {
	const loop = async (executionId: string) => {
		const kept = { executionId, establishedAt: Number(executionId) };
		const first = await execute({ kept });
		const contextData = structuredClone(first.data.executionData?.contextData) as Record<string, IDataObject>;
		const runs = first.data.resultData.runData.Node;
		const second = await execute({ kept: { ...kept, contextData, runs } });
		return [...first.ids, ...second.ids];
	};
	const bought = await loop('1');
	expect(new Set(bought).size).toBe(2);
	expect(await loop('2')).toEqual(bought);
	expect(sandbox.tasks).toHaveLength(2);
});

test.each<[string, Execution]>([
	['a trigger', { mode: 'trigger' }],
	['a webhook', { mode: 'webhook' }],
	['a calling workflow', { mode: 'integrated' }],
	['a retry', { mode: 'retry' }],
	['a person, with the option off', { ...off }],
	['a person, with the option turned off', { parameters: { options: { ...quick, reuseWhileBuilding: false } } }],
	['a person, with another request', { items: prompts('b') }],
	['a person, in another node', { settings: { id: 'other' } }],
])('an execution that is started by %s buys', async (_, execution) => {
	const bought = await execute();
	const other = await execute(execution);
	expect(other.json).toMatchObject([{ status: 'completed' }]);
	expect(other.json[0]?.reused).toBeUndefined();
	expect([sandbox.tasks.length, other.ids[0] === bought.ids[0]]).toEqual([2, false]);
});

test.each<[string, (row: IDataObject) => void]>([
	['is older than 24 hours', (row) => (row.createdAt = new Date(Date.now() - 24 * 3_600_000 - 1000).toISOString())],
	['is of another account', (row) => (row.account = 'other')],
	['is of another workflow', (row) => (row.run = `${String(row.run)}2`)],
	['has no ID', (row) => (row.task_id = '')],
	['cannot be read', (row) => (row.state = 'new')],
])('a purchase that %s is not reused', async (_, change) => {
	await execute();
	tables.rows.forEach(change);
	await execute();
	expect(sandbox.tasks).toHaveLength(2);
});

test('a purchase of 23 hours ago is reused, and the hint names its time', async () => {
	await execute();
	const atMs = Date.now() - 23 * 3_600_000;
	for (const row of tables.rows) row.createdAt = new Date(atMs).toISOString();
	const { ofReuse } = await execute();
	const time = new Date(atMs).toISOString();
	expect(ofReuse.join()).toContain(`on ${time.slice(0, 10)} at ${time.slice(11, 16)} UTC`);
	expect(sandbox.tasks).toHaveLength(1);
});

test('a task that has failed is bought again, also where this is found out only when it is reused', async () => {
	const failing = { items: prompts('a [[sandbox fail=generation_failed duration=0.2s]]'), ...inItems };
	const notWaited = { ...failing, parameters: { wait: 'dontWait' } };
	await execute(notWaited);
	await pause(400);
	const found = await execute(failing);
	expect(found.json[0]?.code).toBe('task_failed');
	expect(sandbox.tasks).toHaveLength(1);
	// The row is one of the run that has bought it: in another one, a retry would miss the rows before.
	const [bought, , failed] = tables.rows.filter(({ state }) => state !== 'lease');
	expect([failed?.state, failed?.run, failed?.first]).toEqual(['failed', bought?.run, bought?.first]);
	const again = await execute(failing);
	expect([sandbox.tasks.length, again.json[0]?.task_id]).toEqual([2, sandbox.tasks[1]?.id]);
});

test.each(['file', 'status'] as const)(
	'where the %s of a task is gone, the error says how to buy it again',
	async (on) => {
		const form = { parameters: { result: 'file' } };
		await execute(form);
		sandbox.faults.add({ on, times: -1, do: '404' });
		const sinceMs = Date.now();
		jest.spyOn(Date, 'now').mockImplementation(() => sinceMs + 7 * 3_600_000);
		const { error } = await execute(form);
		expect(error?.message).toMatch(/^The service no longer keeps the result of task \S+, which Reuse While Building/);
		expect(error?.description).toContain('turn off Reuse While Building');
		expect(sandbox.tasks).toHaveLength(1);
	},
);

test('a retry of an execution that has reused tasks goes on with them', async () => {
	await execute({ items: prompts('a') });
	const establishedAt = Date.now();
	const failed = await execute({
		items: prompts('a', 'b [[sandbox create=400*1]]'),
		kept: { executionId: '2', establishedAt },
	});
	expect(failed.error).toBeDefined();
	const contextData = structuredClone(failed.data.executionData?.contextData) as Record<string, IDataObject>;
	const kept = { executionId: '3', establishedAt, contextData };
	const retried = await execute({ items: prompts('a', 'b [[sandbox create=400*1]]'), mode: 'retry', kept });
	expect(retried.error).toBeUndefined();
	expect(retried.json.map(({ reused = false }) => reused)).toEqual([true, false]);
	expect(sandbox.tasks).toHaveLength(2);
});

test('a second click gets the task of the first one as soon as it has an ID, and buys nothing before', async () => {
	const items = prompts('a [[sandbox duration=1s]]');
	const [first, second] = await Promise.all([execute({ items }), execute({ items })]);
	expect(second.error?.message).toMatch(/^This node is already running with the same requests/);
	sandbox.reset();
	tables.clear();
	const running = begin({ items });
	while (!states().includes('accepted')) await pause(20);
	const later = await execute({ items });
	expect(later.error).toBeUndefined();
	expect(later.ids).toEqual((await outcomeOf(running)).ids);
	expect([first.error, sandbox.tasks.length]).toEqual([undefined, 1]);
});

describe('files', () => {
	beforeAll(async () => void (await useBinaryMode('filesystem')));
	afterAll(async () => void (await useBinaryMode('default')));

	test('a file counts by its content, in whatever place n8n keeps it', async () => {
		const picture = Buffer.from(pngField().data, 'base64');
		const parameters = { prompt: 'a', images: { image: [{ source: 'binary', binaryPropertyName: 'data' }] } };
		const deliver = async (executionId: string, content: Buffer) => {
			const { mimeType, fileName } = pngField();
			const place = { type: 'execution' as const, workflowId: 'wf', executionId };
			const data = await Container.get(BinaryDataService).store(place, content, { data: '', mimeType, fileName });
			return (await execute({ parameters, items: [{ json: {}, binary: { data } }] })).json[0]?.reused;
		};
		expect(await deliver('1', picture)).toBeUndefined();
		expect(await deliver('2', picture)).toBe(true);
		expect(await deliver('3', Buffer.concat([picture, Buffer.from('x')]))).toBeUndefined();
	});
});

describe('without a look into the table', () => {
	const full = 'Data table size limit exceeded';

	test.each<[string, Execution, RegExp, () => void]>([
		['the log is off', { credential: { ...withLog, purchaseLog: false } }, /Purchase Log is turned off/, () => {}],
		['this n8n has no data tables', { excluded: 'n8n-nodes-base.dataTable' }, /does not have the node/, () => {}],
		[
			'there is no table, and n8n makes none',
			{},
			/size limit exceeded/,
			() => {
				tables.tables.length = 0;
				tables.faults.push(...Array.from({ length: 20 }, (): [string, string] => ['create', full]));
			},
		],
	])('the option has no effect where %s, and a hint says why', async (_, execution, why, prepare) => {
		prepare();
		await execute(execution);
		const { ofReuse } = await execute(execution);
		expect(ofReuse).toEqual([expect.stringMatching(/^Reuse While Building has no effect here: /)]);
		expect(ofReuse[0]).toMatch(why);
		expect(sandbox.tasks).toHaveLength(2);
	});

	test.each<[string, RunOptions['settings']]>([
		['the execution', {}],
		['the item', inItems.settings],
	])('nothing is bought where the table cannot be read: %s ends with an error', async (_, settings) => {
		tables.faults.push(['get', 'database is locked'], ['get', 'database is locked']);
		const { json, error } = await execute({ settings });
		const [{ error: message, details } = {}] = json;
		expect(error?.message ?? message).toBe('Reuse While Building is on, but the purchase log cannot be read');
		expect(String(error?.description ?? details)).toContain('database is locked');
		expect([sandbox.requests.length, states()]).toEqual([0, []]);
	});

	test('nothing is bought where the table cannot be looked for', async () => {
		tables.faults.push(...Array.from({ length: 4 }, (): [string, string] => ['list', 'database is locked']));
		expect((await execute()).error?.message).toMatch(/^Reuse While Building is on, but/);
		expect(sandbox.requests).toEqual([]);
	});
});

describe('the hint at the option', () => {
	const hint = expect.stringMatching(/^While you build, turn on Reuse While Building in the options/) as string;

	test('it comes with the first manual purchase of a node, once', async () => {
		expect((await execute(off)).ofReuse).toEqual([hint]);
		expect((await execute(off)).ofReuse).toEqual([]);
		expect((await execute({ ...off, settings: { id: 'other' } })).ofReuse).toEqual([hint]);
	});

	test.each<[string, Execution]>([
		['the option is on', {}],
		['a trigger has started it', { ...off, mode: 'trigger' }],
		['nothing was bought', { ...off, items: prompts('a [[sandbox create=400]]'), ...inItems }],
		['there is no log', { ...off, credential: { ...withLog, purchaseLog: false } }],
		['only results are fetched', { parameters: { operation: 'getResult', taskId: 'x', options: quick }, ...inItems }],
	])('it does not come where %s', async (_, execution) => {
		expect((await execute(execution)).ofReuse).toEqual([]);
	});
});

test.each(['image', 'video'] as const)('the option is one of Generate for a person, not for an agent: %s', (kind) => {
	const { properties } = NODES[kind].description;
	const options = properties.filter(({ name }) => name === 'options').flatMap(({ options: all = [] }) => all);
	const [option, ...others] = options.filter(({ name }) => name === 'reuseWhileBuilding');
	expect(others).toEqual([]);
	expect(option).toMatchObject({ type: 'boolean', displayOptions: { hide: { '@tool': [true] } } });
});
