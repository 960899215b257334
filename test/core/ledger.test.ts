import { stringify } from 'flatted';
import { OrderLedger } from '../../core/orders/ledger';
import { acceptedOrder, batchOf, plannedOrder } from '../support/orders.mts';

describe('the ledger of orders', () => {
	const open = (store: Record<string, unknown>, executionId = 'e1', runIndex = 0) =>
		new OrderLedger({ store, executionId, runIndex });

	test('in the ledger of one execution the item alone decides; in a retried execution the request decides too', () => {
		const store = {};
		open(store).accepted(0, { hash: 'hash-a', taskId: 'task-1', acceptedAtMs: 5 });
		expect(open(store).find(0, 'hash-b')?.taskId).toBe('task-1');
		expect(open(store, 'e2').find(0, 'hash-b')).toBeUndefined();
		expect(open(store, 'e2').find(0, 'hash-a')?.taskId).toBe('task-1');
		// From then on it belongs to that execution.
		expect(open(store, 'e2').find(0, 'hash-b')?.taskId).toBe('task-1');
	});

	test('loops and other items are separate purchases in the ledger', () => {
		const store = {};
		open(store).accepted(0, { hash: 'h', taskId: 'task-1', acceptedAtMs: 5 });
		expect(open(store, 'e1', 1).find(0, 'h')).toBeUndefined();
		expect(open(store).find(1, 'h')).toBeUndefined();
	});

	test('the ledger keeps the row of the purchase log that the first try of an execution has seen', () => {
		const store: Record<string, unknown> = {};
		const open = (executionId = '1', runIndex = 0) => new OrderLedger({ store, executionId, runIndex });
		expect(open().firstSeenRow(undefined)).toBeUndefined();
		expect(store).toEqual({ generationGatewayTasks: {} });
		expect([open().firstSeenRow(0), open().firstSeenRow(9), open().firstSeenRow(undefined)]).toEqual([0, 0, 0]);
		expect(store).toEqual({ generationGatewayTasks: { '0.seen': { executionId: '1', row: 0 } } });
		expect(open('1', 1).firstSeenRow(undefined)).toBeUndefined();
		expect([open('2').firstSeenRow(9), open('2').firstSeenRow(12), open().firstSeenRow(20)]).toEqual([9, 9, 20]);
		expect(open().ids).toEqual([]);
		for (const damaged of [{ row: 3 }, { executionId: '1' }, 'x', { executionId: '1', row: '3' }]) {
			store.generationGatewayTasks = { '0.seen': damaged };
			expect(open().firstSeenRow(7)).toBe(7);
		}
		open().clearRun();
		expect(store).toEqual({});
	});

	test('the ledger remembers an unknown outcome, forgets on demand, and leaves nothing behind', () => {
		const store = {};
		const ledger = open(store);
		ledger.outcomeUnknown(0, 'h', 5);
		expect(ledger.find(0, 'h')).toEqual({ hash: 'h', executionId: 'e1', acceptedAtMs: 5 });
		ledger.forget(0);
		expect(ledger.find(0, 'h')).toBeUndefined();
		ledger.accepted(1, { hash: 'h', taskId: 'task-1', acceptedAtMs: 5 });
		ledger.clearRun();
		expect(store).toEqual({});
	});

	test('an entry of the ledger that cannot be read was written all the same: what came of it is not known', () => {
		const store = { generationGatewayTasks: { '0.0': { taskId: 7, hash: 'h' }, '0.1': 'cut off' } };
		for (const item of [0, 1])
			expect(open(store, 'e2').find(item, 'h')).toEqual({ hash: 'h', executionId: 'e2', acceptedAtMs: 0 });
		expect(open(store, 'e2').find(2, 'h')).toBeUndefined();
	});

	test('the ledger finds what an earlier version of the package has written', () => {
		const entry = {
			taskId: 'task-1',
			hash: 'h',
			uploads: ['https://files.example/a.png'],
			executionId: 'e1',
			acceptedAtMs: 5,
		};
		const store = { generationGatewayTasks: { '2.0': entry, '2.tries': 3 } };
		expect(open(store, 'e1', 2).find(0, 'other')).toEqual(entry);
		expect(open(store, 'e1', 2).knownTries).toBe(3);
	});

	test('the ledger keeps what was uploaded, and nothing where nothing was', () => {
		const ledger = open({});
		const entry = { taskId: 'task-1', hash: 'h', executionId: 'e1', acceptedAtMs: 5 };
		ledger.accepted(0, { hash: 'h', taskId: 'task-1', acceptedAtMs: 5, uploads: ['https://files.example/a.png'] });
		ledger.accepted(1, { hash: 'h', taskId: 'task-1', acceptedAtMs: 5 });
		expect(ledger.find(0, 'h')).toStrictEqual({ ...entry, uploads: ['https://files.example/a.png'] });
		expect(ledger.find(1, 'h')).toStrictEqual(entry);
	});

	test('the end of a run removes nothing of other runs, nor what others keep there', () => {
		const store: Record<string, unknown> = { other: 1 };
		open(store, 'e1', 1).accepted(0, { hash: 'h', taskId: 'task-1', acceptedAtMs: 5 });
		open(store, 'e1', 1).countTry();
		open(store, 'e1', 10).accepted(0, { hash: 'h', taskId: 'task-10', acceptedAtMs: 5 });
		open(store, 'e1', 1).clearRun();
		expect(open(store, 'e1', 1).find(0, 'h')).toBeUndefined();
		expect(open(store, 'e1', 1).knownTries).toBe(0);
		expect(open(store, 'e1', 10).find(0, 'h')?.taskId).toBe('task-10');
		open(store, 'e1', 10).clearRun();
		expect(store).toEqual({ other: 1 });
	});

	test('the ledger names the tasks of its run: not those of other runs, nor what has no ID', () => {
		const store: Record<string, unknown> = {};
		open(store, 'e1', 1).accepted(0, { hash: 'h', taskId: 'task-1', acceptedAtMs: 5 });
		open(store, 'e2', 1).accepted(4, { hash: 'h', taskId: 'task-2', acceptedAtMs: 5 });
		open(store, 'e1', 1).accepted(5, { hash: 'h', taskId: '', acceptedAtMs: 5 });
		open(store, 'e1', 1).outcomeUnknown(6, 'h', 5);
		open(store, 'e1', 1).countTry();
		open(store, 'e1', 11).accepted(0, { hash: 'h', taskId: 'task-11', acceptedAtMs: 5 });
		open(store, 'e1', 0).accepted(1, { hash: 'h', taskId: 'task-0', acceptedAtMs: 5 });
		(store.generationGatewayTasks as Record<string, unknown>)['1.7'] = 'cut off';
		expect(open(store, 'e1', 1).ids).toEqual(['task-1', 'task-2']);
		expect(open({}).ids).toEqual([]);
	});

	test('the ledger counts the tries of each run, over retries', () => {
		const store = {};
		expect(open(store).knownTries).toBe(0);
		open(store).countTry();
		open(store, 'e2').countTry();
		expect(open(store, 'e2').knownTries).toBe(2);
		expect(open(store, 'e2', 1).knownTries).toBe(0);
	});

	test('a thousand accepted tasks add less than 300 kB to the execution data', () => {
		const store = {};
		const ledger = open(store, '1234567');
		for (let item = 0; item < 1000; item++) {
			const unique = String(item).padStart(4, '0');
			ledger.accepted(item, {
				taskId: `task_${unique}${'x'.repeat(32)}`,
				hash: `${unique}${'h'.repeat(18)}`,
				acceptedAtMs: 1_795_253_083_867 + item,
			});
		}
		// As n8n keeps it, and as plain JSON.
		const context = { contextData: { 'node:Gateway Image': store } };
		expect(stringify(context).length).toBeLessThan(300_000);
		expect(JSON.stringify(context).length).toBeLessThan(300_000);
		expect(JSON.stringify(context).length).toBeGreaterThan(60_000);
	});

	test('the ID of the last orderly try is known whatever its request was, and that of a crashed one is not', () => {
		const store = {};
		const ledger = open(store);
		expect(ledger.idOf(0)).toBeUndefined();
		ledger.accepted(0, { hash: 'h', taskId: 'task-1', acceptedAtMs: 5 });
		expect(open(store, 'e2').idOf(0)).toBe('task-1');
		ledger.lost(0, { hash: 'h', taskId: 'task-2', acceptedAtMs: 6 });
		expect(ledger.idOf(0)).toBeUndefined();
	});

	test('of an item that is deferred, the ledger keeps the request and a known task', () => {
		const ledger = open({});
		ledger.deferred(0, 'h', 9);
		expect(ledger.find(0, 'h')).toEqual({ hash: 'h', executionId: 'e1', acceptedAtMs: 9, handedOver: true });
		ledger.accepted(1, { hash: 'h', taskId: 'task-1', acceptedAtMs: 5 });
		ledger.deferred(1, 'other', 9);
		const known = { hash: 'h', taskId: 'task-1', executionId: 'e1', acceptedAtMs: 5, handedOver: true };
		expect(ledger.find(1, 'h')).toEqual(known);
	});

	test('what is handed over is deferred where it is submitted there, now or in another try', () => {
		const ledger = open({});
		const retry = { batch: batchOf({ retry: { tries: 2, pauseMs: 0, tried: 0 } }) };
		const orders = [
			plannedOrder(0),
			acceptedOrder(1),
			acceptedOrder(2, retry),
			{ ...plannedOrder(3), request: undefined },
			{ ...acceptedOrder(5), request: plannedOrder(5).request },
		];
		ledger.handedOver([...orders, { ...acceptedOrder(4, retry), request: undefined }], 9);
		expect([0, 1, 2, 3, 4, 5].map((item) => ledger.find(item, `hash ${item}`)?.acceptedAtMs)).toEqual([
			...[9, undefined, 9, undefined, undefined, undefined],
		]);
	});

	test('of what is deferred, only the task is forgotten: another execution may have created the next one', () => {
		const store = {};
		const ledger = open(store);
		ledger.forget(7);
		expect(store).toEqual({ generationGatewayTasks: {} });
		ledger.accepted(0, { hash: 'h', taskId: 'task-1', acceptedAtMs: 5 });
		ledger.deferred(0, 'h', 9);
		ledger.forget(0);
		expect(ledger.find(0, 'h')).toEqual({ hash: 'h', executionId: 'e1', acceptedAtMs: 5, handedOver: true });
		// Without a task, nothing of it is known any more.
		ledger.forget(0);
		expect(ledger.find(0, 'h')).toBeUndefined();
		ledger.accepted(1, { hash: 'h', taskId: 'task-2', acceptedAtMs: 5 });
		ledger.forget(1);
		expect(ledger.find(1, 'h')).toBeUndefined();
	});
});
