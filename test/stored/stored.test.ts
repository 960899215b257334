/**
 * Everything that a version of the package has stored is taken up by this one, in n8n's engine. The files below `data` are
 * what a version has written, and never change: `sums.json` says so. A new form of something stored gets a new file.
 */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { start, storageGives } from '../support/engine.mts';
import { DataTables, type Row } from '../support/dataTables.mts';
import { detailsOf, orderOf } from '../support/orders.mts';
import {
	runGateway,
	prompts,
	quick,
	quickSandbox,
	toOptions,
	type RunOptions,
	type Sandbox,
} from '../support/nodes.mts';
import { ProcessedData, useProcessedData } from '../support/processedData.mts';
import { runTool } from '../support/agent.mts';
import { runHandingOver } from '../support/handingOver.mts';
import { startHostile, text, type Hostile } from '../support/hostile.mts';
import { missingFields } from './support/fields.mts';
import { FILES, readStored, readSums, sumOf } from './support/files.mts';
import { callWebhook, poll, type StaticData } from '../support/triggers.mts';
import { OrderLedger } from '../../core/orders/ledger';
import { orderSchema } from '../../core/orders/order';
import { makeOrder } from '../../core/orders/states';
import { EarlierTries } from '../../core/purchases/earlierTries';
import { COLUMNS, parseRows, TABLE_NAME, type RunColumns } from '../../core/purchases/purchaseRow';
import { fileHashes } from '../../nodes/run/fileHashes';
import { hashOfKey } from '../../nodes/run/openPurchaseLog';

/** The files of this name, by their versions: one that has not changed its form has none. */
const each = (name: string) =>
	FILES.filter((file) => file.endsWith(`/${name}.json`)).map((file) => [file.split('/')[0], readStored(file)] as const);

/** The address of a file that is uploaded now. */
const UPLOADED = 'http://127.0.0.1:2/uploads/new.png';

/** A service that knows every task, and says that it has finished. */
let service: Hostile;
let sandbox: Sandbox;
const as = (hostile: Hostile) => hostile as unknown as Sandbox;
const record = (id: string, status: string) =>
	JSON.stringify({ id, object: 'generation.task', model: 'gamma-image-2', status, created_at: 1, progress: 100 });
beforeAll(async () => {
	[service, sandbox] = await Promise.all([startHostile(), quickSandbox()]);
});
afterAll(async () => await Promise.all([service.close(), sandbox.close()]));
afterEach(() => jest.restoreAllMocks());
beforeEach(() => {
	sandbox.reset();
	service.reset();
	let created = 0;
	service.answers.create = (response, request) => {
		const isUpload = request.url?.includes('uploads') === true;
		text(isUpload ? JSON.stringify({ url: UPLOADED }) : record(`img_new_${++created}`, 'queued'))(response, request);
	};
	storageGives('a picture');
	service.answers.poll = (response, request) => {
		const id = decodeURIComponent(request.url?.split('/').at(-1) ?? '');
		const urls = [`${service.baseUrl}/files/${id}.png`];
		text(JSON.stringify({ ...JSON.parse(record(id, 'completed')), data: [{ url: urls[0] }] }))(response, request);
	};
	useProcessedData(new ProcessedData());
});

test('the files are those that were written', () => {
	const sums = Object.fromEntries(FILES.map((name) => [name, sumOf(name)]));
	// A stored file never changes. What a version stores in a new form is a new file: then add its line to sums.json.
	expect(sums).toEqual(readSums());
});

/** The table of purchases, at the time at which it was stored: keys count for 30 days. */
interface StoredTable {
	establishedAt: number;
	rows: Row[];
}

