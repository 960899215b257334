import { hurry, prompts, quick, quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';
import { logLines } from '../support/keySecrecy.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
afterEach(() => jest.restoreAllMocks());
beforeEach(() => {
	sandbox.reset();
	hurry();
});

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
				/Look in the task list of your account for a task created around \d\d:\d\d UTC\. If there is none, run the workflow again, with this item only\./,
			);
		}
		expect(sandbox.requests.filter(({ method }) => method === 'POST')).toHaveLength(answers.length);
	});

	test('what was surely not accepted is submitted again within the try', async () => {
		// The two minutes for it would be 6 s otherwise, which a busy machine needs.
		jest.restoreAllMocks();
		hurry(4);
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
		expect(error).toBeUndefined();
		expect(json[0]).toMatchObject({ task_id: sandbox.tasks[0].id, status: 'completed' });
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
		expect(same.error?.description).toMatch(/content policy.*declined again\. A retry reads the stored input/);
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

	test('a download that does not succeed names task and URLs, and a retry resumes it', async () => {
		const parameters = {
			operation: 'generate',
			prompt: 'a [[sandbox file=500*5]]',
			result: 'file',
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

	test.each(['bare', 'user'])(
		'an answer without a known ID is kept in the error and in n8n’s log: %s',
		async (created) => {
			const prompt = `a [[sandbox created=${created}]]`;
			const { error, json } = await runGateway('image', sandbox, { ...fromItem, prompt }, { settings: retrying(3) });
			const [{ id }] = sandbox.tasks;
			const { messages } = error as unknown as { messages: string[] };
			expect(json).toEqual([]);
			expect(error?.message).toMatch(/may or may not have accepted this task/);
			expect([error?.description, ...messages].join()).toContain(id);
			expect(logLines()).toContainEqual(
				expect.stringMatching(new RegExp(`Generation Gateway: the service may .* item 0, .*${id}`)),
			);
			expect(sandbox.tasks).toHaveLength(1);
			const { json: items } = await runGateway('image', sandbox, { ...fromItem, prompt }, { settings: continuing });
			expect(items[0].details).toContain(sandbox.tasks[1].id);
		},
	);
});
