/** The rows of the journal, as they stand in n8n's table: what others have written, and what is written. */
import { TABLE_NAME } from '../../core/labels';
import { COLUMNS, isAttempt, journalRow, nameOfRun, parseRow, patternOfRun } from '../../core/journal/row';

const stored = {
	...{ id: 5, createdAt: '2026-11-23T12:00:00.000Z', state: 'accepted', task_id: 't', number: null, code: 'c' },
	...{ execution: '7', first: '7', run: '1.0 n w', node: 'Generate', item: 0, attempt: '7-a-0' },
	...{ request_hash: 'hash', key_hash: '', more: '', account: 'a' },
};

const read = { ...stored, createdAt: Date.parse(stored.createdAt), number: undefined, more: {} };

test('the table has columns for what is read, and n8n cannot add one later', () => {
	expect([TABLE_NAME, COLUMNS]).toEqual([
		'Gateway Purchases',
		{
			...{ state: 'string', task_id: 'string', code: 'string', model: 'string', workflow: 'string', node: 'string' },
			...{ execution: 'string', item: 'number', credits: 'number', account: 'string', run: 'string', first: 'string' },
			...{ number: 'number', attempt: 'string', request_hash: 'string', key_hash: 'string', more: 'string' },
		},
	]);
	expect(Object.keys(COLUMNS).sort()).toEqual(Object.keys(journalRow.shape).sort());
});

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
	['as n8n gives it', {}, {}],
	['with a time of the database', { createdAt: new Date(stored.createdAt) }, {}],
	['with the time of a zone', { createdAt: '2026-11-23T13:00:00+01:00' }, {}],
	['without an ID', { task_id: null }, { task_id: '' }],
	['without a first try', { first: null }, { first: '' }],
	['with a number', { number: 3 }, { number: 3 }],
	['of a lease', { state: 'lease', item: null }, { state: 'lease', item: 0 }],
	['about a whole run', { state: 'run' }, { state: 'run' }],
	['with keys of a later version', { more: '{"later":[1]}' }, { more: { later: [1] } }],
	['whose JSON a person has changed', { more: '{"later":' }, {}],
	['whose JSON is no object', { more: '[1]' }, {}],
	['with a column of a person', { note: 'mine' }, {}],
])('a row is read: %s', (_, given, expected) => {
	expect(parseRow({ ...stored, ...given })).toEqual({ ...read, ...expected });
});

test.each<[string, Record<string, unknown>]>([
	['of another state', { state: 'sold' }],
	['without a time', { createdAt: 'yesterday' }],
	['without a number of its own', { id: null }],
	['of no item', { item: -1 }],
	['of half an item', { item: 0.5 }],
	['with half a number', { number: 0.5 }],
	['without its attempt', { attempt: null }],
	['without its run', { run: null }],
	['without its execution', { execution: null }],
	['whose hash is too long', { request_hash: 'x'.repeat(2_001) }],
])('a row that a person has changed is none: %s', (_, given) => {
	expect(parseRow({ ...stored, ...given })).toBeUndefined();
});

test.each([
	['submitting', true],
	['failed', true],
	['lease', false],
	['run', false],
])('a row of the state %s is that of an attempt: %s', (state, expected) => {
	expect(isAttempt({ ...read, state } as never)).toBe(expected);
});

const written = { state: 'accepted', attempt: '7-a-0', run: '1.0 n w', execution: '7' };

test('names are cut off when a row is written, IDs and hashes never are', () => {
	const long = 'a'.repeat(5000);
	const cut = 'a'.repeat(200);
	expect(journalRow.parse({ ...written, workflow: long, node: long, model: long, code: long })).toMatchObject({
		...{ workflow: cut, node: cut, model: cut, code: cut, task_id: '', key_hash: '' },
	});
	for (const column of ['task_id', 'run', 'first', 'execution', 'request_hash', 'key_hash', 'attempt', 'more'])
		expect(journalRow.safeParse({ ...written, [column]: long }).success).toBe(false);
});

test('a row of the journal holds nothing but its columns', () => {
	expect(journalRow.parse({ ...written, prompt: 'secret' })).not.toHaveProperty('prompt');
});

test('a row has no character that PostgreSQL refuses, because it would refuse all rows that are written with it', () => {
	const row = journalRow.parse({ ...written, task_id: 'a\0b', model: '\0m', code: 'c\0', workflow: 'w\0', more: '\0' });
	expect(row).toMatchObject({ task_id: 'ab', model: 'm', code: 'c', workflow: 'w', more: '' });
});

test('the pattern of a run is like its name, for all nodes of the workflow', () => {
	const identity = { workflowId: 'w', nodeId: 'n', establishedAtMs: 12, runIndex: 3 };
	expect([nameOfRun(identity), patternOfRun(identity)]).toEqual(['12.3 n w', '12.3 % w']);
});