/** A table of n8n with these rows, of this service. */
function tablesWith({ establishedAt, rows }: StoredTable): DataTables {
	const later = Date.now() - establishedAt - 5_000;
	const now = Date.now.bind(Date);
	jest.spyOn(Date, 'now').mockImplementation(() => now() - later);
	const tables = new DataTables();
	const columns = Object.entries(COLUMNS).map(([name, type]) => ({ name, type }));
	tables.tables.push({
		...{ id: 'log', name: TABLE_NAME, columns },
		rows: rows.map((row) => ({ ...row, base_url: service.baseUrl })),
	});
	return tables;
}

/** Runs a step of the sub-workflow again and again, as n8n does, until all orders have ended. */
async function takeUp(
	rows: INodeExecutionData[],
	kind: 'image' | 'video',
	tables?: DataTables,
): Promise<INodeExecutionData[]> {
	let contextData: Record<string, IDataObject> = {};
	for (let round = 0; round < 100; round++) {
		const { promise, additionalData } = start(
			toOptions(kind, as(service), { operation: 'durablePollTasks' }, { items: rows, kept: { contextData } }),
		);
		if (tables !== undefined) additionalData.executeWorkflow = tables.executeWorkflow as never;
		const { data } = await promise;
		const task = data.resultData.runData.Node?.at(-1);
		if (task?.error) throw task.error;
		({ contextData } = data.executionData as unknown as { contextData: Record<string, IDataObject> });
		const items = task?.data?.main?.[0] ?? [];
		if (items.every(({ json }) => (json.details as IDataObject | undefined)?.gateway_order)) return items;
	}
	throw new Error('It has not ended');
}

const tablesBeside = (name: string) =>
	tablesWith(readStored(name.replace(/orders.*/, 'purchase-table-asleep.json')) as StoredTable);

const ORDERS = FILES.filter((name) => name.includes('/orders/'));
const ENDS: Array<[file: RegExp, ends: string[], posts: number]> = [
	[/accepted|video-with-retry|wait-for-task/, ['done'], 0],
	[/contradicted|same-answer/, ['done'], 0],
	[/done-with-file/, ['done'], 0],
	[/failed/, ['failed'], 0],
	[/of-a-newer-version/, ['refused', 'refused'], 0],
	[/planned|in-a-wave-not-sent/, ['done'], 1],
	// Nobody knows whether it was sent.
	[/in-a-wave-sent|in-doubt/, ['outcomeUnknown'], 0],
	[/outcome-unknown-beside/, ['outcomeUnknown', 'done'], 0],
	[/refused-beside/, ['done', 'refused'], 0],
	[/with-purchase-key/, ['done', 'done'], 1],
	// The file is uploaded first.
	[/planned-with-files/, ['done'], 2],
	[/taken-over/, ['done', 'done'], 1],
	[/maybe-sent-again|in-the-background/, ['done'], 0],
	[/other-ends/, ['timedOut', 'stopped', 'notSubmitted', 'done'], 0],
];

