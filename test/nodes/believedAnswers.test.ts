/**
 * The answers about a task that a node believes: one counts for the task that it names, and what stands in front of the
 * service says nothing about it. In n8n's engine, against the sandbox.
 */
import type { IDataObject } from 'n8n-workflow';
import {
	hurry,
	pause,
	prompts,
	quick,
	quickSandbox,
	runGateway,
	runToEnter,
	type RunOptions,
	type Sandbox,
} from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox({ imageTaskMs: 100, videoTaskMs: 100 });
});
afterAll(async () => await sandbox.close());
afterEach(() => jest.restoreAllMocks());
beforeEach(() => {
	sandbox.reset();
	hurry();
});

/** For waits of minutes. */
const hurryMore = () => {
	jest.restoreAllMocks();
	hurry(60);
};

const continuing = { onError: 'continueRegularOutput' as const };
const retrying = (maxTries: number) => ({ retryOnFail: true, maxTries, waitBetweenTries: 0 });
const posts = () => sandbox.requests.filter(({ method }) => method === 'POST').length;
const polls = () => sandbox.requests.filter(({ method, path }) => method === 'GET' && path.startsWith('/v1/')).length;

const generate = (directives: string, more: IDataObject = {}) => ({
	operation: 'generate',
	prompt: `a [[sandbox ${directives}]]`,
	result: 'urlOnly',
	options: { ...quick, ...more },
});

const run = async (directives: string, options: RunOptions = {}, more: IDataObject = {}) =>
	await runGateway('image', sandbox, generate(directives, more), options);

/** The same execution retried by a person: n8n keeps the memory of the node, and gives the execution another ID. */
let retries = 0;
async function retried(directives: string, before: Awaited<ReturnType<typeof run>>, more: IDataObject = {}) {
	const contextData = structuredClone(before.run.data.executionData?.contextData) as Record<string, IDataObject>;
	return await run(directives, { kept: { executionId: `retry-${++retries}`, contextData } }, more);
}

const hintsOf = ({ task }: Awaited<ReturnType<typeof run>>) => (task?.hints ?? []).map(({ message }) => message);

describe('an answer counts for the task that it names', () => {
	test.each(['status_error', 'failed_other', 'done_other', 'error_200', 'code_msg'])(
		'%s in the place of a status is trouble that passes: nothing is bought again',
		async (answer) => {
			const { json } = await run(`poll=${answer}*2`, { settings: retrying(5) });
			expect(json[0]).toMatchObject({ status: 'completed', url: expect.stringContaining('/results/') });
			expect(sandbox.tasks).toHaveLength(1);
		},
	);

	test.each([
		['status_error', 'Database is locked'],
		['failed_other', 'Not yours'],
		['error_200', 'The upstream is away'],
		['code_msg', 'The channel is busy'],
	])('%s that stays ends the wait with these words and frees nothing', async (answer, words) => {
		hurryMore();
		const stuck = `poll=${answer}*all`;
		const first = await run(stuck, { settings: retrying(2) });
		expect(first.error?.message).toContain(sandbox.tasks[0].id);
		expect(first.error?.description).toContain(words);
		expect(first.error?.description).toMatch(/The task is bought\. Retry this execution .* nothing is paid twice/);
		// A person's retry looks again.
		const before = polls();
		const again = await retried(stuck, first);
		expect(again.error?.message).toContain(sandbox.tasks[0].id);
		expect(polls()).toBeGreaterThan(before);
		expect(sandbox.tasks).toHaveLength(1);
		// Submit Again for Run is the way to buy another one, and one only.
		const submitAgainForRun = runToEnter(first.error);
		expect(runToEnter(again.error)).toBe(submitAgainForRun);
		const another = await retried(stuck, again, { submitAgainForRun });
		expect(another.error?.message).toContain(sandbox.tasks[1]?.id);
		const later = await retried(stuck, another, { submitAgainForRun });
		expect(later.error?.description).toContain(`Submit Again for Run has ${submitAgainForRun}, which is another run`);
		expect(sandbox.tasks).toHaveLength(2);
	});

	test('a retry knows the other ID of a task, although the task has finished meanwhile', async () => {
		const form = { timeoutMinutes: 0.05 };
		const slow = 'ids=behind duration=600ms';
		const first = await run(slow, {}, form);
		expect(first.error?.message).toContain('has not finished');
		await pause(800);
		const again = await retried(slow, first);
		expect(again.json[0]).toMatchObject({ status: 'completed', task_id: sandbox.tasks[0].id });
		expect(sandbox.tasks).toHaveLength(1);
	});

	test('the result of another ID that comes only at the end is not believed', async () => {
		hurryMore();
		const { json } = await run('ids=behind_end duration=400ms', { settings: continuing });
		expect(json[0]).toMatchObject({ code: 'created_task_not_shown', task_id: sandbox.tasks[0].id });
		expect(json[0].error).toContain('The answer is about another task');
	});
});

