/**
 * What the package leaves in n8n is read for ever: each thing that 1.0.0 has stored (test/stored) is read here by the product of
 * today, which stores it in the same form.
 */
import { NodeHelpers, type IDataObject, type INode, type INodeExecutionData } from 'n8n-workflow';
import { GenerationGatewayApi } from '../../credentials/GenerationGatewayApi.credentials';
import { meaningOf } from '../../core/journal/replay';
import { COLUMNS, isAttempt, parseRow } from '../../core/journal/row';
import type { Order } from '../../core/orders/order';
import { beginSubmitting } from '../../core/orders/states';
import { toldCallbacks, verifications } from '../../core/processMemory';
import { hasPurchaseLog, readLimits, readSettings } from '../../nodes/connection/settings';
import { parseOrderItem, toOrderItem } from '../../nodes/durable/orderItems';
import { STEPS } from '../../nodes/durable/storedNames';
import { pollWhenCalled, waitAndOutputResults, waitAndStart } from '../../nodes/durable/subWorkflow';
import { fileHashes } from '../../nodes/run/requestHash';
import { fromItem, inItems } from '../support/journalRuns.mts';
import { NODES, pngField, runGateway, type Kind, type RunOptions } from '../support/nodes.mts';
import { handOverIn, orderOf, withOrder } from '../support/orders.mts';
import { readStored } from '../support/stored.mts';
import { items, useStored, withKey } from '../support/storedRuns.mts';
import { callWebhook, poll, type StaticData } from '../support/triggers.mts';

const { runs, files, fillTable, creating, beganAtMs, first, restore, left, handOver, step } = useStored();

const endOf = ({ state, task, end }: Order) => [state, task?.taskId, end?.error?.details.reason?.name ?? end?.as];

describe('orders', () => {
	test('in each state, they are stored as the files have them', async () => {
		const given = items('a cat', 'a dog [[sandbox fail]]', '');
		const { handed } = await handOver(given, {}, inItems);
		const [accepted, planned, refused] = handed;
		const order = parseOrderItem(planned) as Order;
		beginSubmitting(order);
		const submitting = toOrderItem(order);
		const { items: ended } = await step(STEPS.pollTasks, [accepted, planned], '101');
		const [withResult, withError] = ended;
		files.expect('orders.json', { accepted, planned, refused, submitting, withResult, withError });
	});

	test('with uploads, a Purchase Key, Retry On Fail and all options of a result, they are stored as the files have them', async () => {
		const options = { ...withKey, fileName: 'cat', outputField: 'cat', splitFiles: true, resultPath: 'data' };
		const images = { image: [{ source: 'binary', binaryPropertyName: 'data' }] };
		const settings = { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 };
		const given = items('a cat', 'a dog').map((item) => ({ ...item, binary: { data: pngField() } }));
		const { handed: rich } = await handOver(given, { images, result: 'fileAndLink', options }, { settings });
		files.expect('orders.json', { acceptedRich: rich[0], plannedRich: rich[1] });
	});

	const MEANINGS: Record<string, unknown[]> = {
		accepted: ['accepted', 'img_1', undefined],
		planned: ['planned', undefined, undefined],
		refused: ['ended', undefined, 'expressionGaveNothing'],
		submitting: ['submitting', undefined, undefined],
		withResult: ['ended', 'img_1', 'done'],
		withError: ['ended', 'img_2', 'taskFailed'],
		acceptedRich: ['accepted', 'img_1', undefined],
		plannedRich: ['planned', undefined, undefined],
	};

	test.each(Object.entries(readStored<INodeExecutionData>('orders.json')))(
		'the stored one is read: %s',
		(name, stored) => {
			const order = parseOrderItem(stored);
			expect(order && endOf(order)).toEqual(MEANINGS[name]);
			expect(order).toEqual(orderOf(stored));
		},
	);
});

