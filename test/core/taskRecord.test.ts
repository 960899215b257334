/** The fields of a task's record, and the ID in an answer that is damaged. */
import { parseBeginning, parseJson } from '../../core/json';
import { createdId, createdTaskId } from '../../core/records/ids';
import { parseTaskRecord } from '../../core/records/taskRecord';

describe('a record', () => {
	test.each([
		null,
		undefined,
		5,
		'x',
		[],
		[{ id: 'a' }],
		{},
		{ message: 'w' },
		{ data: [] },
		{ data: { message: 'w' } },
		{ id: '', status: ' ' },
	])('%j is no record of a task', (answer) => {
		expect(parseTaskRecord(answer)).toBeUndefined();
	});

	test.each<[string, Record<string, unknown>]>([
		['flat', { id: 'a', status: 'queued' }],
		['under its other name', { task_id: 'a', status: 'queued' }],
		['with data of its own', { id: 'a', data: { url: 'https://files.example/r.mp4' } }],
		['with data that is a list', { id: 'a', data: [{ url: 'https://files.example/r.mp4' }] }],
	])('a record is taken as it came: %s', (_, answer) => {
		const record = parseTaskRecord(answer);
		expect(record?.raw).toBe(answer);
		expect(record?.id).toBe('a');
	});

	test.each<[string, unknown, string, string[]]>([
		['around it', { id: 'req', success: true, data: { id: 'b', status: 'completed' } }, 'b', ['b', 'req']],
		['that is the ID', { id: 'b', success: true, data: { status: 'completed' } }, 'b', ['b']],
		[
			'and a status of the request',
			{ id: 'req', status: 'success', data: { id: 'b', status: 'running' } },
			'b',
			['b', 'req'],
		],
		['and a status, and no ID of its own', { id: 'req', status: 'success', data: { status: 'running' } }, 'b', ['req']],
		['but it names the task itself', { id: 'b', status: 'running', data: { id: 'file', status: 'ready' } }, 'b', ['b']],
		['and no status', { id: 'req', status: 'success', data: { task_id: 'b' } }, 'b', ['b', 'req']],
		['of another name', { task_id: 7, data: { id: 'b', status: 'running' } }, 'b', ['b', '7']],
	])('a wrapper may have an ID: one %s', (_, answer, asked, ids) => {
		expect(parseTaskRecord(answer, asked)?.ids).toEqual(ids);
	});

	test.each<[string, object, string]>([
		[
			'goes on',
			{ task_id: 'b', status: 'success', data: { status: 'processing', video_url: 'https://f.example/low.mp4' } },
			'in_progress',
		],
		['goes on under another ID', { task_id: 'b', status: 'Success', data: { id: 'up', status: 'queued' } }, 'queued'],
		[
			'goes on under a word in camel case',
			{ task_id: 'b', status: 'success', data: { status: 'InProgress' } },
			'in_progress',
		],
		['has failed', { id: 'b', status: 'success', data: { status: 'failed' } }, 'failed'],
		['is ready', { id: 'b', status: 'success', data: { status: 'completed' } }, 'completed'],
		['has a word of its own for its file', { id: 'b', status: 'success', data: { status: 'ready' } }, 'completed'],
	])('a request that went well says nothing about its task, which %s', (_, answer, state) => {
		expect(parseTaskRecord(answer, 'b')).toMatchObject({ state });
		expect(parseTaskRecord(answer, 'b')?.ids).toContain('b');
	});

	test('of IDs without end, a beginning is kept, which names no task', () => {
		const long = 'x'.repeat(4_000_000);
		const { id, ids } = parseTaskRecord({ id: long, status: 'running', data: { task_id: long } }) ?? {};
		expect([id?.length, JSON.stringify(ids).length]).toEqual([1_001, 1_005]);
		const many = Object.fromEntries(
			Array.from({ length: 1_000 }, (_, index) => [`task_${'_'.repeat(index)}id`, `${index}`]),
		);
		expect(parseTaskRecord({ ...many, status: 'running' })?.ids).toHaveLength(10);
		expect(parseTaskRecord({ id: 'x'.repeat(1_000), status: 'running' })?.id).toBe('x'.repeat(1_000));
	});

	test('a record is also recognized by its status alone', () => {
		expect(parseTaskRecord({ status: 'queued' })).toMatchObject({ id: undefined, state: 'queued' });
		expect(parseTaskRecord({ id: 'a' })).toMatchObject({ id: 'a', status: '', state: 'in_progress' });
	});

	test.each([
		['id', 'success'],
		['task_id', 'success'],
		['id', 'ok'],
		['id', 200],
		['id', 'error'],
		['model', 'success'],
	])('the status of the request is not that of the task: with %s, %j', (name, status) => {
		const data = { [name]: 'b', status: 'in_progress' };
		const id = name === 'model' ? undefined : 'b';
		expect(parseTaskRecord({ status, data })).toMatchObject({ id, state: 'in_progress', raw: data });
	});

	test.each([
		['without either', { url: 'https://files.example/r.mp4' }],
		['without a status', { id: 'file-1', url: 'https://files.example/r.mp4' }],
		['that are a list', [{ id: 'b', status: 'queued' }]],
	])('the status of a record without an ID stays its own beside data %s', (_, data) => {
		const answer = { status: 'completed', data };
		expect(parseTaskRecord(answer)).toMatchObject({ id: undefined, state: 'completed', raw: answer });
	});

	test.each([
		['queued', ['queued', 'submitted', 'pending', 'Waiting']],
		[
			'in_progress',
			['in_progress', 'IN PROGRESS', 'In - Progress', 'InProgress', 'processing', 'running', 'hibernating'],
		],
		['completed', ['completed', 'succeeded', 'success', 'Succeed', 'DONE']],
		['failed', ['failed', 'FAILURE', 'cancelled', 'canceled', 'error', 'expired', 'Fail', 'TIMEOUT', 'rejected']],
	])('the status of a task is %s for %j', (state, words) => {
		expect(words.map((status) => parseTaskRecord({ status })?.state)).toEqual(words.map(() => state));
	});

	test.each([
		[0, 0],
		[-5, 0],
		[40, 40],
		['40%', 40],
		[1e300, 100],
		['', undefined],
		['7%%', undefined],
		['soon', undefined],
		[[7], undefined],
	])('a progress of %j is read as %j', (progress, percent) => {
		expect(parseTaskRecord({ id: 'a', status: 'running', progress })?.progress).toBe(percent);
	});

	test('a record has the rest of what the answer says', () => {
		expect(
			parseTaskRecord({
				id: 5,
				status: 'completed',
				model: 'm',
				created_at: '1700000000',
				expires_at: 1_700_086_400,
				url: 'https://files.example/r.mp4',
			}),
		).toMatchObject({
			id: '5',
			model: 'm',
			createdAt: 1_700_000_000,
			expiresAt: 1_700_086_400,
			refusal: {},
		});
	});

	test.each([
		[{ expires_at: 1, result: { expires_at: 2 }, metadata: { expires_at: 3 } }, 1],
		[{ result: { expires_at: 2 }, metadata: { expires_at: 3 } }, 2],
		[{ metadata: { expires_at: 3 } }, 3],
		[{ expires_at: 0, result: { expires_at: -1 }, metadata: { expires_at: 3 } }, 3],
		[{ expires_at: '0001-01-01T00:00:00Z' }, undefined],
		[{}, undefined],
	])('a record says until when its files can be fetched: %j', (fields, expiresAt) => {
		expect(parseTaskRecord({ id: 'a', status: 'completed', ...fields })?.expiresAt).toBe(expiresAt);
	});

	test.each<[object, object]>([
		[{ error: { code: 'generation_failed', message: 'w' } }, { code: 'generation_failed', message: 'w' }],
		[{ error: '', fail_reason: 'w' }, { message: 'w' }],
		[{ message: 'w', status: 'running' }, {}],
	])('the record of a failed task has the words of the service: %j', (fields, refusal) => {
		expect(parseTaskRecord({ id: 'a', status: 'failed', ...fields })?.refusal).toEqual(refusal);
	});

	test('of megabytes of words, a record keeps a beginning, and a key in them stays hidden', () => {
		const long = 'x'.repeat(1_000_000);
		const failed = { id: 'a', status: 'failed', model: `m${long}`, message: `sk-${long} ${long}`, code: `c${long}` };
		expect(parseTaskRecord(failed)).toMatchObject({
			model: `m${'x'.repeat(199)}…`,
			refusal: { message: `sk-… ${'x'.repeat(1995)}…`, code: `c${'x'.repeat(99)}…` },
		});
		expect(parseTaskRecord({ id: 'a', status: long })?.status).toBe(`${'x'.repeat(200)}…`);
		expect(parseTaskRecord({ ...failed, code: 1, error: { type: long } })?.refusal.code).toHaveLength(101);
	});
});

