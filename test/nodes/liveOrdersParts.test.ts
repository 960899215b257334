/** Orders that are advanced in memory while n8n saves them: when the node ends so that n8n saves, and what waits for that. */
import { abortListeners, liveOrders, spendingRuns } from '../../core/processMemory';
import type { Order } from '../../core/orders/order';
import { PurchaseLog } from '../../core/purchases/purchaseLog';
import { LiveOrders } from '../../nodes/durable/liveOrders';
import { lightContext, untilDone, type LightOptions } from '../support/lightContext.mts';
import { acceptedOrder, batchOf, plannedOrder } from '../support/orders.mts';

beforeEach(() => {
	jest.useFakeTimers({ now: 1_800_000_000_000 });
	spendingRuns.clear();
});
afterEach(() => jest.useRealTimers());

/** The same answers, naming the task that was asked for: a failure counts for the task that it names. */
const naming =
	(answer: NonNullable<LightOptions['answer']>): LightOptions['answer'] =>
	(request, count) => {
		const given = answer(request, count);
		const isRecord = typeof given === 'object' && given !== null && 'status' in given && 'metadata' in given;
		return isRecord ? { ...given, id: request.url.split('/').at(-1) } : given;
	};

function world(orders: Order[], options: LightOptions = {}) {
	const answer = options.answer && naming(options.answer);
	const light = lightContext({ names: new Set(['run']), ...options, answer });
	const memory = {};
	const open = () => LiveOrders.of(light.context, memory, () => orders);
	const batch = open();
	const never = new AbortController();
	/** Runs the node until it has to do something, and says what and when; n8n has saved what it has put out before. */
	const next = async ({ signal = never.signal, saves = true } = {}) => {
		if (saves) batch.saved();
		const beganAtMs = Date.now();
		const due = await untilDone(batch.untilDue(signal));
		return { ...due, submitsNext: batch.submitsNext, afterMs: Date.now() - beganAtMs };
	};
	/** The same until all have ended: everything that was to be done. */
	const rest = async () => {
		const kinds: string[] = [];
		do kinds.push((await next()).kind);
		while (kinds.at(-1) === 'save');
		return kinds;
	};
	const posts = () => light.sent.filter(({ method }) => method === 'POST');
	const stopped = () => open() !== batch;
	return { ...light, batch, next, rest, posts, orders, stopped };
}

/** The order of a task that is polled every five seconds. */
const polled = (item: number) =>
	acceptedOrder(item, { wait: { plan: { kind: 'fixed', intervalMs: 5_000 }, timeoutMs: 3e6, onTimeout: 'error' } });
const running = (progress = 5) => ({ id: 'known-0', model: 'm', status: 'in_progress', progress, metadata: {} });
const failing = { id: 'x', model: 'm', status: 'failed', progress: 0, metadata: {} };
const batched = (count: number, more: Parameters<typeof batchOf>[0] = {}) => {
	const batch = batchOf(more);
	return Array.from({ length: count }, (_, item) => plannedOrder(item, { batch: { ...batch } }));
};

