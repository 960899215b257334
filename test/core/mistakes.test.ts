/** A mistake of our own is no outage: it ends at once and names itself, and it is never taken for a refusal. */
import { GatewayError } from '../../core/errors';
import { ConnectionError, NotSentError } from '../../core/http/types';
import { SurvivalTable } from '../../core/polling/survivalTable';
import { waitForTask } from '../../core/polling/waitForTask';
import { fakeClock, json, scriptedClient } from './support';

const mistake = new TypeError('record.progress is undefined');
const caught = async (work: Promise<unknown>) =>
	await work.then(
		() => undefined,
		(thrown: unknown) => thrown as GatewayError,
	);

test('a mistake of our own ends a wait at its first check, and the error keeps its cause', async () => {
	const clock = fakeClock();
	let checks = 0;
	const task = { taskId: 'task-1', status: 'queued', elapsedMs: 0 };
	const error = await caught(
		waitForTask(
			{
				thing: 'task',
				task,
				statusOf: () => ({ state: 'pending', status: '' }),
				toFailure: () => new GatewayError('taskFailed', 'x'),
				fetch: async () => {
					checks++;
					throw mistake;
				},
			},
			{
				survivalTable: () => new SurvivalTable(),
				backlogMs: () => 0,
				clock,
				startedAtMs: clock.at,
				acceptedAtMs: clock.at,
				timeoutMs: 1_800_000,
				onTimeout: 'error',
				plan: { kind: 'automatic' },
			},
		),
	);
	expect(checks).toBe(1);
	expect(error).toMatchObject({
		kind: 'ownMistake',
		message: expect.stringContaining('TypeError: record.progress is undefined'),
		cause: mistake,
		task: { taskId: 'task-1' },
	});
});

test('a read that ends with a mistake of our own is not repeated', async () => {
	const { client, sent } = scriptedClient(
		[],
		{},
		{
			send: async (request) => {
				sent.push(request);
				throw mistake;
			},
		},
	);
	expect(await caught(client.getTask('video', 'task-1'))).toMatchObject({ kind: 'ownMistake', cause: mistake });
	expect(sent).toHaveLength(1);
});

describe('a creating request', () => {
	test('after a mistake of our own before a creating request was handed over, it is known that nothing was bought', async () => {
		const { client, sent } = scriptedClient(
			[],
			{},
			{
				send: async (request) => {
					sent.push(request);
					throw NotSentError.from(mistake);
				},
			},
		);
		expect(await caught(client.createTask('video', {}))).toMatchObject({ kind: 'ownMistake', cause: mistake });
		expect(sent).toHaveLength(1);
	});

	test('after a mistake of our own once a creating request was handed over, its outcome is open, with the mistake as cause', async () => {
		const { client, sent } = scriptedClient(
			[],
			{},
			{
				send: async (request) => {
					sent.push(request);
					throw mistake;
				},
			},
		);
		expect(await caught(client.createTask('video', {}))).toMatchObject({ kind: 'outcomeUnknown', cause: mistake });
		expect(sent).toHaveLength(1);
	});

	test('after a mistake of our own while the answer to a creating request is read, its outcome is open, with the mistake as cause', async () => {
		const answer = Object.defineProperty({ status: 200, headers: {} }, 'text', {
			get: () => {
				throw mistake;
			},
		});
		const { client } = scriptedClient([], {}, { send: async () => answer as never });
		expect(await caught(client.createTask('video', {}))).toMatchObject({ kind: 'outcomeUnknown', cause: mistake });
	});
});

test('a request with a character that HTTP does not allow counts as never sent', async () => {
	const { client, sent } = scriptedClient(['ERR_INVALID_CHAR']);
	expect(await caught(client.createTask('video', {}))).toMatchObject({ kind: 'unreachable' });
	expect(sent).toHaveLength(1);
	expect(new ConnectionError('ERR_INVALID_CHAR').code).toBe('ERR_INVALID_CHAR');
});

test('429s do not count as tries to connect', async () => {
	const { client, sent } = scriptedClient([
		...Array.from({ length: 4 }, () => json(429, {})),
		'ECONNREFUSED',
		'ECONNREFUSED',
		'ECONNREFUSED',
		json(200, { id: 'task-1', status: 'queued' }),
	]);
	expect(await client.createTask('video', {})).toMatchObject({ id: 'task-1' });
	expect(sent).toHaveLength(8);
});
