/** Result files: what they are, those that do not arrive or cannot be stored, and links to n8n's own copies of them. */
import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { IDataObject } from 'n8n-workflow';
import { DELIVERIES_IN_PARALLEL } from '../../core/engine/jobs';
import { learnedStorageLimit } from '../../core/processMemory';
import { learnLimit } from '../../nodes/generation/fileLimits';
import { useBinaryMode } from '../support/engine.mts';
import { finished, startHostile, TASK_ID, text } from '../support/hostile.mts';
import { pause, prompts, quick, quickSandbox, runGateway, startGateway, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox({ imageTaskMs: 100, videoTaskMs: 100 });
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());
afterEach(() => jest.restoreAllMocks());

const download = async (directive: string, kind: 'image' | 'video' = 'video') =>
	await runGateway(kind, sandbox, {
		operation: 'generate',
		prompt: `a [[sandbox duration=0 ${directive}]]`,
		result: 'file',
		// As the host names its files.
		options: { ...quick, fileName: '' },
	});

test('Get Result downloads few files in parallel, in input order', async () => {
	const slower = '[[sandbox duration=0 bytes=2 bytes_per_second=20000]]';
	const items = prompts(...Array.from({ length: DELIVERIES_IN_PARALLEL + 1 }, (_, index) => `${index} ${slower}`));
	const generate = { operation: 'generate', prompt: '={{ $json.prompt }}', wait: 'dontWait' };
	const created = await runGateway('video', sandbox, generate, { items });
	const { promise } = startGateway(
		'video',
		sandbox,
		{ operation: 'getResult', wait: 'dontWait', taskId: '={{ $json.task_id }}', result: 'file' },
		{ items: created.items },
	);
	while (sandbox.fileRequests.length < DELIVERIES_IN_PARALLEL) await pause(50);
	await pause(500);
	expect(sandbox.fileRequests).toHaveLength(DELIVERIES_IN_PARALLEL);
	sandbox.release();
	const got = (await promise).data.resultData.runData.Node?.[0]?.data?.main?.[0] ?? [];
	expect(got.map(({ json }) => json.task_id)).toEqual(created.json.map(({ task_id: id }) => id));
	expect(new Set(sandbox.fileRequests.map(({ path }) => path)).size).toBe(items.length);
});

describe('an answer that is no file', () => {
	test.each([
		['type=application/json', 'JSON'],
		['type=text/plain file_as=unknown', 'text'],
	])('an answer that is no file is asked for again, and then reported: %s', async (directive, what) => {
		const { error, items } = await download(directive);
		expect(items).toEqual([]);
		expect(error?.message).toBe(`The result of task ${sandbox.tasks[0]?.id} could not be downloaded`);
		expect(error?.description).toContain(`The file host sent ${what}`);
		expect(sandbox.fileRequests).toHaveLength(4);
	});
});

test('a file host that asks for a pause gets it, and is then asked again', async () => {
	sandbox.faults.add({ on: 'file', times: 1, do: { status: 429, retryAfterSeconds: 2 } });
	const { items } = await download('');
	expect(items[0]?.binary?.data).toMatchObject({ mimeType: 'video/mp4' });
	const [first, second] = sandbox.fileRequests.map(({ at }) => at);
	expect(second! - first!).toBeGreaterThanOrEqual(1_900);
});

const hintsOf = (task: Awaited<ReturnType<typeof runGateway>>['task']) =>
	(task?.hints ?? []).map(({ message }) => message);