describe('a batch in memory', () => {
	test('a batch in memory is that of the execution as long as it is awake, and another one once it has been stopped', () => {
		const read = jest.fn(() => [acceptedOrder(0)]);
		const { context, stop } = lightContext();
		const memory = {};
		const batch = LiveOrders.of(context, memory, read);
		expect(LiveOrders.of(context, memory, read)).toBe(batch);
		expect(read).toHaveBeenCalledTimes(1);
		LiveOrders.of(context, {}, read).stop();
		const listeners = abortListeners.get(stop.signal);
		expect(listeners?.wakes.size).toBe(1);
		batch.stop();
		expect(listeners?.wakes.size).toBe(0);
		expect(LiveOrders.of(context, memory, read)).not.toBe(batch);
		liveOrders.set(memory, {});
		expect(LiveOrders.of(context, memory, read)).toBeInstanceOf(LiveOrders);
	});

	test('a batch in memory sends a request when n8n has saved its order, and its name is written', async () => {
		const { batch, next, rest, posts, names, orders, logged } = world(batched(2));
		expect(batch.submitsNext).toBe(false);
		expect(await next()).toMatchObject({ kind: 'save', submitsNext: true });
		expect(orders.map(({ request }) => request?.wave)).toEqual([0, 0]);
		await jest.advanceTimersByTimeAsync(5_000);
		expect([posts(), [...names]]).toEqual([[], ['run']]);
		batch.saved();
		expect(batch.submitsNext).toBe(false);
		expect(await rest()).toContain('end');
		expect([posts().length, [...names]]).toEqual([2, ['run', 'run, wave 0']]);
		expect(orders.map(({ state }) => state)).toEqual(['ended', 'ended']);
		expect(logged.filter((line) => line.includes('was accepted'))).toHaveLength(2);
	});

	test('a batch in memory has one batch of all orders, that of the first which has one, and none where none has', async () => {
		const old = acceptedOrder(0);
		const { orders, rest } = world([old, ...batched(2)]);
		await rest();
		expect(orders[0]).not.toHaveProperty('batch');
		expect(orders[1]?.batch).toBeDefined();
		expect(orders[1]?.batch).toBe(orders[2]?.batch);
		const older = world([plannedOrder(0), plannedOrder(1)]);
		expect(await older.rest()).toContain('end');
		expect([older.posts().length, older.names.has('own, wave 0')]).toEqual([2, true]);
	});

	test('a batch in memory is saved soon after a request has been answered, once for all requests of that time', async () => {
		const { next } = world(batched(3), {
			answer: ({ method }, count) => (method === 'GET' ? running(count) : undefined),
		});
		await next();
		const { afterMs, ...submitted } = await next();
		expect(submitted).toEqual({ kind: 'save', submitsNext: false });
		expect(afterMs).toBeGreaterThanOrEqual(400);
		expect(afterMs).toBeLessThanOrEqual(600);
		expect((await next()).afterMs).toBeGreaterThan(1_000);
	});

	test('a batch in memory that was taken over is saved soon: the search for names has written one, which would count as sent', async () => {
		const withWaiting = (more: Parameters<typeof batchOf>[0] = {}) => {
			// The one that runs leaves no slot for the other one, so no wave is saved before it has ended, after 15 s.
			const batch = batchOf({ places: 1, ...more });
			return world([{ ...polled(0), batch }, plannedOrder(1, { batch })], {
				answer: ({ method }, count) => (method === 'GET' && count < 2 ? running(count) : undefined),
			});
		};
		const { next, orders, names } = withWaiting({ isTakenOver: true });
		const { kind, afterMs } = await next();
		expect([kind, orders[1]?.batch?.waves, [...names]]).toEqual(['save', 1, ['run', 'run, wave 0']]);
		expect(afterMs).toBeGreaterThanOrEqual(400);
		expect(afterMs).toBeLessThanOrEqual(600);
		expect((await withWaiting().next()).afterMs).toBeGreaterThan(14_000);
	});

	test('a batch in memory is saved a while after a result, once for all results of that time, and again after a later one', async () => {
		const { next } = world([0, 1, 2, 3].map(polled), {
			// Polled every 5 s.
			answer: ({ url }, count) => (count < [1, 2, 8, 20][Number(url.at(-1))] ? running(count) : undefined),
		});
		expect(await next()).toEqual({ kind: 'save', submitsNext: false, afterMs: expect.closeTo(25_000, -3) as number });
		expect(await next()).toEqual({ kind: 'save', submitsNext: false, afterMs: expect.closeTo(35_000, -3) as number });
		expect(await next()).toMatchObject({ kind: 'end' });
	});

	test('a batch in memory sleeps when nothing is due soon', async () => {
		const order = polled(0);
		Object.assign(order.wait as object, { plan: { kind: 'fixed', intervalMs: 300_000 } });
		const { next, stopped } = world([order], { answer: () => running() });
		const due = await next();
		expect(due).toMatchObject({ kind: 'sleep', untilMs: expect.closeTo(Date.now() + 300_000, -4) as number });
		expect([...spendingRuns.values()].map((runs) => [...runs].map(([run, { untilMs }]) => [run, untilMs]))).toEqual([
			[['own', 'untilMs' in due && due.untilMs]],
		]);
		expect(stopped()).toBe(false);
	});

	test('a batch in memory counts as spending while it works, with the note of its run, and no longer', async () => {
		const credits = { usedBefore: 5 };
		const { next, rest } = world(batched(1, { credits }));
		await next();
		expect([...spendingRuns.values()].flatMap((runs) => [...runs.values()])).toEqual([
			{ note: credits, untilMs: Infinity },
		]);
		await rest();
		expect(spendingRuns.size).toBe(0);
	});

	test('a batch in memory ends where nobody wants it any more, or its work cannot begin', async () => {
		const later = world([polled(0)], { answer: () => running() });
		const signal = new AbortController();
		const due = later.next({ signal: signal.signal });
		signal.abort();
		expect(await due).toMatchObject({ kind: 'end' });
		const broken = world(batched(1), { more: { getCredentials: async () => await Promise.reject(new Error('gone')) } });
		await expect(broken.next()).rejects.toThrow('gone');
	});

	test.each<[string, (of: ReturnType<typeof world>) => void]>([
		['the node has ended', ({ batch }) => batch.stop()],
		['n8n has stopped the execution between two runs of the node', ({ stop }) => stop.abort()],
	])('a batch in memory that waits to be saved sends nothing more when %s', async (_, stop) => {
		const live = world(batched(2));
		const { next, posts, batch, orders, stopped, sent } = live;
		expect((await next()).submitsNext).toBe(true);
		stop(live);
		expect([stopped(), batch.submitsNext]).toEqual([true, false]);
		await jest.advanceTimersByTimeAsync(60_000);
		batch.saved();
		await jest.advanceTimersByTimeAsync(60_000);
		expect([posts(), sent, orders.map(({ state }) => state)]).toEqual([[], [], ['planned', 'planned']]);
		expect(spendingRuns.size).toBe(0);
	});

	test('a batch in memory that is stopped before it is to be saved does not wait for that', async () => {
		const { batch, posts, orders } = world(batched(1));
		const due = batch.untilDue(new AbortController().signal);
		await jest.advanceTimersByTimeAsync(100);
		batch.stop();
		expect(await untilDone(due)).toEqual({ kind: 'end' });
		await jest.advanceTimersByTimeAsync(1_000);
		expect([posts(), orders[0]?.state, orders[0]?.request?.wave]).toEqual([[], 'planned', undefined]);
	});

	test('a batch in memory that wants to be saved while the node is away says so at once', async () => {
		const { batch, next } = world(batched(1));
		const away = new AbortController();
		const due = batch.untilDue(away.signal);
		away.abort();
		expect(await due).toEqual({ kind: 'end' });
		await jest.advanceTimersByTimeAsync(1_000);
		expect(await next({ saves: false })).toMatchObject({ kind: 'save', submitsNext: true });
	});

	test('a batch in memory withdraws from the purchase log what a dead execution has not sent, and notes how the others have ended', async () => {
		const happened: string[] = [];
		const note = (what: string) => (all: readonly Order[]) => {
			happened.push(`${what} ${all.map(({ item, state }) => `${item} ${state}`).join(', ')}`);
		};
		const withdraw = jest.spyOn(PurchaseLog.prototype, 'withdrawUnsent').mockImplementation(note('withdraws'));
		const know = jest.spyOn(PurchaseLog.prototype, 'know').mockImplementation(note('knows'));
		const end = jest
			.spyOn(PurchaseLog.prototype, 'end')
			.mockImplementation(async (all) => await Promise.resolve(note('ends')(all)));
		const columns = {
			workflow: 'W',
			workflow_id: 'w',
			node: 'N',
			node_id: 'n',
			execution: '7',
			run: 'r',
			retry: false,
		};
		const [order] = batched(1, { log: { ...columns, account: 'c', base_url: 'u' } });
		try {
			await world([order as Order, { ...plannedOrder(1), state: 'ended' }]).next();
			expect(happened).toEqual(['knows 0 planned, 1 ended', 'withdraws 0 planned, 1 ended', 'ends 1 ended']);
		} finally {
			for (const spy of [know, withdraw, end]) spy.mockRestore();
		}
	});

	test('a batch in memory counts its orders by their states: what is being sent is to be submitted', () => {
		const states = ['planned', 'planned', 'submitting', 'accepted', 'ended', 'ended', 'ended', 'ended'] as const;
		const { batch } = world(states.map((state, item) => ({ ...plannedOrder(item), state })));
		expect(batch.counts).toEqual({ running: 1, finished: 4, to_be_submitted: 3 });
	});

	test('a batch in memory uploads the files that n8n has kept', async () => {
		const files = { 'upload of a': { id: 'filesystem:1', fileName: 'a.png', mimeType: 'image/png' } };
		const [order] = batched(1);
		Object.assign(order?.request as object, { files, body: { prompt: 'x', reference_images: ['upload of a'] } });
		const { rest, sent } = world([order as Order], {
			answer: ({ url }) => (url.includes('upload') ? { url: 'https://files.test/up.png' } : undefined),
			helpers: {
				getBinaryStream: async (id: string) => await Promise.resolve(`stream of ${id}`),
				binaryToBuffer: async (stream: string) => await Promise.resolve(Buffer.from(stream)),
			},
		});
		await rest();
		const [upload, post] = sent;
		const [file] = (upload?.body as FormData).values() as unknown as File[];
		expect([file.name, file.type, await file.text()]).toEqual(['a.png', 'image/png', 'stream of filesystem:1']);
		expect(post?.body).toMatchObject({ reference_images: ['https://files.test/up.png'] });
	});

	test('a file that n8n has not kept ends its order, and nothing is sent', async () => {
		const files = { 'upload of a': { id: 'filesystem:1', fileName: 'a.png', mimeType: 'image/png' } };
		const [order] = batched(1);
		Object.assign(order?.request as object, { files, body: { prompt: 'x', reference_images: ['upload of a'] } });
		const { rest, sent } = world([order as Order], {
			helpers: { getBinaryStream: async () => await Promise.reject(new Error('it is gone')) },
		});
		await rest();
		expect(sent).toEqual([]);
		expect(order?.end?.error).toMatchObject({
			message: 'The file "a.png" could not be read',
			details: { reason: { data: { words: 'it is gone' } } },
		});
	});
});

