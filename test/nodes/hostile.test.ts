/** A service that answers with too much, for too long, or with what cannot be read. SECURITY.md links here. */
import type { IDataObject } from 'n8n-workflow';
import { realClock } from '../../nodes/connection/transport';
import {
	hurry,
	pause,
	pngField,
	prompts,
	quick,
	runGateway,
	testCredential,
	type Kind,
	type Sandbox,
} from '../support/nodes.mts';
import { heapMb } from '../support/memory.mts';
import {
	costOf,
	cut,
	drip,
	dripHeaders,
	evaluated,
	finished,
	flood,
	gzipped,
	gzippedFlood,
	nested,
	startHostile,
	TASK_ID,
	text,
	type Answer,
	type Hostile,
} from '../support/hostile.mts';
import gallery from '../../workflows/text-to-image-batch.json';

let hostile: Hostile;
beforeAll(async () => {
	hostile = await startHostile();
});
afterAll(async () => await hostile.close());
beforeEach(() => hostile.reset());
afterEach(async () => {
	jest.restoreAllMocks();
	// A response that is given up does not keep its connection open.
	for (let waited = 0; waited < 40 && hostile.answering() > 0; waited++) await pause(50);
	expect(hostile.answering()).toBe(0);
});

const run = async (parameters: Record<string, unknown>, kind: 'image' | 'balance' = 'image') =>
	await runGateway(kind, hostile as unknown as Sandbox, parameters as never);
const generate = async (options = {}) =>
	await run({ operation: 'generate', prompt: 'a', result: 'urlOnly', options: { ...quick, ...options } });
const getTask = async (parameters = {}) =>
	await run({ operation: 'getResult', wait: 'dontWait', result: 'urlOnly', taskId: TASK_ID, ...parameters });

const TOO_LARGE = 'The answer from the service is too large';
const NOT_KNOWN = 'The service may or may not have accepted this task';
const LISTS = `[${'[],'.repeat(2_500_000)}[]]`;
const URLS = JSON.stringify({
	id: TASK_ID,
	status: 'completed',
	urls: Array.from({ length: 1_000_000 }, (_, index) => `http://127.0.0.1/${index}`),
});
const PICTURE = 'http://127.0.0.1/a.png';

/** Of n8n, for one answer: what it grows by, and for how long it could have answered nobody else. */
const MOST_MB = 50;
const MOST_CPU_SECONDS = 2;

const cheaply = async <T>(work: () => Promise<T>): Promise<T> => {
	const { result, grownMb, cpuSeconds } = await costOf(work);
	expect(grownMb).toBeLessThan(MOST_MB);
	expect(cpuSeconds).toBeLessThan(MOST_CPU_SECONDS);
	return result;
};

