/**
 * What the package leaves in n8n is read for ever: each thing that 1.0.0 has stored (test/stored) is read here by the product of
 * today, which stores it in the same form.
 */
import { NodeHelpers, type IDataObject, type INode, type INodeExecutionData } from 'n8n-workflow';
import { GenerationGatewayApi } from '../../credentials/GenerationGatewayApi.credentials';
import { meaningOf } from '../../core/journal/replay';
import { COLUMNS, isAttempt, parseRow } from '../../core/journal/row';
import { REASONS, toCode } from '../../core/errors/catalogue';
import type { HandOver, PollerClaim } from '../../core/orders/handOver';
import { OrderLedger, type LedgerEntry } from '../../core/orders/ledger';
import {
	ORDER_VERSION,
	type Order,
	type OrderEnd,
	type OrderWait,
	type Output,
	ResultOptions,
	StoredError,
} from '../../core/orders/order';
import { beginSubmitting, checkOrder } from '../../core/orders/states';
import { toldCallbacks, verifications } from '../../core/processMemory';
import { hasPurchaseLog, readLimits, readSettings } from '../../nodes/connection/settings';
import {
	handOverOf,
	parseOrderItem,
	salvageOrderItems,
	toOrderItem,
	withHandOver,
} from '../../nodes/durable/orderItems';
import { STEPS, pollWhenCalled, waitAndOutputResults, waitAndStart } from '../../nodes/durable/subWorkflow';
import { fileHashes } from '../../nodes/run/requestHash';
import { fromItem, inItems } from '../support/journalRuns.mts';
import { hurry, NODES, pause, pngField, runGateway, type Kind, type RunOptions } from '../support/nodes.mts';
import { handOverIn, orderOf, withOrder } from '../support/orders.mts';
import { readStored } from '../support/stored.mts';
import { items, useStored, withKey } from '../support/storedRuns.mts';
import { callWebhook, poll, type StaticData } from '../support/triggers.mts';