describe('rows', () => {
	test('the table that 1.0.0 has made has all columns', () => {
		files.expect('table.json', COLUMNS);
	});

	test('of each kind, they are written as the files have them', async () => {
		const kinds = ['', 'create=400', 'create=504', 'fail', 'fail=content_policy_violation'];
		const given = items(...kinds.map((kind) => `a cat [[sandbox ${kind}]]`.replace(' [[sandbox ]]', '')));
		const options = { ...withKey, concurrentTasks: 1, reportCredits: true };
		await runs.run('image', { ...fromItem, options }, { ...first(), items: given, ...inItems });
		const rows: IDataObject[] = (await runs.rows()).map((row) => ({ ...row, id: 1 }));
		const named = rows.map((row) => [[row.state, row.code].filter(Boolean).join(' '), row] as const);
		files.expect('rows.json', Object.fromEntries(named.reverse().sort(([a], [b]) => (a < b ? -1 : 1))));
	});

	const MEANINGS: Record<string, string> = {
		accepted: 'created',
		'failed content_declined': 'created',
		'failed task_failed': 'free',
		'not_accepted request_rejected': 'free',
		submitting: 'unknown',
		'unknown outcome_unknown': 'unknown',
	};

	test.each(Object.entries(readStored('rows.json')))('the stored one is read: %s', (name, stored) => {
		const row = parseRow(stored);
		expect(row && isAttempt(row) ? meaningOf(row) : row?.state).toBe(MEANINGS[name] ?? name);
		const { more = {}, number = null, ...read } = row ?? {};
		const written = Object.keys(more).length > 0 ? JSON.stringify(more) : '';
		expect(stored).toMatchObject({ ...read, number, createdAt: stored.createdAt, more: written });
	});
});

describe('a run that a retry continues', () => {
	/** The service makes no result: nothing is left to do, and nothing may be bought in its place. */
	const additionalFields = '{ "sandbox": "result=none" }';
	const form = { ...fromItem, options: { ...withKey, reportCredits: true, additionalFields } };
	const given = () => items('a cat', 'a dog');

	test('it leaves with its execution, in the table and in n8n’s record what the files have', async () => {
		const { data } = await runs.run('image', form, { ...first(), items: given() });
		files.expect('run.json', { context: data.executionData?.contextData, ...(await left()) });
	});

	/** What the execution before has left. */
	interface Left {
		context: boolean;
		rows: boolean;
		/** Another execution. */
		laterMs?: number;
	}

	async function retry(mode: RunOptions['mode'], executionId: string, found: Left) {
		const { context } = await restore(readStored<Record<string, IDataObject>>('run.json'), 0, 'a cat', 'a dog');
		if (!found.rows) fillTable([]);
		const contextData = found.context ? context : undefined;
		const kept = { executionId, establishedAt: beganAtMs() + (found.laterMs ?? 0), contextData };
		return await runs.run('image', form, { mode, kept, items: given(), ...inItems });
	}

	test.each<[string, RunOptions['mode'], string, Left]>([
		['Retry On Fail', 'trigger', '1', { context: true, rows: true }],
		['Retry of a failed execution', 'retry', '2', { context: true, rows: false }],
		['Retry after a crash', 'retry', '3', { context: false, rows: true }],
		['Another execution with the same Purchase Keys', 'trigger', '4', { context: false, rows: true, laterMs: 60_000 }],
	])('%s goes on by what is stored, and buys nothing', async (_, mode, executionId, left) => {
		const { json } = await retry(mode, executionId, left);
		const bought = runs.sandbox.tasks.map(({ id }) => [id, 'completed']);
		expect(json.map(({ task_id: id, status }) => [id, status])).toEqual(bought);
		expect(creating()).toEqual([]);
	});

	test('Retry after a crash, by the marks where a person has cleared the table, buys nothing', async () => {
		const { json } = await retry('retry', '3', { context: false, rows: false });
		expect(json.map(({ code }) => code)).toEqual(['outcome_still_unknown', 'outcome_still_unknown']);
		expect(creating()).toEqual([]);
	});
});