describe.each(ORDERS)('%s', (name) => {
	const rows = readStored(name) as INodeExecutionData[];
	const kind = name.includes('video') ? 'video' : 'image';
	const [, ends, posts] = ENDS.filter(([file]) => file.test(name)).at(-1) ?? [];

	test('an order that an earlier version has stored is taken up: nothing is bought twice, every ID is kept', async () => {
		const table = name.includes('purchase') ? tablesBeside(name) : undefined;
		// As the node has written them before it handed the orders over.
		const names = new ProcessedData();
		names.rows.set('wf 1', [...new Set(rows.map((row) => String(orderOf(row).batch?.name)))]);
		useProcessedData(names);
		const ended = await takeUp(JSON.parse(JSON.stringify(rows)) as INodeExecutionData[], kind, table);
		expect(ended.map((row) => orderOf(row).end?.as)).toEqual(ends);
		expect(service.posts()).toBe(posts);
		for (const [index, row] of rows.entries()) {
			const after = ended[index] as INodeExecutionData;
			if (detailsOf(row).task_id !== undefined) expect(orderOf(after).task?.taskId).toBe(detailsOf(row).task_id);
			// An end stays as it is, with its file.
			if (orderOf(row).end !== undefined)
				expect([orderOf(after).end, after.binary]).toEqual([orderOf(row).end, row.binary]);
			if (orderOf(row).input !== undefined) expect(orderOf(after).input).toEqual(orderOf(row).input);
		}
		const wanted = rows.map((row) => orderOf(row)).filter(({ state }) => state === 'planned');
		const sent = service.requests
			.filter(({ body }) => body !== undefined)
			.map(({ body }) => JSON.parse(String(body)) as object);
		// What was stored is sent, with the address of a file in its place.
		if (posts !== undefined && posts > 0 && !name.includes('key'))
			expect(sent).toEqual(
				wanted.map(({ request }) => ({ ...request?.body, ...(request?.files && { reference_images: [UPLOADED] }) })),
			);
	});

	test('an order that a newer version has stored is refused with words, and kept as it is', async () => {
		const newer = rows.map((row) => {
			const copy = JSON.parse(JSON.stringify(row)) as INodeExecutionData;
			Object.assign(orderOf(copy), { version: 999, a_new_field: true });
			return copy;
		});
		const ended = await takeUp(newer, kind);
		expect(service.requests).toEqual([]);
		for (const [index, row] of newer.entries()) {
			const { end, about, task } = orderOf(ended[index] as INodeExecutionData);
			expect(end?.error?.message).toMatch(/^A newer version of this package has stored/);
			expect(about).toEqual({ stored: orderOf(row), binary: row.binary });
			expect(task?.taskId).toBe(orderOf(row).task?.taskId);
		}
	});
});

test('each field that an order can have is in one of the files', () => {
	const stored = ORDERS.flatMap((name) => (readStored(name) as INodeExecutionData[]).map(orderOf));
	// The files of an output are those of the item that has the order.
	expect(missingFields(orderSchema, stored)).toEqual(['.end.output.binary']);
	expect(missingFields(orderSchema, [{ ...stored[0], batch: undefined }])).toContain('.batch');
});

test.each(each('orders/contradicted'))(
	'%s: the time since which all answers contradict the acceptance counts on, and what is known of the credits stays',
	async (_, kept) => {
		service.answers.poll = text('{"error":{"message":"There is no such task"}}', {}, 404);
		const [ended] = await takeUp(structuredClone(kept) as INodeExecutionData[], 'image');
		const [before, after] = [(kept as INodeExecutionData[])[0], ended].map((row) => orderOf(row as INodeExecutionData));
		// The time is over long ago: the first answer counts.
		expect(service.requests.filter(({ method }) => method === 'GET')).toHaveLength(1);
		expect([after?.end?.as, after?.task?.taskId]).toEqual(['failed', 'task_1']);
		expect(after?.batch?.credits).toEqual(before?.batch?.credits);
	},
);

describe('what Keep Waiting remembers while it sleeps', () => {
	const ofPerson = { reason: 'manual' };
	const own = { resultData: { runData: {} }, parentExecution: { executionId: '40', shouldResume: true } };

	test.each(each('keep-waiting'))(
		'%s: it goes on, unless the execution that was to poll was stopped, or those that wait are gone for long',
		async (version, kept) => {
			const rows = readStored(`${version}/orders/accepted.json`) as INodeExecutionData[];
			const goOn = async (stored: Record<string, object>) => {
				const { handed, items } = await runHandingOver(sandbox, { operation: 'durableKeepWaiting' }, rows, {
					stored: { dead: { resultData: { runData: {} } }, second: { resultData: { runData: {} } }, ...stored },
					kept: { executionId: '41', contextData: structuredClone(kept) as Record<string, IDataObject> },
				});
				return [handed.length, ...items.map((item) => orderOf(item).end?.error?.details.reason?.name)];
			};
			expect(await goOn({ 41: own, 40: { resultData: { runData: {} } } })).toEqual([1]);
			expect(await goOn({ 41: own })).toEqual([0, 'waitingInterrupted']);
			const second = { resultData: { runData: {}, error: ofPerson } };
			expect(await goOn({ 41: own, 40: { resultData: { runData: {} } }, second })).toEqual([0, 'waitingInterrupted']);
		},
	);
});

