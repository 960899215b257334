/** The result in a completed record: it is found in any place, never guessed, and never lost. */
import type { IDataObject } from 'n8n-workflow';
import { finished, startHostile, TASK_ID, text, type Hostile } from '../support/hostile.mts';
import {
	pngField,
	quick,
	quickSandbox,
	runGateway,
	type Kind,
	type RunOptions,
	type Sandbox,
} from '../support/nodes.mts';

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
	const { json } = await generate(`duration=0 ${directive}`, { whenDone: 'return', ...more });
	return String(json?.task_id);
}

const sayWhere =
	'create a new workflow: a trigger, and behind it Get Task with each task_id and the right path as Result Path in its options.';
const found = (place: string) =>
	`The result was found at ${place} in the record. If that is not the result, ${sayWhere}`;
const FILE = expect.stringMatching(/^http:.*\/0\.png$/) as string;
const nothing = `The record of a completed task has no result URL. If the result is somewhere else in it, ${sayWhere}`;
const notAt = (path: string) =>
	`Result Path ${path} leads to no URL in the record of a completed task. To get the result, ${sayWhere}`;

const PLACES = [
	['content_video_url', 'content.video_url'],
	['results', 'results.url'],
	['image_url', 'image_url'],
	['audio_url', 'audio_url'],
	['result_video_url', 'result.video.url'],
	['output_images', 'output.images'],
	['metadata_images', 'metadata.images'],
] as const;

describe('a result in a place that is not listed', () => {
	test.each(PLACES)(
		'a result at an unknown path is found by Get Task and by Wait for Task, too; the place of the hint is a Result Path: %s',
		async (shape, resultPath) => {
			const taskId = await completedTask(`result=${shape}`);
			for (const operation of ['getTask', 'waitForTask']) {
				expect(await run('image', { operation, taskId })).toMatchObject({
					json: { url: FILE },
					hints: [found(resultPath)],
				});
				expect(await run('image', { operation, taskId, options: { ...quick, resultPath } })).toMatchObject({
					json: { url: FILE },
					hints: [],
				});
			}
		},
	);
});

describe('two places that may hold the result', () => {
	test.each(['generate', 'getTask', 'waitForTask'])(
		'of two places that may hold the result %s gives the record, and a hint names both',
		async (operation) => {
			const taskId = operation === 'generate' ? undefined : await completedTask('result=two_places');
			const { json, hints } = await run('image', { operation, taskId, prompt: 'a [[sandbox result=two_places]]' });
			expect(json).toMatchObject({ status: 'completed', record: { content: { video_url: FILE } } });
			expect(json).not.toHaveProperty('url');
			expect(hints).toEqual([
				`The result may be at content.video_url or audio.track in the record. To get it, ${sayWhere}`,
			]);
			const chosen = await run('image', {
				operation,
				taskId,
				prompt: 'a [[sandbox result=two_places]]',
				options: { ...quick, resultPath: 'audio.track' },
			});
			expect(chosen).toMatchObject({ json: { url: expect.stringMatching(/track=1$/) as string }, hints: [] });
			expect(chosen.json).not.toHaveProperty('record');
		},
	);
});

describe('what the request contained is no result', () => {
	const images = {
		image: [
			{ source: 'url', url: 'https://example.com/a.png' },
			{ source: 'binary', binaryPropertyName: 'photo' },
		],
	};
	const items = [{ json: {}, binary: { photo: pngField() } }];

	test.each(['input', 'sources'])('an image of the request that is repeated below %s is no result', async (echo) => {
		const prompt = `a [[sandbox result=content_video_url echo=${echo}]]`;
		const { json, hints } = await run('image', { operation: 'generate', prompt, images }, { items });
		expect(json?.urls).toEqual([FILE]);
		expect(hints).toEqual([found('content.video_url')]);
	});
});

describe('of a task that has not finished, what the request contained is no result either', () => {
	let host: Hostile;
	beforeAll(async () => {
		host = await startHostile();
	});
	afterAll(async () => await host.close());

	const INPUT = 'https://example.com/a.png';
	const unfinished = (fields: object, status = 'in_progress') =>
		text(JSON.stringify({ id: TASK_ID, status, progress: 40, ...fields }));
	const ask = async (parameters: IDataObject) =>
		(await runGateway('image', host as unknown as Sandbox, { downloadResult: false, ...parameters })).json[0];
	const timeout = { ...quick, timeoutMinutes: 0.02, onTimeout: 'return' };
	const generateFrom = async (options: IDataObject) =>
		await ask({ prompt: 'a', images: { image: [{ source: 'url', url: INPUT }] }, options: { ...timeout, ...options } });

	test.each([{ images: [INPUT] }, { output: { image_url: INPUT } }])(
		'Generate returns it at the timeout: %j',
		async (fields) => {
			host.answers.poll = unfinished(fields);
			const json = await generateFrom({});
			expect(json).toMatchObject({ timed_out: true, status: 'in_progress', task_id: TASK_ID });
			expect(json).not.toHaveProperty('url');
			expect(json).not.toHaveProperty('urls');
		},
	);

	test.each(['getTask', 'waitForTask'])(
		'%s does not know the request, but the record may repeat it',
		async (operation) => {
			for (const status of ['in_progress', 'queued']) {
				host.answers.poll = unfinished({ images: [INPUT], input: { image_urls: [INPUT] } }, status);
				const json = await ask({ operation, taskId: TASK_ID, options: operation === 'getTask' ? {} : timeout });
				expect(json).toMatchObject({ status });
				expect(json).not.toHaveProperty('url');
			}
		},
	);
});