describe('a file at the service’s own address, which wants the key', () => {
	const keys = () =>
		sandbox.fileRequests.map(({ headers }) => headers.authorization?.toString().replace(/^Bearer /, ''));
	const places = () =>
		sandbox.fileRequests.map(({ headers: { host } }) => (sandbox.baseUrl.endsWith(String(host)) ? 'service' : 'other'));

	test.each<[string, string, Array<'service' | 'other'>, Array<'key' | undefined>]>([
		['at the service', 'result_at=gateway', ['service', 'service'], [undefined, 'key']],
		[
			'at the service, which leads elsewhere',
			'result_at=gateway_redirect',
			['service', 'service', 'other'],
			[undefined, 'key', undefined],
		],
		['elsewhere', 'result_at=files', ['other'], [undefined]],
		['elsewhere, after a 401', 'result_at=files file=401', ['other', 'other'], [undefined, undefined]],
	])('it is fetched without the key first, and with it only %s', async (_, directive, hosts, sent) => {
		for (const kind of ['image', 'video'] as const) {
			sandbox.reset();
			const { items, error } = await download(directive, kind);
			expect(error).toBeUndefined();
			expect(items[0]?.binary?.data?.mimeType).toBe(kind === 'image' ? 'image/png' : 'video/mp4');
			expect(places()).toEqual(hosts);
			expect(keys()).toEqual(sent.map((each) => each && sandbox.apiKey));
			expect(JSON.stringify(items)).not.toContain(sandbox.apiKey);
		}
	});

	test('a host that leads to the service does not get it to be read with the key', async () => {
		const { error } = await download('result_at=bounce');
		expect(error?.description).toContain('The file host answered with HTTP 401. The task is complete.');
		expect(places().slice(0, 2)).toEqual(['other', 'service']);
		expect(keys().every((key) => key === undefined)).toBe(true);
	});

	// The contract shows no status codes, and some services refuse with a 200 (field notes).
	test.each([200, 400, 404])('a refusal as JSON, with the status %d, counts as one', async (status) => {
		const host = await startHostile();
		host.answers.poll = finished({ images: [`${host.baseUrl}/files/a.png`] });
		host.answers.file = (response, request) => {
			const answer =
				request.headers.authorization === undefined
					? text('{"success":false,"message":"No Authorization header"}', {}, status)
					: text('\x89PNG\r\n\x1a\n', { 'content-type': 'image/png' });
			answer(response, request);
		};
		const parameters = { operation: 'getResult', wait: 'dontWait', taskId: TASK_ID, result: 'file' };
		const { items, error } = await runGateway('image', host as unknown as Sandbox, parameters);
		const sent = host.requests.filter(({ url }) => url.startsWith('/files/')).map(({ key }) => key);
		await host.close();
		expect(error).toBeUndefined();
		expect(items[0]?.binary?.data?.mimeType).toBe('image/png');
		expect(sent).toEqual([undefined, `Bearer ${host.apiKey}`]);
	});

	test.each([
		['gateway', true],
		['files', false],
	])('with Result URL Only, a hint says that a link at %s may want the key: %s', async (place, isSaid) => {
		const { json, task } = await runGateway('video', sandbox, {
			operation: 'generate',
			prompt: `a [[sandbox duration=0 result_at=${place}]]`,
			result: 'urlOnly',
			options: quick,
		});
		expect(json[0]).toMatchObject({ status: 'completed', url: expect.any(String) as string });
		expect(hintsOf(task).join(' ').includes('may open only with the API key')).toBe(isSaid);
		expect(sandbox.fileRequests).toEqual([]);
	});
});

describe('what a file is', () => {
	const OCTETS = 'type=application/octet-stream extension=none disposition=none';
	const TEXT = 'type=text/plain;charset=utf-8 extension=none disposition=none';
	const fileOf = async (directive: string, kind: 'image' | 'video') => {
		const { items, error, task } = await download(directive, kind);
		const { mimeType, fileName } = items[0]?.binary?.data ?? {};
		return { error, hints: hintsOf(task), is: [mimeType, fileName?.replace(sandbox.tasks[0]?.id ?? '', 'task')] };
	};

	test.each<['image' | 'video', string, string, string]>([
		// The first bytes decide where the header does not tell.
		['image', `file_as=jpeg ${OCTETS}`, 'image/jpeg', 'task_1.jpg'],
		['image', `file_as=jpeg ${TEXT}`, 'image/jpeg', 'task_1.jpg'],
		['video', `file_as=mp4 ${OCTETS}`, 'video/mp4', 'task_1.mp4'],
		['image', 'file_as=webp type=application/octet-stream file_name=portrait.png', 'image/webp', 'portrait.webp'],
		// A name gets the extension of what the file is.
		['image', 'file_name=lighthouse', 'image/png', 'lighthouse.png'],
	])('an %s with %s is %s, named %s', async (kind, directive, mimeType, name) => {
		const { error, is, hints } = await fileOf(directive, kind);
		expect(error).toBeUndefined();
		expect(is).toEqual([mimeType, name]);
		expect(hints).toEqual([]);
	});

	test.each<[string, string, string]>([
		['file_as=zip type=image/png file_name=frames.png', 'application/zip', 'frames.zip'],
		['file_as=unknown type=model/gltf-binary extension=glb', 'model/gltf-binary', 'task_1.glb'],
	])(
		'what is no medium keeps its type and extension, and a hint says so: %s is %s, named %s',
		async (directive, mimeType, name) => {
			for (const kind of ['image', 'video'] as const) {
				sandbox.reset();
				const { error, is, hints } = await fileOf(
					directive.includes('file_name') ? directive : `${directive} disposition=none`,
					kind,
				);
				expect(error).toBeUndefined();
				expect(is).toEqual([mimeType, name]);
				expect(hints).toEqual([
					`A result file is not an image, a video or audio, but ${mimeType}. Open it before you use it.`,
				]);
			}
		},
	);

	test.each([
		'file_as=m3u8 type=application/vnd.apple.mpegurl',
		'file_as=m3u8 type=text/plain',
		'file_as=unknown type=application/octet-stream extension=m3u8 disposition=none',
	])('a playlist is no video: the error says so, and nothing is asked for again: %s', async (directive) => {
		const { error, items } = await download(directive);
		const id = sandbox.tasks[0]?.id;
		expect(items).toEqual([]);
		expect(error?.message).toBe(`The result of task ${id} is a playlist, not a video file`);
		expect(error?.description).toContain(`${sandbox.filesUrl}/results/${id}`);
		expect(sandbox.fileRequests).toHaveLength(1);
	});
});

