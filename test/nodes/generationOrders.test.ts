/** The orders that the operations of the generation nodes make of the form of one item, without n8n. */
import { createHash } from 'node:crypto';
import type { IBinaryData, IDataObject, INodeProperties } from 'n8n-workflow';
import { asGatewayError } from '../../core/errors';
import { batchSchema } from '../../core/orders/batch';
import { OrderLedger } from '../../core/orders/ledger';
import type { Order } from '../../core/orders/order';
import { generate } from '../../nodes/generation/generate';
import { getTask } from '../../nodes/generation/getTask';
import { image, video, type Media } from '../../nodes/generation/media';
import { taskProduct } from '../../nodes/generation/taskProduct';
import { waitForTask } from '../../nodes/generation/waitForTask';
import { hashOf } from '../../nodes/run/hashOf';
import { Item, Parameters } from '../../nodes/run/item';
import type { Operation } from '../../nodes/run/operation';
import { hashOfKey } from '../../nodes/run/openPurchaseLog';
import { sharing, type Run } from '../../nodes/run/run';
import { choice, field, specOf } from '../support/bodySpecs';
import { lightContext } from '../support/lightContext.mts';
import { batchOf } from '../support/orders.mts';

const images = field('images', {
	type: 'fixedCollection',
	default: {},
	options: [{ displayName: 'Image', name: 'image', values: [] }],
	bodyPath: 'image_urls',
	shape: 'images',
});
const MODEL = {
	...specOf([field('prompt'), images, choice('response_format', ['url', 'b64_json'], { default: '' })], {
		rules: [{ kind: 'usesFirst', of: 'image_urls', count: 2, advice: '' }],
	}),
	...{ id: 'one', summary: 'One' },
};
const OTHER = { ...specOf([field('tone'), field('depth')]), id: 'other', summary: 'Other' };
const MEDIA: Media = { ...image, models: [MODEL, OTHER] };
const A = 'https://a.example/a.png';

interface Given {
	parameters?: IDataObject;
	/** The parameters that hold expressions, as the node has them. */
	stored?: IDataObject;
	run?: object;
	json?: IDataObject;
	items?: number;
	file?: Partial<IBinaryData>;
	/** Beside that file. */
	otherFiles?: Record<string, IBinaryData>;
}

/** The files that were read, by n8n's IDs. */
const streams: string[] = [];
beforeEach(() => (streams.length = 0));

/** The order of one item, and its run. */
async function order(
	operation: Operation,
	{ parameters = {}, stored = {}, run = {}, json = {}, items = 1, file: more = {}, otherFiles }: Given = {},
) {
	const file: IBinaryData = { id: 'stored', data: '', mimeType: 'image/png', fileName: 'a.png', ...more };
	const { context } = lightContext({
		parameters,
		node: { parameters: { ...parameters, ...stored } as never },
		input: Array.from({ length: items }, () => ({ json: {} })),
		helpers: {
			getBinaryStream: async (id: string) => {
				streams.push(id);
				return await Promise.resolve([Buffer.from(`content of ${id}`)]);
			},
		},
	});
	const item = new Item(new Parameters(context, context.getNode()), 4, {
		json,
		binary: { data: file, text: { ...file, mimeType: 'text/plain' }, ...otherFiles },
	});
	const all = {
		...{ context, limits: { concurrency: 2, requestsPerSecond: 1 }, hints: new Set<string>(), files: new Map() },
		...{ notSent: new Map<string, Set<string>>(), fileHash: sharing<string>() },
		...{ ledger: new OrderLedger({ store: {}, executionId: '2', runIndex: 0 }), ...run },
	} as unknown as Run;
	return { order: (await operation.prepare(item, all)) as Order, run: all, item };
}

const reasonOf = async (operation: Operation, given: Given) =>
	await order(operation, given).then(
		() => undefined,
		(thrown: unknown) => asGatewayError(thrown).details.reason,
	);