describe('a part of the results', () => {
	const partsMissing =
		'The service has completed a task without all of its results. In its item, missing_results says how many are missing, and missing_reason why, if the service says so.';

	test.each([
		['generate', 'result_data', 'This picture was declined'],
		['waitForTask', 'results', 'This picture was declined'],
		['generate', 'images', undefined],
	])('%s gives what was made, and says what is missing, and why: %s', async (operation, shape, reason) => {
		const directive = `result=${shape} missing=1`;
		const options = { ...quick, n: 3 };
		const taskId = operation === 'generate' ? undefined : await completedTask(directive, { options });
		const prompt = `a [[sandbox ${directive}]]`;
		const parameters = { operation, taskId, prompt, downloadResult: true, options };
		const { json, items, hints } = await run('image', parameters);
		expect(json).toMatchObject({ status: 'completed', urls: [FILE, expect.anything()], missing_results: 1 });
		expect(json?.missing_reason).toBe(reason);
		expect(Object.keys(items[0]?.binary ?? {})).toEqual(['data', 'data_1']);
		expect(hints).toContain(partsMissing);
	});
});

describe('a result without an address of its own', () => {
	test.each(['relative', 'no_scheme'])('it is read against the Base URL, and downloaded: %s', async (place) => {
		for (const [shape, resultPath] of [
			['result_data', ''],
			['content_video_url', ''],
			['results', 'results[0].url'],
		]) {
			const directive = `duration=0 result=${shape} result_at=${place}`;
			const { json, items } = await generate(
				directive,
				{ downloadResult: true, options: { ...quick, resultPath } },
				'video',
			);
			const { id } = sandbox.tasks.at(-1)!;
			const url =
				place === 'relative' ? `${sandbox.baseUrl}/v1/videos/${id}/content` : `${sandbox.filesUrl}/results/${id}/0.mp4`;
			expect(json).toMatchObject({ url, urls: [url] });
			expect(items[0]?.binary?.data?.mimeType).toBe('video/mp4');
		}
	});
});

describe('a video and what stands beside it', () => {
	const VIDEO = expect.stringMatching(/\/0\.mp4$/) as string;
	const image = [{ source: 'url', url: 'https://example.com/a.png' }];

	test.each([
		['a poster', 'result=poster_and_videos'],
		['the images of its request', 'result=result_video_url echo=images'],
	])('%s is not the result', async (_, directive) => {
		const more = { images: { image } };
		expect(await generate(directive, more, 'video')).toMatchObject({ json: { url: VIDEO, urls: [VIDEO] } });
		const created = await generate(`duration=0 ${directive}`, { whenDone: 'return', ...more }, 'video');
		for (const operation of ['getTask', 'waitForTask'])
			expect(await run('video', { operation, taskId: created.json?.task_id })).toMatchObject({
				json: { url: VIDEO, urls: [VIDEO] },
			});
	});
});

describe('no result anywhere', () => {
	test.each<[string, IDataObject]>([
		['generate', { options: { ...quick, simplify: false } }],
		['waitForTask', { options: { ...quick, simplify: false } }],
		['getTask', { options: { ...quick, simplify: false } }],
		['getTask', {}],
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

	test.each(['generate', 'waitForTask'])(
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

	describe('a result that is too large for n8n', () => {
		const large = finished({ data: [{ b64_json: PICTURE.repeat(2) }] });

		test('of a file that is too large the error names the task, and how to get a URL; a retry goes on with the task', async () => {
			host.answers.poll = large;
			const { error } = await run({ operation: 'generate', prompt: 'a', options: { ...quick, additionalFields } });
			expect(error?.message).toBe(`The answer from the service is too large (task ${TASK_ID})`);
			expect(error?.description).toMatch(
				/The node reads at most 1 MB, with files 4 MB.* set response_format .* to url for new tasks/,
			);
			expect(error?.description).toMatch(/Retrying this execution without changes continues the task\.$/);
			expect(host.posts()).toBe(1);
		});
	});
});