describe('an answer that is too large to read', () => {
	const cases = {
		'50 MB': flood('{"a":', 50),
		'an endless one': flood('{"a":'),
		'8 MB of empty lists': text(LISTS),
		'a million levels': nested(1_000_000),
		'a million URLs': text(URLS),
		'128 MB in 128 KB': gzipped(128),
		'an endless compressed one': gzippedFlood(),
		'one that has nothing more to say, but does not end': ((response) =>
			void response.writeHead(200).write(`[${'0,'.repeat(4_500_000)}`)) as Answer,
	};

	test.each(Object.entries(cases))(
		'an answer to a poll that is too large to read ends the wait and names the task: %s',
		async (_, answer) => {
			hostile.answers.poll = answer;
			const { error } = await cheaply(async () => await generate());
			expect(error?.message).toBe(`The service accepted task ${TASK_ID}, but its record is too large for this node`);
			expect(hostile.requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
		},
	);

	test.each<[string, Answer]>([
		['8 MB of empty lists', cases['8 MB of empty lists']],
		['an endless one', cases['an endless one']],
		['an endless one with HTTP 400', flood('{"a":', Infinity, 400)],
		['an endless one with HTTP 500', flood('{"a":', Infinity, 500)],
	])(
		'of a creating request whose answer is too large, %s, nobody knows what came, and it is not sent again',
		async (_, answer) => {
			hostile.answers.create = answer;
			const { error } = await cheaply(async () => await generate());
			expect(error?.message).toBe(NOT_KNOWN);
			expect(error?.description).toContain('The answer from the service was too large, and was cut off');
			expect(hostile.posts()).toBe(1);
		},
	);

	test('an ID at the beginning of an answer that is too large is not lost', async () => {
		hostile.answers.create = flood(`{"id":"${TASK_ID}","status":"queued","a":"`);
		hostile.answers.poll = finished({ url: PICTURE });
		expect((await generate()).json).toMatchObject([{ task_id: TASK_ID, url: PICTURE }]);
		expect(hostile.posts()).toBe(1);
	});

	test('an answer that is too large to read ends the balance and the test of the credential', async () => {
		hostile.answers.balance = flood('{"a":');
		expect((await run({ operation: 'getAccountBalance' }, 'balance')).error?.message).toBe(TOO_LARGE);
		expect(await testCredential(hostile)).toMatchObject({
			status: 'Error',
			message: expect.stringContaining(TOO_LARGE) as string,
		});
	});
});

describe('the answers for many tasks together', () => {
	const TASKS = 50;
	/** Nearly as much as one answer may have, and more in memory. */
	const FILLER = Array.from({ length: 7_000 }, (_, index) => ({ [`name_${index}`]: 'a'.repeat(100) }));
	const idIn = ({ url = '' }: Parameters<Answer>[1]) => url.split('/').at(-1) ?? '';
	const polled = () => new Set(hostile.requests.filter(({ method }) => method === 'GET').map(({ url }) => url)).size;

	test('of results that n8n could not store together, as many as it can are delivered, and the others name their tasks', async () => {
		const picture = 'QUJD'.repeat(970_000);
		hostile.answers.poll = (response, request) => {
			finished({ id: request.url?.split('/').at(-1), data: [{ b64_json: picture }] })(response, request);
		};
		const items = Array.from({ length: 48 }, (_, index) => ({ json: { id: `task_${index}` } }));
		const parameters = { operation: 'getResult', wait: 'dontWait', result: 'urlOnly', taskId: '={{ $json.id }}' };
		const settings = { onError: 'continueRegularOutput' as const };
		// All at the same time, each answer takes as long as all of them do, which is too long on a busy machine.
		const credential = { advanced: true, requestsPerSecond: 1 };
		const options = { items, settings, credential };
		const { json } = await runGateway('image', hostile as unknown as Sandbox, parameters, options);
		const failed = json.filter(({ error }) => error !== undefined);
		expect(failed).toHaveLength(2);
		for (const { error } of failed)
			expect(error).toMatch(/^The result of task task_\d+ is too large for n8n to store it with the others/);
	});

	test('of the records of tasks that are not ready nothing is kept', async () => {
		let created = 0;
		hostile.answers.create = (response, request) =>
			text(JSON.stringify({ id: `task_${++created}`, status: 'queued' }))(response, request);
		hostile.answers.poll = (response, request) =>
			text(JSON.stringify({ id: idIn(request), status: 'in_progress', filler: FILLER }))(response, request);
		const before = heapMb();
		const waiting = runGateway(
			'image',
			hostile as unknown as Sandbox,
			{
				operation: 'generate',
				prompt: '={{ $json.prompt }}',
				result: 'urlOnly',
				options: { pollIntervalSeconds: 3 },
			},
			{ items: prompts(...Array.from({ length: TASKS }, (_, index) => `a ${index}`)) },
		);
		while (polled() < TASKS) await pause(50);
		await pause(1_000);
		expect(heapMb() - before).toBeLessThan(30);
		hostile.answers.poll = (response, request) =>
			text(JSON.stringify({ id: idIn(request), status: 'completed', url: PICTURE }))(response, request);
		expect((await waiting).items).toHaveLength(TASKS);
		expect(hostile.posts()).toBe(TASKS);
	});
});

describe('an answer that does not end', () => {
	beforeEach(() => {
		// Deadlines of seconds instead of minutes.
		const timeout = AbortSignal.timeout.bind(AbortSignal);
		jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / 60));
	});

	test('a poll that is answered a byte at a time is asked again', async () => {
		hostile.answers.poll = drip();
		const waiting = generate();
		while (hostile.requests.length < 2) await pause(50);
		hostile.answers.poll = finished({ url: PICTURE });
		expect((await waiting).json).toMatchObject([{ task_id: TASK_ID, url: PICTURE }]);
	});

	test.each([
		['headers a byte at a time', dripHeaders()],
		['nothing', () => {}],
	])('of a creating request that is answered by %s nobody knows what came', async (_, answer) => {
		hostile.answers.create = answer;
		const { error } = await generate();
		expect(error?.message).toBe(NOT_KNOWN);
		expect(error?.description).toContain('no complete answer came (ETIMEDOUT)');
		expect(hostile.posts()).toBe(1);
	});

	test('the ID is not lost if the answer is cut off in the middle', async () => {
		hostile.answers.create = cut(`{"id":"${TASK_ID}","sta`);
		hostile.answers.poll = finished({ url: PICTURE });
		expect((await generate()).json).toMatchObject([{ task_id: TASK_ID, url: PICTURE }]);
		expect(hostile.posts()).toBe(1);
	});

	test('the test of the credential ends at an answer that does not end', async () => {
		for (const answer of [drip(), dripHeaders()]) {
			hostile.answers.balance = answer;
			expect(await testCredential(hostile)).toMatchObject({
				status: 'Error',
				message: expect.stringContaining('No answer came in time') as string,
			});
		}
		// Its request ends by a limit of its own, which is not shortened here.
		hostile.hangUp();
	});
});

