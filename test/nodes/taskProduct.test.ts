/** Generation tasks as a product, without n8n: the options of a result, the item of a task, and errors that its order tells more about. */
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { GatewayError, gatewayError, stoppedError } from '../../core/errors';
import type { Order, ResultOptions } from '../../core/orders/order';
import type { OutputTools, Seen } from '../../core/orders/product';
import { parseTaskRecord, type TaskRecord } from '../../core/records/taskRecord';
import { readResultOptions, taskProduct } from '../../nodes/generation/taskProduct';
import { HINTS } from '../../nodes/run/hints';
import { Item, Parameters } from '../../nodes/run/item';
import { trouble } from '../core/support';
import { lightContext, NODE, untilDone, type LightOptions } from '../support/lightContext.mts';
import { acceptedOrder, plannedOrder } from '../support/orders.mts';

const NOW = 1_800_000_000_000;
beforeEach(() => jest.useFakeTimers({ now: NOW }));
afterEach(() => jest.useRealTimers());

const TOOL = { type: `${NODE.type}Tool` };

describe('the options of a result', () => {
	const read = (parameters: IDataObject, node: LightOptions['node'] = {}, ...more: never[]) => {
		const { context } = lightContext({ parameters, node });
		return readResultOptions(new Item(new Parameters(context, context.getNode()), 0, { json: {} }), ...more);
	};
	const USUAL: ResultOptions = {
		...{ downloadResult: true, downloadLink: false, outputField: 'data', fileName: '', simplify: true },
		...{ resultPath: '', urlExpected: true, resultNeeded: true, requestUrls: [] },
	};

	test.each<[string, IDataObject, Partial<ResultOptions>, LightOptions['node']]>([
		['the usual ones', {}, {}, {}],
		['no file', { downloadResult: false }, { downloadResult: false }, {}],
		['no file for an agent', {}, { downloadResult: false }, TOOL],
		['a link', { downloadResult: false, options: { downloadLink: true } }, { downloadLink: true }, {}],
		['a link for an agent', { options: { downloadLink: true } }, { downloadLink: true }, TOOL],
		['the whole record', { options: { simplify: false } }, { simplify: false, resultNeeded: false }, {}],
		['another field', { options: { outputField: 'picture' } }, { outputField: 'picture' }, {}],
		['a field without a name', { options: { outputField: '' } }, {}, {}],
		['a name', { options: { fileName: 'a/cat.' } }, { fileName: 'a_cat' }, {}],
		['a path', { options: { resultPath: 'a.b' } }, { resultPath: 'a.b' }, {}],
	])('the form asks for %s', (_, parameters, wanted, node) => {
		expect(read(parameters, node)).toEqual({ ...USUAL, ...wanted });
	});

	test('the form of an operation may have its own field for Download Result', () => {
		const field = { displayName: 'Own', name: 'own', type: 'boolean', default: false } as never;
		expect(read({ downloadResult: true }, {}, field).downloadResult).toBe(false);
		expect(read({ own: true }, {}, field).downloadResult).toBe(true);
	});
});

const FILE = 'https://files.test/cat.png';
const record = (raw: object) => parseTaskRecord({ id: 'known-0', ...raw }) as TaskRecord & { id: string };
const COMPLETED = { status: 'completed', model: 'beta', url: FILE };

interface Delivered {
	order?: Order;
	seen?: Partial<Seen<TaskRecord & { id: string }, TaskRecord>>;
	result?: Partial<ResultOptions>;
	node?: LightOptions['node'];
	helpers?: object;
	more?: object;
	signal?: AbortSignal;
}