describe('Retry On Fail', () => {
	const retry = (more: object = {}) => ({ tries: 3, pauseMs: 3_000, tried: 1, ...more });
	const fails = (times: number): LightOptions['answer'] => {
		let failures = 0;
		return ({ method }) => (method === 'GET' && failures++ < times ? failing : undefined);
	};

	test.each([
		[1, 2, 'done'],
		[2, 3, 'done'],
		[3, 3, 'failed'],
	])(
		'Retry On Fail submits again what has failed, %d times, after its pause: %d requests',
		async (times, count, end) => {
			const { rest, posts, orders } = world(batched(1, { retry: retry() }), { answer: fails(times) });
			await rest();
			expect([posts().length, orders[0]?.end?.as]).toEqual([count, end]);
			const [first, second] = posts();
			expect(Number(second?.atMs) - Number(first?.atMs)).toBeGreaterThan(3_000);
		},
	);

	test('Retry On Fail is not played where nothing can be taken up again, nor where it is off', async () => {
		const ends = world(batched(1, { retry: retry() }));
		await ends.rest();
		expect([ends.posts().length, ends.orders[0]?.end?.as]).toEqual([1, 'done']);
		const off = world(batched(1), { answer: fails(1) });
		await off.rest();
		expect([off.posts().length, off.orders[0]?.end?.as]).toEqual([1, 'failed']);
		const over = world(batched(1, { retry: retry({ tried: 3 }) }), { answer: fails(1) });
		await over.rest();
		expect([over.posts().length, over.orders[0]?.batch?.retry?.tried]).toEqual([1, 3]);
	});

	test.each([
		['buys nothing more', true, 1],
		['buys the others, where the workflow goes on,', false, 3],
	])('Retry On Fail %s where an error stays which ends the workflow', async (_, stopsAtError, count) => {
		const refused = { ...failing, error: { code: 'content_policy_violation', message: 'x' } };
		let polls = 0;
		const { rest, posts, orders } = world(batched(3, { places: 1, stopsAtError, retry: retry() }), {
			answer: ({ method }) => (method === 'GET' && polls++ === 0 ? refused : undefined),
		});
		await rest();
		const held = stopsAtError ? 'notSubmitted' : 'done';
		expect(orders.map(({ end }) => end?.as)).toEqual(['failed', held, held]);
		expect(posts()).toHaveLength(count);
		expect(orders[0]?.batch?.retry?.tried).toBe(1);
	});

	test('Retry On Fail submits again what has failed, also where the workflow is to stop, and whatever else stays', async () => {
		const stops = world(batched(1, { stopsAtError: true, retry: retry() }), { answer: fails(1) });
		await stops.rest();
		expect([stops.posts().length, stops.orders[0]?.end?.as]).toEqual([2, 'done']);
		const refused = { ...failing, error: { code: 'content_policy_violation', message: 'x' } };
		let polls = 0;
		const goesOn = world(batched(2, { places: 1, retry: retry() }), {
			answer: ({ method }) => (method === 'GET' ? [refused, failing][polls++] : undefined),
		});
		await goesOn.rest();
		expect([goesOn.posts().length, ...goesOn.orders.map(({ end }) => end?.as)]).toEqual([3, 'failed', 'done']);
	});

	test('Retry On Fail sends nothing beside a request that would be refused again, where the workflow ends with that', async () => {
		const { rest, posts, orders } = world(batched(6, { places: 2, stopsAtError: true, retry: retry() }), {
			answer: ({ method, body }) => (method === 'POST' && JSON.stringify(body).includes('prompt 2') ? 422 : undefined),
		});
		await rest();
		expect(orders.map(({ end }) => end?.as).slice(2)).toEqual([
			'refused',
			expect.anything(),
			'notSubmitted',
			'notSubmitted',
		]);
		expect(posts().filter(({ body }) => JSON.stringify(body).includes('prompt 2'))).toHaveLength(1);
		expect(posts().length).toBeLessThanOrEqual(4);
	});

	test('Retry On Fail gets the result of what exists, also where the workflow ends with the error of another', async () => {
		const refused = { ...failing, error: { code: 'content_policy_violation', message: 'x' } };
		const [late, broken] = [polled(0), polled(1)];
		const batch = batchOf({ places: 2, stopsAtError: true, retry: retry({ pauseMs: 0 }) });
		for (const order of [late, broken]) Object.assign(order, { batch });
		Object.assign(late.wait as object, { timeoutMs: 20_000 });
		let polls = 0;
		const { rest, posts, orders } = world([late, broken], {
			answer: ({ method, url }, index) => {
				if (method !== 'GET') return undefined;
				if (url.endsWith('known-1')) return refused;
				return polls++ < 5 ? running(index) : undefined;
			},
		});
		await rest();
		expect(orders.map(({ end }) => end?.as)).toEqual(['done', 'failed']);
		expect(posts()).toEqual([]);
		expect(orders[0]?.batch?.retry?.tried).toBe(2);
	});

	test('Retry On Fail takes up the orders of a run of which others have none', async () => {
		const { rest, orders } = world([polled(5), ...batched(1, { retry: retry() })], {
			answer: ({ method, url }, count) =>
				method === 'GET' && !url.endsWith('known-5') && count === 0 ? failing : undefined,
		});
		await rest();
		expect(orders.map(({ end }) => end?.as)).toEqual(['done', 'failed']);
	});

	test('Retry On Fail is over with a stop in its pause', async () => {
		const { next, batch, posts, orders } = world(batched(1, { retry: retry({ pauseMs: 5_000 }) }), {
			answer: fails(1),
		});
		await next();
		batch.saved();
		const due = batch.untilDue(new AbortController().signal);
		await jest.advanceTimersByTimeAsync(100);
		while (orders[0]?.end === undefined && orders[0]?.state !== 'planned') await jest.advanceTimersByTimeAsync(100);
		batch.stop();
		await untilDone(due);
		await jest.advanceTimersByTimeAsync(60_000);
		expect([posts().length, orders[0]?.state]).toEqual([1, 'planned']);
	});
});
