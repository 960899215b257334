/** Refusals of the service, and their effect on the other items and on later requests. */
import {
	hurry,
	pause,
	pngField,
	prompts,
	quick,
	quickSandbox,
	runGateway,
	startGateway,
	type Sandbox,
} from '../support/nodes.mts';

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
		['Get Task', 'image', { operation: 'getTask', taskId: '={{ $json.id }}' }],
		['Asset → Get', 'avatar', { resource: 'asset', operation: 'get', assetId: '={{ $json.id }}' }],
		['Verification → Get', 'avatar', { resource: 'verification', operation: 'get', verificationId: '={{ $json.id }}' }],
		[
			'Verification → Get Result',
			'avatar',
			{ resource: 'verification', operation: 'getResult', verificationId: '={{ $json.id }}', vendorToken: 'vt' },
		],
	] as const)('%s of many unknown IDs sends nothing after its end', async (_, kind, parameters) => {
		const { error } = await runGateway(
			kind,
			sandbox,
			{ ...parameters, options: { requestsPerSecond: 20 } },
			{ items: rows(300) },
		);
		expect(error?.message).toMatch(/answered 404 when asked|does not know|has no private/);
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

	test('after a stop, a request that waits for its turn is not sent', async () => {
		const parameters = { operation: 'getTask', taskId: '={{ $json.id }}', options: { requestsPerSecond: 5 } };
		const { promise } = startGateway('image', sandbox, parameters, { items: rows(50), settings: continuing });
		await pause(700);
		promise.cancel();
		await Promise.resolve(promise).catch(() => {});
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

	test('after a model that the service does not know, items with another model are bought', async () => {
		sandbox.faults.add({ on: 'create', match: { promptIncludes: 'alpha' }, do: 'no_model', times: -1 });
		const parameters = {
			operation: 'generate',
			model: '={{ $json.model }}',
			prompt: '={{ $json.model }}',
			options: quick,
		};
		const { json } = await runGateway('video', sandbox, parameters, { items, settings: continuing });
		expect(json.map(({ status, error }) => status ?? error).sort()).toEqual([
			...Array.from({ length: 3 }, () => expect.stringMatching(/does not know the model alpha|was not submitted/)),
			'completed',
			'completed',
		]);
		expect(json[0].code).toBe('model_not_found');
		expect(posts().filter(({ status }) => status === 503).length).toBeLessThanOrEqual(3);

		sandbox.reset();
		sandbox.faults.add({ on: 'create', match: { promptIncludes: 'alpha' }, do: 'no_model', times: -1 });
		const one = { ...parameters, options: oneByOne };
		const { json: slow } = await runGateway('video', sandbox, one, { items, settings: continuing });
		expect(slow.map(({ code, status }) => status ?? code)).toEqual([
			'model_not_found',
			'not_submitted',
			'completed',
			'not_submitted',
			'completed',
		]);
		expect(posts()).toHaveLength(3);
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

	test('after a 403 for a group, assets of another group are uploaded', async () => {
		sandbox.faults.add({ on: 'avatar', match: { path: '/assets' }, do: '403' });
		const groups = ['pg_one', 'pg_one', 'pg_two'].map((group) => ({ json: { group } }));
		const parameters = {
			resource: 'asset',
			operation: 'upload',
			groupId: '={{ $json.group }}',
			sourceUrl: 'https://example.com/a.png',
			waitForActive: false,
			options: { concurrentTasks: 1 },
		};
		const { json } = await runGateway('avatar', sandbox, parameters, { items: groups, settings: continuing });
		expect(json[1].details).toContain('for the group pg_one');
		expect(posts()).toHaveLength(2);
	});

	test('403 for a creation without model or group holds back everything', async () => {
		sandbox.faults.add({ on: 'avatar', do: '403' });
		const parameters = { resource: 'group', operation: 'create', options: { requestsPerSecond: 1 } };
		const { json } = await runGateway('avatar', sandbox, parameters, {
			items: prompts('a', 'b', 'c'),
			settings: continuing,
		});
		expect(posts()).toHaveLength(1);
		expect(json.map(({ error }) => error)).toEqual([
			expect.stringMatching(/not allowed/),
			'This item was not submitted',
			'This item was not submitted',
		]);
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

	test.each(['429:4', '429:date4', '429:ms4000', '429:after4', '429:reset4'])(
		'no task is submitted before the end of the pause that a refusal asks for, though another one ends: %s',
		async (answer) => {
			const pause = await pausesAfter(answer);
			// A date has no milliseconds.
			expect(pause).toBeGreaterThan(answer.includes('date') ? 2.9 : 3.9);
			expect(pause).toBeLessThan(7);
		},
	);

	test.each(['429', 'many_tasks'])(
		'where a place is missing, the next one is submitted when a task ends: %s',
		async (answer) => {
			expect(await pausesAfter(answer)).toBeLessThan(3);
		},
	);
});

describe('the contract’s own words at a 5xx', () => {
	const refused = ['令牌名称过长', 'Authentication failed', 'No Authorization header'];
	const unknown = [
		'生成令牌失败',
		'Failed to get user quota',
		'Failed to get used quota',
		'authentication failed',
		'Authentication failed!',
	];
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

	test.each(refused.flatMap((message) => [500, 503].map((status) => [message, status] as const)))(
		'%s with %i is a refusal: a retry sends it again',
		async (message, status) => {
			const { error } = await create(status, { success: false, message });
			expect(error?.message).not.toMatch(/may or may not have/);
			expect(posts()).toHaveLength(2); // one for each of the two tries
			sandbox.reset();
			expect((await create(status, { error: { message } })).error?.message).not.toMatch(/may or may not have/);
			sandbox.reset();
			expect((await create(status, { error: message })).error?.message).not.toMatch(/may or may not have/);
			expect(posts()).toHaveLength(2);
		},
	);

	test.each([
		[{ success: false, message: 'Authentication failed' }],
		[{ error: 'Authentication failed' }],
		[{ error: { message: 'Authentication failed' } }],
	])('%j means the same to a creation and to a read, with 200, 401 and 500', async (body) => {
		for (const status of [200, 401, 500]) {
			if (status === 200 && !('success' in body)) continue; // an answer, though an odd one
			expect((await create(status, body)).error?.message).toBe('The service did not accept the API key');
			sandbox.reset();
			sandbox.faults.add({ on: 'balance', times: -1, do: { status, body } });
			const { error } = await runGateway('balance', sandbox, { operation: 'getUserBalance' });
			expect(error?.message).toBe('The service did not accept the API key');
			sandbox.reset();
		}
	});

	test.each(['Failed to get user quota', 'Failed to get used quota'])(
		'%s with 200 leaves open whether a token was created: a retry does not create it again',
		async (message) => {
			const { error } = await create(200, { success: false, message });
			expect(error?.message).toMatch(/may or may not have accepted this API key/);
			expect(posts()).toHaveLength(1);
		},
	);

	test.each(unknown.flatMap((message) => [500, 503].map((status) => [message, status] as const)))(
		'%s with %i leaves the outcome open',
		async (message, status) => {
			if (status === 503 && /uthentication/.test(message)) return; // any other JSON at a 503 is the service's own: tried again
			const { error } = await create(status, { success: false, message });
			expect(error?.message).toMatch(/may or may not have accepted this API key/);
			expect(posts()).toHaveLength(1);
		},
	);

	test('the words of a refusal without "success: false" or an error object are any text', async () => {
		const { error } = await create(500, { message: 'Authentication failed' });
		expect(error?.message).toMatch(/may or may not have/);
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

	test.each([404, 400, 503])('model_not_found with %i names the model', async (status) => {
		sandbox.faults.add({ on: 'create', do: { status, body: { error: { code: 'model_not_found', message: 'no' } } } });
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
		expect(error?.description).not.toMatch(/Check the ID/);
	});

	test('an ID that the user gave is asked to be checked', async () => {
		const { error } = await runGateway('image', sandbox, { operation: 'getTask', taskId: 'nobody' });
		expect(error?.description).toMatch(/Check the ID/);
	});
});

describe('what is told is true', () => {
	test('an operation that the node does not have is refused, and nothing is sent', async () => {
		const { error } = await runGateway('video', sandbox, { operation: 'extendVideo', prompt: 'a' });
		expect(error?.message).toBe('Operation is "extendVideo", which this node does not have');
		expect(error?.description).toMatch(/Generate, Get Task, Wait for Task/);
		expect(sandbox.requests).toHaveLength(0);
	});

	test.each([
		['video', { operation: 'extendVideo' }, 'Operation is "extendVideo", which this node does not have'],
		['avatar', { resource: 'face' }, 'Resource is "face", which this node does not have'],
	] as const)(
		'what the node does not have does not pass for success where it continues: %s %j',
		async (kind, parameters, message) => {
			for (const onError of ['continueRegularOutput', 'continueErrorOutput'] as const) {
				const more = { settings: { onError }, items: prompts('a', 'b') };
				const { task } = await runGateway(kind, sandbox, parameters, more);
				const outputs = task?.data?.main?.map((items) => items?.map(({ json }) => json.error) ?? []);
				expect(outputs?.filter((errors) => errors.length > 0)).toEqual([[message, message]]);
				expect(outputs?.findIndex((errors) => errors.length > 0)).toBe(onError === 'continueErrorOutput' ? 1 : 0);
			}
			expect(sandbox.requests).toHaveLength(0);
		},
	);

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

	test('of a failed task, only Generate promises that a retry creates it again', async () => {
		const failing = { prompt: 'a [[sandbox fail=generation_failed]]' };
		const generated = await runGateway('image', sandbox, { operation: 'generate', ...failing, options: quick });
		expect(generated.error?.description).toMatch(
			/retry this execution in the Executions list: that creates a new task/,
		);
		const waited = await runGateway('image', sandbox, {
			operation: 'waitForTask',
			taskId: sandbox.tasks[0].id,
			options: quick,
		});
		expect(waited.error?.description).not.toMatch(/retry/i);
	});

	test('an unknown task is named, once', async () => {
		const { error } = await runGateway('image', sandbox, { operation: 'getTask', taskId: 'nobody' });
		expect(error?.message).toBe('The service does not know task nobody');
	});

	test('Get Task and Wait for Task list no other items as accepted', async () => {
		const items = ['nobody', 'other'].map((id) => ({ json: { id } }));
		const { error } = await runGateway(
			'image',
			sandbox,
			{ operation: 'getTask', taskId: '={{ $json.id }}' },
			{ items },
		);
		expect(error?.description).not.toMatch(/accepted|unknown/);
	});

	test('a Retry-After past the timeout says what the service asked for', async () => {
		sandbox.faults.add({ on: 'status', times: -1, do: '429:3600' });
		const { error, json } = await runGateway('image', sandbox, { operation: 'generate', prompt: 'a', options: quick });
		expect(json).toEqual([]);
		expect(error?.message).toMatch(/has not finished: the service asks to wait 60 min, but only 9 min \d+ s are left/);
	});
});