const USUAL = { plan: { kind: 'automatic' }, timeoutMs: 600_000, onTimeout: 'error' };
const DURABLE = { ...USUAL, timeoutMs: 1440 * 60_000 };
const RESULT = {
	...{ downloadResult: true, downloadLink: false, outputField: 'data', fileName: '', simplify: true },
	...{ resultPath: '', urlExpected: true, resultNeeded: true, requestUrls: [] },
};
const batch = batchSchema.parse(batchOf());
const background = { workflowId: 'w', name: 'W', eachItem: false, executions: {} };

describe('Generate', () => {
	const form = { model: 'one', prompt: 'a cat' };
	const made = async ({ parameters, ...given }: Given = {}) =>
		await order(generate(MEDIA), { ...given, parameters: { ...form, ...parameters } });
	const refused = async ({ parameters, ...given }: Given) =>
		await reasonOf(generate(MEDIA), { ...given, parameters: { ...form, ...parameters } });

	test('Generate makes an order of what the form says, to be bought and waited for', async () => {
		const { order: planned, run } = await made();
		const body = { model: 'one', prompt: 'a cat' };
		expect(planned).toEqual({
			...{ version: 1, state: 'planned', item: 4, thing: 'task', kind: 'image', then: 'poll' },
			...{ model: 'one', scope: 'the model one', wait: USUAL, result: RESULT, input: undefined },
			request: { body, hash: hashOf('task', ['image', body]), submitAgain: false },
		});
		expect([...run.files.keys()]).toEqual([planned]);
		expect(generate(MEDIA).product).toBe(taskProduct);
	});

	test('Generate with Return Immediately waits for nothing, and Submit Again is in the order', async () => {
		const { order: planned } = await made({ parameters: { whenDone: 'return', options: { submitAgain: true } } });
		expect(planned).toMatchObject({ then: 'nothing', request: { submitAgain: true }, wait: USUAL });
	});

	test.each<[string, IDataObject, object | undefined]>([
		['of the form', { n: 101 }, { label: 'N', value: '101', max: 100 }],
		['in Additional Fields', { options: { additionalFields: '{"n": 250}' } }, { label: 'N', value: '250', max: 100 }],
		['that can be downloaded', { n: 100 }, undefined],
		['that nobody downloads', { n: 101, downloadResult: false }, undefined],
		[
			'of a link to each',
			{ n: 101, downloadResult: false, options: { downloadLink: true } },
			{ label: 'N', value: '101', max: 100 },
		],
		['that nobody waits for', { n: 101, whenDone: 'return' }, undefined],
		[
			'of another model',
			{ model: 'custom', customModelId: 'x', customBody: '{"n": "101"}' },
			{ label: 'n', value: '101', max: 100 },
		],
		[
			'of a model without such a field',
			{ model: 'other', options: { additionalFields: '{"n": 101}' } },
			{ label: 'n', value: '101', max: 100 },
		],
	])(
		'more files than can be downloaded are refused before they are bought: a number %s',
		async (_, parameters, data) => {
			const counting: Media = {
				...MEDIA,
				models: [{ ...MODEL, fields: [...MODEL.fields, field('n', { type: 'number' })] }, OTHER],
			};
			const reason = await reasonOf(generate(counting), { parameters: { ...form, ...parameters } });
			expect(reason).toEqual(data && { name: 'tooManyToDownload', data });
		},
	);

	test('the files of an order are beside it, with references to them in its body', async () => {
		const rows = {
			image: [
				{ source: 'binary', binaryPropertyName: 'data' },
				{ source: 'url', url: A },
			],
		};
		const { order: planned, run } = await made({ parameters: { images: rows } });
		const reference = 'upload of stored';
		expect(planned.request?.body.image_urls).toEqual([reference, A]);
		expect([...(run.files.get(planned)?.keys() ?? [])]).toEqual([reference]);
		expect(run.files.get(planned)?.get(reference)?.stored()).toMatchObject({ id: 'stored' });
		// With Start a Workflow n8n may remove them with the execution that has them: they are uploaded first.
		const started = await made({ parameters: { images: rows }, run: { batch, background } });
		const file = started.run.files.get(started.order)?.get(reference);
		expect([typeof file?.read, file?.stored()]).toEqual(['function', undefined]);
		const notOne = { images: { image: [{ source: 'binary', binaryPropertyName: 'text' }] } };
		expect((await refused({ parameters: notOne }))?.name).toBe('notAnImage');
	});

	describe('files', () => {
		const rows = { images: { image: [{ source: 'binary', binaryPropertyName: 'data' }] } };
		const purchases = {} as Run['purchases'];
		const content = `upload of ${createHash('sha256').update('content of stored').digest('base64')}`;

		test('with a purchase log, files are known by their content, which is read once for all items', async () => {
			const { order: planned, run } = await made({ parameters: rows, run: { purchases } });
			expect(planned.request?.body.image_urls).toEqual([content]);
			const again = await made({ parameters: rows, run: { purchases, fileHash: run.fileHash } });
			expect(again.order.request?.hash).toBe(planned.request?.hash);
			expect(streams).toEqual(['stored']);
		});

		test('under a Purchase Key, a file is known by its content, also where its request was sent before the log was turned on', async () => {
			const { order: before } = await made({ parameters: rows });
			const known = new OrderLedger({ store: {}, executionId: '1', runIndex: 0 });
			known.accepted(4, { taskId: 't', hash: String(before.request?.hash), acceptedAtMs: 1 });
			const ledger = new OrderLedger({ ...known.scope, executionId: '2' });
			const keyed = { ports: { columns: { account: 'a', base_url: 'b' } } } as Run['purchases'];
			const { order: planned } = await made({
				parameters: { ...rows, options: { purchaseKey: 'order 1' } },
				run: { purchases: keyed, ledger },
			});
			expect(planned.request?.body.image_urls).toEqual([content]);
			// From here on, the item alone decides.
			expect(ledger.find(4, String(planned.request?.hash))?.taskId).toBe('t');
		});

		test('without one, they are known by their IDs, and not read', async () => {
			const { order: planned } = await made({ parameters: rows });
			expect([planned.request?.body.image_urls, streams]).toEqual([['upload of stored'], []]);
		});

		test('what was bought before the log was turned on stays known by IDs', async () => {
			const { order: before } = await made({ parameters: rows });
			const ledger = (hash: string, executionId: string) => {
				const known = new OrderLedger({ store: {}, executionId, runIndex: 0 });
				known.accepted(4, { taskId: 't', hash, acceptedAtMs: 1 });
				return new OrderLedger({ ...known.scope, executionId: '2' });
			};
			const hash = String(before.request?.hash);
			const bodyOf = async (of: OrderLedger) =>
				(await made({ parameters: rows, run: { purchases, ledger: of } })).order.request?.body.image_urls;
			expect(await bodyOf(ledger(hash, '1'))).toEqual(['upload of stored']);
			expect(await bodyOf(ledger('another', '1'))).toEqual([content]);
			expect(await bodyOf(ledger('another', '2'))).toEqual([content]);
		});

		const idIn = (execution: string) => `filesystem-v2:workflows/w/executions/${execution}/binary_data/u`;
		const ledgerWith = (hash: string, taskId?: string) => {
			const known = new OrderLedger({ store: {}, executionId: '1', runIndex: 0 });
			known.accepted(4, { taskId, hash, acceptedAtMs: 1 });
			return new OrderLedger({ ...known.scope, executionId: '2' });
		};

		test('a retry knows the file of a webhook again, which n8n has renamed since', async () => {
			const { order: before } = await made({ parameters: rows, file: { id: idIn('temp') } });
			const hash = String(before.request?.hash);
			for (const run of [{}, { purchases }]) {
				const { order: again } = await made({
					parameters: rows,
					file: { id: idIn('57') },
					run: { ...run, ledger: ledgerWith(hash, 't') },
				});
				expect([again.request?.hash, streams]).toEqual([hash, []]);
			}
			// Nothing is known of another one.
			const { order: other } = await made({
				parameters: rows,
				file: { id: idIn('57') },
				run: { ledger: ledgerWith('another', 't') },
			});
			expect(other.request?.hash).toBe(hash);
			expect(other.request?.body.image_urls).toEqual([`upload of ${idIn('temp')}`]);
		});

		test('a request with the file of a webhook and one of its execution is known again', async () => {
			const own = { id: idIn('57').replace(/u$/, 'own'), data: '', mimeType: 'image/png', fileName: 'b.png' };
			const two = { images: { image: [...rows.images.image, { source: 'binary', binaryPropertyName: 'own' }] } };
			const hashes = [];
			const given = { parameters: two, otherFiles: { own } };
			for (const execution of ['temp', '57']) {
				const { order: planned } = await made({ ...given, file: { id: idIn(execution) } });
				hashes.push(planned.request?.hash);
			}
			expect(hashes[1]).toBe(hashes[0]);
			const ledger = ledgerWith(String(hashes[0]), 't');
			await made({ ...given, file: { id: idIn('57') }, run: { purchases, ledger } });
			expect(streams).toEqual([]);
		});

		test('what an earlier version has bought, which told files by the IDs that they have, is known', async () => {
			const body = { model: 'one', prompt: 'a cat', image_urls: [`upload of ${idIn('57')}`] };
			const ledger = ledgerWith(hashOf('task', ['image', body]), 't');
			const { order: again } = await made({ parameters: rows, file: { id: idIn('57') }, run: { purchases, ledger } });
			expect([again.request?.body, streams]).toEqual([body, []]);
		});

		test('what was bought goes on, although its file is gone; what may not have been is checked', async () => {
			const unnamed = { mimeType: 'application/octet-stream', fileName: undefined };
			const png = { id: 'other', mimeType: 'image/png' };
			const { order: before } = await made({ parameters: rows, file: { ...png } });
			const hash = String(before.request?.hash);
			const again = async (ledger: OrderLedger) =>
				await made({ parameters: rows, file: { ...unnamed, id: 'other' }, run: { ledger } });
			expect((await again(ledgerWith(hash, 't'))).order.request?.hash).toBe(hash);
			expect(streams).toEqual([]);
			const ledger = ledgerWith(hash);
			await expect(again(ledger)).rejects.toMatchObject({ details: { reason: { name: 'notAnImage' } } });
			expect(streams).toEqual(['other']);
			const byContent = await made({ parameters: rows, file: png, run: { purchases } });
			streams.length = 0;
			const known = await made({
				parameters: rows,
				file: { ...unnamed, id: 'other' },
				run: {
					...{ purchases, fileHash: byContent.run.fileHash },
					ledger: ledgerWith(String(byContent.order.request?.hash), 't'),
				},
			});
			expect([known.order.request?.hash, streams]).toEqual([byContent.order.request?.hash, []]);
		});

		test('files that n8n is going to rename are uploaded first, where other executions submit', async () => {
			const { order: planned, run } = await made({ parameters: rows, file: { id: idIn('temp') }, run: { batch } });
			expect([...(run.files.get(planned)?.values() ?? [])].map(({ stored }) => stored())).toEqual([undefined]);
			const inMemory = await made({ parameters: rows, file: { id: undefined, data: 'AAAA' }, run: { batch } });
			expect([...(inMemory.run.files.get(inMemory.order)?.values() ?? [])].map(({ stored }) => stored())).toEqual([
				undefined,
			]);
			const other = await made({ parameters: rows, file: { id: idIn('57') }, run: { batch } });
			expect([...(other.run.files.get(other.order)?.values() ?? [])].map(({ stored }) => stored()?.id)).toEqual([
				idIn('57'),
			]);
		});
	});

	test('what is not sent is noted for the hints of the run, of all items together', async () => {
		const rows = { image: [A, A, A].map((url) => ({ source: 'url', url })) };
		const { run } = await made({ parameters: { images: rows, tone: 'warm' } });
		await made({ parameters: { depth: 'x', tone: 'cold' }, run });
		expect(run.notSent).toEqual(new Map([['one', new Set(['TONE', 'DEPTH'])]]));
		expect(run.hints.size).toBe(1);
	});

	test.each<[string, boolean]>([
		['', true],
		['url', true],
		['b64_json', false],
	])('with the response format %j, a URL is expected: %p', async (format, urlExpected) => {
		expect((await made({ parameters: { response_format: format } })).order.result).toEqual({ ...RESULT, urlExpected });
	});

	describe('in a run that goes on in another execution', () => {
		test('the usual time limit is a day, where the task is waited for', async () => {
			expect((await made({ run: { batch } })).order.wait).toEqual(DURABLE);
			expect((await made({ run: { batch }, parameters: { whenDone: 'return' } })).order.wait).toEqual(USUAL);
			const started = await made({ run: { batch, background }, parameters: { whenDone: 'return' } });
			expect(started.order).toMatchObject({ then: 'poll', wait: DURABLE });
		});

		test('what cannot be handed over is refused before it is bought', async () => {
			const urls = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`u${index}`, `${A}?${index}`]));
			const parameters = { options: { additionalFields: urls } };
			expect((await refused({ run: { batch }, parameters }))?.name).toBe('tooManyUrls');
			expect(await refused({ parameters })).toBeUndefined();
			const each = { batch, background: { ...background, eachItem: true } };
			expect((await refused({ run: each, items: 3 }))?.name).toBe('tooManyItems');
		});

		test('fields and data that are passed along are in the order, for a workflow that is started', async () => {
			const parameters = { passAlong: { a: 1 }, options: { includeInputFields: true } };
			const json = { b: 2, task_id: 'other' };
			const input = async (given: Given) => (await made({ json, run: { batch, background }, ...given })).order.input;
			expect(await input({ parameters })).toEqual({ b: 2, pass_along: { a: 1 } });
			expect(await input({ parameters: { passAlong: '{ "a": 1 }' } })).toEqual({ pass_along: { a: 1 } });
			expect(await input({})).toEqual({});
			expect(await input({ parameters, run: { batch } })).toBeUndefined();
		});

		test('nothing is bought where an expression for Pass Along gives nothing', async () => {
			const stored = { passAlong: '={{ $json.chta }}' };
			const lost = { passAlong: undefined };
			expect(await refused({ stored, parameters: lost, run: { batch, background } })).toEqual({
				...{ name: 'expressionGaveNothing', data: { label: 'Pass Along (JSON)' } },
			});
			const none = { stored, parameters: { passAlong: null }, run: { batch, background } };
			expect((await made(none)).order.input).toEqual({});
		});

		test('at most 64 KB are passed along', async () => {
			const given = (length: number) => ({
				run: { batch, background },
				parameters: { passAlong: { a: `ü${'x'.repeat(length)}` } },
			});
			const most = 65_536 - '{"pass_along":{"a":"üx"}}'.length;
			expect(await refused(given(most))).toBeUndefined();
			expect(await refused(given(most + 1))).toEqual({
				name: 'passedDataTooLarge',
				data: { bytes: 65_537, max: 65_536 },
			});
		});
	});

	describe('with a Purchase Key', () => {
		const columns = { account: 'c', base_url: 'https://gateway.test' };
		const withLog = (obstacle?: string) => ({ purchases: { ports: { columns, obstacle } } });
		const key = (purchaseKey: string) => ({ options: { purchaseKey } });

		test('the key is in the order as a hash, and there is none without a key', async () => {
			const { order: planned } = await made({ run: withLog(), parameters: key('k') });
			expect(planned.request?.keyHash).toBe(hashOfKey('k', columns as never));
			for (const given of [{ run: withLog() }, {}])
				expect((await made(given)).order.request).not.toHaveProperty('keyHash');
		});

		test('a key that no log can look up is refused, and so is one that an expression has not given', async () => {
			const unavailable = (why: string) => ({ name: 'purchaseLogUnavailable', data: { why } });
			expect(await refused({ parameters: key('k') })).toEqual(unavailable('Purchase Log is turned off'));
			expect(await refused({ parameters: key('k'), run: withLog('no table') })).toEqual(unavailable('no table'));
			const stored = { options: { purchaseKey: '={{ $json.nothing }}' } };
			expect(await refused({ stored, run: withLog() })).toEqual({
				...{ name: 'expressionGaveNothing', data: { label: 'Purchase Key' } },
			});
			expect(await refused({ parameters: key(''), stored, run: withLog() })).toBeUndefined();
		});
	});
});

