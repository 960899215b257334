/** The row of the purchase log that is about a whole run. */
import type { Order } from '../../core/orders/order';
import { makeOrder } from '../../core/orders/states';
import { PurchaseLog } from '../../core/purchases/purchaseLog';
import type { PurchaseRow } from '../../core/purchases/purchaseRow';
import { fakeClock } from './support';

const order = (item: number, model?: string): Order =>
	makeOrder({
		...{ item, model, thing: 'task', kind: 'image', then: 'nothing' },
		request: { body: {}, hash: 'hash', submitAgain: false },
	});

test('it says what the account has used, and for which models, and nothing that a purchase has', () => {
	const rows: PurchaseRow[] = [];
	const nothing = async () => await Promise.resolve();
	const none = async () => await Promise.resolve([]);
	const table = {
		...{ insert: nothing, flush: nothing, rowsOfRun: none, rowsOfKey: none },
		insertLater: (row: PurchaseRow) => void rows.push(row),
	};
	const columns = {
		...{ workflow: 'Test', workflow_id: 'w', node: 'Generate', node_id: 'n', execution: '7', run: 'r', retry: false },
		...{ account: 'a', base_url: 'https://gateway.example.com' },
	};
	const ports = { rememberGap: nothing, hasGap: async () => await Promise.resolve(false), tell: () => {} };
	const log = new PurchaseLog({ ...ports, columns, table, clock: fakeClock(), executionId: '7' });
	log.noteRun(12.5, [order(0, 'b'), order(1, 'a'), order(2, 'b'), order(3)]);
	expect(rows).toEqual([
		{
			...columns,
			...{ time: '1970-01-01T00:16:40.000Z', state: 'run', thing: 'run', model: 'a, b', credits: 12.5 },
			...{ item: 0, attempt: '', request_hash: '', task_id: '', code: '', key_hash: '' },
		},
	]);
});