describe('an ID in what may be cut off', () => {
	const find = (text: string) => createdTaskId(parseJson(text) ?? parseBeginning(text))?.id;

	test.each([
		['{"id":"a"}', 'a'],
		[' \n{"id" : "a"', 'a'],
		['{"data":{"id":"a","sta', 'a'],
		['{"id":1234567890123456789,"sta', '1234567890123456789'],
		['{"id": 12 }', '12'],
		['{"error":{"id":"of the error"},"id":"a"}', 'a'],
		['{"id":"a","error":{"id":"of the error"}}', 'a'],
		['{"id":"a"} <html>', 'a'],
		['{"id":"req_1","success":true,"data":{"id":"a","sta', 'a'],
		['{"data":[{"task_id":"a","list":["b","c', 'a'],
	])('what may be cut off, such as %j, holds the ID %j', (text, id) => {
		expect(find(text)).toBe(id);
	});

	test.each([
		'',
		'id',
		'<html>{"id":"a"}',
		'{"id":"',
		'{"id":"a',
		'{"id":""}',
		'{"id":12x,',
		'{"id":a}',
		'{"id":"a\\q","x',
		'{"video_id":"a"}',
		'{"ids":"a"}',
		'{"error":{"id":"a"}}',
		'{"data":{"user":{"id":"a","x',
		'[{"id":"a"},{"id":"b"}]',
	])('what may be cut off, such as %j, holds no ID', (text) => {
		expect(find(text)).toBeUndefined();
	});
});