test('a file that this n8n cannot store is reported before it is downloaded', async () => {
	// n8n keeps files in memory here: at most 384 MiB each.
	const { error } = await download('bytes=410');
	const { id } = sandbox.tasks[0] ?? {};
	expect(error?.message).toBe(`The result of task ${id} is too large for this n8n, and was not downloaded`);
	expect(error?.description).toContain('It is 391 MiB: this n8n stores at most 384 MiB.');
	expect(error?.description).toContain(
		'Then retry this execution in the Executions list: tasks that exist continue, nothing is paid twice. Execute step and Debug in editor buy again.',
	);
	expect(error?.description).toContain(`/results/${id}/0-410MB.mp4`);
	expect(sandbox.fileRequests).toHaveLength(1);
});

describe('a file that n8n does not store', () => {
	const words =
		'Failed to write binary file "a.mp4" because its size of 600 MB exceeds the max size limit of 512 MB set for `database` mode';

	type Store = (place: unknown, file: AsyncIterable<unknown>) => Promise<unknown>;
	test.each<[string, Store]>([
		[
			'after it has read the file',
			async (_, file) => {
				for await (const chunk of file) expect(chunk).toBeDefined();
				throw Object.assign(new Error(words), { code: 'ECONNRESET' }); // a store that is elsewhere
			},
		],
		['because the disk refuses', async () => await Promise.reject(Object.assign(new Error(words), { code: 'ENOSPC' }))],
	])(
		'when n8n does not store a file, %s, its own words are shown, and nothing is downloaded again',
		async (_, store) => {
			jest.spyOn(Container.get(BinaryDataService), 'store').mockImplementation(store as never);
			const { error } = await download('');
			const id = sandbox.tasks[0]?.id;
			expect(error?.message).toBe(`The result of task ${id} could not be stored`);
			expect(error?.description).toContain(`n8n says: "${words}".`);
			expect(error?.description).toContain(`/results/${id}/0.mp4`);
			expect(sandbox.fileRequests).toHaveLength(1);
		},
	);

	test('the limit that n8n names is learned from its last words: they begin with the name of the file', () => {
		const before = learnedStorageLimit.bytes;
		learnLimit('"max size limit of 0.001 MB.png" because its size of 600 MB exceeds the max size limit of 512 MB');
		expect(learnedStorageLimit.bytes).toBe(before);
		learnLimit(
			'"exceeds the max size limit of 1 MB set for.png" exceeds the max size limit of 256 MB set for `database` mode',
		);
		expect(learnedStorageLimit.bytes).toBe(256 * 2 ** 20);
		learnedStorageLimit.bytes = before;
	});

	test('a file whose connection breaks is downloaded again', async () => {
		const { items } = await download('file=cut*2');
		expect(items[0]?.binary?.data).toMatchObject({ mimeType: 'video/mp4' });
		expect(sandbox.fileRequests.length).toBeGreaterThan(1);
	});
});

