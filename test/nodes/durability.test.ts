import {
	pause,
	pngField,
	prompts,
	quick,
	quickSandbox,
	runGateway,
	startGateway,
	warnings,
	type Sandbox,
} from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
afterEach(() => jest.restoreAllMocks());
beforeEach(() => sandbox.reset());

const fromItem = { operation: 'generate', prompt: '={{ $json.prompt }}', options: quick };
const retrying = (maxTries = 2) => ({ retryOnFail: true, maxTries, waitBetweenTries: 0 });
const continuing = { onError: 'continueRegularOutput' as const };

describe('never paid twice', () => {
	test('an outcome that is not known is not submitted again, by Retry On Fail neither', async () => {
		const answers = ['504', '504!after', '502!after', '500', '408', '503html!after', 'reset', 'reset!after'];
		const { json } = await runGateway('image', sandbox, fromItem, {
			items: prompts(...answers.map((answer) => `a [[sandbox create=${answer}]]`)),
			settings: { ...retrying(3), ...continuing },
		});
		for (const item of json) {
			expect(item.error).toMatch(/may or may not have accepted this task/);
			// n8n offers no retry of an execution that went on.
			expect(item.details).toMatch(
				/Look in the task list of your account for a task created around \d\d:\d\d UTC\. If there is none, run only this item again\./,
			);
		}
		expect(sandbox.requests.filter(({ method }) => method === 'POST')).toHaveLength(answers.length);
	});

	test('Submit Again lets the retry submit once more', async () => {
		const options = { ...quick, submitAgain: true };
		const { json } = await runGateway(
			'image',
			sandbox,
			{ operation: 'generate', prompt: 'a [[sandbox create=504]]', options },
			{ settings: retrying() },
		);
		expect(json[0]?.status).toBe('completed');
		expect(sandbox.tasks).toHaveLength(1);
	});

	test('what was surely not accepted is submitted again within the try', async () => {
		const answers = ['429:1', '503:1', '503', '429:date1', '429'];
		const { json } = await runGateway('image', sandbox, fromItem, {
			items: prompts(...answers.map((answer) => `a [[sandbox create=${answer}]]`)),
		});
		expect(json.map(({ status }) => status)).toEqual(answers.map(() => 'completed'));
		expect(sandbox.tasks).toHaveLength(answers.length);
	});

	test('a creation answer that is cut off after the ID does not lose the task', async () => {
		const { json, error } = await runGateway(
			'image',
			sandbox,
			{ operation: 'generate', prompt: 'a [[sandbox create=truncated]]', options: quick },
			{ settings: retrying() },
		);
		expect(sandbox.tasks).toHaveLength(1);
		expect(json[0]?.task_id ?? error?.message).toMatch(new RegExp(`${sandbox.tasks[0].id}|not known`));
	});

	test('a retry continues with the tasks that exist and creates only what is missing', async () => {
		// The second item ends badly once; the prompt of the others changes on every try.
		sandbox.faults.add({ on: 'create', match: { promptIncludes: 'bad' }, do: '400' });
		const { json } = await runGateway(
			'image',
			sandbox,
			{ ...fromItem, prompt: '={{ $json.prompt }} {{ Math.random() }}' },
			{
				items: prompts('good 1 [[sandbox duration=1500ms]]', 'bad', 'good 2'),
				settings: retrying(3),
			},
		);
		expect(json.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
		expect(sandbox.tasks).toHaveLength(3);
	});

	test('an item that the last try does not get to is named with its task', async () => {
		sandbox.faults.add({ on: 'create', match: { promptIncludes: 'slow' }, do: { delayMs: 4000, status: 504 } });
		const { error } = await runGateway(
			'image',
			sandbox,
			{ ...fromItem, options: { ...quick, concurrentTasks: 2 } },
			{
				items: prompts('slow', 'first [[sandbox duration=0s]]', 'second [[sandbox duration=0s]]'),
				settings: retrying(2),
			},
		);
		expect(error?.message).toMatch(/may or may not have accepted this task in an earlier try/);
		expect(sandbox.tasks).toHaveLength(2);
		const { messages } = error as unknown as { messages: string[] };
		for (const { id } of sandbox.tasks) expect([error?.description, ...messages].join()).toContain(id);
	});

	test('a retry looks at the tasks that exist when it is their time, as if it had not been interrupted', async () => {
		sandbox.faults.add({ on: 'create', match: { promptIncludes: 'bad' }, do: '400' });
		const options = { pollIntervalSeconds: 4 };
		await runGateway(
			'image',
			sandbox,
			{ ...fromItem, options },
			{ items: prompts('good', 'bad'), settings: { ...retrying(2), waitBetweenTries: 3_000 } },
		);
		const [{ id }] = sandbox.tasks;
		const at = (method: string) =>
			sandbox.requests.find(({ method: its, path }) => its === method && (method === 'POST' || path.includes(id)))
				?.at ?? NaN;
		expect(at('GET') - at('POST')).toBeLessThan(6_000);
	});

	test('a task that ended for good is created anew by a retry, unless it would only end the same way', async () => {
		const anew = await runGateway(
			'image',
			sandbox,
			{ operation: 'generate', prompt: 'a [[sandbox fail=generation_failed]]', options: quick },
			{ settings: retrying(2) },
		);
		expect(sandbox.tasks).toHaveLength(2);
		expect(anew.error?.message).toContain(sandbox.tasks[1].id);
		sandbox.reset();
		const same = await runGateway(
			'image',
			sandbox,
			{ operation: 'generate', prompt: 'a [[sandbox fail=content_policy_violation]]', options: quick },
			{ settings: retrying(2) },
		);
		expect(sandbox.tasks).toHaveLength(1);
		expect(same.error?.description).toMatch(/content_policy_violation.*declined again/);
	});

	test('identical items are separate purchases', async () => {
		const { json } = await runGateway('image', sandbox, fromItem, { items: prompts('same', 'same', 'same') });
		expect(new Set(json.map(({ task_id }) => task_id)).size).toBe(3);
		expect(sandbox.tasks).toHaveLength(3);
	});

	test('with continue on error, Retry On Fail does not buy the good items again', async () => {
		const { json } = await runGateway('image', sandbox, fromItem, {
			items: prompts('bad [[sandbox fail=content_policy_violation]]', 'good'),
			settings: { ...retrying(3), ...continuing },
		});
		expect(json[0].error).toMatch(/declined the content of task/);
		expect(json[1].status).toBe('completed');
		expect(sandbox.tasks).toHaveLength(2);
	});

	test.each(['401', '402', '403'])('after a %s nothing more is submitted', async (answer) => {
		sandbox.faults.add({ on: 'create', skip: 1, times: 1, do: answer });
		const options = { ...quick, concurrentTasks: 1 };
		const { json } = await runGateway(
			'image',
			sandbox,
			{ ...fromItem, options },
			{ items: prompts('a', 'b', 'c', 'd'), settings: continuing },
		);
		expect(json[0].status).toBe('completed');
		expect(json[2].error).toBe('This item was not submitted');
		expect(sandbox.requests.filter(({ method }) => method === 'POST')).toHaveLength(2);
	});

	test('after a 401 nothing is uploaded either', async () => {
		sandbox.faults.add({ on: 'create', do: '401' });
		const images = { image: [{ source: 'binary', binaryPropertyName: 'photo' }] };
		const items = ['a', 'b', 'c'].map((prompt) => ({ json: { prompt }, binary: { photo: pngField() } }));
		const { json } = await runGateway(
			'image',
			sandbox,
			{ ...fromItem, images, options: { ...quick, concurrentTasks: 1 } },
			{ items, settings: continuing },
		);
		expect(json.map(({ error }) => error)).toEqual([
			expect.stringContaining('API key'),
			'This item was not submitted',
			'This item was not submitted',
		]);
		expect(sandbox.requests.filter(({ method }) => method === 'POST')).toHaveLength(2);
	});

	test('a download that does not succeed names task and URLs, and a retry resumes it', async () => {
		const parameters = {
			operation: 'generate',
			prompt: 'a [[sandbox file=500*5]]',
			downloadResult: true,
			options: quick,
		};
		const { items } = await runGateway('image', sandbox, parameters, { settings: retrying(2) });
		expect(items[0].binary?.data.mimeType).toBe('image/png');
		expect(sandbox.tasks).toHaveLength(1);
		sandbox.reset();
		const lost = await runGateway('image', sandbox, { ...parameters, prompt: 'a [[sandbox file=404*99]]' });
		expect(lost.error?.message).toBe(`The result of task ${sandbox.tasks[0].id} could not be downloaded`);
		expect(lost.error?.description).toMatch(/http/);
	});
});

describe('no task id is lost', () => {
	test('when one task ends badly the batch ends at once and names every task', async () => {
		const startedAt = Date.now();
		const { error } = await runGateway('video', sandbox, fromItem, {
			items: prompts('slow [[sandbox duration=60s]]', 'bad [[sandbox fail=content_policy_violation]]'),
		});
		expect(Date.now() - startedAt).toBeLessThan(30_000);
		const { messages } = error as unknown as { messages: string[] };
		for (const { id } of sandbox.tasks) expect(`${error?.message} ${messages.join()}`).toContain(id);
	});

	test('a time-out names the task, its last state and how to go on', async () => {
		const options = { ...quick, timeoutMinutes: 0.03 };
		const { error } = await runGateway('video', sandbox, {
			operation: 'generate',
			prompt: 'a [[sandbox duration=60s]]',
			options,
		});
		expect(error?.message).toMatch(
			new RegExp(
				`^Task ${sandbox.tasks[0].id} has not finished within 1.8 s \\(last status: (queued|in_progress), \\d+ %\\)$`,
			),
		);
		expect(error?.description).toMatch(/Wait for Task/);
	});

	test('On Timeout can return the unfinished task instead', async () => {
		const options = { ...quick, timeoutMinutes: 0.03, onTimeout: 'return' };
		const { json } = await runGateway('video', sandbox, {
			operation: 'generate',
			prompt: 'a [[sandbox duration=60s]]',
			options,
		});
		expect(json[0]).toMatchObject({
			task_id: sandbox.tasks[0].id,
			timed_out: true,
			waited_seconds: expect.any(Number),
		});
	});

	test('with continue on error each item carries its task, and goes to the error output', async () => {
		const { items, run } = await runGateway('video', sandbox, fromItem, {
			items: prompts('good', 'bad [[sandbox fail=generation_failed message="out of paint"]]'),
			settings: { onError: 'continueErrorOutput' },
		});
		const [good, bad] = run.data.resultData.runData.Node[0].data?.main ?? [];
		expect(good).toHaveLength(1);
		expect(items[0].json.status).toBe('completed');
		const failed = sandbox.tasks.find(({ body }) => String(body.prompt).startsWith('bad'));
		expect(bad?.[0].json).toMatchObject({
			message: expect.stringContaining('out of paint'),
			details: { task_id: failed?.id, status: 'failed' },
		});
		expect(bad?.[0].json.error).not.toMatch(/\bfailed\b/);
	});

	test.each(['in_request', 'in_request_task_id', 'camel', 'list'])(
		'the answer to a creation holds the ID of the task, not only that of the request: %s',
		async (created) => {
			const prompt = `a [[sandbox created=${created}]]`;
			const { json } = await runGateway('image', sandbox, { ...fromItem, prompt });
			expect(json).toMatchObject([{ task_id: sandbox.tasks[0].id, status: 'completed' }]);
		},
	);

	test.each(['bare', 'user'])(
		'an answer without a known ID is kept in the error and in n8n’s log: %s',
		async (created) => {
			const lines = warnings();
			const prompt = `a [[sandbox created=${created}]]`;
			const { error, json } = await runGateway('image', sandbox, { ...fromItem, prompt }, { settings: retrying(3) });
			const [{ id }] = sandbox.tasks;
			const { messages } = error as unknown as { messages: string[] };
			expect(json).toEqual([]);
			expect(error?.message).toMatch(/may or may not have accepted this task/);
			expect([error?.description, ...messages].join()).toContain(id);
			expect(lines).toContainEqual(
				expect.stringMatching(new RegExp(`Generation Gateway: the service may .* item 0, .*${id}`)),
			);
			expect(sandbox.tasks).toHaveLength(1);
			const { json: items } = await runGateway('image', sandbox, { ...fromItem, prompt }, { settings: continuing });
			expect(items[0].details).toContain(sandbox.tasks[1].id);
		},
	);

	test('a completed task without a URL is told with the task and the raw record', async () => {
		const { error } = await runGateway('video', sandbox, {
			operation: 'generate',
			prompt: 'a [[sandbox result=none]]',
			options: quick,
		});
		expect(error?.message).toBe(`Task ${sandbox.tasks[0].id} is complete, but the service gave no result URL`);
		expect(error?.description).toContain('The record: { "metadata": {}, ');
	});

	test('passing trouble while polling is ridden out', async () => {
		const answers = ['503html', '500', '502', '429:1', 'reset', 'truncated', 'html', 'empty', '408', 'success_false'];
		const { json } = await runGateway('video', sandbox, fromItem, {
			items: prompts(...answers.map((answer) => `a [[sandbox poll=${answer}*2]]`)),
		});
		expect(json.map(({ status }) => status)).toEqual(answers.map(() => 'completed'));
		expect(sandbox.tasks).toHaveLength(answers.length);
	});

	test('a task that is not known in its first seconds is waited for', async () => {
		const { json } = await runGateway('video', sandbox, {
			operation: 'generate',
			prompt: 'a [[sandbox hidden=1500ms]]',
			options: quick,
		});
		expect(json[0].status).toBe('completed');
	});

	test.each(['401', '402', '403'])('%s while polling is ridden out: the task is accepted', async (answer) => {
		const { json } = await runGateway('video', sandbox, {
			operation: 'generate',
			prompt: `a [[sandbox poll=${answer}*2]]`,
			options: quick,
		});
		expect(json[0].status).toBe('completed');
	});

	test('a key that is refused once while a task runs holds back nothing that is not sent yet', async () => {
		const oneByOne = { ...fromItem, options: { ...quick, concurrentTasks: 1 } };
		const { json } = await runGateway('video', sandbox, oneByOne, { items: prompts('a [[sandbox poll=401]]', 'b') });
		expect(json.map(({ status }) => status)).toEqual(['completed', 'completed']);
	});
});

describe('stop means stop', () => {
	async function stopAfter(
		moment: number | (() => boolean),
		parameters: Parameters<typeof startGateway>[2],
		options: Parameters<typeof startGateway>[3] = {},
	) {
		const { promise } = startGateway('video', sandbox, parameters, options);
		if (typeof moment === 'number') await pause(moment);
		else while (!moment()) await pause(20);
		const stoppedAt = Date.now();
		promise.cancel();
		const run = await promise;
		const took = Date.now() - stoppedAt;
		const requests = sandbox.requests.length;
		await pause(1500);
		return { run, took, late: sandbox.requests.length - requests };
	}

	const isSent = (wanted: string) => () => sandbox.requests.some(({ method }) => method === wanted);
	const isAccepted = () => Number(sandbox.tasks[0]?.acceptedAt) < Date.now() - 500;

	test.each([
		['while it sleeps', isAccepted, 'a [[sandbox duration=60s]]', 2],
		['while it polls', isSent('GET'), 'a [[sandbox duration=60s poll=slow:20s]]', 1],
		['while it submits', isSent('POST'), 'a [[sandbox create=slow:3s]]', 1],
	])(
		'a stop %s works within a second, without another request, and nothing runs again',
		async (_, moment, prompt, pollIntervalSeconds) => {
			const { run, took, late } = await stopAfter(
				moment,
				{ operation: 'generate', prompt, options: { pollIntervalSeconds } },
				{ settings: retrying(5) },
			);
			expect(took).toBeLessThan(1000);
			expect(late).toBe(0);
			expect(run.status).toBe('canceled');
			expect(sandbox.requests.filter(({ method }) => method === 'POST').length).toBeLessThanOrEqual(1);
		},
	);

	test('a stop in a second try names what the first try has created, too', async () => {
		sandbox.faults.add({ on: 'create', match: { promptIncludes: 'bad' }, do: '400' });
		const items = prompts('good [[sandbox duration=60s]]', 'bad [[sandbox duration=60s]]');
		// A late answer of the test before may be among the tasks.
		const ids = () => sandbox.tasks.filter(({ body }) => /^(good|bad) /.test(String(body.prompt))).map(({ id }) => id);
		const areChecked = () =>
			ids().length === 2 && ids().every((id) => sandbox.requests.some(({ path }) => path.includes(id)));
		const { run } = await stopAfter(areChecked, { ...fromItem, options: quick }, { items, settings: retrying(3) });
		const { metadata } = run.data.resultData as { metadata?: Record<string, string> };
		for (const id of ids()) expect(metadata?.gateway_tasks_Node).toContain(id);
	});

	test.each([
		['生成图片', 'gateway_tasks_生成图片'],
		['Générer: l’image', 'gateway_tasks_Générer_l_image'],
		[`${'漢'.repeat(30)}𠮷𠮷𠮷𠮷𠮷`, `gateway_tasks_${'漢'.repeat(30)}𠮷𠮷𠮷`],
	])('the ID of a stopped task stands under the name of the node, in any script: %s', async (name, key) => {
		const { run } = await stopAfter(
			() => sandbox.requests.some(({ method }) => method === 'GET'),
			{ operation: 'generate', prompt: 'a [[sandbox duration=60s]]', options: quick },
			{ settings: { name } },
		);
		const { metadata } = run.data.resultData as { metadata?: Record<string, string> };
		expect(metadata).toEqual({ [key]: sandbox.tasks.at(-1)?.id });
	});

	test('a stop while it uploads works within a second, and nothing is created', async () => {
		sandbox.faults.add({ on: 'upload', do: 'slow:5s' });
		const { took, late } = await stopAfter(
			() => sandbox.requests.some(({ path }) => path.includes('upload')),
			{
				operation: 'generate',
				prompt: 'an upload',
				images: { image: [{ source: 'binary', binaryPropertyName: 'photo' }] },
			},
			{ items: [{ json: {}, binary: { photo: pngField() } }], settings: retrying(3) },
		);
		expect(took).toBeLessThan(1000);
		expect(late).toBe(0);
		expect(sandbox.tasks.filter(({ body }) => body.prompt === 'an upload')).toHaveLength(0);
	});

	test('a stop while it downloads works within a second, and nothing is downloaded again', async () => {
		const { took } = await stopAfter(
			3000,
			{
				operation: 'generate',
				prompt: 'a [[sandbox bytes=50 bytes_per_second=200000]]',
				downloadResult: true,
				options: quick,
			},
			{ settings: retrying(3) },
		);
		expect(took).toBeLessThan(1000);
		expect(sandbox.fileRequests).toHaveLength(1);
	});
});