test.each(each('agent-calls'))('%s: the calls of an agent are counted on', async (_, kept) => {
	const names = new ProcessedData();
	useProcessedData(names);
	const form = { operation: 'generate', prompt: 'a', downloadResult: false, options: quick };
	await runTool('image', sandbox, form, [{}], undefined, {
		kept: { executionId: '1', establishedAt: 1, contextData: structuredClone(kept) as Record<string, IDataObject> },
	});
	expect(names.all().map((name) => /run \d+/.exec(String(name))?.[0])).toEqual(['run 2', 'run 2']);
});

test.each(each('names-of-waves'))('%s: a wave whose name was stored may have been sent', async (version, kept) => {
	const rows = readStored(`${version}/orders/in-a-wave-not-sent.json`) as INodeExecutionData[];
	const table = new ProcessedData();
	table.rows.set('wf 1', (kept as { names: string[] }).names);
	useProcessedData(table);
	const [ended] = await takeUp(rows, 'image');
	expect(orderOf(ended as INodeExecutionData).end?.as).toBe('outcomeUnknown');
	expect(service.posts()).toBe(0);
});

describe('what a node remembers for a retry', () => {
	const generate = { operation: 'generate', prompt: '={{ $json.prompt }}', options: quick };
	const retry = (contextData: IDataObject, items: INodeExecutionData[], settings = {}) =>
		runGateway('image', as(service), generate, {
			mode: 'retry',
			items,
			settings,
			kept: { executionId: '2', establishedAt: 1, contextData: structuredClone(contextData) as never },
		});

	test.each([...each('ledger'), ...each('ledger-other-ids')])(
		'%s: what was accepted goes on, and an unknown outcome is not bought again',
		async (_, kept) => {
			const contextData = kept as { 'node:Node': { generationGatewayTasks: Record<string, { taskId?: string }> } };
			const { json } = await retry(contextData as never, prompts('one', 'unclear'), {
				onError: 'continueRegularOutput',
			});
			expect(json).toEqual([
				expect.objectContaining({
					task_id: contextData['node:Node'].generationGatewayTasks['0.0']?.taskId,
					status: 'completed',
				}),
				expect.objectContaining({ code: 'outcome_still_unknown' }),
			]);
			expect(service.posts()).toBe(0);
		},
	);

	test.each(each('ledger-handed-over'))(
		'%s: what another execution goes on with is not bought here',
		async (_, kept) => {
			const items = prompts('a red cat', 'a blue cat', 'a green cat', 'a grey cat');
			const settings = { onError: 'continueRegularOutput' };
			const { json } = await retry(kept as IDataObject, items, settings);
			expect(json.map(({ code, status }) => code ?? status)).toEqual([
				...['completed', 'completed'],
				...['outcome_still_unknown', 'outcome_still_unknown'],
			]);
			expect(service.posts()).toBe(0);
		},
	);

	test.each([...each('ledger-with-log'), ...each('ledger-with-renamed-files')])(
		'%s: what the ledger knows from the purchase log goes on, or is left to the user',
		async (_, kept) => {
			const contextData = kept as IDataObject;
			const { json } = await retry(contextData, prompts('one', 'two', 'three'), { onError: 'continueRegularOutput' });
			expect(json.map(({ task_id: id, status, code }) => [id, status ?? code])).toEqual([
				['img_000k18Tg5plfgtkArWRZs9', 'completed'],
				['img_000b51oRIewvSPYpDlrzme', 'created_from_other_request'],
				// It was bought under a key that this item does not have, and nothing is bought beside rows that were seen.
				[undefined, 'submission_not_recorded'],
			]);
			expect(service.posts()).toBe(0);
			const { 'node:Node': store } = structuredClone(contextData) as Record<string, IDataObject>;
			const id = 'filesystem-v2:workflows/wf/executions/1/binary_data/00000000-0000-4000-8000-000000000000';
			const gone = async () => await Promise.reject(new Error('it is gone'));
			expect(await fileHashes(store as IDataObject)(id, gone)).toBe('3q2+7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=');
		},
	);

	test.each([...each('handed-over'), ...each('handed-over-by-task')])(
		'%s: what another execution waits for is not handed over again',
		async (_, kept) => {
			const form = {
				...generate,
				...{ whenDone: 'startWorkflow', startMode: 'eachItem' },
				workflowId: { __rl: true, mode: 'list', value: 'w1', cachedResultName: 'Post Picture' },
			};
			const { promise, additionalData } = start(
				toOptions('image', as(service), form, {
					...{ mode: 'retry', items: prompts('a', 'b') },
					kept: { executionId: 'exec1', establishedAt: 1, contextData: structuredClone(kept) as never },
				}),
			);
			const handedOver: unknown[] = [];
			additionalData.executeWorkflow = async ({ code }, _context, { inputData = [] }) => {
				if (code !== undefined) handedOver.push(...inputData.map((row) => orderOf(row).task?.taskId));
				return await Promise.resolve({ executionId: '102', data: [null] });
			};
			const { data } = await promise;
			const items = data.resultData.runData.Node?.at(-1)?.data?.main?.[0] ?? [];
			const [first, second] = ['img_00011TFJTeifXhJVdJnnPr', 'img_0002QqsKwtmkuiI4X3QmqV'];
			expect(items.map(({ json }) => [json.task_id, json.execution_id])).toEqual([
				[first, '101'],
				[second, '102'],
			]);
			expect(handedOver).toEqual([second]);
			expect(service.posts()).toBe(0);
		},
	);

	test.each(each('names'))('%s: a retry after a crash finds the name of what has crashed', async (_, kept) => {
		const { names, establishedAt } = kept as { names: string[]; establishedAt: number };
		const table = new ProcessedData();
		table.rows.set('wf 1', names);
		useProcessedData(table);
		const { error } = await runGateway('image', as(service), generate, {
			mode: 'retry',
			items: prompts('one', 'unclear'),
			kept: { executionId: '2', establishedAt },
		});
		expect(error?.message).toMatch(/may or may not have accepted/);
		expect(service.posts()).toBe(0);
	});

	test.each(each('purchase-log'))('%s: the rows of the purchase log tell what was bought', async (_, kept) => {
		const order = (item: number) =>
			makeOrder({
				...{ item, thing: 'task', kind: 'image', then: 'nothing' },
				request: { body: {}, hash: `hash of ${item}`, submitAgain: false },
			});
		const ledger = new OrderLedger({ store: {}, executionId: '2', runIndex: 0 });
		const tries = EarlierTries.read(parseRows(kept as unknown[]));
		const goOn = await tries?.restoreLedger(ledger, [0, 1, 2, 3, 4, 5, 6].map(order), async () => {});
		// submitting, unknown, not_accepted, accepted, failed, failed_permanently, completed
		expect([...(goOn?.keys() ?? [])].map(({ item }) => item)).toEqual([3, 5, 6]);
		expect([0, 1, 2, 4].map((item) => ledger.find(item, `hash of ${item}`) !== undefined)).toEqual([
			...[true, true],
			...[false, false],
		]);
	});
});

