/** Refusals of the service, and their effect on the other items and on later requests. */
import { hurry, pause, pngField, prompts, quick, quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
afterEach(() => jest.restoreAllMocks());
beforeEach(() => sandbox.reset());

const continuing = { onError: 'continueRegularOutput' as const };
const posts = () => sandbox.requests.filter(({ method }) => method === 'POST');

describe('after the end of the node nothing is sent', () => {
	const rows = (count: number) =>
		Array.from({ length: count }, (_, index) => ({ json: { id: `unknown_${index}` }, binary: { data: pngField() } }));
	/** Requests that were on their way when the node ended may still arrive. */
	const sentAfterTheEnd = async () => {
		let length = -1;
		for (let looks = 0; looks < 10 && sandbox.requests.length > length; looks++) {
			length = sandbox.requests.length;
			await pause(300);
		}
		length = sandbox.requests.length;
		await pause(1500);
		return sandbox.requests.length - length;
	};

	test.each([
		['Get Task', 'image', { operation: 'getTask', taskId: '={{ $json.id }}' }, /^The service does not know task /],
		[
			'Verification → Get Result',
			'avatar',
			{ resource: 'verification', operation: 'getResult', verificationId: '={{ $json.id }}', vendorToken: 'vt' },
			/^The service answered 404 when asked for the result of verification /,
		],
	] as const)('%s of many unknown IDs sends nothing after its end', async (_, kind, parameters, message) => {
		const { error } = await runGateway(
			kind,
			sandbox,
			{ ...parameters, options: { requestsPerSecond: 20 } },
			{ items: rows(300) },
		);
		expect(error?.message).toMatch(message);
		expect(await sentAfterTheEnd()).toBe(0);
		expect(sandbox.requests.length).toBeLessThan(100);
	});

	test('Upload Image sends nothing after its end, though others wait for another try', async () => {
		sandbox.faults.add({ on: 'upload', times: 1, do: '400' });
		sandbox.faults.add({ on: 'upload', times: -1, do: '502' });
		const { error } = await runGateway(
			'image',
			sandbox,
			{ operation: 'uploadImage', options: { requestsPerSecond: 20 } },
			{ items: rows(100) },
		);
		expect(error).toBeDefined();
		expect(await sentAfterTheEnd()).toBe(0);
	});

	test('Generate sends neither polls nor repeated submissions after its end, but waits for the answer in flight', async () => {
		const items = prompts(
			'a [[sandbox create=slow:500ms!after duration=never]]',
			'b [[sandbox duration=never]]',
			'c [[sandbox create=429:1*9]]',
			'd [[sandbox create=400]]',
		);
		const { error } = await runGateway(
			'image',
			sandbox,
			{ operation: 'generate', prompt: '={{ $json.prompt }}', options: quick },
			{ items },
		);
		const { messages } = error as unknown as { messages: string[] };
		for (const { id } of sandbox.tasks) expect(messages.join()).toContain(id);
		expect(sandbox.tasks).toHaveLength(2);
		expect(await sentAfterTheEnd()).toBe(0);
	});
});

describe('a 403 holds back only what it would meet as well', () => {
	const items = ['alpha-video-1-5-pro', 'alpha-video-1-5-pro', 'beta-v3', 'alpha-video-1-5-pro', 'beta-v3'].map(
		(model) => ({ json: { model } }),
	);
	const oneByOne = { ...quick, concurrentTasks: 1 };

	test('after a 403 for a model, items with another model are bought', async () => {
		// A token that is limited to beta-v3, as the sandbox refuses it.
		const {
			json: [token],
		} = await runGateway('token', sandbox, { name: 't', quota: 'unlimited', allowedModels: ['beta-v3'] });
		const parameters = { operation: 'generate', model: '={{ $json.model }}', prompt: 'a', options: oneByOne };
		const { json } = await runGateway('video', sandbox, parameters, {
			items,
			settings: continuing,
			credential: { apiKey: token.api_key },
		});
		expect(json.map(({ status, error }) => status ?? error)).toEqual([
			expect.stringMatching(/not allowed/),
			'This item was not submitted',
			'completed',
			'This item was not submitted',
			'completed',
		]);
		expect(json[1].details).toContain('for the model alpha-video-1-5-pro');
		expect(posts().filter(({ path }) => path.includes('/videos/'))).toHaveLength(3);
	});

	test.each(['401', '402', 'no_quota'])('a %s holds back all other items', async (status) => {
		sandbox.faults.add({ on: 'create', do: status });
		const parameters = { operation: 'generate', model: '={{ $json.model }}', prompt: 'a', options: oneByOne };
		await runGateway('video', sandbox, parameters, { items, settings: continuing });
		expect(posts()).toHaveLength(1);
	});

	test('after a 403 for an upload, items without a file are bought', async () => {
		sandbox.faults.add({ on: 'upload', times: -1, do: '403' });
		const mixed = [true, true, false].map((hasFile) => ({
			json: { source: hasFile ? 'binary' : 'url' },
			binary: { data: pngField() },
		}));
		const parameters = {
			operation: 'generate',
			prompt: 'a',
			images: {
				image: [{ source: '={{ $json.source }}', url: 'https://example.com/a.png', binaryPropertyName: 'data' }],
			},
			options: oneByOne,
		};
		const { json } = await runGateway('video', sandbox, parameters, { items: mixed, settings: continuing });
		expect(json.map(({ status }) => status)).toEqual([undefined, undefined, 'completed']);
		expect(json[1].details).toContain('uploads');
		expect(posts().filter(({ path }) => path.includes('/uploads/'))).toHaveLength(1);
	});
});

describe('a submission that is refused while tasks run', () => {
	/** The seconds between each refusal and the next submission, whichever it is of. */
	const pausesAfter = async (answer: string) => {
		const { json } = await runGateway(
			'image',
			sandbox,
			{ operation: 'generate', prompt: '={{ $json.prompt }}', options: { ...quick, concurrentTasks: 2 } },
			{ items: prompts('a [[sandbox duration=1s]]', `b [[sandbox create=${answer}]]`, 'c') },
		);
		expect(json.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
		const refusedAt = posts().findIndex(({ status }) => status === 429);
		const [refused, next] = posts().slice(refusedAt);
		return (next.at - refused.at) / 1000;
	};

	test('no task is submitted before the end of the pause that a refusal asks for, though another one ends', async () => {
		expect(await pausesAfter('429:4')).toBeGreaterThan(3.9);
	});

	test.each(['429', 'many_tasks'])(
		'where a place is missing, the next one is submitted when a task ends: %s',
		async (answer) => {
			expect(await pausesAfter(answer)).toBeLessThan(3);
		},
	);
});

describe('the contract’s own words at a 5xx', () => {
	beforeEach(() => hurry());
	const create = async (status: number, body: object) => {
		sandbox.faults.add({ on: 'token', times: -1, do: { status, body } });
		return await runGateway(
			'token',
			sandbox,
			{ name: 't', quota: 'unlimited' },
			{ settings: { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 } },
		);
	};

	test.each(['令牌名称过长', 'Authentication failed', 'No Authorization header'])(
		'%s is a refusal: a retry sends it again',
		async (message) => {
			const { error } = await create(500, { success: false, message });
			expect(error?.message).not.toMatch(/may or may not have/);
			expect(posts()).toHaveLength(2); // one for each of the two tries
		},
	);

	test.each([
		[500, '生成令牌失败'],
		[503, '生成令牌失败'],
		[500, 'Failed to get user quota'],
		[503, 'Failed to get used quota'],
		[500, 'authentication failed'],
		[500, 'Authentication failed!'],
	])('%i with %s leaves the outcome open: it is not sent again', async (status, message) => {
		const { error } = await create(status, { success: false, message });
		expect(error?.message).toMatch(/may or may not have accepted this API key/);
		expect(posts()).toHaveLength(1);
	});

	test('503 with the words of the contract in other letters is a refusal, too', async () => {
		const { error } = await create(503, { success: false, message: 'authentication failed' });
		expect(error?.message).not.toMatch(/may or may not have/);
		expect(posts()).toHaveLength(2);
	});

	test('503 with other words of the service is sent again within the try', async () => {
		jest.restoreAllMocks();
		hurry(200);
		const { error } = await create(503, { success: false, message: 'Authentication failed!' });
		expect(error?.message).not.toMatch(/may or may not have/);
		expect(posts().length).toBeGreaterThan(2);
	});
});

describe('a wrong path is told from a wrong ID', () => {
	test('the message about a task that was just accepted and stays unknown says that the status path may be wrong', async () => {
		hurry();
		const { error } = await runGateway(
			'image',
			sandbox,
			{ operation: 'generate', prompt: 'a', options: { timeoutMinutes: 1, pollIntervalSeconds: 15 } },
			{
				credential: { customPaths: true, imageStatusPath: '/v1/other/{task_id}' },
			},
		);
		expect(error?.message).toContain(sandbox.tasks[0].id);
		expect(error?.message).toMatch(/accepted task .*cannot find it/);
		expect(error?.description).toMatch(/Image Task Status Path/);
		expect(error?.description).not.toMatch(/Check the ID/);
	});

	test('an upload that finds nothing names the upload path', async () => {
		const { error } = await runGateway(
			'image',
			sandbox,
			{ operation: 'uploadImage' },
			{
				items: [{ json: {}, binary: { data: pngField() } }],
				credential: { customPaths: true, imageUploadPath: '/v1/nowhere' },
			},
		);
		expect(error?.description).toMatch(/Image Upload Path/);
	});

	test('model_not_found names the model', async () => {
		sandbox.faults.add({
			on: 'create',
			do: { status: 503, body: { error: { code: 'model_not_found', message: 'no' } } },
		});
		const { error } = await runGateway('video', sandbox, {
			operation: 'generate',
			model: 'custom',
			customModelId: 'epsilon-1',
			customBody: '{"prompt":"a"}',
		});
		expect(error?.message).toBe('The service does not know the model epsilon-1');
	});

	test('a 404 of a creation does not speak of an ID', async () => {
		sandbox.faults.add({ on: 'create', do: '404' });
		const { error } = await runGateway('image', sandbox, { operation: 'generate', prompt: 'a' });
		expect(error?.message).toBe('The service has no endpoint at /v1/images/generations');
		expect(error?.description).toMatch(/^Check the Base URL in the credential: .*\(HTTP 404\)\.$/);
	});
});

describe('what is told is true', () => {
	test.each([
		['–', '"–" (U+2013)'],
		['\u200b', 'the invisible character U+200B'],
	])('a key with the character "%s" is refused by its place, and nothing is sent', async (character, shown) => {
		const { error } = await runGateway(
			'image',
			sandbox,
			{ operation: 'generate', prompt: 'a' },
			{ credential: { apiKey: `sk-a${character}b` } },
		);
		expect(error?.message).toBe(`API Key in the credential has ${shown} as character 5, which HTTP does not allow`);
		expect(sandbox.requests).toHaveLength(0);
	});

	test('a Retry-After past the timeout says what the service asked for', async () => {
		sandbox.faults.add({ on: 'status', times: -1, do: '429:3600' });
		const { error, json } = await runGateway('image', sandbox, { operation: 'generate', prompt: 'a', options: quick });
		expect(json).toEqual([]);
		expect(error?.message).toMatch(/has not finished: the service asks to wait 60 min, but only 9 min \d+ s are left/);
	});
});