test.each<[object, string | undefined]>([
	[{ id: 'req_1', success: true, data: { id: 'a', status: 'queued' } }, 'a'],
	[{ id: 'req_1', status: 'success', data: { id: 'a' } }, 'a'],
	[{ id: 'req_1', code: 0, data: [{ status: 'submitted', task_id: 'a' }] }, 'a'],
	[{ id: 'a', object: 'generation.task', status: 'queued', task_id: 'x' }, 'a'],
	[{ id: 'a', status: 'queued', task_id: 'x', data: { url: null } }, 'a'],
	[{ id: 'a', status: 'queued', data: { task_id: 'x' } }, 'a'],
	[{ id: 17, status: 'queued', task_id: 'a' }, 'a'],
	[{ task_id: 'x', data: { id: 'a', status: 'queued' } }, 'a'],
	[{ TaskID: 'a' }, 'a'],
	[{ request_id: 'x', output: { task_id: 'a', task_status: 'PENDING' } }, 'a'],
	[{ user: { id: 'x' }, task: { id: 'a' } }, 'a'],
	[{ data: { user: { id: 'x' }, job: { task_id: 'a' } } }, 'a'],
	[{ data: { user: { id: 'u1' } } }, undefined],
	[{ data: [{ id: 'a' }, { id: 'b' }] }, undefined],
	[{ jobs: [{ task_id: 'a' }, { task_id: 'b' }] }, undefined],
	[{ id: '', task_id: null, data: [] }, undefined],
	[{ id: 'req_1', error: { code: 'insufficient_quota', message: 'w' } }, undefined],
	[{ id: 'req_1', error: 'w' }, undefined],
	[{ id: 'req_1', data: { error: 'w' } }, undefined],
	[{ id: 'req_1', error: 'w', task_id: 'a' }, 'a'],
	[{ id: 'req_1', error: 'w', task: { id: 'a' } }, 'a'],
	[{ id: 'a', error: 'w', status: 'queued' }, 'a'],
	[{ id: 17, error: 'w', task_status: 'PENDING' }, '17'],
	[{ id: 'a', object: 'generation.task', error: 'w' }, 'a'],
	[{ id: 'a', error: null, fail_reason: '', error_code: 0 }, 'a'],
	[{ id: 'a', error: { code: 0, message: 'success' } }, 'a'],
])('the ID of a new task is that of the task, not of the request or of a user: %j', (answer, id) => {
	expect(createdTaskId(answer)?.id).toBe(id);
});

test.each<[object, string | undefined]>([
	[{ id: 'req_1', status: 'success', group_id: 'a' }, 'a'],
	[{ id: 'req_1', success: true, data: { id: 'a' } }, 'a'],
	[{ data: { groupId: 'a', id: 'x' } }, 'a'],
	[{ group: { id: 'a' }, user: { id: 'x' } }, 'a'],
	[{ data: { user: { id: 'u1' } } }, undefined],
	[{ id: 'req_1', error: { message: 'w' } }, undefined],
])('the ID of a new group is that of the group: %j', (answer, id) => {
	expect(createdId(answer, 'group_id')?.id).toBe(id);
});

describe('an ID that came as a number', () => {
	const digits = '1234567890123456789';
	test.each([
		['keeps its last digits', `{"id":${digits},"x":1}`, digits],
		['is not part of a longer one', `{"x":9${digits},"id":${digits}0}`, `${digits}0`],
		[
			'is not another one that begins alike',
			'{"x":"1234567890123456999","id":1234567890123456789}',
			'1234567890123456789',
		],
		['is a text with something before it', '{"x":12345678901234599,"id":"a1234567890123456"}', 'a1234567890123456'],
	])('an ID that came as a number %s', (_, text, exact) => {
		expect(parseTaskRecord(parseJson(text))?.id).toBe(exact);
	});
});
