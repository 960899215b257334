/** The rows of the purchase log, as they stand in n8n's table: what others have written, and what is written. */
import { COLUMNS, parseRow, purchaseRow, TABLE_NAME } from '../../core/purchases/purchaseRow';

const stored = {
	...{
		id: 5,
		time: '2026-11-23T12:00:00.000Z',
		state: 'accepted',
		task_id: 't',
		execution: '7',
		run: '7.0',
		retry: false,
	},
	...{ item: 0, attempt: '7-a-0', request_hash: 'hash' },
};

test('the table and its columns are those that users have already', () => {
	expect([TABLE_NAME, COLUMNS]).toEqual([
		'Gateway Purchases',
		{
			...{ time: 'date', state: 'string', task_id: 'string', code: 'string', thing: 'string', model: 'string' },
			...{ workflow: 'string', workflow_id: 'string', node: 'string', node_id: 'string', execution: 'string' },
			...{ run: 'string', origin: 'string', retry: 'boolean', item: 'number', attempt: 'string', account: 'string' },
			...{ base_url: 'string', request_hash: 'string', key_hash: 'string', credits: 'number' },
		},
	]);
});

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
	['as SQLite gives it', { retry: 1 }, { retry: true }],
	['that is no retry', { retry: 0 }, { retry: false }],
	['as PostgreSQL gives it', { time: new Date(stored.time) }, {}],
	['with the time of a zone', { time: '2026-11-23T13:00:00+01:00' }, { time: '2026-11-23T13:00:00+01:00' }],
	['without an ID', { task_id: null }, { task_id: '' }],
	['without a number of its own', { id: null }, { id: 0 }],
])('a row is read: %s', (_, given, expected) => {
	expect(parseRow({ ...stored, ...given })).toEqual({ ...stored, key_hash: '', ...expected });
});

test.each<[string, Record<string, unknown>]>([
	['of another state', { state: 'sold' }],
	['about a whole run', { state: 'run' }],
	['without a time', { time: 'yesterday' }],
	['of no item', { item: -1 }],
	['of half an item', { item: 0.5 }],
	['without its attempt', { attempt: null }],
	['without its run', { run: null }],
	['whose hash is too long', { request_hash: 'x'.repeat(2_001) }],
	['of a retry or not', { retry: 2 }],
])('a row that a person has changed is none: %s', (_, given) => {
	expect(parseRow({ ...stored, ...given })).toBeUndefined();
});

const written = {
	...{ time: stored.time, state: 'accepted', thing: 'task', item: 0, attempt: '7-a-0', request_hash: 'h' },
	...{ workflow_id: 'w', node_id: 'n', execution: '7', run: '7.0', origin: 'o', retry: false, base_url: 'u' },
};

test('names are cut off when a row is written, IDs and hashes never are', () => {
	const long = 'a'.repeat(5000);
	const cut = 'a'.repeat(200);
	expect(purchaseRow.parse({ ...written, workflow: long, node: long, model: long })).toMatchObject({
		...{ workflow: cut, node: cut, model: cut, task_id: '', key_hash: '' },
	});
	for (const column of ['task_id', 'run', 'origin', 'request_hash', 'attempt'])
		expect(purchaseRow.safeParse({ ...written, [column]: long }).success).toBe(false);
});

test('a row of the purchase log holds nothing but its columns', () => {
	expect(purchaseRow.parse({ ...written, prompt: 'secret' })).not.toHaveProperty('prompt');
});

test('a row has no character that PostgreSQL refuses, because it would refuse all rows that are written with it', () => {
	const row = purchaseRow.parse({ ...written, task_id: 'a\0b', model: '\0m', code: 'c\0', workflow: 'w\0' });
	expect(row).toMatchObject({ task_id: 'ab', model: 'm', code: 'c', workflow: 'w' });
});
