import type { IDataObject } from 'n8n-workflow';
import { prompts, pngField, quick, quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';

const ISO_TIME = /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/;

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const fromItem = { operation: 'generate', prompt: '={{ $json.prompt }}', options: quick };

describe('Generate', () => {
	test('Generate waits for an image and gives its URL, simplified', async () => {
		const { json, items } = await runGateway('image', sandbox, {
			operation: 'generate',
			prompt: 'a cat',
			options: quick,
		});
		expect(json).toEqual([
			{
				task_id: sandbox.tasks[0].id,
				model: 'gamma-image-2',
				status: 'completed',
				prompt: 'a cat',
				url: expect.stringMatching(/^http/),
				urls: [expect.stringMatching(/^http/)],
				created_at: expect.stringMatching(ISO_TIME),
				expires_at: expect.stringMatching(ISO_TIME),
				waited_seconds: expect.any(Number),
			},
		]);
		expect(Object.keys(json[0]).slice(0, 5)).toEqual(['url', 'prompt', 'task_id', 'status', 'model']);
		expect(items[0].pairedItem).toEqual({ item: 0 });
		expect(sandbox.tasks[0].body).toEqual({
			model: 'gamma-image-2',
			prompt: 'a cat',
			resolution: '1K',
			size: '1:1',
			n: 1,
			response_format: 'url',
		});
		expect(sandbox.tasks[0].unknownFields).toEqual([]);
	});

	test('Generate runs all items at once, in input order, each paired with its input', async () => {
		const texts = ['first [[sandbox duration=2500ms]]', 'second', 'third [[sandbox duration=1200ms]]'];
		const { json, items } = await runGateway('video', sandbox, fromItem, { items: prompts(...texts) });
		const longest = sandbox.tasks.find(({ body }) => body.prompt === texts[0]);
		expect(Math.max(...sandbox.tasks.map(({ acceptedAt }) => acceptedAt))).toBeLessThan(longest?.endsAt ?? 0);
		const byPrompt = new Map(sandbox.tasks.map((task) => [task.body.prompt, task.id]));
		expect(json.map((item) => item.task_id)).toEqual(texts.map((text) => byPrompt.get(text)));
		expect(items.map((item) => item.pairedItem)).toEqual([{ item: 0 }, { item: 1 }, { item: 2 }]);
	});

	test('every item carries its prompt: good ones, refused ones, failed ones and those of a form with a mistake', async () => {
		const texts = ['a', 'b [[sandbox create=400]]', 'c [[sandbox fail=generation_failed]]', 'd'];
		const { json, task } = await runGateway(
			'image',
			sandbox,
			{ ...fromItem, options: { ...quick, timeoutMinutes: '={{ $itemIndex === 3 ? "soon" : 5 }}' } },
			{ items: prompts(...texts), settings: { onError: 'continueErrorOutput' } },
		);
		expect(json.map(({ prompt }) => prompt)).toEqual(['a']);
		const failed = task?.data?.main[1]?.map((item) => item.json.details as IDataObject);
		expect(failed?.map(({ prompt }) => prompt)).toEqual(texts.slice(1));
	});

	test('a retry that continues an earlier task has its prompt, too; Body (JSON) without one has none', async () => {
		const settings = { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 };
		const { json } = await runGateway('image', sandbox, fromItem, {
			items: prompts('a', 'b [[sandbox poll=400]]'),
			settings,
		});
		expect(json.map(({ prompt }) => prompt)).toEqual(['a', 'b [[sandbox poll=400]]']);
		expect(sandbox.tasks).toHaveLength(2);
		const other = { operation: 'generate', model: 'custom', customModelId: 'gamma-image-2', options: quick };
		const bodies = ['{"prompt": "c"}', '{"text": "c"}'].map((customBody) => ({ json: { customBody } }));
		const custom = await runGateway(
			'image',
			sandbox,
			{ ...other, customBody: '={{ $json.customBody }}' },
			{ items: bodies, settings: { onError: 'continueRegularOutput' } },
		);
		expect(custom.json.map(({ prompt }) => prompt)).toEqual(['c', undefined]);
	});

	test.each(['fileAndLink', 'urlOnly'])(
		'Split Files Into Items pairs each file with its input (Result: %s)',
		async (result) => {
			const { items, task } = await runGateway(
				'image',
				sandbox,
				{ ...fromItem, result, n: 2, options: { ...quick, splitFiles: true } },
				{
					items: prompts('a', 'b [[sandbox fail=generation_failed]]', 'c'),
					settings: { onError: 'continueErrorOutput' },
				},
			);
			const [urls, files] = [items.map(({ json }) => json.url), items.map(({ binary }) => Object.keys(binary ?? {}))];
			expect(items.map(({ json, pairedItem }) => [json.prompt, pairedItem])).toEqual(
				[0, 0, 2, 2].map((item) => ['abc'[item], { item }]),
			);
			expect(new Set(urls).size).toBe(4);
			expect(files).toEqual(Array(4).fill(result === 'urlOnly' ? [] : ['data']));
			expect(task?.data?.main[1]?.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 1 }]);
		},
	);

	test('Concurrent Tasks caps the tasks in flight', async () => {
		const options = { ...quick, concurrentTasks: 2 };
		const { json } = await runGateway(
			'image',
			sandbox,
			{ ...fromItem, options },
			{ items: prompts('a', 'b', 'c', 'd', 'e') },
		);
		expect(json).toHaveLength(5);
		expect(sandbox.stats().peakTasksInFlight).toBeLessThanOrEqual(2);
	});

	test('without waiting the task ID is returned, and Get Result continues from it', async () => {
		const created = await runGateway('video', sandbox, { operation: 'generate', prompt: 'a cat', wait: 'dontWait' });
		expect(created.json[0]).toEqual({
			prompt: 'a cat',
			task_id: sandbox.tasks[0].id,
			model: 'alpha-video-1-5-pro',
			status: 'queued',
			progress: 0,
			created_at: expect.stringMatching(ISO_TIME),
		});
		const waited = await runGateway(
			'video',
			sandbox,
			{ operation: 'getResult', taskId: '={{ $json.task_id }}', result: 'file', options: quick },
			{ items: created.items },
		);
		expect(waited.json[0]).toMatchObject({ task_id: sandbox.tasks[0].id, status: 'completed' });
		expect(waited.items[0].binary?.data).toMatchObject({ mimeType: 'video/mp4' });
		expect(sandbox.tasks).toHaveLength(1);
	});

	test('Get Result reads once, and an odd ID is encoded', async () => {
		const created = await runGateway('image', sandbox, {
			operation: 'generate',
			prompt: 'x [[sandbox id=odd duration=60s]]',
			wait: 'dontWait',
		});
		const { json } = await runGateway('image', sandbox, {
			operation: 'getResult',
			wait: 'dontWait',
			result: 'urlOnly',
			taskId: created.json[0].task_id,
		});
		expect(json[0]).toMatchObject({
			task_id: sandbox.tasks[0].id,
			status: expect.stringMatching(/queued|in_progress/),
		});
	});

	test.each([
		['image', { n: 3 }, ['data', 'data_1', 'data_2'], 'image/png'],
		['video', {}, ['data'], 'video/mp4'],
	] as const)('Result File puts every %s into a binary field', async (kind, extra, fields, mimeType) => {
		const { items, json } = await runGateway(kind, sandbox, {
			operation: 'generate',
			prompt: 'a cat',
			result: 'file',
			...{ ...extra, options: quick },
		});
		expect(Object.keys(items[0].binary ?? {})).toEqual(fields);
		for (const field of fields) {
			const file = items[0].binary?.[field];
			expect(file).toMatchObject({ mimeType, fileName: expect.stringMatching(/\.(png|mp4)$/) });
			const start = Buffer.from(file?.data ?? '', 'base64');
			expect(kind === 'image' ? start.subarray(1, 4).toString() : start.subarray(4, 8).toString()).toBe(
				kind === 'image' ? 'PNG' : 'ftyp',
			);
		}
		expect(json[0].urls).toHaveLength(fields.length);
		expect(sandbox.stats().keysSeenByFileHost).toBe(0);
	});

	test('a binary field is uploaded first and sent as its URL, in the order of the list', async () => {
		const images = {
			image: [
				{ source: 'url', url: 'https://example.com/a.png' },
				{ source: 'binary', binaryPropertyName: 'photo' },
			],
		};
		const { json } = await runGateway(
			'image',
			sandbox,
			{ operation: 'generate', prompt: 'a', images, options: quick },
			{
				items: [{ json: {}, binary: { photo: pngField() } }],
			},
		);
		expect(json[0].status).toBe('completed');
		expect(sandbox.uploads).toHaveLength(1);
		expect(sandbox.tasks[0].body.reference_images).toEqual([
			'https://example.com/a.png',
			expect.stringContaining(sandbox.filesUrl),
		]);
	});

	test('the address of an uploaded image may be relative, and the fields of the credential are sent', async () => {
		const fields = { purpose: 'vision', sandbox: 'upload_answer=relative' };
		const { json, error } = await runGateway(
			'image',
			sandbox,
			{ operation: 'uploadImage' },
			{
				items: [{ json: {}, binary: { data: pngField() } }],
				credential: { advanced: true, customPaths: true, imageUploadFields: JSON.stringify(fields) },
			},
		);
		expect(error).toBeUndefined();
		expect(json[0]?.url).toBe(sandbox.filesUrl + sandbox.uploads[0]?.path);
		expect(sandbox.requests[0]?.body).toMatchObject({ fields });
	});

	test('the multipart field of the credential counts, as long as Custom Paths is on', async () => {
		const other = await quickSandbox({ uploadField: 'files[]' });
		const upload = async (credential: IDataObject) =>
			await runGateway(
				'image',
				other,
				{ operation: 'uploadImage' },
				{ items: [{ json: {}, binary: { data: pngField() } }], credential: { advanced: true, ...credential } },
			);
		expect((await upload({ customPaths: true, imageUploadField: 'files[]' })).json[0]).toMatchObject({
			url: expect.stringContaining(other.filesUrl),
		});
		expect((await upload({ customPaths: false, imageUploadField: 'files[]' })).error?.description).toContain(
			'must be named "files[]", not "file"',
		);
		await other.close();
	});

	const [one, two] = ['https://example.com/1.png', 'https://example.com/2.png'];
	const found = { photo: one, rows: [{ url: one }, { url: two }] };
	describe.each(['alpha-video-1-5-pro', '={{ "beta-v3" }}'])('images for the model %s', (model) => {
		test.each<[string, unknown, string[] | undefined]>([
			['rows of the editor', { image: [{ source: 'url', url: one, binaryPropertyName: 'data' }] }, [one]],
			['rows and URLs', { image: [{ url: one }, two] }, [one, two]],
			['an expression for all rows', { image: '={{ $json.rows }}' }, [one, two]],
			['a list of URLs', [one, two], [one, two]],
			['an expression that gives a URL', '={{ $json.photo }}', [one]],
			['an expression that gives an empty list', '={{ [] }}', undefined],
		])('%s: all are sent, in order', async (_title, images, sent) => {
			const form = { operation: 'generate', wait: 'dontWait', prompt: 'a', model, images } as IDataObject;
			const { error } = await runGateway('video', sandbox, form, { items: [{ json: found }] });
			expect(error).toBeUndefined();
			expect(sandbox.tasks.map(({ body }) => body.image_urls)).toEqual([sent]);
		});
	});

	test.each<[string, unknown]>([
		['rows', { video: [{ url: one }] }],
		['an expression', '={{ [$json.photo] }}'],
	])('reference videos as %s are sent', async (_title, referenceUrls) => {
		const form = { operation: 'generate', wait: 'dontWait', model: 'delta-2.6-flash', referenceUrls } as IDataObject;
		await runGateway('video', sandbox, form, { items: [{ json: found }] });
		expect(sandbox.tasks.map(({ body }) => body.metadata)).toEqual([{ reference_urls: [one] }]);
	});

	test('what a row still has of another source, or of the roles of another model, does not count', async () => {
		const row = { source: 'url', url: one, binaryPropertyName: 'photo', role: 'last_frame' };
		const form = { operation: 'generate', wait: 'dontWait', prompt: 'a', images: { image: [row] } };
		await runGateway('video', sandbox, { ...form, model: 'beta-v3' });
		expect(sandbox.tasks[0]?.body).toEqual({ model: 'beta-v3', prompt: 'a', image_urls: [one] });
	});

	test('a role that says what the position says anyway is left out for a model without roles, and a hint says so', async () => {
		const images = {
			image: [
				{ url: one, role: 'first_frame' },
				{ url: two, role: 'last_frame' },
			],
		};
		const { task } = await runGateway('video', sandbox, {
			operation: 'generate',
			model: '={{ "beta-v3" }}',
			images,
			options: quick,
		});
		expect(sandbox.tasks[0].body).toEqual({ model: 'beta-v3', image_urls: [one, two] });
		expect(JSON.stringify(task?.hints)).toContain('Role was not sent: beta-v3 does not support it.');
	});

	test('of three images for alpha-video-1-5-pro two are uploaded and sent, and a hint says so', async () => {
		const image = ['a', 'b', 'c'].map((binaryPropertyName) => ({ source: 'binary', binaryPropertyName }));
		const { task, json } = await runGateway(
			'video',
			sandbox,
			{ operation: 'generate', prompt: 'a', images: { image }, options: quick },
			{
				items: [{ json: {}, binary: { a: pngField('a.png'), b: pngField('b.png'), c: pngField('c.png') } }],
			},
		);
		expect(json[0].status).toBe('completed');
		// The first two have the same content, which is uploaded once.
		expect(sandbox.uploads).toHaveLength(1);
		expect(sandbox.tasks[0].body.image_urls).toHaveLength(2);
		expect(task?.hints?.map(({ message }) => message)).toContain(
			'Only the first 2 images of an item are sent: alpha-video-1-5-pro uses no more.',
		);
	});

	test.each<[string, IDataObject, string]>([
		['of the form', { model: 'gamma-image-2', n: 101 }, 'Number of Images is 101'],
		['of Other Model', { model: 'custom', customModelId: 'x', customBody: '{"n": 101}' }, 'n is 101'],
	])(
		'more images than the node downloads are not bought, unless it downloads none: a number %s',
		async (_, parameters, message) => {
			const form = { operation: 'generate', prompt: 'a', ...parameters };
			const { error } = await runGateway('image', sandbox, { ...form, result: 'file' });
			expect(error?.message).toBe(`${message}: when files are downloaded, it must be 100 or less`);
			expect(error?.description).toContain('set Result to URL Only');
			expect(sandbox.tasks).toHaveLength(0);
			await runGateway('image', sandbox, { ...form, result: 'urlOnly', wait: 'dontWait' });
			expect(sandbox.requests.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /v1/images/generations']);
		},
	);
});