describe('a result that is in a private network', () => {
	const download = async () => await getTask({ result: 'file' });
	const files = () => hostile.requests.filter(({ url }) => url.startsWith('/files/'));

	test.each([
		'http://10.0.0.5/a.png',
		'http://169.254.169.254/latest/meta-data/',
		'http://[::ffff:a9fe:a9fe]/',
		'http://[fd00:ec2::254]/',
	])('a result at %s is not fetched, and its URL is given', async (url) => {
		hostile.answers.poll = finished({ url });
		const { error } = await download();
		expect(error?.message).toBe(
			`The result of task ${TASK_ID} is at ${new URL(url).hostname}, and downloads from there are not allowed`,
		);
		expect(error?.description).toContain(`Result URLs: ${url}`);
		hostile.answers.poll = finished({ url });
		expect((await getTask()).json).toMatchObject([{ url }]);
	});

	test.each(['http://169.254.169.254/latest/meta-data/', 'file:///etc/passwd'])(
		'a result in a private network is not fetched at the end of a redirect: %s',
		async (location) => {
			hostile.answers.poll = finished({ url: `${hostile.baseUrl}/files/a.png` });
			const second = text('', { location }, 307);
			hostile.answers.file = (response, request) =>
				(request.url === '/files/a.png' ? text('', { location: '/files/b.png' }, 302) : second)(response, request);
			expect((await download()).error?.message).toMatch(/and downloads from there are not allowed$/);
			expect(files().map(({ url, key }) => [url, key])).toEqual([
				['/files/a.png', undefined],
				['/files/b.png', undefined],
			]);
		},
	);

	test.each([301, 302, 303, 307, 308])('a redirect with %i of a result file is followed', async (status) => {
		hostile.answers.poll = finished({ url: `${hostile.baseUrl}/files/a.png` });
		const there = text('\0 file', { 'content-type': 'image/png' });
		hostile.answers.file = (response, request) =>
			(request.url === '/files/a.png' ? text('', { location: '/files/b.png' }, status) : there)(response, request);
		const { error, items } = await download();
		expect(error).toBeUndefined();
		expect(items[0]?.binary?.data?.mimeType).toBe('image/png');
	});

	test('a user in the address of a file at the service does not take the place of the key', async () => {
		hostile.answers.poll = finished({ url: `${hostile.baseUrl.replace('//', '//user:word@')}/files/a.png` });
		const key = `Bearer ${hostile.apiKey}`;
		const there = text('\0 file', { 'content-type': 'image/png' });
		hostile.answers.file = (response, request) =>
			(request.headers.authorization === key ? there : text('', {}, 401))(response, request);
		expect((await download()).error).toBeUndefined();
		expect(files().map((file) => file.key)).toEqual([expect.stringMatching(/^Basic /), key]);
	});

	test('a redirect that does not end is an error of the download', async () => {
		hostile.answers.poll = finished({ url: `${hostile.baseUrl}/files/a.png` });
		hostile.answers.file = text('', { location: '/files/a.png' }, 302);
		jest.spyOn(realClock, 'sleep').mockImplementation(async () => await pause(1));
		expect((await download()).error?.description).toContain('The file host answered with HTTP 302');
	});
});