describe('executions that sleep', () => {
	const TEXTS = ['a cat', 'a dog [[sandbox fail]]'];
	type Slept = Record<string, { items: INodeExecutionData[]; contextData: object }>;
	/** The polls are due that were planned when they fell asleep. */
	const wakeUp = async () => await restore(readStored('asleep.json') as unknown as Slept, 1_200_000, ...TEXTS);

	test('n8n saves with a supervisor and its poller what the files have', async () => {
		const { handed: start } = await handOver(items(...TEXTS), { options: { pollIntervalSeconds: 120 } }, inItems);
		const supervisor = await step(STEPS.keepWaiting, start, '100');
		const poller = await step(STEPS.pollTasks, supervisor.handed, '101');
		files.expect('asleep.json', {
			supervisor: { items: start, contextData: supervisor.left },
			poller: { items: supervisor.handed, contextData: poller.left },
			rows: { all: await runs.rows() },
			marks: { all: runs.record.all() },
		});
	});

	test('a poller wakes up, goes on by what is stored, and buys nothing', async () => {
		const { poller } = await wakeUp();
		// Otherwise its rows would tell the same.
		fillTable([]);
		const { items: ended } = await step(STEPS.pollTasks, poller.items, '101', poller.contextData);
		expect(ended.map((item) => endOf(orderOf(item)).at(-1))).toEqual(['done', 'taskFailed']);
		expect(creating()).toEqual([]);
	});

	test('a supervisor whose poller is dead goes on by what is stored, and buys nothing', async () => {
		const { supervisor } = await wakeUp();
		const { lease } = (supervisor.contextData as { flow: IDataObject }).flow;
		const { handed } = await step(STEPS.keepWaiting, supervisor.items, '100', supervisor.contextData);
		expect(handOverIn(handed)?.claim?.after).toBe(lease);
		const { items: ended } = await step(STEPS.pollTasks, handed, '102');
		expect(ended.map((item) => endOf(orderOf(item)).at(-1))).toEqual(['done', 'taskFailed']);
		expect(creating()).toEqual([]);
	});

	const type = 'n8n-nodes-generation-gateway.imageGeneration';
	const worker: INode = {
		...{ id: '1', name: 'Node', type, typeVersion: 1, position: [0, 0], parameters: {}, notes: '**Node**' },
		credentials: { generationGatewayApi: { id: 'c', name: 'c' } },
	};

	test('their sub-workflows are saved as the files have them', () => {
		const ends = Object.keys(STEPS.results) as Array<keyof typeof STEPS.results>;
		files.expect('subWorkflow.json', {
			...Object.fromEntries(ends.map((onError) => [onError, waitAndOutputResults(worker, onError)])),
			polls: pollWhenCalled(worker),
			background: waitAndStart(worker, 'w1', 'w2'),
		});
	});

	const saved = Object.entries(readStored<{ nodes: INode[] }>('subWorkflow.json'));
	test.each(saved)('each step of the stored sub-workflow is known: %s', async (_, { nodes }) => {
		const { supervisor } = files.read<Record<string, IDataObject>>(readStored('asleep.json'));
		const [start] = supervisor.items as unknown as [INodeExecutionData];
		const given = [withOrder(start, orderOf(readStored<INodeExecutionData>('orders.json').withResult))];
		for (const node of nodes.filter((each) => each.type === type)) {
			const { error, items: output } = await step(String(node.parameters.operation), given, '101');
			expect([node.name, error?.message, output.length]).toEqual([node.name, undefined, 1]);
		}
	});
});

describe('what a node remembers with its execution', () => {
	test('orders that another execution has are not handed over again', async () => {
		const workflowId = { __rl: true, mode: 'id', value: 'w1' };
		const form = { ...fromItem, wait: 'inAnotherWorkflow', workflowId, passAlong: '{"chat": 1}' };
		const ofRun = { ...first(), ...inItems, items: items('a cat', '') };
		const { data } = await runs.handOver(form, ofRun);
		files.expect('memories.json', { background: data.executionData?.contextData });
		runs.sandbox.requests.length = 0;
		const contextData = files.read<Record<string, IDataObject>>(readStored('memories.json').background);
		const { handed, json } = await runs.handOver(form, { ...ofRun, kept: { ...ofRun.kept, contextData } });
		expect([handed, json[0]?.execution_id, creating()]).toEqual([[], '101', []]);
	});

	test('a file that was read is not read again, also when n8n has renamed it', async () => {
		const idOf = (execution: string) => `filesystem-v2:workflows/wf/executions/${execution}/binary_data/0`;
		const store = {};
		await fileHashes(store)(idOf('temp'), async () => await Promise.resolve('hash of its content'));
		files.expect('memories.json', { files: store });
		const again = async () => await Promise.reject(new Error('read again'));
		expect(await fileHashes(readStored('memories.json').files)(idOf('7'), again)).toBe('hash of its content');
	});
});

