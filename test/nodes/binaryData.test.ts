/** Images of items, in whichever way n8n holds them: in `item.binary`, or, with the setting `binaryMode: 'combined'`, in the JSON. */
import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { IBinaryData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import { useBinaryMode } from '../support/engine.mts';
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
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

const WAYS = [
	{ stored: 'default', held: 'separate' },
	{ stored: 'default', held: 'combined' },
	{ stored: 'filesystem', held: 'separate' },
	{ stored: 'filesystem', held: 'combined' },
] as const;

const fileOf = ([{ json, binary }]: INodeExecutionData[], name: string) =>
	(binary ?? (json._files as NonNullable<typeof binary>))[name];
describe.each(WAYS)('files stored in $stored mode, held $held', ({ stored, held }) => {
	const generate = { operation: 'generate', prompt: 'a cat', result: 'file', n: 2, options: quick };
	const options: RunOptions = { workflowSettings: { binaryMode: held } };
	const isInJson = stored === 'filesystem' && held === 'combined';

	/** The output of Generate with files. */
	let made: INodeExecutionData[];
	beforeAll(async () => {
		await useBinaryMode(stored);
		made = (await runGateway('image', sandbox, generate, options)).items;
	});
	const run = async (kind: Kind, parameters: IDataObject, items = made) =>
		await runGateway(kind, sandbox, parameters, { ...options, items });

	test('Upload Image takes what Generate has downloaded', async () => {
		const { items, last } = await runGateway('image', sandbox, generate, {
			...options,
			then: { kind: 'image', parameters: { operation: 'uploadImage' } },
		});
		expect(Object.keys((isInJson ? items[0].json._files : items[0].binary) ?? {})).toEqual(['data', 'data_1']);
		expect(last.error).toBeUndefined();
		expect(last.items[0].json).toEqual({
			url: expect.stringContaining(sandbox.filesUrl),
			file_name: expect.stringMatching(/\.png$/),
			mime_type: 'image/png',
		});
	});

	test('a video is made from binary fields', async () => {
		const images = { image: [{ source: 'binary', binaryPropertyName: 'data, data_1' }] };
		const { error } = await run('video', { operation: 'generate', prompt: 'it moves', images, options: quick });
		expect(error).toBeUndefined();
		expect(sandbox.tasks.at(-1)?.body.image_urls).toEqual([
			expect.stringContaining(sandbox.filesUrl),
			expect.stringContaining(sandbox.filesUrl),
		]);
		expect(new Set(sandbox.uploads.map(({ fileName }) => fileName)).size).toBe(2);
	});

	test('an expression gives the file itself', async () => {
		const file = isInJson ? '{{ $json._files.data }}' : '{{ $binary.data }}';
		const { json } = await run('image', { operation: 'uploadImage', binaryPropertyName: `=${file}` });
		expect(json[0]).toMatchObject({ mime_type: 'image/png', file_name: fileOf(made, 'data').fileName });
		const images = { image: [{ source: 'binary', binaryPropertyName: `=${file}` }] };
		const generated = await run('image', { operation: 'generate', prompt: 'more of it', images, options: quick });
		expect(generated.json[0]).toMatchObject({ status: 'completed' });
	});

	// Of files in memory, n8n's expressions reach none beside the JSON when the workflow should hold them in it.
	const reachesFiles = stored !== 'default' || held !== 'combined';
	if (reachesFiles)
		test('the first and the last frame come from two nodes', async () => {
			const again = { ...generate, options: { ...quick, outputField: 'again' } };
			const of = (node: string, field: string) =>
				isInJson ? `{{ $('${node}').item._files.${field} }}` : `{{ $('${node}').item.binary.${field} }}`;
			const images = {
				image: [of('Start', 'data_1'), of('Node', 'again')].map((file) => ({
					source: 'binary',
					binaryPropertyName: `=${file}`,
				})),
			};
			const parameters = { operation: 'generate', prompt: 'it moves', images, wait: 'dontWait' };
			const { items, last } = await runGateway('image', sandbox, again, {
				...options,
				items: made,
				then: { kind: 'video', parameters },
			});
			expect(last.error).toBeUndefined();
			expect(sandbox.uploads.map(({ fileName }) => fileName)).toEqual([
				fileOf(made, 'data_1').fileName,
				fileOf(items, 'again').fileName,
			]);
		});

	test.each([
		[
			'an expression that gives nothing',
			"={{ $('Start').item.json.nothing?.data }}",
			'Image 2: Input Binary Field is empty',
		],
		['a name that is missing between two commas', 'data, ,data_1', 'Image 3: Input Binary Field is empty'],
		[
			'an object that is no file',
			'={{ ({ name: "data" }) }}',
			'Image 2: Input Binary Field is an object, but not a file',
		],
	])('where a file is missing, none other is taken and nothing is sent: %s', async (_, binaryPropertyName, message) => {
		const images = {
			image: [
				{ source: 'binary', binaryPropertyName: 'data' },
				{ source: 'binary', binaryPropertyName },
			],
		};
		const { error } = await run('video', { operation: 'generate', prompt: 'it moves', images, options: quick });
		expect(error?.message).toBe(message);
		expect(error?.description).toMatch(/Enter the name of a binary field.* Nothing was sent\./);
		expect(sandbox.requests).toHaveLength(0);
	});

	test('an empty file buys nothing, whatever its type says', async () => {
		const place = { type: 'execution' as const, workflowId: 'wf', executionId: '1' };
		const { mimeType, fileName } = pngField();
		const data = await Container.get(BinaryDataService).store(place, Buffer.alloc(0), { data: '', mimeType, fileName });
		const images = { image: [{ source: 'binary', binaryPropertyName: 'data' }] };
		const { error } = await run('video', { operation: 'generate', prompt: 'it moves', images, options: quick }, [
			{ json: {}, binary: { data } },
		]);
		expect(error?.message).toBe('Image 1: the binary field "data" is an empty file');
		expect(error?.description).toMatch(/Nothing was sent/);
		expect(sandbox.requests).toHaveLength(0);
	});

	test('the message about a binary field that is not there names those that are', async () => {
		const { error } = await run('image', { operation: 'uploadImage', binaryPropertyName: 'photo' });
		expect(error?.message).toBe('Input Binary Field: the item has no binary field "photo"');
		expect(error?.description).toContain(
			'It has: data, data_1. Enter the name of a binary field of the input item. Nothing was sent.',
		);
		expect(sandbox.requests).toHaveLength(0);
	});

	test('a file is recognised by its first bytes, without a name, with a type that says nothing and without any', async () => {
		const file = {
			...(made[0].binary ?? (made[0].json._files as INodeExecutionData['binary']))?.data,
			fileName: undefined,
		} as IBinaryData;
		const items = ['application/octet-stream', undefined].map((mimeType) => ({
			json: {},
			binary: { data: { ...file, mimeType: mimeType as string } },
		}));
		const { json } = await run('image', { operation: 'uploadImage' }, items);
		const recognised = { mime_type: 'image/png', file_name: 'image.png' };
		expect(json).toMatchObject([recognised, recognised]);
		expect(sandbox.uploads.map(({ bytes }) => bytes.length > 100)).toEqual([true, true]);
	});
});

describe('files in memory', () => {
	beforeAll(async () => {
		await useBinaryMode('default');
	});

	test.each([
		['text', 'application/octet-stream', 'hello, this is no image'],
		['a sound in the same wrapping as WebP', 'application/octet-stream', 'RIFF....WAVEfmt '],
		['without a type', undefined, 'GIF80a'],
	])('%s (%s) is refused, and nothing is sent', async (_title, mimeType, text) => {
		const items = [
			{ json: {}, binary: { data: { data: Buffer.from(text).toString('base64'), mimeType: mimeType as string } } },
		];
		const uploaded = await runGateway('image', sandbox, { operation: 'uploadImage' }, { items });
		expect(uploaded.error?.message).toBe('Input Binary Field: the binary field "data" is not an image');
		expect(uploaded.error?.description).toContain(`Its type is ${mimeType ?? 'unknown'}.`);
		const images = { image: [{ source: 'binary', binaryPropertyName: 'data' }] };
		const generated = await runGateway(
			'image',
			sandbox,
			{ operation: 'generate', prompt: 'a', images, options: quick },
			{ items },
		);
		expect(generated.error?.message).toBe('Image 1: the binary field "data" is not an image');
		expect(sandbox.requests).toHaveLength(0);
	});

	const OTHER = Buffer.from('89504e470d0a1a0a00000000', 'hex').toString('base64');
	const uploadBeside = async (b: object) =>
		await runGateway(
			'image',
			sandbox,
			{ operation: 'uploadImage', binaryPropertyName: '={{ $binary.a }}' },
			{ items: [{ json: {}, binary: { a: pngField(), b: { ...pngField(), ...b } } }] },
		);

	test('a file of another name beside it is not taken for the one that an expression gives without its content', async () => {
		const { json } = await uploadBeside({ data: OTHER, fileName: 'dog.png' });
		expect(json[0]).toMatchObject({ file_name: 'cat.png' });
	});

	test('of two files that only differ in their content, none is sent for the other', async () => {
		const { error } = await uploadBeside({ data: OTHER });
		expect(error?.message).toBe('Input Binary Field is an object, but not a file');
		expect(sandbox.requests).toEqual([]);
	});
});