describe('an answer that is hard to read', () => {
	test('an answer with 45,000 levels is read, and the record is without what is too deep', async () => {
		hostile.answers.poll = nested(45_000);
		const { error, json } = await cheaply(async () => await getTask({ options: { simplify: false } }));
		expect(error).toBeUndefined();
		expect(JSON.stringify(json[0].record).length).toBeLessThan(2_000);
	});

	test('as many URLs as an answer can have are the result', async () => {
		hostile.answers.poll = finished({
			urls: Array.from({ length: 15_000 }, (_, index) => `http://127.0.0.1/${index}`),
		});
		const { json } = await cheaply(async () => await getTask());
		expect(json[0].urls).toHaveLength(15_000);
	});

	test('__proto__ and constructor change no object', async () => {
		hostile.answers.poll = text(
			`{"id":"${TASK_ID}","status":"completed","__proto__":{"polluted":true,"url":"${PICTURE}"},"constructor":{"prototype":{"polluted":true}},"result":{"__proto__":{"url":"${PICTURE}"}}}`,
		);
		await getTask({ options: { simplify: false } });
		await generate({ resultPath: '__proto__.url' });
		expect(({} as Record<string, unknown>).polluted).toBeUndefined();
		expect(Object.prototype).not.toHaveProperty('url');
	});

	test('control characters go no further than the output', async () => {
		const id = 'task\n1\u001b[2J';
		hostile.answers.create = text(JSON.stringify({ id }));
		hostile.answers.poll = text(
			JSON.stringify({ id, status: 'failed', error: { message: 'a\u0000b\u001b[31m\r\nc\u202ed', code: '\u0007' } }),
		);
		const { error } = await generate();
		expect(error?.message).toBe('The service could not finish task task 1 [2J');
		expect(error?.description).toContain('The service says: "a b [31m c d", code  .');
	});

	test('a result URL with a quote adds nothing to the page of the example', async () => {
		hostile.answers.poll = finished({ url: 'https://x.example/a"onerror="alert(1)' });
		const { json } = await getTask();
		const { html } = gallery.nodes.find(({ name }) => name === 'Gallery')?.parameters ?? {};
		const [, expression = ''] = /\{\{(.*)\}\}/s.exec(String(html)) ?? [];
		const items = [{ json: { ...json[0], prompt: 'a' } }];
		expect(evaluated(expression, items)).toContain('<img src="https://x.example/a%22onerror=%22alert(1)" alt="">');
	});

	test.each([
		['UTF-16', Buffer.from('\ufeff{"id":"task_1","status":"completed"}', 'utf16le')],
		['bytes that are no text', Buffer.from(Array.from({ length: 2_000 }, (_, index) => (index * 37) % 256))],
		['half of a character', Buffer.from([...Buffer.from('{"id":"task_1","status":"'), 0xe4, 0xbb])],
	])('%s is no answer of this service, and an ID before it is not lost', async (_, body) => {
		hostile.answers.balance = text(body);
		expect((await run({ operation: 'getAccountBalance' }, 'balance')).error?.message).toMatch(
			/^The answer (does not come from|is not)/,
		);
		hostile.answers.create = text(body);
		hostile.answers.poll = finished({ url: PICTURE });
		const { error, json } = await generate();
		expect(error?.message ?? json[0].task_id).toBe(body.includes(TASK_ID) ? TASK_ID : NOT_KNOWN);
		expect(hostile.posts()).toBe(1);
	});

	test('of a creating request whose answer lacks the compression that it names, the outcome is not known', async () => {
		hostile.answers.create = text('{"id":"task_1"}', { 'content-encoding': 'gzip' });
		expect((await generate()).error?.message).toBe(NOT_KNOWN);
		expect(hostile.posts()).toBe(1);
	});
});

describe('a redirect of the service, which would take the request and the key to another host', () => {
	let elsewhere: Hostile;
	beforeAll(async () => {
		elsewhere = await startHostile();
	});
	afterAll(async () => await elsewhere.close());
	const redirects = (status: number) => {
		const moved = text('', { location: `${elsewhere.baseUrl}/v1/elsewhere` }, status);
		Object.assign(hostile.answers, { create: moved, poll: moved, balance: moved });
		hurry(200);
	};

	const upload = { image: [{ source: 'binary', binaryPropertyName: 'data' }] };
	test.each<[string, number, Kind, IDataObject]>([
		['a creation', 307, 'image', { operation: 'generate', prompt: 'a', options: quick }],
		['a creation', 303, 'image', { operation: 'generate', prompt: 'a', options: quick }],
		['an upload', 308, 'image', { operation: 'generate', prompt: 'a', images: upload, options: quick }],
		[
			'a read of a task',
			302,
			'image',
			{ operation: 'getResult', wait: 'dontWait', result: 'urlOnly', taskId: TASK_ID },
		],
		['a read of the balance', 301, 'balance', { operation: 'getAccountBalance' }],
	])('a redirect of %s with %i is not followed: it is an error', async (_, status, kind, parameters) => {
		redirects(status);
		const items = [{ json: {}, binary: { data: pngField() } }];
		const { error } = await runGateway(kind, hostile as unknown as Sandbox, parameters, { items });
		expect(error).toBeDefined();
		expect(elsewhere.requests).toEqual([]);
	});

	test('a redirect of the test of the credential is not followed', async () => {
		redirects(302);
		const { status, message } = await testCredential(hostile);
		expect([status, message]).toEqual(['Error', expect.stringContaining(new URL(elsewhere.baseUrl).host)]);
		expect(elsewhere.requests).toEqual([]);
	});
});