describe('the table of purchases, read by the node', () => {
	const keyed = {
		operation: 'generate',
		prompt: '={{ $json.prompt }}',
		downloadResult: false,
		options: { ...quick, purchaseKey: '=order of {{ $json.prompt }}' },
	};
	const bought = prompts(
		...['one [[sandbox duration=2s]]', 'two [[sandbox duration=2s]]', 'unclear [[sandbox create=504!after]]'],
	);
	const run = async (table: StoredTable, options: RunOptions, more: IDataObject = {}) => {
		const tables = tablesWith(table);
		const { promise, additionalData } = start(
			toOptions(
				'image',
				as(service),
				{ ...keyed, options: { ...keyed.options, ...more } },
				{
					...{ credential: { purchaseLog: true }, settings: { onError: 'continueRegularOutput' }, items: bought },
					...options,
				},
			),
		);
		additionalData.executeWorkflow = tables.executeWorkflow as never;
		const { data } = await promise;
		return (data.resultData.runData.Node?.at(-1)?.data?.main?.[0] ?? []).map(({ json }) => json);
	};
	const outcomes = (items: IDataObject[]) => items.map(({ task_id, status, code }) => [task_id ?? '', status ?? code]);
	const idsIn = ({ rows }: StoredTable) => rows.filter(({ state }) => state === 'accepted').map((row) => row.task_id);

	test.each(each('purchase-table-crashed'))(
		'%s: a retry after a crash goes on with the tasks in the table of purchases',
		async (_, kept) => {
			const table = kept as StoredTable;
			const { establishedAt } = table;
			const json = await run(table, { mode: 'retry', kept: { executionId: '9', establishedAt } });
			expect(outcomes(json)).toEqual([...idsIn(table).map((id) => [id, 'completed']), ['', 'outcome_still_unknown']]);
			expect(service.posts()).toBe(0);
		},
	);

	test.each(each('purchase-log'))(
		'%s: what rows in each state tell of another request is said, and what is free is bought',
		async (_, kept) => {
			const rows = kept as Row[];
			const establishedAt = Number(/established (\d+)/.exec(String(rows[0]?.run))?.[1]);
			const items = prompts(...['one', 'two', 'three', 'four', 'five', 'six', 'seven']);
			const options = { mode: 'retry' as const, items, kept: { executionId: '9', establishedAt } };
			const json = await run({ establishedAt, rows }, options, { purchaseKey: '' });
			expect(json.map(({ code, status }) => code ?? status)).toEqual([
				...['outcome_still_unknown', 'outcome_still_unknown'],
				// not_accepted
				'completed',
				'created_from_other_request',
				// failed
				'completed',
				...['created_from_other_request', 'created_from_other_request'],
			]);
			expect(service.posts()).toBe(2);
		},
	);

	test.each(each('names-without-rows'))(
		'%s: where its name says that rows are missing, a retry does not go by the table of purchases',
		async (version, kept) => {
			const table = readStored(`${version}/purchase-table-crashed.json`) as StoredTable;
			const names = new ProcessedData();
			names.rows.set('wf 1', (kept as { names: string[] }).names);
			useProcessedData(names);
			const { establishedAt } = table;
			const rows = table.rows.map((row) => ({ ...row, key_hash: '' }));
			const json = await run(
				{ ...table, rows },
				{ mode: 'retry', kept: { executionId: '9', establishedAt } },
				{ purchaseKey: '' },
			);
			expect(json.map(({ code }) => code)).toEqual(json.map(() => 'outcome_still_unknown'));
			expect(service.posts()).toBe(0);
		},
	);

	test.each(each('purchase-table-crashed'))(
		'%s: another execution buys nothing under the keys in the table of purchases',
		async (_, kept) => {
			const table = kept as StoredTable;
			const hashed = (row: Row, base_url: unknown) =>
				hashOfKey(`order of ${String(bought[Number(row.item)]?.json.prompt)}`, {
					...row,
					base_url,
				} as unknown as RunColumns);
			expect(table.rows.map((row) => hashed(row, row.base_url))).toEqual(table.rows.map((row) => row.key_hash));
			// The account is another one here: its address is part of the hash.
			const rows = table.rows.map((row) => ({ ...row, key_hash: hashed(row, service.baseUrl) }));
			const json = await run({ ...table, rows }, { mode: 'trigger', kept: { executionId: '9', establishedAt: 1 } });
			expect(outcomes(json).slice(0, 2)).toEqual(idsIn(table).map((id) => [id, 'completed']));
			expect(json.slice(0, 2).map(({ reused }) => reused)).toEqual([true, true]);
			expect(json[2]?.error).toBeDefined();
			expect(service.posts()).toBe(0);
		},
	);
});