/** The output of a task, or the error; and what was asked of n8n for it. */
async function deliver({ order = acceptedOrder(0), seen, result, node, helpers, more, signal }: Delivered = {}) {
	const { context, logged } = lightContext({
		...{ node, more },
		helpers: {
			httpRequest: async () => await Promise.resolve({ statusCode: 200, headers: {}, body: Buffer.from('file') }),
			prepareBinaryData: async (_: unknown, fileName: string, mimeType: string) =>
				await Promise.resolve({ id: fileName, fileName, mimeType }),
			createBinarySignedUrl: ({ id }: { id: string }) => `https://n8n.test/${id}`,
			...helpers,
		},
	});
	if (order.result !== undefined) Object.assign(order.result, result);
	const hints = new Set<string>();
	const turns: unknown[] = [];
	const delivering = async <R>(work: () => Promise<R>) => {
		turns.push(order);
		return await work();
	};
	const controls = { delivering, signal: signal ?? new AbortController().signal };
	const fileRules = { baseUrl: 'https://gateway.test', allowPrivateAddresses: false };
	const product = taskProduct({ client: { fileRules } as never, context });
	const tools = { controls, hints } as unknown as OutputTools;
	const output = await untilDone(
		Promise.resolve(product.output(order, { record: record(COMPLETED), timedOut: false, ...seen }, tools)).then(
			({ json, binary }) => ({ json: json as IDataObject, binary }),
			(error: unknown) => ({ error: error as GatewayError, json: undefined, binary: undefined }),
		),
	);
	return { error: undefined, ...output, order, hints: [...hints], turns, logged };
}

const download = { downloadResult: true };

test('a file is downloaded by the rules that the client was made with: n8n is not asked for the credential once more', async () => {
	const getCredentials = async () => await Promise.reject(new Error('the database is away'));
	const { error, binary } = await deliver({ result: download, more: { getCredentials } });
	expect([error, Object.keys(binary ?? {})]).toEqual([undefined, ['data']]);
});

describe('a task that goes on', () => {
	test.each<[string, Partial<Order>, RegExp, boolean]>([
		['Generate', {}, /^It is still running\. Timeout .* Wait for Task .* you pay again\.$/, true],
		[
			'Wait for Task',
			{ acceptedAtMs: undefined },
			/^It is still running\. Timeout .* Wait for Task .* the ID\.$/,
			true,
		],
		['Return Immediately', { then: 'nothing' }, /^The task is running\. .* Wait for Task .* you pay again\.$/, false],
	])(
		'a task that goes on has its fields in the item, without its file, and an agent reads how to go on: %s',
		async (_, more, words, timedOut) => {
			const seen = { record: record({ status: 'running', url: FILE }), timedOut, waitedMs: 12_300 };
			const order = () => ({ ...acceptedOrder(0, { model: 'alpha' }), ...more }) as Order;
			const { json, binary, turns } = await deliver({ order: order(), seen, result: download });
			expect(json).toEqual({
				...{ url: FILE, urls: [FILE], task_id: 'known-0', status: 'in_progress', model: 'alpha', waited_seconds: 12.3 },
				...(timedOut ? { timed_out: true } : {}),
			});
			expect([binary, turns]).toEqual([undefined, []]);
			const { json: answer } = await deliver({ order: order(), seen, node: TOOL });
			expect(answer).toEqual({ ...json, message: expect.stringMatching(words) as string });
		},
	);

	test('of a task that nobody has seen, an agent does not read that it runs', async () => {
		const order = { ...acceptedOrder(0), then: 'nothing' } as Order;
		const { json } = await deliver({ order, seen: { record: undefined }, node: TOOL });
		expect(json?.message).toMatch(/^It is not known whether the task has finished\. .* Wait for Task/);
	});

	test('a task that has finished before is no running one for an agent', async () => {
		const order = { ...acceptedOrder(0), then: 'nothing' } as Order;
		const { json } = await deliver({ order, seen: { record: record(COMPLETED) }, node: TOOL });
		expect(json).toMatchObject({ status: 'completed' });
		expect(json).not.toHaveProperty('message');
	});

	test('what is shown of a task is the last record, else the answer, else what its order knows', async () => {
		const order = () => ({ ...acceptedOrder(0), then: 'nothing' }) as Order;
		const answer = record({ status: 'running', model: 'gamma' });
		const seen = { record: undefined, answer };
		const answered = await deliver({ order: order(), seen });
		expect(answered.json).toMatchObject({ status: 'in_progress', model: 'gamma' });
		expect(answered.order.model).toBe('gamma');
		const { json } = await deliver({ order: order(), seen: { record: undefined } });
		expect(json).toEqual({ task_id: 'known-0', status: 'queued' });
		const known = { taskId: 'known-0', status: 'in_progress', progress: 40, elapsedMs: 0 };
		const continued = await deliver({ order: { ...order(), task: known }, seen: { record: undefined } });
		expect(continued.json).toMatchObject({ status: 'in_progress', progress: 40 });
		const pending = await deliver({
			order: { ...order(), task: { ...known, status: 'Pending' } },
			seen: { record: undefined },
		});
		expect(pending.json).toMatchObject({ status: 'queued' });
		const asked = await deliver({
			order: { ...order(), model: 'asked' },
			seen: { record: answer, answer: record({}) },
		});
		expect([asked.order.model, asked.json?.status]).toEqual(['asked', 'in_progress']);
	});
});