describe('names of files', () => {
	const fileNames = async (options: { fileName?: string }, n = 1, prompt = 'A red bicycle') => {
		const parameters = { operation: 'generate', prompt: '={{ $json.prompt }}', n, options: { ...quick, ...options } };
		const { items, error } = await runGateway('image', sandbox, parameters, { items: prompts(prompt) });
		expect(error).toBeUndefined();
		return Object.values(items[0]?.binary ?? {}).map((file) => file.fileName);
	};
	const idOf = () => String(sandbox.tasks[0]?.id);

	test('File Name is an expression, and several results get distinct names', async () => {
		expect(await fileNames({ fileName: '={{ $json.prompt }}' }, 3)).toEqual([
			'A red bicycle.png',
			'A red bicycle_1.png',
			'A red bicycle_2.png',
		]);
	});

	test('without File Name, it is the beginning of the prompt and the end of the task ID', async () => {
		const names = await fileNames({}, 2);
		const name = `A-red-bicycle-${idOf().slice(-12)}`;
		expect(names).toEqual([`${name}.png`, `${name}_1.png`]);
	});

	test.each(['...', '', '={{ $json.nothing }}'])('a File Name of %j leaves the name to the task', async (fileName) => {
		expect(await fileNames({ fileName }, 2)).toEqual([`${idOf()}_1.png`, `${idOf()}_2.png`]);
	});
});

const linked = { operation: 'generate', prompt: 'a cat', n: 2, result: 'fileAndLink', options: quick };
/** The files behind the links of an item: each link is the signed ID of a file. */
async function open({ download_urls: links }: IDataObject): Promise<Buffer[]> {
	const files = Container.get(BinaryDataService);
	return await Promise.all(
		(links as string[]).map(async (link) => {
			const id = files.validateSignedToken(new URL(link).searchParams.get('token') ?? '');
			return await files.getAsBuffer({ id, data: '', mimeType: '' });
		}),
	);
}

describe('links to n8n’s own copies of result files', () => {
	beforeAll(async () => void (await useBinaryMode('filesystem')));
	afterAll(async () => void (await useBinaryMode('default')));

	test('Generate downloads and links every file', async () => {
		const { items, task } = await runGateway('image', sandbox, linked);
		const [{ json, binary }] = items;
		expect(json).toMatchObject({ status: 'completed', download_url: (json.download_urls as string[])[0] });
		expect(Object.keys(binary ?? {})).toEqual(['data', 'data_1']);
		const delivered = await Promise.all(
			(json.urls as string[]).map(async (url) => Buffer.from(await (await fetch(url)).arrayBuffer())),
		);
		expect(await open(json)).toEqual(delivered);
		const payload = Buffer.from(String(json.download_url).split('.')[1], 'base64url').toString();
		const { exp, iat } = JSON.parse(payload) as { exp: number; iat: number };
		expect((exp - iat) / 86_400).toBe(30);
		expect(hintsOf(task)).toEqual([]);
	});

	test('Get Result downloads and links the files of a task that exists', async () => {
		const { json: bought } = await runGateway('video', sandbox, {
			operation: 'generate',
			prompt: 'a',
			wait: 'dontWait',
		});
		for (const wait of ['untilReady', 'dontWait']) {
			const form = { operation: 'getResult', taskId: bought[0].task_id, wait, result: 'fileAndLink', options: quick };
			const { items } = await runGateway('video', sandbox, form);
			expect(await open(items[0].json)).toHaveLength(1);
			expect(items[0].binary?.data).toMatchObject({ mimeType: 'video/mp4' });
		}
	});

	test('nobody gets a download link who has not asked for one', async () => {
		const { json } = await runGateway('image', sandbox, { ...linked, result: 'file' });
		expect(Object.keys(json[0])).not.toEqual(expect.arrayContaining([expect.stringContaining('download')]));
	});
});

test('where n8n keeps files in memory, there is a hint instead of a link, and the file', async () => {
	const { items, error, task } = await runGateway('image', sandbox, linked);
	expect(error).toBeUndefined();
	expect(items[0].json).toMatchObject({ status: 'completed' });
	expect(items[0].json).not.toHaveProperty('download_url');
	expect(Object.keys(items[0].binary ?? {})).toEqual(['data', 'data_1']);
	expect(hintsOf(task)).toEqual([expect.stringMatching(/^There is no download link/)]);
});
