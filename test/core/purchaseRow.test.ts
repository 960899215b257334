/** The rows of the purchase log, as they stand in n8n's table: what others have written, and what is written. */
import { COLUMNS, parseManyRows, parseRow, purchaseRow, TABLE_NAME } from '../../core/purchases/purchaseRow';

const stored = {
	...{ id: 5, time: '2026-11-23T12:00:00.000Z', state: 'accepted', task_id: 't', execution: '7', retry: false },
	...{ item: 0, attempt: '7-a-0', request_hash: 'hash' },
};

test('the table and its columns are those that users have already', () => {
	expect([TABLE_NAME, COLUMNS]).toEqual([
		'Gateway Purchases',
		{
			...{ time: 'date', state: 'string', task_id: 'string', code: 'string', thing: 'string', model: 'string' },
			...{ workflow: 'string', workflow_id: 'string', node: 'string', node_id: 'string', execution: 'string' },
			...{ run: 'string', retry: 'boolean', item: 'number', attempt: 'string', account: 'string' },
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
	['whose hash is too long', { request_hash: 'x'.repeat(2_001) }],
	['of a retry or not', { retry: 2 }],
])('a row that somebody has changed is none: %s', (_, given) => {
	expect(parseRow({ ...stored, ...given })).toBeUndefined();
});

test('many rows are read with breaks between them; those about whole runs are left out', async () => {
	const happened: string[] = [];
	const row = (id: number) => ({
		...{ ...stored, id },
		get state() {
			happened.push('read');
			return id === 7 ? 'run' : 'accepted';
		},
	});
	const rows = await parseManyRows(
		Array.from({ length: 200 }, (_, id) => row(id)),
		async () => await Promise.resolve(void happened.push('break')),
	);
	expect(rows.map((each) => each?.id)).toEqual(Array.from({ length: 200 }, (_, id) => id).filter((id) => id !== 7));
	const pieces = happened.join(' ').split('break').slice(1);
	expect(pieces.map((piece) => piece.includes('read'))).toEqual([true, true]);
});

test('a column that a row does not have is empty when it is written', () => {
	const written = {
		...{ time: stored.time, state: 'submitting', thing: 'task', item: 0, attempt: '7-a-0', request_hash: 'h' },
		...{
			workflow_id: 'w',
			node_id: 'n',
			execution: '7',
			run: 'r',
			retry: false,
			base_url: 'https://gateway.example.com',
		},
	};
	expect(purchaseRow.parse(written)).toEqual({
		...written,
		...{ workflow: '', node: '', account: '', task_id: '', code: '', model: '', key_hash: '', credits: null },
	});
	expect(purchaseRow.safeParse({ ...written, item: -1 }).success).toBe(false);
	expect(purchaseRow.safeParse({ ...written, item: 0.5 }).success).toBe(false);
	expect(purchaseRow.parse({ ...written, run: 'x'.repeat(2_000) }).run).toHaveLength(2_000);
});

test('a row has no character that PostgreSQL refuses, because it would refuse all rows that are written with it', () => {
	const ofService = { task_id: 'a\0b', model: '\0m', code: 'c\0', workflow: 'w\0' };
	const row = purchaseRow.parse({
		...{ time: stored.time, state: 'accepted', thing: 'task', item: 0, attempt: '7-a-0', request_hash: 'h' },
		...{ workflow_id: 'w', node_id: 'n', execution: '7', run: 'r', retry: false, base_url: 'u', ...ofService },
	});
	expect(row).toMatchObject({ task_id: 'ab', model: 'm', code: 'c', workflow: 'w' });
	expect(JSON.stringify(row)).not.toContain('u0000');
});