describe('a task that has ended', () => {
	test('the files of a task are in its item, in their turn, and its order knows the URLs', async () => {
		const order = acceptedOrder(0);
		const { json, binary, turns } = await deliver({
			order,
			result: { ...download, outputField: 'picture', fileName: 'Cat' },
		});
		expect(json).toMatchObject({ url: FILE, status: 'completed', progress: 100 });
		expect(json).not.toHaveProperty('download_url');
		expect(binary).toEqual({ picture: { id: 'Cat.png', fileName: 'Cat.png', mimeType: 'image/png' } });
		expect(turns).toEqual([order]);
		expect(order.task).toMatchObject({ status: 'completed', urls: [FILE] });
	});

	test('no file of a task is fetched where none is wanted, or there is none', async () => {
		const { json, binary, turns } = await deliver();
		expect([json?.url, binary, turns]).toEqual([FILE, undefined, []]);
		const none = { record: record({ status: 'completed' }) };
		const empty = await deliver({ seen: none, result: { ...download, resultNeeded: false } });
		expect([empty.binary, empty.turns, empty.error]).toEqual([undefined, [], undefined]);
	});

	test('a file whose type nothing tells is not called a video', async () => {
		const seen = { record: record({ ...COMPLETED, url: 'https://files.test/a' }) };
		const { binary } = await deliver({ order: acceptedOrder(0, { kind: 'video' }), seen, result: download });
		expect(binary?.data).toMatchObject({ mimeType: 'application/octet-stream' });
	});

	test('links to files are in the item where they are wanted, before all else', async () => {
		const { json, binary } = await deliver({ result: { ...download, downloadLink: true } });
		const link = 'https://n8n.test/cat.png';
		expect(json).toMatchObject({ download_url: link, download_urls: [link], url: FILE });
		expect(Object.keys(json ?? {})[0]).toBe('download_url');
		expect(binary).toHaveProperty('data');
	});

	test('where n8n makes no link to a file, a hint says so', async () => {
		const createBinarySignedUrl = () => {
			throw new Error('in memory');
		};
		const { hints } = await deliver({
			result: { ...download, downloadLink: true },
			helpers: { createBinarySignedUrl },
		});
		expect(hints).toEqual([HINTS.noDownloadLink()]);
	});

	test('a file that does not arrive is the error of the item, with the time that was waited', async () => {
		const helpers = { httpRequest: async () => await Promise.resolve({ statusCode: 404, headers: {}, body: '' }) };
		const { error } = await deliver({ seen: { waitedMs: 7_000 }, result: download, helpers });
		expect(error).toMatchObject({
			details: { httpStatus: 404, task: { taskId: 'known-0', status: 'completed', urls: [FILE], elapsedMs: 7_000 } },
		});
		const { error: unwaited } = await deliver({ result: download, helpers });
		expect(unwaited?.task?.elapsedMs).toBe(0);
	});

	test('an agent gets links and no file, and the result where the file does not arrive', async () => {
		const result = { ...download, downloadLink: true };
		const { json, binary } = await deliver({ node: TOOL, result });
		expect(json).toMatchObject({ url: FILE, download_url: 'https://n8n.test/cat.png' });
		expect([binary, json && 'message' in json]).toEqual([undefined, false]);
		const helpers = { httpRequest: async () => await Promise.resolve({ statusCode: 404, headers: {}, body: '' }) };
		const lost = await deliver({ node: TOOL, result, helpers });
		expect(lost.json).toMatchObject({ url: FILE, status: 'completed' });
		expect(lost.json).not.toHaveProperty('download_url');
		expect(lost.hints).toEqual([]);
		expect(lost.logged).toEqual([
			expect.stringMatching(/no download link for task known-0: .*could not be downloaded/),
		]);
	});

	test.each<[string, object, object]>([
		['has not finished', { status: 'in_progress', url: FILE }, { status: 'in_progress' }],
		['has failed', { status: 'failed', url: FILE, error: { message: 'busy' } }, { status: 'failed' }],
	])('a task that %s is read without the file that its record announces', async (_, raw, expected) => {
		const httpRequest = jest.fn();
		const order = { ...acceptedOrder(0), then: 'read' as const };
		const seen = { record: record(raw), timedOut: false };
		const { json, binary } = await deliver({ order, seen, result: download, helpers: { httpRequest } });
		expect(json).toMatchObject(expected);
		expect([binary, httpRequest.mock.calls]).toEqual([undefined, []]);
	});

	test('an ID of the service cannot forge a line of the log', async () => {
		const order = { ...acceptedOrder(0), task: { taskId: 'x\n2026 ERROR forged', elapsedMs: 0 } };
		const helpers = { httpRequest: async () => await Promise.resolve({ statusCode: 404, headers: {}, body: '' }) };
		const { logged } = await deliver({ order, node: TOOL, result: { ...download, downloadLink: true }, helpers });
		expect(logged).toEqual([expect.stringMatching(/^[^\n]*no download link for task x 2026 ERROR forged: [^\n]*$/)]);
	});

	test('a stop of a download is one for an agent, too', async () => {
		const { error } = await deliver({
			...{ node: TOOL, result: { ...download, downloadLink: true }, signal: AbortSignal.abort() },
			helpers: { httpRequest: async () => await Promise.reject(new Error('aborted')) },
		});
		expect(error?.kind).toBe('stopped');
	});

	test.each<[string, object, boolean]>([
		['it has', { reused: true }, true],
		['it has not', {}, false],
	])(
		'a result that is kept no longer is an error only of a task that another item has bought: %s',
		async (_, more, isExpired) => {
			const at = async (expiresAt?: number, fields: object = COMPLETED) => {
				jest.setSystemTime(NOW);
				const seen = { record: { ...record(fields), expiresAt } };
				const { error } = await deliver({ order: { ...acceptedOrder(0), ...more } as Order, seen });
				return error && [error.details.reason, error.task?.taskId];
			};
			const expired = [{ name: 'purchaseKeyExpired', data: { id: 'known-0' } }, 'known-0'];
			expect(await at(NOW / 1000 - 1)).toEqual(isExpired ? expired : undefined);
			expect(await at(NOW / 1000)).toBeUndefined();
			expect(await at(NOW / 1000 - 1, { status: 'running' })).toBeUndefined();
			expect(await at()).toBeUndefined();
		},
	);

	test.each<[string, Partial<Order>]>([
		['a task without an ID was delivered', { task: undefined }],
		['nobody says how the result is wanted', { result: undefined }],
	])('what cannot be is called a mistake of the package: %s', async (words, more) => {
		const { error } = await deliver({ order: { ...acceptedOrder(0), ...more } as Order });
		expect(error?.details.reason).toEqual({ name: 'packageBug', data: { words } });
	});
});