const { answerFetch } = jest.requireActual<{ answerFetch: (answer: typeof fetch) => void }>('../support/fetch.cjs');

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

	const everyWait = (): Required<OrderWait> => ({
		plan: { kind: 'automatic' },
		timeoutMs: 600_000,
		...{ wantedAtMs: beganAtMs(), startedAtMs: beganAtMs(), dueAtMs: beganAtMs(), notBeforeMs: beganAtMs() },
		polls: [{ atMs: 1000, progress: 50, failed: true }],
		contradictedSinceMs: beganAtMs(),
		graceMs: 60_000,
		sameAnswer: { sinceMs: beganAtMs(), polls: 3, words: 'no result' },
		otherIds: ['other'],
	});
	const everyResult: Required<ResultOptions> = {
		...{ as: 'file', outputField: 'data', fileName: 'cat', simplify: false, split: true, resultPath: 'data.0' },
		...{ urlExpected: true, resultNeeded: false, count: 3, requestUrls: ['https://example.com/cat.png'] },
	};
	const everyRequest: Required<NonNullable<Order['request']>> = {
		...{ body: { model: 'beta-v3', prompt: 'a cat' }, hash: 'hash', submitAgainFor: '1.0', keyHash: 'key' },
		uploads: ['https://example.com/cat.png'],
	};
	const everyTask: Required<NonNullable<Order['task']>> = {
		...{ taskId: 'img_1', status: 'in_progress', progress: 50, elapsedMs: 1000, urls: ['https://example.com/1.png'] },
	};
	const everyColumn: Required<NonNullable<Order['purchase']>> = {
		...{ attempt: '1-0', hash: 'hash', keyHash: 'key', boughtIn: { run: '1.0 1 wf', first: '1' } },
	};
	/** A field that comes later is missing here, for TypeScript, until an order with it is stored. */
	const everyField = (): Required<Omit<Order, 'end'>> => ({
		...{ version: ORDER_VERSION, item: 0, thing: 'task', kind: 'video', state: 'planned', then: 'read' },
		...{ model: 'beta-v3', scope: 'the model beta-v3', request: everyRequest, prompt: 'a cat', task: everyTask },
		...{ earlierTaskIds: ['img_2'], service: 'service', acceptedAtMs: beganAtMs(), purchase: everyColumn },
		...{ reused: true, isRetried: true, wait: everyWait(), result: everyResult },
		...{ about: { stored: { version: 3 } }, input: { chat: 1 } },
	});
	const everyDetail = (): Required<StoredError['details']> => ({
		reason: { name: 'outcomeUnknown', data: { thing: 'task', what: 'words', run: '1.0', atMs: 1000 } },
		serviceReason: { name: 'balanceTooLow', data: {} },
		others: [{ kind: 'badInput', message: 'Size is empty', details: {} }],
		...{ httpStatus: 504, serviceMessage: 'words', serviceAnswer: '<html>', serviceCode: 'code', task: everyTask },
		...{ permanent: true, retryAfterMs: 1000, again: { isConnection: true, lateByMs: 1000 } },
	});

	test('with every field, and with every end, they are stored as the files have them', () => {
		const error = { kind: 'outcomeUnknown' as const, message: 'not known', details: everyDetail() };
		const output: Required<Output> = { json: { task_id: 'img_1' }, binary: { data: { id: 'filesystem-v2:1' } } };
		const ends: OrderEnd[] = [
			...(['notSubmitted', 'outcomeUnknown', 'timedOut', 'stopped'] as const).map((as) => ({ as, error })),
			{ as: 'done', output, hints: ['a hint'] },
		];
		const ended = ends.map((end) => [`every ${end.as}`, { ...everyField(), state: 'ended' as const, end }] as const);
		for (const [name, order] of [['everyField', everyField()] as const, ...ended])
			files.expect('orders.json', { [name]: toOrderItem(checkOrder(order)) });
	});

	test('one of a later version is kept as it was', async () => {
		const later = withOrder(readStored<INodeExecutionData>('orders.json').accepted, {
			...{ version: 999, task: { taskId: 'img_1' } },
		});
		const [order] = (await salvageOrderItems([later])) ?? [];
		files.expect('orders.json', { ofLaterVersion: order && toOrderItem(order) });
	});

	const MEANINGS: Record<string, unknown[]> = {
		everyField: ['planned', 'img_1', undefined],
		'every notSubmitted': ['ended', 'img_1', 'outcomeUnknown'],
		'every outcomeUnknown': ['ended', 'img_1', 'outcomeUnknown'],
		'every timedOut': ['ended', 'img_1', 'outcomeUnknown'],
		'every stopped': ['ended', 'img_1', 'outcomeUnknown'],
		'every done': ['ended', 'img_1', 'done'],
		ofLaterVersion: ['ended', 'img_1', 'storedByOtherVersion'],
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
			const order = parseOrderItem(stored) as Order;
			expect(endOf(order)).toEqual(MEANINGS[name]);
			const again = toOrderItem(order);
			expect([orderOf(again), again.binary]).toEqual([orderOf(stored), stored.binary]);
		},
	);

	const isEnded = (stored: INodeExecutionData) => orderOf(stored).state === 'ended';
	const ends = Object.entries(readStored<INodeExecutionData>('orders.json')).filter(([, stored]) => isEnded(stored));
	test.each(ends)('the node Results makes an item of the stored one: %s', async (_, stored) => {
		const { items: given } = await step(STEPS.results.continueRegularOutput, [stored], '100');
		const { task, end } = orderOf(stored);
		const { name } = end?.error?.details.reason ?? {};
		const [{ task_id: id, code }] = given.map(({ json }) => json) as [IDataObject];
		expect([id, code]).toEqual([task?.taskId, name && toCode(name)]);
	});

	const everyFact = (): Required<HandOver> => {
		const runOf: Required<NonNullable<HandOver['run']>> = {
			...{ workflow: 'wf', node: 'Node', nodeId: '1', establishedAtMs: beganAtMs(), runIndex: 0, first: '1', by: '1' },
			...{ nextNumber: 1, isMarked: true, lease: '1-lease1', ignored: ['1-lease0'], table: 'log' },
			ledger: { 3: { hash: 'h', executionId: '1', acceptedAtMs: beganAtMs(), run: '1.0' } },
		};
		const claim: Required<PollerClaim> = {
			...{ lease: '100-poller0-1.1', ignored: ['100-poller0-1.0'], after: '1-lease0', error: 'words', gap: 'words' },
		};
		const credits: Required<NonNullable<HandOver['credits']>> = { usedBefore: 7 };
		const retry: Required<NonNullable<HandOver['retry']>> = { tries: 3, pauseMs: 0, tried: 1, onlyIfFirstFails: true };
		const more = { run: runOf, claim, credits, retry, outermost: '1' };
		return { ...more, concurrency: 50, stopsAtError: true, deadlineMs: beganAtMs() };
	};

	test('the facts about their run are stored as the file has them, and read', () => {
		const [item] = withHandOver([toOrderItem(checkOrder(everyField()))], everyFact());
		files.expect('memories.json', { handOver: item?.json.details.gateway_run });
		const stored = { json: { details: { gateway_run: readStored('memories.json').handOver } } };
		expect(handOverOf([stored])).toEqual(stored.json.details.gateway_run);
	});
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
	const AGO_MS = 1_200_000;
	const wakeUp = async () => await restore(readStored('asleep.json') as unknown as Slept, AGO_MS, ...TEXTS);

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

	test('a retry finds the execution that has its orders, by its lease, and does not hand them over again', async () => {
		const { supervisor } = await wakeUp();
		const workflowId = { __rl: true, mode: 'id', value: 'w1' };
		const form = { ...fromItem, wait: 'inAnotherWorkflow', workflowId };
		const kept = { executionId: '2', establishedAt: beganAtMs(AGO_MS) };
		const data = { resultData: { runData: { Start: [{ data: { main: [supervisor.items] } }] } } };
		const given = { mode: 'retry' as const, kept, items: items(...TEXTS) };
		const { handed, json } = await runs.handOver(form, given, { 100: data });
		expect([handed, json.map(({ execution_id: id }) => id), creating()]).toEqual([[], ['100', '100'], []]);
	});

	test('the output of Note Address is the address at which the execution is woken', async () => {
		const { supervisor, poller } = await wakeUp();
		const { items: noted } = await step(STEPS.noteAddress, poller.items, '101');
		const unsigned = (text: string) => text.replace(/(?<=signature=)[0-9a-f]+/, 'signature');
		files.expect('memories.json', { address: JSON.parse(unsigned(JSON.stringify(noted))) });
		const called: string[] = [];
		answerFetch(async (url) => await Promise.resolve((called.push(String(url)), new Response('{}', { status: 409 }))));
		const stored = readStored('memories.json').address as unknown as INodeExecutionData[];
		const kept = { executionId: '100' };
		const begin = { mode: 'integrated' as const, kept, items: supervisor.items };
		await runs.begin('image', { operation: STEPS.keepWaiting }, begin, async () => {
			return await Promise.resolve({ executionId: '101', data: [stored], waitTill: new Date(4e12) });
		}).promise;
		for (let pauses = 0; called.length === 0 && pauses < 100; pauses++) await pause(20);
		expect(called).toEqual(['http://localhost/webhook-waiting/101?signature=signature']);
	});

	test('a supervisor that has looked once after the time was over does not look again', async () => {
		const lateMs = 2.5 * 86_400_000;
		const { supervisor } = await restore(readStored('asleep.json') as unknown as Slept, lateMs, ...TEXTS);
		const { left: written } = await step(STEPS.keepWaiting, supervisor.items, '100', supervisor.contextData);
		files.expect('memories.json', { looked: written });
		const memory = files.read<object>(readStored('memories.json').looked);
		const { handed, items: ended } = await step(STEPS.keepWaiting, supervisor.items, '100', memory);
		expect([handed, ended.map((item) => orderOf(item).state), creating()]).toEqual([[], ['ended', 'ended'], []]);
	});

	test('a supervisor whose poller a person has stopped before it slept starts no other', async () => {
		const { supervisor } = await wakeUp();
		hurry(100);
		const kept = { executionId: '100', contextData: supervisor.contextData as never };
		const begin = { mode: 'integrated' as const, kept, items: supervisor.items };
		const { promise } = runs.begin('image', { operation: STEPS.keepWaiting }, begin, async () => {
			return await Promise.reject(Object.assign(new Error('stopped'), { executionId: '103' }));
		});
		files.expect('memories.json', { parked: (await promise).data.executionData?.contextData });
		const memory = files.read<object>(readStored('memories.json').parked);
		const stopped = { resultData: { runData: {}, error: { reason: 'manual' } } };
		const { handed, items: ended } = await step(STEPS.keepWaiting, supervisor.items, '100', memory, { 103: stopped });
		expect([handed, ended.map((item) => orderOf(item).state), creating()]).toEqual([[], ['ended', 'ended'], []]);
	});

	test('a poller that no execution waits for has the ends in its output, and runs once more to be listed as canceled', async () => {
		const { poller } = await restore(readStored('asleep.json') as unknown as Slept, 0, ...TEXTS);
		const kept = { executionId: '101', contextData: poller.contextData as never };
		const { data } = await runs.handOver({ operation: STEPS.pollTasks }, { mode: 'retry', kept, items: poller.items });
		const output = data.resultData.runData.Node?.at(-1)?.data?.main[0];
		files.expect('memories.json', { canceled: { items: output, contextData: data.executionData?.contextData } });
		const stored = files.read<Slept[string]>(readStored('memories.json').canceled);
		const asked = await runs.handOver({ operation: STEPS.haveEnded }, { items: stored.items });
		expect(asked.data.resultData.runData.Node?.at(-1)?.data?.main).toEqual([[], stored.items]);
		const { error } = await step(STEPS.pollTasks, stored.items, '101', stored.contextData);
		expect(error?.message).toMatch(/canceled/i);
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

	test('each kind of purchase is in the ledger as the file has it, and a retry finds it', () => {
		const scope = { store: {}, executionId: '1', runIndex: 0 };
		const ledger = new OrderLedger(scope);
		const about = { hash: 'hash', acceptedAtMs: beganAtMs(), attempt: '1-0' };
		ledger.accepted(0, { ...about, taskId: 'img_1', uploads: ['https://example.com/cat.png'] });
		ledger.isCalled(0, ['other']);
		ledger.accepted(1, { ...about, taskId: 'img_2', reusedKey: 'key' });
		ledger.accepted(2, { ...about, taskId: 'img_3', boughtIn: { run: '1.0 1 wf', first: '1' } });
		ledger.accepted(3, { ...about, taskId: 'img_4' });
		ledger.givenUp(3);
		ledger.accepted(4, { ...about, taskId: 'img_5' });
		ledger.handedOver([{ item: 4, isRetried: true }]);
		ledger.outcomeUnknown(5, { ...about, said: 'words' });
		ledger.lost(6, { ...about, taskId: 'img_6', run: '1.0' });
		ledger.countTry();
		files.expect('memories.json', { ledger: scope.store });
		const store = readStored('memories.json').ledger as Record<string, Record<string, LedgerEntry | number>>;
		const found = new OrderLedger({ ...scope, store: structuredClone(store), executionId: '2' });
		const ofItems = ([key]: [string, unknown]) => /^0\.\d+$/.test(key);
		for (const [at, entry] of Object.entries(store.generationGatewayTasks ?? {}).filter(ofItems)) {
			expect(found.find(Number(at.split('.')[1]), 'hash')).toEqual({ ...(entry as LedgerEntry), executionId: '2' });
		}
		expect(found.knownTries).toBe(1);
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
		files.expect('staticData.json', { balanceForm: { threshold: 1000, unit: 'credits' } });
		const form = readStored('staticData.json').balanceForm;
		const look = async (remainCredits: number, staticData: StaticData) => {
			Object.assign(runs.sandbox.users[0], { remainCredits });
			return await poll('balanceTrigger', runs.sandbox, form, { staticData });
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
		hurry();
		const unproven = await call('verification');
		expect(unproven.started).toMatchObject([{ verified: false }]);
		files.expect('staticData.json', { toldUnverified: unproven.staticData });
		expect((await call('toldUnverified')).started).toBeUndefined();
		runs.sandbox.verify(id);
		expect((await call('toldUnverified')).started).toMatchObject([{ verified: true }]);
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
		const options = { ...first(), items: [saved.item ?? { json: {} }] };
		const handsOver = ['acrossRestarts', 'inAnotherWorkflow'].includes(String(saved.parameters.wait));
		const { handed } = handsOver ? await runs.handOver(saved.parameters, options) : { handed: [] };
		if (!handsOver) await runs.run(saved.node, saved.parameters, options);
		const [order] = handed.flat().map(orderOf);
		expect(order !== undefined).toBe(handsOver);
		const [row] = (await runs.rows()).filter(({ state }: IDataObject) => state === 'submitting') as IDataObject[];
		const creates = creating().map(({ path, body }) => ({ path, body }));
		const [read] = runs.sandbox.requests.map(({ path }) => ({ path }));
		const sends = creates.length > 0 ? creates : [read];
		files.expect('requests.json', { [name]: { sends, hash: row?.request_hash, input: order?.input } });
	});

	test('the codes that its workflows compare with stay', () => {
		const reasons = Object.keys(REASONS);
		files.expect('codes.json', Object.fromEntries(reasons.map((reason) => [reason, toCode(reason)])));
		const stored = readStored<string>('codes.json');
		expect(Object.fromEntries(Object.keys(stored).map((reason) => [reason, toCode(reason)]))).toEqual(stored);
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
