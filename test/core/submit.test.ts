/** Each item creates its thing once, however often the run is tried. */
import { GatewayError, type GatewayErrorKind } from '../../core/errors';
import { PendingUpload } from '../../core/models/images';
import type { Order } from '../../core/orders/order';
import type { Product } from '../../core/orders/product';
import { makeOrder } from '../../core/orders/states';
import { submit, type SubmitPorts } from '../../core/orders/submit';
import { WriteAheadLog } from '../../core/orders/writeAheadLog';
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
	request?: Record<string, unknown>;
	submitAgain?: boolean;
	keyHash?: string;
	/** Uploads of the files of the order: none, if nothing is said. */
	upload?: () => Promise<string>;
}

/** One try to create a thing. */
function attempt(
	{ store, names }: Execution,
	{ thing = 'task', request = { prompt: 'a cat' }, submitAgain = false, ...wanted }: Wanted = {},
	{ executionId = '1', isRetry = false } = {},
) {
	const ledger = new OrderLedger({ store, executionId, runIndex: 0 });
	const writeAhead = new WriteAheadLog(
		{ execution: 'established 1', isLasting: true, executionId, runIndex: 0, isRetry },
		ledger,
		storeOfNames(names),
	);
	const { signal } = new AbortController();
	const controls: Pick<JobControls, 'submitting' | 'uploading'> = {
		submitting: async (send) => await send(signal),
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
		...{ item: 3, thing, kind: 'image', then: 'nothing' },
		request: { body, hash: hashOf(thing, request), submitAgain, keyHash: wanted.keyHash },
	});
	const { isReusable, record } = wanted;
	const product = { status: 'queued', create, isReusable, record, output: () => ({ json: {} }) };
	const ports: SubmitPorts = {
		client: {},
		ledger,
		writeAhead,
		events: { accepted: () => {}, unclear: () => {}, continued: () => {}, finished: () => {} },
		clock: { ...fakeClock(), now: () => NOW_MS },
		filesOf: () => new Map(wanted.upload ? [[file.toJSON(), file.file]] : []),
		uploadImage: wanted.upload ?? (async () => ''),
	};
	const bought = submit(order, product, ports, controls as JobControls);
	const outcome = bought
		.then(
			() => ({ id: order.task?.taskId, error: undefined }),
			(error: GatewayError) => ({ id: order.task?.taskId, error }),
		)
		.finally(async () => await writeAhead.end());
	return { create, order, outcome };
}

const failing = (kind: GatewayErrorKind) => async () => await Promise.reject(new GatewayError(kind, 'x'));

test('a token, which has no ID, is created once', async () => {
	const execution = fresh();
	const token = { thing: 'token' as const, create: async () => ({ id: '' }) };
	const first = attempt(execution, token);
	await first.outcome;
	const second = attempt(execution, token);
	expect((await second.outcome).id).toBe('');
	expect(second.create).not.toHaveBeenCalled();
});

describe('in a retried execution, the request decides whether it is the same purchase', () => {
	const retried = (order: Wanted, execution: Execution) => attempt(execution, order, { executionId: '2' });
	test.each<[string, Wanted, number]>([
		['the same', {}, 0],
		['another request', { request: { prompt: 'a dog' } }, 1],
		['another thing with the same request', { thing: 'asset' }, 1],
	])('in a retried execution, %s is bought %i times more', async (_, order, times) => {
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

describe('a purchase that another order has made under the same Purchase Key', () => {
	const request = { image_urls: ['https://in.example/b.png'] };
	const record = async (order: Order) => {
		order.purchase = { attempt: '6-a-0', hash: 'hash', keyHash: 'key' };
		if (order.request !== undefined) order.request.keyHash = 'key';
		return await Promise.resolve({ id: 'task-7', boughtAtMs: 55 });
	};

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