test('a task is created, read and polled as all generation tasks are', () => {
	const product = taskProduct({ client: {} as never, context: {} as IExecuteFunctions });
	expect(product).toMatchObject({ status: 'queued' });
	expect(Object.keys(product)).toEqual(expect.arrayContaining(['create', 'read', 'target', 'output', 'explain']));
});

describe('an error about a task', () => {
	const explain = (order: Order, error: GatewayError) =>
		taskProduct({ client: {} as never, context: {} as IExecuteFunctions }).explain?.(order, error) as GatewayError;
	const HOURS = 3_600_000;
	const order = (more: Partial<Order> = {}) => ({ ...acceptedOrder(0), ...more }) as Order;
	const bought = (hoursAgo: number, more = {}) =>
		order({ reused: true, acceptedAtMs: NOW - hoursAgo * HOURS, ...more });
	const notFound = trouble('notFound', { httpStatus: 404, serviceMessage: 'w' });
	const file = (httpStatus?: number) =>
		gatewayError('downloadFailed', { id: 'a', what: 'b', urls: 'c' }, { httpStatus });
	const EXPIRED = { name: 'purchaseKeyExpired', data: { id: 'known-0' } };
	const REFUSED = { name: 'createdTaskRefused', data: { id: 'known-0', why: 'x' } };
	const NOT_SHOWN = { name: 'createdTaskNotShown', data: { id: 'known-0', why: 'x' } };
	const LOST = { name: 'createdTaskNotFound', data: { id: 'known-0', mediaKind: 'image' } };

	test.each<[string, Order, GatewayError, object | undefined]>([
		['a task without an ID', plannedOrder(0), notFound, undefined],
		['a task that was accepted and is not found', order(), notFound, LOST],
		['a task of an ID that was entered', order({ acceptedAtMs: undefined }), notFound, undefined],
		['a task that was accepted and is refused: 401', order(), trouble('authentication', { httpStatus: 401 }), REFUSED],
		['a task that was accepted and is refused: 402', order(), trouble('balance', { httpStatus: 402 }), REFUSED],
		['a task that was accepted and is refused: 403', order(), trouble('permission', { httpStatus: 403 }), REFUSED],
		[
			'a refused task that its error names already',
			order(),
			trouble('balance', { httpStatus: 402 }).withTask({ taskId: 'known-0', elapsedMs: 0 }),
			REFUSED,
		],
		['a refused task of an ID that was entered', order({ acceptedAtMs: undefined }), trouble('balance'), undefined],
		['a stop', order(), stoppedError(), undefined],
		['a task that another item has bought long ago, and that is not found', bought(7), notFound, EXPIRED],
		['one that it has bought a moment ago', bought(6), notFound, LOST],
		['one of an unknown time', bought(0, { acceptedAtMs: undefined }), notFound, undefined],
		['one that was bought long ago by the item itself', bought(7, { reused: undefined }), notFound, LOST],
		['a file that its host has no more: 403', bought(7), file(403), EXPIRED],
		['a file that its host has no more: 404', bought(7), file(404), EXPIRED],
		['a file that its host has no more: 410', bought(7), file(410), EXPIRED],
		['a file of a host in trouble', bought(7), file(500), undefined],
		['a file that has not arrived', bought(7), file(), undefined],
		['a refusal of another kind', bought(7), trouble('rejected', { httpStatus: 400 }), NOT_SHOWN],
	])('an error about a task says more where the order knows more: %s', (_, of, error, reason) => {
		const explained = explain(of, error);
		if (reason === undefined) expect(explained).toBe(error);
		else expect(explained.details).toMatchObject({ ...error.details, permanent: explained.details.permanent, reason });
	});
});