describe('what triggers remember', () => {
	test('Balance Trigger knows that it has fired', async () => {
		const look = async (remainCredits: number, staticData: StaticData) => {
			Object.assign(runs.sandbox.users[0], { remainCredits });
			return await poll('balanceTrigger', runs.sandbox, { threshold: 1000, unit: 'credits' }, { staticData });
		};
		const written: StaticData = {};
		await look(900, written);
		files.expect('staticData.json', { balance: written });
		const stored = readStored<StaticData>('staticData.json').balance;
		const seen = [await look(800, stored), await look(2000, stored), await look(800, stored)];
		expect(seen.map((fired) => fired !== null)).toEqual([false, false, true]);
	});

	test('Avatar Trigger knows a verification, and that it has told of it', async () => {
		const callbackUrl = 'https://n8n.example.com/webhook/1/avatar-verification';
		const form = { resource: 'verification', operation: 'create', callbackUrl, reference: 'customer 42' };
		const { json, workflow } = await runGateway('avatar', runs.sandbox, form, { mode: 'trigger' });
		const { task_id: id, vendor_token: token } = json[0] as Record<string, string>;
		runs.sandbox.verify(id);
		/** After a restart. */
		const call = async (name: string) => {
			const { told } = toldCallbacks as unknown as { told: Map<string, unknown> };
			for (const memory of [verifications, told]) memory.clear();
			const text = JSON.stringify(files.read(readStored('staticData.json')[name]));
			const staticData = JSON.parse(text.replace('rav_1', id).replace('vt_1', token)) as StaticData;
			const url = `/webhook/1/avatar-verification?resultCode=10000&vendorToken=${token}`;
			const { items: started } = await callWebhook('avatarVerificationTrigger', runs.sandbox, url, { staticData });
			return { started: started?.map((item) => item.json), staticData };
		};
		const [webhook] = NODES.avatarVerificationTrigger.description.webhooks ?? [];
		files.expect('staticData.json', { verification: workflow.staticData, webhook });
		const { started, staticData } = await call('verification');
		expect(started).toMatchObject([{ verified: true, task_id: id, reference: 'customer 42' }]);
		files.expect('staticData.json', { told: staticData });
		expect((await call('told')).started).toBeUndefined();
	});
});

describe('what a person has saved', () => {
	const nodes = Object.entries(readStored<{ node: Kind; parameters: IDataObject; item?: never }>('workflow.json'));
	test.each(nodes)('a node sends the same, and its request has the same hash: %s', async (name, saved) => {
		runs.sandbox.addAsset({ id: 'pa_1' });
		await runs.run(saved.node, saved.parameters, { ...first(), items: [saved.item ?? { json: {} }] });
		const [row] = (await runs.rows()).filter(({ state }: IDataObject) => state === 'submitting') as IDataObject[];
		const creates = creating().map(({ path, body }) => ({ path, body }));
		const [read] = runs.sandbox.requests.map(({ path }) => ({ path }));
		const sends = creates.length > 0 ? creates : [read];
		files.expect('requests.json', { [name]: { sends, hash: row?.request_hash } });
	});

	test('each field of a credential has the same effect', async () => {
		const { saved } = readStored('credential.json');
		const credential = new GenerationGatewayApi();
		const filled = NodeHelpers.getNodeParameters(credential.properties, saved as never, true, false, null, null) ?? {};
		const { headers } = await credential.authenticate(saved as never, { url: '' });
		const purchaseLog = hasPurchaseLog(filled);
		files.expect('credential.json', {
			effect: { ...readSettings(filled), ...readLimits(filled), purchaseLog, headers },
		});
	});
});