describe('static data of a workflow', () => {
	test.each(each('static-data-balance'))('%s: a trigger that has fired does not fire again', async (_, kept) => {
		const staticData = structuredClone(kept) as StaticData;
		const parameters = { threshold: 1e9, unit: 'credits' };
		expect(await poll('balanceTrigger', sandbox, parameters, { staticData })).toBeNull();
		expect(await poll('balanceTrigger', sandbox, parameters, { staticData: {} })).toHaveLength(1);
	});

	test.each(each('static-data-balance-used'))(
		'%s: a trigger that has fired fires again when more was used than can be without a recovery',
		async (_, kept) => {
			const parameters = { threshold: 1000, unit: 'credits' };
			const look = async (used: number) => {
				Object.assign(sandbox.users[0], { remainCredits: 400, usedCredits: used });
				return await poll('balanceTrigger', sandbox, parameters, { staticData: structuredClone(kept) as StaticData });
			};
			expect(await look(620)).toBeNull();
			expect(await look(1620)).toHaveLength(1);
		},
	);

	test.each(each('static-data-balance-granted'))(
		'%s: a trigger that has fired fires again when the account was given more than it ever had',
		async (_, kept) => {
			const parameters = { threshold: 1000, unit: 'credits' };
			const look = async (remain: number, used: number) => {
				Object.assign(sandbox.users[0], { remainCredits: remain, usedCredits: used });
				return await poll('balanceTrigger', sandbox, parameters, { staticData: structuredClone(kept) as StaticData });
			};
			expect(await look(950, 5150)).toBeNull();
			expect(await look(951, 5150)).toHaveLength(1);
		},
	);

	test.each(each('static-data-balance-account'))(
		'%s: a trigger that has fired for one account fires for another one',
		async (_, kept) => {
			const look = async (id: string) => {
				const staticData = structuredClone(kept) as StaticData;
				const settings = { credentials: { generationGatewayApi: { id, name: 'Any' } } };
				return await poll('balanceTrigger', sandbox, { threshold: 1e9, unit: 'credits' }, { staticData, settings });
			};
			expect(await look('generationGatewayApi')).toBeNull();
			expect(await look('another')).toHaveLength(1);
		},
	);

	/** The callback of a stored verification: whether it has started the workflow. */
	async function callBack(kept: unknown): Promise<boolean> {
		const { session, staticData } = kept as { session: Record<string, string>; staticData: StaticData };
		const { generationGatewayVerifications: all } = staticData.global as Record<
			string,
			Record<string, { atMs: number }>
		>;
		const atMs = all?.[session.vendor_token ?? '']?.atMs ?? 0;
		jest.spyOn(Date, 'now').mockReturnValue(atMs + 1000);
		const address = new URL(session.callback_url ?? '');
		const url = `${address.pathname}${address.search}&resultCode=10000&vendorToken=${session.vendor_token}`;
		const { items } = await callWebhook('avatarVerificationTrigger', sandbox, url, {
			staticData: structuredClone(staticData),
		});
		jest.restoreAllMocks();
		expect(sandbox.requests.map(({ path }) => path)).toEqual(
			expect.arrayContaining([expect.stringContaining(session.task_id ?? '')]),
		);
		return items !== undefined && items.length > 0;
	}

	// The other way round, the process would know by itself what the other test has told.
	test.each(each('static-data-verification-told'))(
		'%s: a verification that has started the workflow without a proof does not start it again without one',
		async (_, kept) => {
			expect(await callBack(kept)).toBe(false);
		},
	);

	test.each(each('static-data-verification'))('%s: a verification is found by its vendor token', async (_, kept) => {
		expect(await callBack(kept)).toBe(true);
	});
});
