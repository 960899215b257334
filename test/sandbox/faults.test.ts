import { PNG } from 'pngjs';
import { Bench, inner } from './helpers';

const bench = new Bench();
afterEach(() => bench.sandbox.reset());

describe('a task', () => {
	test('a task moves with the clock from queued to completed, and its file has the pixels asked for', async () => {
		const created = await bench.image('', { size: '21:9', resolution: '4K', n: 2 });
		expect(Object.keys(created.json)).toEqual([
			'id',
			'object',
			'model',
			'status',
			'progress',
			'created_at',
			'metadata',
		]);
		expect((await bench.lastStatus()).json).toMatchObject({ status: 'queued', progress: 0 });
		bench.clockMs += 5_000;
		expect((await bench.lastStatus()).json).toMatchObject({ status: 'in_progress', progress: 44 });
		bench.clockMs += 5_000;
		const { json } = await bench.lastStatus();
		expect(json).toMatchObject({
			status: 'completed',
			progress: 100,
			expires_at: Number(json.completed_at) + 86_400,
		});
		const files = await Promise.all(urlsIn(json).map((url) => bench.file(url)));
		expect(files.map(({ bytes }) => PNG.sync.read(bytes).width)).toEqual([3840, 3840]);
		expect(PNG.sync.read(files[0]?.bytes ?? Buffer.alloc(0)).height).toBe(1648);
		expect(files[0]?.bytes.equals(files[1]?.bytes ?? Buffer.alloc(0))).toBe(false);
	});

	test('a new task can be hidden for a while', async () => {
		await bench.image('hidden=3s');
		expect((await bench.lastStatus()).json).toMatchObject({ message: 'Task not found' });
		bench.clockMs += 3_000;
		expect((await bench.lastStatus()).status).toBe(200);
	});
});

describe('answers that go wrong', () => {
	test.each([
		['429:5', 429, 0, { 'retry-after': '5' }],
		['429:date5', 429, 0, { 'retry-after': expect.stringMatching(/GMT$/) }],
		['503', 503, 0, { 'content-type': expect.stringContaining('json') }],
		['504', 504, 0, { 'content-type': 'text/html' }],
		['504!after', 504, 1, {}],
		['html', 200, 0, { 'content-type': 'text/html' }],
		['success_false', 200, 0, {}],
		['truncated', 200, 1, {}],
		['slow:3s', 200, 1, {}],
	])(
		'create=%s answers with the status %i, accepts %i tasks, and leaves the next request alone',
		async (answer, status, accepted, headers) => {
			const reply = await bench.image(`create=${answer}`);
			expect(reply).toMatchObject({ status, headers });
			expect(bench.sandbox.tasks).toHaveLength(accepted);
			expect((await bench.image(`create=${answer}`)).json.status).toBe('queued');
		},
	);

	test('queued faults match, skip and end', async () => {
		bench.sandbox.faults.add({ on: 'status', skip: 1, times: 2, do: '503:2' });
		await bench.image('');
		const statuses: number[] = [];
		for (let look = 0; look < 4; look += 1) statuses.push((await bench.lastStatus()).status);
		expect(statuses).toEqual([200, 503, 503, 200]);
	});

	test('the control endpoint queues faults and refuses what it does not know', async () => {
		const fault = {
			on: 'create',
			match: { promptIncludes: 'cat' },
			do: { when: 'after', status: 500, body: { a: 1 } },
		};
		expect((await bench.post('/__sandbox/faults', fault, null)).json).toEqual({ pending: 1 });
		expect(await bench.image('')).toMatchObject({ status: 500, json: { a: 1 } });
		expect((await bench.post('/__sandbox/faults', { on: 'x', do: '503' }, null)).status).toBe(400);
		expect((await bench.post('/__sandbox/faults', { on: 'any', do: 'bogus' }, null)).status).toBe(400);
	});

	test('a misspelt directive is refused', async () => {
		expect((await bench.image('progres=stuck')).json.message).toMatch(/unknown key "progres"/);
	});

	test.each([
		['file=404*2,500', [404, 404, 500, 200]],
		['file=redirect', [302, 200]],
		['expires=0s', [403]],
	])('with the directive %s, the downloads of a file are answered with %j', async (directive, expected) => {
		await bench.image(`${directive} duration=0`);
		const [url = ''] = urlsIn((await bench.lastStatus()).json);
		const statuses: number[] = [];
		for (let read = 0; read < expected.length; read += 1) statuses.push((await bench.file(url)).status);
		expect(statuses).toEqual(expected);
	});
});

test('beyond the limit of requests per second comes 429 with Retry-After', async () => {
	const limited = new Bench({ requestsPerSecond: 3 });
	const statuses: number[] = [];
	for (let i = 0; i < 5; i += 1) statuses.push((await limited.get('/v1/balance')).status);
	expect(statuses).toEqual([200, 200, 200, 429, 429]);
	limited.clockMs += 1_000;
	expect((await limited.get('/v1/balance')).status).toBe(200);
	expect(limited.sandbox.stats()).toMatchObject({ peakRequestsPerSecond: 5, rateLimited: 2 });
});

test('beyond the tasks that a user can run at once comes 429 with Retry-After, until one has ended', async () => {
	const limited = new Bench({ tasksAtOnce: 2 });
	const statuses: number[] = [];
	for (let i = 0; i < 3; i += 1) statuses.push((await limited.image('duration=10s')).status);
	expect(statuses).toEqual([200, 200, 429]);
	limited.clockMs += 10_000;
	expect((await limited.image('duration=10s')).status).toBe(200);
	expect(limited.sandbox.stats()).toMatchObject({ tasks: 3, peakTasksInFlight: 2 });
});

function urlsIn(record: Record<string, unknown>): string[] {
	const { data } = inner(record, 'result');
	return Array.isArray(data) ? data.map((item: { url: string }) => item.url) : [];
}
