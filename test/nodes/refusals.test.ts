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

describe('a wrong path is told from a wrong ID', () => {
	test('the message about a task that was just accepted and stays unknown says that the status path may be wrong', async () => {
		hurry();
		const { error } = await runGateway(
			'image',
			sandbox,
			{ operation: 'generate', prompt: 'a', options: { timeoutMinutes: 1, pollIntervalSeconds: 15 } },
			{
				credential: { advanced: true, customPaths: true, imageStatusPath: '/v1/other/{task_id}' },
			},
		);
		expect(error?.message).toContain(sandbox.tasks[0].id);
		expect(error?.message).toMatch(/accepted task .*cannot find it/);
		expect(error?.description).toMatch(/Image Task Status Path/);
		expect(error?.description).not.toMatch(/Check the ID/);
	});
});