const ofForm = ({ properties }: Operation) =>
	properties.flatMap(({ name, type, options = [] }) => [
		name,
		...(type === 'collection' ? (options as INodeProperties[]).map((option) => `options.${option.name}`).sort() : []),
	]);
const RESULT_OPTIONS = [
	'downloadLink',
	'fileName',
	'includeInputFields',
	'outputField',
	'requestsPerSecond',
	'resultPath',
	'simplify',
];

describe('Wait for Task', () => {
	const task = { taskId: ' task-1 ' };

	test('Wait for Task makes an order of a task that exists', async () => {
		const { order: accepted } = await order(waitForTask(video), { parameters: task });
		expect(accepted).toEqual({
			...{ version: 1, state: 'accepted', item: 4, thing: 'task', kind: 'video', then: 'poll' },
			...{ task: { taskId: 'task-1', elapsedMs: 0 }, wait: { ...USUAL, timeoutMs: 30 * 60_000 }, result: RESULT },
		});
		expect((await order(waitForTask(video), { parameters: task, run: { batch } })).order.wait).toEqual(DURABLE);
		expect((await reasonOf(waitForTask(video), {}))?.name).toBe('fieldEmpty');
	});

	test('Wait for Task is an operation about a task, with these fields', () => {
		const operation = waitForTask(image);
		expect(operation).toMatchObject({ waitsFor: 'task', describes: 'task', product: taskProduct });
		expect(operation.option).toMatchObject({ name: 'Wait for Task', value: 'waitForTask' });
		const waiting = [
			'concurrentTasks',
			'onTimeout',
			'pollIntervalSeconds',
			'streamProgress',
			'surviveRestarts',
			'timeoutMinutes',
		];
		expect(ofForm(operation)).toEqual([
			...['taskId', 'downloadResult', 'options'],
			...[...RESULT_OPTIONS, ...waiting].map((name) => `options.${name}`).sort(),
			'consoleNotice',
		]);
	});
});

