/** The result in a completed record: it is found in any place, never guessed, and never lost. */
import type { IDataObject } from 'n8n-workflow';
import { finished, startHostile, TASK_ID, type Hostile } from '../support/hostile.mts';
import { quick, quickSandbox, runGateway, type Kind, type RunOptions, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox({ imageTaskMs: 100, videoTaskMs: 100 });
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

async function run(kind: Kind, parameters: IDataObject, options: RunOptions = {}) {
	const { json, items, error, task } = await runGateway(kind, sandbox, { options: quick, ...parameters }, options);
	const hints = (task?.hints ?? [])
		.map(({ message }) => message)
		.filter((hint) => !hint.startsWith('Result URLs expire'));
	return { json: json[0], items, error, hints };
}

const generate = async (directive: string, more: IDataObject = {}, kind: Kind = 'image') =>
	await run(kind, { operation: 'generate', prompt: `a [[sandbox ${directive}]]`, ...more });

/** A task of the sandbox that is complete by now. */
async function completedTask(directive: string, more: IDataObject = {}): Promise<string> {
	const { json } = await generate(`duration=0 ${directive}`, { wait: 'dontWait', ...more });
	return String(json?.task_id);
}

const sayWhere =
	'create a new workflow: a trigger, and after it Get Result with each task_id and the right path as Result Path in its options.';
const found = (place: string) =>
	`The result was found at ${place} in the record. If that is not the result, ${sayWhere}`;
const FILE = expect.stringMatching(/^http:.*\/0\.png$/) as string;
const nothing = `The record of a completed task has no result URL. If the result is somewhere else in it, ${sayWhere}`;
const notAt = (path: string) =>
	`Result Path ${path} leads to no URL in the record of a completed task. To get the result, ${sayWhere}`;

test('a result at an unknown path is found by Get Result, too; the place of the hint is a Result Path', async () => {
	const [shape, resultPath] = ['result_video_url', 'result.video.url'];
	const taskId = await completedTask(`result=${shape}`);
	for (const wait of ['dontWait', 'untilReady']) {
		const form = { operation: 'getResult', taskId, wait, result: 'urlOnly' };
		expect(await run('image', form)).toMatchObject({
			json: { url: FILE },
			hints: [found(resultPath)],
		});
		expect(await run('image', { ...form, options: { ...quick, resultPath } })).toMatchObject({
			json: { url: FILE },
			hints: [],
		});
	}
});

describe('two places that may hold the result', () => {
	test.each([
		['generate', 'untilReady'],
		['getResult', 'dontWait'],
	])('of two places that may hold the result %s gives the record, and a hint names both', async (operation, wait) => {
		const taskId = operation === 'generate' ? undefined : await completedTask('result=two_places');
		const { json, hints } = await run('image', { operation, wait, taskId, prompt: 'a [[sandbox result=two_places]]' });
		expect(json).toMatchObject({ status: 'completed', record: { content: { video_url: FILE } } });
		expect(json).not.toHaveProperty('url');
		expect(hints).toEqual([
			`The result may be at content.video_url or audio.track in the record. To get it, ${sayWhere}`,
		]);
		const chosen = await run('image', {
			...{ operation, wait, taskId },
			prompt: 'a [[sandbox result=two_places]]',
			options: { ...quick, resultPath: 'audio.track' },
		});
		expect(chosen).toMatchObject({ json: { url: expect.stringMatching(/track=1$/) as string }, hints: [] });
		expect(chosen.json).not.toHaveProperty('record');
	});
});

describe('a part of the results', () => {
	const partsMissing =
		'The service has completed a task without all of its results. In its item, missing_results says how many are missing, and missing_reason why, if the service says so.';

	test.each([
		['getResult', 'results', 'This picture was declined'],
		['generate', 'images', undefined],
	])('%s gives what was made, and says what is missing, and why: %s', async (operation, shape, reason) => {
		const directive = `result=${shape} missing=1`;
		const form = { n: 3, options: quick };
		const taskId = operation === 'generate' ? undefined : await completedTask(directive, form);
		const prompt = `a [[sandbox ${directive}]]`;
		const parameters = { operation, taskId, prompt, result: 'file', ...form };
		const { json, items, hints } = await run('image', parameters);
		expect(json).toMatchObject({ status: 'completed', urls: [FILE, expect.anything()], missing_results: 1 });
		expect(json?.missing_reason).toBe(reason);
		expect(Object.keys(items[0]?.binary ?? {})).toEqual(['data', 'data_1']);
		expect(hints).toContain(partsMissing);
	});
});

test('a record with one result where three were asked for says that two are missing, but not at a path that leads to one', async () => {
	const form = { operation: 'generate', prompt: 'a [[sandbox result=image_url]]', n: 3 };
	const short = await run('image', { ...form, options: quick });
	expect(short.json).toMatchObject({ status: 'completed', url: FILE, missing_results: 2 });
	expect(short.hints.join()).toContain('completed a task without all of its results');
	const chosen = await run('image', { ...form, options: { ...quick, resultPath: 'image_url' } });
	expect(chosen.json).not.toHaveProperty('missing_results');
});

describe('no result anywhere', () => {
	test.each<[string, IDataObject]>([
		['generate', { options: { ...quick, simplify: false } }],
		['getResult', { wait: 'dontWait', result: 'urlOnly' }],
	])('%s %j without a result gives the record as an item, with a hint', async (operation, more) => {
		const taskId = operation === 'generate' ? undefined : await completedTask('result=none');
		const parameters: IDataObject = { operation, taskId, prompt: 'a [[sandbox result=none]]', ...more };
		expect(await run('image', parameters)).toMatchObject({
			json: { status: 'completed', record: { status: 'completed' } },
			hints: [nothing],
		});
		const named = await run('image', {
			...parameters,
			options: { ...(parameters.options as IDataObject), resultPath: 'content.video_url' },
		});
		expect(named).toMatchObject({
			json: { status: 'completed', record: { status: 'completed' } },
			hints: [notAt('content.video_url')],
		});
	});

	test.each(['generate', 'getResult'])(
		'the simplified %s without a result ends with an error that names the task and shows the record',
		async (operation) => {
			const taskId = operation === 'generate' ? undefined : await completedTask('result=none');
			const parameters = { operation, taskId, prompt: 'a [[sandbox result=none]]' };
			const { error } = await run('image', parameters);
			const id = sandbox.tasks.at(0)?.id;
			expect(error?.message).toBe(`Task ${id} is complete, but the service gave no result URL`);
			expect(error?.description).toMatch(/The record: \{ .{0,400}\}$/);
			expect(error?.description).toContain('Result Path');
		},
	);

	test('where a Result Path finds nothing, nothing else is taken for it', async () => {
		const { error } = await generate('result=content_video_url', {
			options: { ...quick, resultPath: 'content.image_url' },
		});
		expect(error?.message).toBe(
			`Task ${sandbox.tasks[0]?.id} is complete, but there is no URL at content.image_url in its record`,
		);
		expect(error?.description).toContain('"content": { "video_url"');
		const known = await generate('result=url', {
			options: { ...quick, resultPath: 'content.image_url', simplify: false },
		});
		expect(known.json).not.toHaveProperty('url');
		expect(known.hints).toEqual([notAt('content.image_url')]);
	});
});

describe('a result that stands in the record itself, as some values of response_format give it', () => {
	let host: Hostile;
	beforeAll(async () => {
		host = await startHostile();
	});
	afterAll(async () => await host.close());
	beforeEach(() => host.reset());

	const run = async (parameters: IDataObject) => await runGateway('image', host as unknown as Sandbox, parameters);
	const PICTURE = 'iVBORw0KGgo'.repeat(300_000); // 3.3 MB, as a picture of 2.5 MB has
	const additionalFields = '{"response_format": "b64_json"}';

	test.each([
		['where the contract’s neighbours put it', { data: [{ b64_json: PICTURE }] }],
		['under a name of its own', { picture: PICTURE }],
	])('a result in the record that was asked for with response_format is put out %s', async (_, fields) => {
		host.answers.poll = finished(fields);
		const { error, json } = await run({
			operation: 'generate',
			prompt: 'a',
			options: { ...quick, additionalFields },
		});
		expect(error).toBeUndefined();
		expect(json[0]).toMatchObject({ task_id: TASK_ID, status: 'completed', record: fields });
	});

	test('a result as a data URI is put out, too, although nothing asked for it', async () => {
		const fields = { data: [{ url: 'data:image/png;base64,iVBORw0KGgo=' }] };
		host.answers.poll = finished(fields);
		const { error, json } = await run({ operation: 'generate', prompt: 'a', options: quick });
		expect(error).toBeUndefined();
		expect(json[0]).toMatchObject({ task_id: TASK_ID, status: 'completed', record: fields });
	});

	describe('a result that is too large for n8n', () => {
		const large = finished({ data: [{ b64_json: PICTURE.repeat(2) }] });

		test('of a file that is too large the error names the task, and how to get a URL; a retry would meet the same', async () => {
			host.answers.poll = large;
			const { error } = await run({ operation: 'generate', prompt: 'a', options: { ...quick, additionalFields } });
			expect(error?.message).toBe(`The service accepted task ${TASK_ID}, but its record is too large for this node`);
			expect(error?.description).toMatch(
				/An HTTP Request node .* can read it\. For new tasks, set response_format to url/,
			);
			expect(error?.description).not.toContain('Retry this execution');
			expect(host.posts()).toBe(1);
		});
	});
});