describe('a refusal of a poll', () => {
	test('… neither ends the batch nor keeps Retry On Fail from the others', async () => {
		hurryMore();
		const parameters = { ...generate('', { concurrentTasks: 1 }), prompt: '={{ $json.prompt }}' };
		const items = prompts('a [[sandbox poll=409*all]]', 'b', 'c [[sandbox create=400]]');
		const { error } = await runGateway('image', sandbox, parameters, { items, settings: retrying(2) });
		expect(error?.message).toContain('does not say how it is');
		expect(sandbox.tasks).toHaveLength(3);
		expect(error?.description).not.toMatch(/set On Error to Continue/);
	});

	test('a task that the service has forgotten says how old it is, why that may be, and how to buy it again', async () => {
		hurryMore();
		const first = await run('poll=404*all');
		const { message, description } = first.error!;
		expect(message).toMatch(
			new RegExp(`The service accepted task ${sandbox.tasks[0].id} \\d+ s ago, but cannot find it`),
		);
		expect(description).toMatch(
			/expired, or the Base URL, API key or Image Task Status Path in the credential has changed or is wrong/,
		);
		expect(description).toMatch(/nothing is paid twice/);
		expect(description).toMatch(
			/To buy it again, enter \S+ as Submit Again for Run, save, and .* Retry with currently saved workflow/,
		);
		await retried('poll=404*all', first);
		expect(sandbox.tasks).toHaveLength(1);
		await retried('poll=404*all', first, { submitAgainForRun: runToEnter(first.error) });
		expect(sandbox.tasks).toHaveLength(2);
	});
});

describe('pages of what stands in front of the service', () => {
	test.each(['404html', '403proxy', '503html'])('%s in the place of a status passes, for minutes', async (answer) => {
		hurryMore();
		const { json } = await run(`poll=${answer}*60`);
		expect(json[0].status).toBe('completed');
		expect(polls()).toBeGreaterThan(60);
	});

	test.each(['401html', '404text'])('%s for a submission concerns its item only', async (answer) => {
		const parameters = { ...generate('', { concurrentTasks: 1 }), prompt: '={{ $json.prompt }}' };
		const items = prompts('a', `b [[sandbox create=${answer}*all]]`, 'c');
		const { json } = await runGateway('image', sandbox, parameters, { items, settings: continuing });
		expect(json.map(({ status, code }) => code ?? status)).toEqual(['completed', 'service_unavailable', 'completed']);
		expect(posts()).toBe(3);
	});

	test.each(['403html'])('%s for three submissions in a row ends them: both causes are named', async (answer) => {
		sandbox.faults.add({ on: 'create', times: -1, do: answer });
		const parameters = { ...generate('', { concurrentTasks: 1 }), prompt: '={{ $json.prompt }}' };
		const items = prompts('a', 'b', 'c', 'd', 'e');
		const { json } = await runGateway('image', sandbox, parameters, { items, settings: continuing });
		expect(json.map(({ code }) => code)).toEqual([
			...['service_unavailable', 'service_unavailable', 'access_blocked', 'not_submitted', 'not_submitted'],
		]);
		expect(json[2].details).toMatch(/in front of the service.* or the API key is wrong/);
		expect(posts()).toBe(3);
		// The next run of the account is told at once, and an answer of the service ends that.
		expect((await run('')).error?.message).toContain('no answer came from the service itself');
		sandbox.reset();
		expect((await run('')).json[0].status).toBe('completed');
	});
});