describe('Get Task', () => {
	test('Get Task makes an order that is read once, and downloads where it is told to', async () => {
		const parameters = { taskId: 'task-1' };
		const { order: read } = await order(getTask(video), { parameters });
		expect(read).toEqual({
			...{ version: 1, state: 'accepted', item: 4, thing: 'task', kind: 'video', then: 'read' },
			...{
				task: { taskId: 'task-1', elapsedMs: 0 },
				result: { ...RESULT, downloadResult: false, resultNeeded: false },
			},
		});
		const downloads = await order(getTask(video), { parameters: { ...parameters, downloadResult: true } });
		expect(downloads.order.result?.downloadResult).toBe(true);
	});

	test('Get Task is an operation about a task, with these fields', () => {
		const operation = getTask(image);
		expect(operation).toMatchObject({ describes: 'task', product: taskProduct });
		expect(operation.option).toMatchObject({ name: 'Get Task', value: 'getTask' });
		expect(ofForm(operation)).toEqual([
			'taskId',
			'downloadResult',
			'options',
			...RESULT_OPTIONS.map((name) => `options.${name}`).sort(),
		]);
	});
});

test('Generate is an operation about a task', () => {
	const operation = generate(image);
	expect(operation).toMatchObject({
		waitsFor: 'task',
		describes: 'task',
		option: { name: 'Generate', value: 'generate' },
	});
	expect(ofForm(operation)).toEqual(expect.arrayContaining(['model', 'whenDone', 'options', 'options.purchaseKey']));
});
