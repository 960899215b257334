import { stringify } from 'flatted';
import { OrderLedger } from '../../core/orders/ledger';

describe('the ledger of orders', () => {
	const open = (store: Record<string, unknown>, executionId = 'e1', runIndex = 0) =>
		new OrderLedger({ store, executionId, runIndex });

	test('an entry of the ledger that cannot be read was written: what came of it is not known', () => {
		const store = { generationGatewayTasks: { '0.0': { taskId: 7, hash: 'h' }, '0.1': 'cut off' } };
		for (const item of [0, 1])
			expect(open(store, 'e2').find(item, 'h')).toEqual({ hash: 'h', executionId: 'e2', acceptedAtMs: 0, run: 'e2.0' });
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

	test('an execution that a run is handed to takes what is known of its orders for its own, and begins with it once', () => {
		const before = open({}, 'e2');
		before.accepted(0, { hash: 'h', taskId: 'task-1', acceptedAtMs: 5 });
		before.accepted(1, { hash: 'h', taskId: 'task-2', acceptedAtMs: 5 });
		const after = new OrderLedger({ store: {}, executionId: 'e3', runIndex: 0, handedOverBy: 'e2' });
		before.lost(3, { hash: 'h', acceptedAtMs: 5 });
		before.accepted(4, { hash: 'h', taskId: 'task-4', acceptedAtMs: 5, reusedKey: 'k' });
		after.beginsWith(before.entriesOf([0, 2, 3, 4]));
		// The rows tell of these, and of what was bought in their place.
		expect([3, 4].map((item) => after.find(item, 'h'))).toEqual([undefined, undefined]);
		expect([0, 1, 2].map((item) => after.find(item, 'other')?.taskId)).toEqual(['task-1', undefined, undefined]);
		after.forget(0);
		after.beginsWith(before.entriesOf([0]));
		expect(after.find(0, 'h')).toBeUndefined();
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

	test('the name of what is in doubt is that of the run that has left it, and allows nothing in that run', () => {
		const store: Record<string, unknown> = {};
		const request = { submitAgainFor: 'e1.0' };
		const isToSubmitAgain = (executionId: string, item: number) => {
			const ledger = open(store, executionId);
			return ledger.isToSubmitAgain(request, ledger.find(item, 'h') ?? {});
		};
		open(store).outcomeUnknown(0, { hash: 'h', acceptedAtMs: 5 });
		open(store).accepted(1, { hash: 'h', taskId: 'task-1', acceptedAtMs: 5 });
		expect(open(store).givenUp(1)).toBe('e1.0');
		open(store).accepted(2, { hash: 'h', taskId: 'task-2', acceptedAtMs: 5 });
		expect([0, 1, 2].map((item) => isToSubmitAgain('e1', item))).toEqual([false, false, false]);
		expect([0, 1, 2].map((item) => isToSubmitAgain('e2', item))).toEqual([true, true, false]);
		// A retry that gives it up, too, does not change the name.
		expect(open(store, 'e2').givenUp(1)).toBe('e1.0');
		// The request that is submitted in its place has another one.
		open(store, 'e2').outcomeUnknown(0, { hash: 'h', acceptedAtMs: 5 });
		expect([0, 1, 2].map((item) => isToSubmitAgain('e3', item))).toEqual([false, true, false]);
	});

	test.each<[string, { isRetried?: boolean; isHandedBack?: boolean }, object | undefined]>([
		['another execution may have replaced it with Retry On Fail', { isRetried: true }, { run: 'e1.0' }],
		['the rows have told what that has bought', { isRetried: true, isHandedBack: true }, undefined],
		['the other execution buys nothing in its place', {}, undefined],
	])(
		'a task that has failed after its order was handed over is forgotten only where nothing else may be bought: %s',
		(_, { isRetried, isHandedBack }, left) => {
			const ledger = open({});
			ledger.accepted(0, { hash: 'h', taskId: 'task-1', acceptedAtMs: 5 });
			ledger.handedOver([{ item: 0, isRetried }]);
			if (isHandedBack) ledger.handedBack(0);
			ledger.forget(0);
			const known = ledger.find(0, 'h');
			expect(known && { run: known.run, taskId: known.taskId }).toEqual(left);
		},
	);

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
});