describe('answers that cannot get better', () => {
	test.each([
		['moved', 'redirects'],
		['html', 'does not come from'],
		['success_false', 'did not accept'],
	])('%s that stays ends the wait after some minutes, in its own words', async (answer, words) => {
		hurryMore();
		const { error } = await run(`poll=${answer}*all`, {}, { timeoutMinutes: 600 });
		expect(error?.message).toContain(sandbox.tasks[0].id);
		expect(error?.message).toContain(words);
		expect(error?.description).toMatch(/The task is bought/);
	});
});

describe('the end of a task by its record', () => {
	test.each(['SUCCEED', 'Done', 'finished'])('the word %s is known: no hint', async (word) => {
		const ended = await run(`done_word=${word}`);
		expect(ended.json[0].status).toBe('completed');
		expect(hintsOf(ended).join()).not.toContain('does not know');
	});

	test.each(['task_over', 'ENDE', ''])(
		'under the word "%s" a result ends it well, and a hint says so',
		async (word) => {
			const ended = await run(`done_word="${word}"`);
			expect(ended.json[0]).toMatchObject({ status: 'completed', url: expect.stringContaining('/results/') });
			expect(hintsOf(ended).join()).toContain(word === '' ? 'no status' : `"${word}", which this node does not know`);
		},
	);

	test.each(['error_object', 'error_string', 'fail_reason'])(
		'an error as %s under an unknown word ends it as failed',
		async (shape) => {
			const { error } = await run(`failed_word=task_over fail=out_of_paint message="no paint" fail_as=${shape}`);
			expect(error?.message).toBe(`The service could not finish task ${sandbox.tasks[0].id}`);
			expect(error?.description).toMatch(/no paint/);
			expect(error?.description).toMatch(/The status of the task is "task_over"/);
		},
	);

	test.each(['words', 'code'])('an error (%s) beside a result is told in a hint', async (beside) => {
		const ended = await run(`beside=${beside}`);
		expect(ended.json[0]).toMatchObject({ status: 'completed', url: expect.any(String) });
		expect(ended.json[0]).not.toHaveProperty('error');
		expect(hintsOf(ended).join()).toMatch(/said beside it: "(The result was not upscaled|upscale_failed)"/);
	});

	test.each(['running', 'rendering', 'unheard_of'])('"%s" goes on beside the URL of a preview', async (word) => {
		const { json } = await run(`running_word=${word} preview=url duration=2500ms`);
		expect(json[0]).toMatchObject({ status: 'completed', url: expect.stringContaining('/results/') });
	});
});

describe('content that the service declines', () => {
	test.each(['content_policy_violation', 'output_moderation_blocked'])(
		'a task that has failed with %s is bought once, however often it is tried',
		async (code) => {
			const first = await run(`fail=${code} message=no`, { settings: retrying(5) });
			expect(sandbox.tasks).toHaveLength(1);
			expect(first.error?.message).toBe(`The service declined the content of task ${sandbox.tasks[0].id}`);
			expect(first.error?.description).toMatch(
				/To buy it anyway, enter \S+ as Submit Again for Run, save, and .* Retry with currently saved workflow/,
			);
			const again = await retried(`fail=${code} message=no`, first);
			expect([again.error?.message, sandbox.tasks.length]).toEqual([first.error?.message, 1]);
			await retried(`fail=${code} message=no`, again, { submitAgainForRun: runToEnter(again.error) });
			expect(sandbox.tasks).toHaveLength(2);
		},
	);

	test.each<IDataObject>([
		{ error: { code: 'internal_error', type: 'content_filter' } },
		{ error: { error: { code: 'moderation_blocked' } } },
		{ metadata: { error: { code: 'moderation_blocked' } } },
		{ result: { error: 'NSFW content detected' } },
		{ error: '{"code":"content_policy_violation"}' },
		{ task_status_msg: 'Failure to pass the risk control system' },
		{ fail_reason: 'sensitive_words_detected' },
	])('wherever the record says so, Retry On Fail buys nothing again: %j', async (words) => {
		const merge = { status: 'failed', error: undefined, ...words };
		sandbox.faults.add({ on: 'status', times: -1, do: { merge } });
		const { json, error } = await run('duration=0s', { settings: { ...retrying(4), ...continuing } });
		expect([error, json[0].code, posts()]).toEqual([undefined, 'content_declined', 1]);
	});
});
