/** Each item creates its thing once, however often the run is tried. */
import { GatewayError, gatewayError, type GatewayErrorKind } from '../../core/errors';
import { PendingUpload } from '../../core/models/images';
import type { Order, OrderDraft } from '../../core/orders/order';
import type { Product } from '../../core/orders/product';
import { makeOrder } from '../../core/orders/states';
import { submit, uploadForLater, type SubmitPorts } from '../../core/orders/submit';
import { WriteAheadLog, type WriteAheadStore } from '../../core/orders/writeAheadLog';
import { OrderLedger } from '../../core/orders/ledger';
import type { JobControls } from '../../core/orders/jobs';
import { hashOf } from '../../nodes/run/hashOf';
import { fakeClock, storeOfNames } from './support';

const NOW_MS = 1_800_000_000_000;

interface Execution {
	store: Record<string, unknown>;
	/** The names that survive a crash. */
	names: Set<string>;
}

const fresh = (): Execution => ({ store: {}, names: new Set() });

interface Wanted extends Partial<Pick<Product<{ id: string }, never>, 'create' | 'isReusable' | 'record'>> {
	thing?: Order['thing'];
	status?: string;
	model?: string;
	request?: Record<string, unknown>;
	submitAgain?: boolean;
	keyHash?: string;
	/** Uploads of the files of the order: none, if nothing is said. */
	upload?: () => Promise<string>;
	wait?: OrderDraft['wait'];
	result?: OrderDraft['result'];
	batch?: OrderDraft['batch'];
	firstWave?: SubmitPorts['firstWave'];
}

/** One try to create a thing, and all that the user can see of it. */
function attempt(
	{ store, names }: Execution,
	{
		thing = 'task',
		status = 'queued',
		model,
		request = { prompt: 'a cat' },
		submitAgain = false,
		...wanted
	}: Wanted = {},
	{ executionId = '1', isRetry = false, mayBegin = true } = {},
) {
	const ledger = new OrderLedger({ store, executionId, runIndex: 0 });
	const seen: string[] = [];
	const writeAheadStore: WriteAheadStore = {
		...storeOfNames(names),
		record: async (wantedNames) => {
			seen.push('record');
			return await storeOfNames(names).record(wantedNames);
		},
	};
	const describe = ({ task, item, model: of = '-' }: Order) =>
		`${task?.taskId} ${task?.status} (${of}) of item ${item}`;
	const events = {
		accepted: (order: Order) => seen.push(`accepted: ${describe(order)}`),
		continued: (order: Order) => seen.push(`continued: ${describe(order)}`),
		finished: () => {},
	};
	const writeAhead = new WriteAheadLog(
		{ execution: 'established 1', isLasting: true, executionId, runIndex: 0, isRetry },
		ledger,
		writeAheadStore,
	);
	const { signal } = new AbortController();
	const controls: Pick<JobControls, 'submitting' | 'uploading'> = {
		submitting: async (send) => {
			if (!mayBegin) throw gatewayError('notSubmitted', { because: 'x' });
			seen.push('submitting');
			return await send(signal);
		},
		uploading: async (upload) => await upload(),
	};
	const create = jest.fn(wanted.create ?? (async () => ({ id: 'task-1' })));
	const file = new PendingUpload('x', {
		label: 'Image',
		read: async () => ({ fileName: 'a.png', mimeType: 'image/png', bytes: new Uint8Array() }),
		check: async () => {},
		stored: () => undefined,
	});
	const body = wanted.upload ? { ...request, image_urls: [file.toJSON()] } : request;
	const order = makeOrder({
		...{ item: 3, thing, kind: 'image', model, then: 'nothing', wait: wanted.wait, result: wanted.result },
		batch: wanted.batch,
		request: { body, hash: hashOf(thing, request), submitAgain, keyHash: wanted.keyHash },
	});
	const product = {
		status,
		create,
		isReusable: wanted.isReusable,
		record: wanted.record,
		output: () => ({ json: {} }),
	};
	const ports: SubmitPorts = {
		client: {},
		ledger,
		writeAhead,
		events: events as never,
		clock: { ...fakeClock(), now: () => NOW_MS },
		filesOf: () => new Map(wanted.upload ? [[file.toJSON(), file.file]] : []),
		uploadImage: wanted.upload ?? (async () => ''),
		firstWave: wanted.firstWave,
	};
	const bought = submit(order, product, ports, controls as JobControls);
	return {
		seen,
		create,
		product,
		ports,
		signal,
		order,
		outcome: bought
			.then(
				(answer) => ({ answer, id: order.task?.taskId, error: undefined }),
				(error: GatewayError) => ({ answer: undefined, id: order.task?.taskId, error }),
			)
			.finally(async () => await writeAhead.end()),
	};
}

