/** The purchase log of a run: whether there is one, what all its rows have in common, and the gap that a crash does not wipe out. */
import type { Batch } from '../../core/orders/batch';
import { OrderLedger } from '../../core/orders/ledger';
import type { Order } from '../../core/orders/order';
import { readLedgerScope } from '../../nodes/run/ledgerScope';
import { continuePurchaseLog, hashOfKey, openPurchaseLog } from '../../nodes/run/openPurchaseLog';
import { findTable } from '../../nodes/purchaseLog/table';
import { lightContext, untilDone, type LightOptions } from '../support/lightContext.mts';

beforeEach(() => jest.useFakeTimers({ now: 1_000_000 }));
afterEach(() => jest.useRealTimers());

const DAY_MS = 86_400_000;
const known = { 'n8n-nodes-base.executeWorkflowTrigger': {}, 'n8n-nodes-base.dataTable': {} };
const order = () =>
	({ thing: 'task', model: 'm', item: 3, state: 'planned', request: { hash: 'h' } }) as unknown as Order;
let workflows = 0;

/** A context of a workflow of its own, because the IDs of tables are remembered by workflow. */
function world({ more = {}, ...options }: LightOptions = {}) {
	const workflow = { id: `purchases-${++workflows}`, name: 'Workflow' };
	const light = lightContext({
		...options,
		credential: { purchaseLog: true, ...options.credential },
		more: { getKnownNodeTypes: () => known, getWorkflow: () => workflow, ...more },
	});
	const hints = new Set<string>();
	const open = async () => {
		const ledger = new OrderLedger(readLedgerScope(light.context));
		return await openPurchaseLog(light.context, ledger, hints);
	};
	return { ...light, hints, open, workflow };
}

const retry = { getMode: () => 'retry' };

test('without Purchase Log in the credential, a run has no log', async () => {
	expect(await world({ credential: { purchaseLog: false } }).open()).toBeUndefined();
});

test('an expression for Purchase Log that gives neither true nor false is a mistake that names the field', async () => {
	await expect(world({ credential: { purchaseLog: 'maybe' } }).open()).rejects.toThrow(
		'Purchase Log in the credential is "maybe"',
	);
});

test('a retry without Purchase Log has one that says why, remembers the gap, and shows no hint', async () => {
	const { open, hints, names, tables } = world({ credential: { purchaseLog: false }, more: retry });
	const log = await open();
	expect(log?.ports.obstacle).toBe('Purchase Log is turned off');
	await untilDone((log as NonNullable<typeof log>).begin(order()));
	expect([...hints]).toEqual([]);
	expect([...names]).toEqual(['generation-gateway established 1, run 0, without rows']);
	expect(tables.operations).toEqual([]);
});

test('all rows of a run name its workflow, node, execution, run, credential and address', async () => {
	const { open, tables, workflow } = world({ node: { id: 'node-id', name: 'Generate' } });
	const log = await open();
	expect(log?.ports.executionId).toBe('own');
	await untilDone((log as NonNullable<typeof log>).begin(order()));
	expect(tables.rows).toMatchObject([
		{
			...{ workflow: 'Workflow', workflow_id: workflow.id, node: 'Generate', node_id: 'node-id' },
			...{ execution: 'own', run: 'established 1, run 0', retry: false },
			...{ account: 'c', base_url: 'https://gateway.test', state: 'submitting', item: 3 },
		},
	]);
	expect(await world({ more: retry }).open()).toMatchObject({ ports: { columns: { retry: true } } });
});

test('a node whose credential has no ID has rows all the same', async () => {
	for (const credentials of [undefined, {}, { generationGatewayApi: undefined }]) {
		const log = await world({ node: { credentials } as never }).open();
		expect(log?.ports.columns.account).toBe('');
	}
});

test.each<[string, object]>([
	['the workflow has not been saved', { getWorkflow: () => ({}) }],
	['this n8n is too old', { getExecutionContext: () => undefined }],
	['this n8n is too old', { getExecutionContext: undefined }],
	['it is not possible in n8n’s engine 2.0', { getExecutionId: () => '0198c4f2-7c1a-7000-8000-000000000001' }],
	[
		'this n8n does not have the node "Data table"',
		{ getKnownNodeTypes: () => ({ ...known, 'n8n-nodes-base.dataTable': undefined }) },
	],
	['this n8n does not have the node "Execute Workflow Trigger"', { getKnownNodeTypes: () => ({}) }],
])('n8n cannot keep a log: a hint says that %s, and something is bought all the same', async (why, more) => {
	const { open, hints, names, tables } = world({ more });
	const log = await open();
	expect(log?.ports.obstacle).toBe(why);
	await untilDone((log as NonNullable<typeof log>).begin(order()));
	expect([...hints]).toEqual([expect.stringMatching(new RegExp(`could not write or read it: ${why}\\.$`))]);
	expect(names.size).toBe(1);
	expect(tables.operations).toEqual([]);
});

test('a workflow without ID and name has no words of ours in the columns', async () => {
	const log = await world({ more: { getWorkflow: () => ({}) } }).open();
	expect(log?.ports.columns).toMatchObject({ workflow: '', workflow_id: '' });
});