const failing = (kind: GatewayErrorKind) => async () => await Promise.reject(new GatewayError(kind, 'x'));

test('what is created is written down, logged and the item’s before anything else happens', async () => {
	const execution = fresh();
	const { outcome, seen, create, signal, order } = attempt(execution, { model: 'beta-v3' });
	expect((await outcome).answer).toStrictEqual({ id: 'task-1' });
	expect(order).toMatchObject({ state: 'accepted', acceptedAtMs: NOW_MS, task: { taskId: 'task-1', elapsedMs: 0 } });
	expect(order).not.toHaveProperty('request');
	expect(seen).toEqual(['submitting', 'record', 'accepted: task-1 queued (beta-v3) of item 3']);
	expect(create).toHaveBeenCalledWith(order, { prompt: 'a cat' }, expect.objectContaining({ signal }));
	const hash = hashOf('task', { prompt: 'a cat' });
	expect(execution.store).toMatchObject({ generationGatewayTasks: {} });
	expect((execution.store.generationGatewayTasks as Record<string, unknown>)['0.3']).toStrictEqual({
		...{ taskId: 'task-1', hash, executionId: '1', acceptedAtMs: NOW_MS },
	});
});

test('a later try takes what exists, and creates nothing', async () => {
	const execution = fresh();
	await attempt(execution).outcome;
	const { outcome, seen, create, order } = attempt(execution, {}, { executionId: '2', isRetry: true });
	expect(await outcome).toStrictEqual({ answer: undefined, id: 'task-1', error: undefined });
	expect(order).toMatchObject({ state: 'accepted', acceptedAtMs: NOW_MS });
	expect(seen).toEqual(['continued: task-1 in_progress (-) of item 3']);
	expect(create).not.toHaveBeenCalled();
});

test('a token, which has no ID, is created once all the same', async () => {
	const execution = fresh();
	const token = { thing: 'token' as const, create: async () => ({ id: '' }) };
	const first = attempt(execution, token);
	await first.outcome;
	expect(first.seen).toEqual(['submitting', 'record', 'accepted:  queued (-) of item 3']);
	const second = attempt(execution, token);
	expect((await second.outcome).id).toBe('');
	expect([second.seen, second.create.mock.calls]).toEqual([['continued:  queued (-) of item 3'], []]);
});

describe('in a retried execution, the request decides whether it is the same purchase', () => {
	const retried = (order: Wanted, execution: Execution) => attempt(execution, order, { executionId: '2' });
	test.each<[string, Wanted, number]>([
		['the same', {}, 0],
		['another request', { request: { prompt: 'a dog' } }, 1],
		['another thing with the same request', { thing: 'asset' }, 1],
	])('in a retried execution, %s is bought anew %i times', async (_, order, times) => {
		const execution = fresh();
		await attempt(execution).outcome;
		const { outcome, create } = retried(order, execution);
		expect((await outcome).error).toBeUndefined();
		expect(create).toHaveBeenCalledTimes(times);
	});

	test('what an earlier version of the package has bought is recognized', async () => {
		const entry = { taskId: 'task-0', hash: 'Zl4HR4DdecJekkEFFUj9tR', executionId: '1', acceptedAtMs: 5 };
		const { outcome, create, order } = retried({}, { ...fresh(), store: { generationGatewayTasks: { '0.3': entry } } });
		expect((await outcome).id).toBe('task-0');
		expect(order.acceptedAtMs).toBe(5);
		expect(create).not.toHaveBeenCalled();
	});
});

describe('while it is unknown whether the service accepted it', () => {
	test.each<[string, () => Promise<never>, string]>([
		['no answer', failing('outcomeUnknown'), 'x'],
		[
			'an answer that makes us stumble',
			async () => await Promise.reject(new TypeError('y')),
			'The service may or may not have accepted this task',
		],
	])(
		'after an unknown outcome, %s, nothing is created again, unless the user allows it',
		async (_, create, message) => {
			const execution = fresh();
			const first = (await attempt(execution, { create }).outcome).error;
			expect(first).toMatchObject({ kind: 'outcomeUnknown', message });
			expect(execution.store).toMatchObject({ generationGatewayTasks: { '0.3': { acceptedAtMs: NOW_MS } } });
			const second = attempt(execution);
			expect((await second.outcome).error).toMatchObject({
				kind: 'outcomeUnknown',
				details: { reason: { name: 'outcomeStillUnknown', data: { thing: 'task' } } },
			});
			expect(second.create).not.toHaveBeenCalled();
			const third = attempt(execution, { submitAgain: true });
			expect((await third.outcome).id).toBe('task-1');
			expect(third.create).toHaveBeenCalledTimes(1);
			// Now it is known, and Submit Again does not buy it once more.
			const fourth = attempt(execution, { submitAgain: true });
			expect((await fourth.outcome).id).toBe('task-1');
			expect(fourth.create).not.toHaveBeenCalled();
		},
	);

	test('the task of another request that a crashed try has left is named and not bought again, unless the user allows it', async () => {
		const lost = (hash: string) => {
			const execution = fresh();
			new OrderLedger({ store: execution.store, executionId: '1', runIndex: 0 }).lost(3, {
				taskId: 'task-9',
				hash,
				acceptedAtMs: 5,
			});
			return execution;
		};
		const refused = attempt(lost('other'));
		expect((await refused.outcome).error).toMatchObject({
			kind: 'outcomeUnknown',
			message: 'An earlier try created the task task-9 for this item, from a different request',
			details: { reason: { name: 'createdFromOtherRequest' }, task: { taskId: 'task-9' } },
		});
		expect(refused.create).not.toHaveBeenCalled();
		const allowed = lost('other');
		expect((await attempt(allowed, { submitAgain: true }).outcome).id).toBe('task-1');
		expect((await attempt(allowed).outcome).id).toBe('task-1');
		expect((await attempt(lost(refused.order.request?.hash ?? '')).outcome).id).toBe('task-9');
	});
});

test('a request that was surely refused is created by the next try', async () => {
	const execution = fresh();
	expect((await attempt(execution, { create: failing('rejected') }).outcome).error?.kind).toBe('rejected');
	expect(JSON.stringify(execution)).not.toContain('0.3');
	expect((await attempt(execution).outcome).id).toBe('task-1');
});

test('what cannot be used any more is created again, what can is not', async () => {
	const execution = fresh();
	await attempt(execution).outcome;
	const isReusable = jest.fn().mockReturnValueOnce(true).mockReturnValue(false);
	const usable = attempt(execution, { isReusable });
	expect((await usable.outcome).id).toBe('task-1');
	expect(usable.create).not.toHaveBeenCalled();
	expect(isReusable).toHaveBeenCalledWith(
		usable.order,
		expect.objectContaining({ taskId: 'task-1', acceptedAtMs: NOW_MS }),
	);
	const used = attempt(execution, { isReusable, create: async () => ({ id: 'task-2' }) });
	expect((await used.outcome).id).toBe('task-2');
});

describe('uploads', () => {
	const url = 'https://files.example/a.png';
	test('the URLs of uploads are in the request, and kept for the next try, which does not upload again', async () => {
		const execution = fresh();
		const upload = jest.fn(async () => url);
		const first = attempt(execution, { upload });
		expect((await first.outcome).id).toBe('task-1');
		expect(first.create.mock.calls[0]?.[1]).toEqual({ prompt: 'a cat', image_urls: [url] });
		const second = attempt(execution, { upload });
		expect((await second.outcome).id).toBe('task-1');
		expect(second.create).not.toHaveBeenCalled();
		expect(execution.store).toMatchObject({ generationGatewayTasks: { '0.3': { uploads: [url] } } });
		expect(upload).toHaveBeenCalledTimes(1);
	});

	test('an upload that fails leaves nothing behind, and creates nothing', async () => {
		const execution = fresh();
		const { outcome, seen, create } = attempt(execution, { upload: failing('unavailable') });
		expect((await outcome).error).toBeDefined();
		expect(create).not.toHaveBeenCalled();
		expect(JSON.stringify(execution)).not.toContain('0.3');
		expect(seen).toEqual([]);
	});

	test('a retry that may not submit uploads nothing', async () => {
		const execution = fresh();
		await attempt(execution).outcome; // and n8n dies before it has saved the store
		const upload = jest.fn(async () => url);
		const { outcome } = attempt({ ...execution, store: {} }, { upload }, { executionId: '2', isRetry: true });
		expect((await outcome).error?.kind).toBe('outcomeUnknown');
		expect(upload).not.toHaveBeenCalled();
		const allowed = attempt(
			{ ...execution, store: {} },
			{ upload, submitAgain: true },
			{ executionId: '2', isRetry: true },
		);
		expect((await allowed.outcome).id).toBe('task-1');
		expect(upload).toHaveBeenCalledTimes(1);
	});
});

describe('what the order keeps of the request', () => {
	const result = {
		...{ downloadResult: false, downloadLink: false, outputField: 'data', fileName: '', simplify: true },
		...{ resultPath: '', urlExpected: true, resultNeeded: true, requestUrls: [] },
	};
	const request = { image_urls: ['https://in.example/b.png'] };

	test('the request URLs are its URLs and those of its uploads: a record may repeat them, and they are no result', async () => {
		const execution = fresh();
		const url = 'https://files.example/up.png';
		const asked = { prompt: 'https://in.example/a.png' };
		const first = attempt(execution, { result: { ...result }, request: asked, upload: async () => url });
		await first.outcome;
		expect(first.order.result?.requestUrls).toEqual(expect.arrayContaining(['https://in.example/a.png', url]));
		const second = attempt(execution, { result: { ...result }, request: asked, upload: async () => url });
		await second.outcome;
		expect(second.create).not.toHaveBeenCalled();
		expect(second.order.result?.requestUrls).toEqual(expect.arrayContaining(['https://in.example/a.png', url]));
	});
});