test('nothing is in the way of a log in a saved workflow of an n8n that has the nodes', async () => {
	expect((await world().open())?.ports.obstacle).toBeUndefined();
});

describe('the gap', () => {
	test('a retry that asks for a gap leaves no name where there was none, and finds the one that was remembered', async () => {
		const { open, names } = world();
		const { ports } = (await open()) as NonNullable<Awaited<ReturnType<typeof open>>>;
		names.add('of another run');
		expect(await ports.hasGap()).toBe(false);
		expect([...names]).toEqual(['of another run']);
		await ports.rememberGap();
		expect(await ports.hasGap()).toBe(true);
		expect(await ports.hasGap()).toBe(true);
		expect([...names]).toEqual(['of another run', 'generation-gateway established 1, run 0, without rows']);
	});

	test('a gap that another retry asks for at the same moment stays', async () => {
		const { open, names } = world();
		const { ports } = (await open()) as NonNullable<Awaited<ReturnType<typeof open>>>;
		const gap = 'generation-gateway established 1, run 0, without rows';
		// The other one has written its question, and takes it back within a second.
		names.add(gap);
		await ports.rememberGap();
		await jest.advanceTimersByTimeAsync(900);
		names.delete(gap);
		await jest.advanceTimersByTimeAsync(99);
		expect([...names]).toEqual([]);
		await jest.advanceTimersByTimeAsync(1);
		expect([...names]).toEqual([gap]);
	});

	test('a gap that nobody asks for is written once', async () => {
		const { open, names } = world();
		const { ports } = (await open()) as NonNullable<Awaited<ReturnType<typeof open>>>;
		await ports.rememberGap();
		names.clear();
		await jest.advanceTimersByTimeAsync(60_000);
		expect([...names]).toEqual([]);
	});

	test.each([
		[90 * DAY_MS, false],
		[90 * DAY_MS + 1, true],
	])('rows of a run that began %d ms ago may have been removed: %s', async (agoMs, expected) => {
		const now = Date.UTC(2026, 5, 1);
		jest.setSystemTime(now);
		const { open, names } = world({ more: { getExecutionContext: () => ({ establishedAt: now - agoMs }) } });
		const { ports } = (await open()) as NonNullable<Awaited<ReturnType<typeof open>>>;
		expect(await ports.hasGap()).toBe(expected);
		expect([...names]).toEqual([]);
	});

	test('an n8n without a table of processed data has no gaps', async () => {
		const { open } = world({ helpers: { checkProcessedAndRecord: undefined } });
		const { ports } = (await open()) as NonNullable<Awaited<ReturnType<typeof open>>>;
		await ports.rememberGap();
		expect(await ports.hasGap()).toBe(false);
	});
});

describe('a run that goes on in another execution', () => {
	const columns = {
		...{ workflow: 'W', workflow_id: 'w', node: 'N', node_id: 'n', execution: 'established 0' },
		...{ run: 'established 0, run 0', retry: false, account: 'c', base_url: 'https://gateway.test' },
	};
	const batch = { name: 'run 5', log: columns, lastSeenRow: 7 } as Batch;
	const proceed = (context: Parameters<typeof continuePurchaseLog>[0]) => {
		const log = continuePurchaseLog(context, batch);
		if (log === undefined) throw new Error('there is no log');
		return log;
	};

	test('a run without log goes on without', () => {
		expect(continuePurchaseLog(world().context, { ...batch, log: undefined })).toBeUndefined();
	});

	test('a run that goes on writes the rows of the run where it began, and gives way to the same others', async () => {
		const { context, tables } = world();
		const log = proceed(context);
		expect(log.lastSeenRow).toBe(7);
		expect(log.ports.executionId).toBe('own');
		await untilDone(log.begin(order()));
		expect(tables.rows).toMatchObject([columns]);
	});

	test('its gap is one of its own', async () => {
		const { context, names } = world();
		await proceed(context).ports.rememberGap();
		expect([...names]).toEqual(['run 5, handed over, without rows']);
	});

	test('its rows are in the table that has the name now', async () => {
		const { context, tables } = world();
		await untilDone(findTable(context));
		for (const table of tables.tables) table.name = 'Archive';
		await untilDone(proceed(context).begin(order()));
		expect(tables.rows).toHaveLength(1);
	});

	test('why rows are missing is in the log of n8n', () => {
		const { context, logged } = world();
		proceed(context).ports.tell('locked');
		expect(logged).toEqual(['Generation Gateway: rows are missing in the purchase log (locked)']);
	});
});

test('a Purchase Key has the same hash in all nodes with the same account and address, and no other', () => {
	const of = (key: string, account: string, baseUrl: string) =>
		hashOfKey(key, { account, base_url: baseUrl } as Parameters<typeof hashOfKey>[1]);
	expect(of('k', 'c', 'https://gateway.test')).toBe('8rRERfRBgnONwQHlnBbp6l');
	const others = [
		of('x', 'c', 'https://gateway.test'),
		of('k', 'x', 'https://gateway.test'),
		of('k', 'c', 'https://x.test'),
	];
	expect(new Set([...others, of('k', 'c', 'https://gateway.test')]).size).toBe(4);
});