describe('a purchase that another order has made under the same Purchase Key', () => {
	const result = {
		...{ downloadResult: false, downloadLink: false, outputField: 'data', fileName: '', simplify: true },
		...{ resultPath: '', urlExpected: true, resultNeeded: true, requestUrls: [] },
	};
	const request = { image_urls: ['https://in.example/b.png'] };
	const record = async (order: Order) => {
		order.purchase = { attempt: '6-a-0', hash: 'hash', keyHash: 'key' };
		if (order.request !== undefined) order.request.keyHash = 'key';
		return await Promise.resolve({ id: 'task-7', boughtAtMs: 55 });
	};

	test('a purchase that another order has made under the same Purchase Key is continued, and nothing is sent', async () => {
		const { outcome, create, order, seen } = attempt(fresh(), { record, request, result: { ...result } });
		expect(await outcome).toStrictEqual({ answer: undefined, id: 'task-7', error: undefined });
		expect(create).not.toHaveBeenCalled();
		expect(order).toMatchObject({
			...{ state: 'accepted', acceptedAtMs: 55, reused: true },
			task: { taskId: 'task-7', status: 'in_progress', elapsedMs: 0 },
			result: { requestUrls: ['https://in.example/b.png'] },
		});
		expect(seen).toEqual(['submitting', 'record', 'continued: task-7 in_progress (-) of item 3']);
	});

	test.each(['another key', undefined])(
		'a retry with %p buys, because the other order has bought nothing for it',
		async (keyHash) => {
			const execution = fresh();
			await attempt(execution, { record }).outcome;
			const { outcome, create, order } = attempt(execution, { keyHash }, { executionId: '2' });
			expect((await outcome).id).toBe('task-1');
			expect([create.mock.calls.length, order.reused]).toEqual([1, undefined]);
		},
	);
});

describe('files of an order that may be submitted by another execution', () => {
	const HERE = { read: async () => await Promise.resolve({ bytes: Buffer.from('x') }), stored: () => undefined };

	/** Uploads for later. `known` is what an earlier try has left. */
	async function uploadFirst(
		file: Partial<typeof HERE>,
		{ uploads, known, other }: { uploads?: string[]; known?: string; other?: object } = {},
	) {
		const ledger = new OrderLedger({ store: {}, executionId: '1', runIndex: 0 });
		if (known === 'task-1') ledger.accepted(3, { taskId: known, hash: 'h', acceptedAtMs: NOW_MS });
		if (known === 'unknown') ledger.outcomeUnknown(3, 'h', NOW_MS);
		const request = { body: { prompt: 'x', image: 'a' }, hash: 'h', submitAgain: false, uploads };
		const order = makeOrder({ item: 3, thing: 'task', kind: 'image', then: 'poll', request });
		const uploadImage = jest.fn(async () => await Promise.resolve('https://files.example/a.png'));
		const ports = {
			...{
				ledger,
				uploadImage,
				filesOf: () => new Map(Object.entries({ a: { ...HERE, ...file }, ...(other && { b: other }) })),
			},
			writeAhead: { beforeUploads: async () => {} },
		};
		const uploading: JobControls['uploading'] = async (upload) => await upload();
		const product = { create: jest.fn(), status: 'queued' };
		const error = await uploadForLater(order, product as never, ports as never, { uploading }).catch(
			(thrown: GatewayError) => thrown.details.reason?.name,
		);
		return {
			image: order.request?.body.image,
			uploads: order.request?.uploads,
			times: uploadImage.mock.calls.length,
			error,
		};
	}

	const uploaded = 'https://files.example/a.png';
	test('files of an order that may be submitted by another execution are uploaded where only this process can read them', async () =>
		expect(await uploadFirst(HERE)).toEqual({ image: uploaded, uploads: [uploaded], times: 1 }));

	test('files of an order that may be submitted by another execution stay where n8n has stored them', async () =>
		expect(await uploadFirst({ stored: () => ({ id: 'filesystem:1' }) as never })).toEqual({ image: 'a', times: 0 }));

	test('files of an order that may be submitted by another execution are all uploaded where only one of them is here', async () => {
		const stored = { ...HERE, stored: () => ({ id: 'filesystem:1' }) };
		expect(await uploadFirst(HERE, { other: stored })).toMatchObject({ uploads: [uploaded, uploaded], times: 2 });
	});
});
