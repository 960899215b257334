import { orderSchema, type Order } from '../../core/orders/order';
import { buyOnce, type BuyPorts, type Creation } from '../../core/engine/buyOnce';
import { OrderLedger } from '../../core/orders/ledger';
import type { WriteAhead, MarkStore } from '../../core/journal/marks';
import { GatewayClient } from '../../core/client';
import { GatewayError, type GatewayErrorKind } from '../../core/errors';
import type { RequestContext } from '../../core/http/requests';
import type { Clock } from '../../core/clock';
import { ConnectionError, type CreateAttempt, type HttpRequest, type HttpResponse } from '../../core/http/types';
import { onAbort } from '../../core/abort';
import { parseJson } from '../../core/json';
import { AccountPace } from '../../core/account/pace';
import { readSettings } from '../../nodes/connection/settings';
import { plannedOrder } from '../support/orders.mts';

/** More than any wait of these tests has: no timer would ever end a loop that only such sleeps hold up. */
const MOST_SLEEPS = 4_000;

/** A clock that runs as fast as the code does: a sleep is over at once and moves the time. */
export function fakeClock(): Clock & { slept: number[]; at: number } {
	const clock = {
		at: 1_000_000,
		slept: [] as number[],
		now: () => clock.at,
		random: () => 0.5,
		sleep: async (delayMs: number, _signal?: AbortSignal, atMostMs = Infinity) => {
			const sleptMs = Math.max(0, Math.min(delayMs, atMostMs));
			if (clock.slept.push(sleptMs) > MOST_SLEEPS) throw new Error('It never ends');
			clock.at += sleptMs;
		},
	};
	return clock;
}

/** A clock for things that go on side by side: the time moves on to the next sleeper once all others wait. */
export function sharedClock(random = () => 0.5, startMs = 1_000_000) {
	/** The next one last. */
	const sleepers: Array<{ at: number; wake: () => void; isOver: boolean }> = [];
	const clock = {
		at: startMs,
		now: () => clock.at,
		random,
		sleep: async (delayMs: number, signal?: AbortSignal, atMostMs = Infinity) =>
			await new Promise<void>((wake) => {
				const at = clock.at + Math.max(0, Math.min(delayMs, atMostMs));
				const earlier = sleepers.findIndex((sleeper) => sleeper.at <= at);
				const sleeper = { at, wake, isOver: false };
				sleepers.splice(earlier < 0 ? sleepers.length : earlier, 0, sleeper);
				onAbort(signal, () => {
					sleeper.isOver = true;
					wake();
				});
			}),
		/** Lets the time pass for all who sleep, up to this time. */
		runUntil: async (atMs: number): Promise<void> => {
			for (;;) {
				await flushPromises();
				const next = sleepers.at(-1);
				if (next === undefined || next.at > atMs) return;
				sleepers.pop();
				if (next.isOver) continue;
				clock.at = next.at;
				next.wake();
			}
		},
		/** Lets the time pass until the work has ended; `most` sleepers are woken meanwhile. */
		run: async <T>(work: Promise<T>, most = 5 * MOST_SLEEPS): Promise<T> => {
			let ended = false;
			let rounds = 0;
			const end = () => (ended = true);
			work.then(end, end);
			for (let woken = 0; woken < most; woken++) {
				await flushPromises();
				if (ended) return await work;
				const next = sleepers.pop();
				if (!next && ++rounds < MOST_ROUNDS) continue;
				if (!next) throw new Error('Everything waits, and nothing is going to happen');
				rounds = 0;
				if (next.isOver) continue;
				clock.at = Math.max(clock.at, next.at);
				next.wake();
			}
			throw new Error('It never ends');
		},
	};
	return clock satisfies Clock;
}

/** The steps of a long end may take so many rounds of promises, although nothing sleeps any more. */
const MOST_ROUNDS = 20;

/** Runs everything that can go on without the clock. */
export const flushPromises = async () => {
	for (let i = 0; i < 50; i++) await Promise.resolve();
};

/** A promise that is settled from outside: an answer that is still on its way. */
export function deferred<T>() {
	let resolve!: (value: T) => void;
	let reject!: (error: unknown) => void;
	const promise = new Promise<T>((yes, no) => ([resolve, reject] = [yes, no]));
	return { promise, resolve, reject };
}

/** An error of this kind, whatever its words. */
export const trouble = (kind: GatewayErrorKind, details = {}) => new GatewayError(kind, 'x', details);

export const json = (status: number, body: unknown, headers: Record<string, string> = {}): HttpResponse => {
	const text = typeof body === 'string' ? body : JSON.stringify(body);
	return { status, headers, text, body: parseJson(text) };
};

export const HTML = '<!doctype html><html><body>502 Bad Gateway</body></html>';
export const created = json(200, {
	id: 'task-1',
	object: 'generation.task',
	model: 'm',
	status: 'queued',
	progress: 0,
	metadata: {},
});

/** A client whose service gives these answers in turn; the last one again and again. */
export function scriptedClient(
	answers: Array<HttpResponse | string>,
	raw: Record<string, unknown> = {},
	context: Partial<RequestContext> = {},
) {
	const clock = fakeClock();
	const sent: HttpRequest[] = [];
	const client = new GatewayClient({
		clock,
		pace: new AccountPace(1000, clock).ofRun(),
		settings: readSettings({ baseUrl: 'https://gateway.example', ...raw }),
		send: async (request) => {
			sent.push(request);
			const answer = answers[Math.min(sent.length, answers.length) - 1];
			if (typeof answer === 'string') throw new ConnectionError(answer);
			return answer;
		},
		...context,
	});
	return { client, sent, clock };
}

/** Marks in a set: what n8n's table of processed data does for them. */
export function storeOfMarks(marks: Set<string>): MarkStore {
	return {
		record: async (wanted) => wanted.filter((mark) => marks.size === marks.add(mark).size),
		remove: async (gone) => gone.forEach((mark) => marks.delete(mark)),
	};
}

/** Reads a stored order, as rows are read; undefined where it is none. */
export function parseOrder(value: unknown): Order | undefined {
	return orderSchema.safeParse(value).data;
}

/** An object with many fields, and the number of those that were read. */
export function manyFields(count: number, first: object = {}) {
	const seen = { read: 0 };
	const fields: Record<string, unknown> = { ...first };
	const get = () => `value ${seen.read++}`;
	for (let index = 0; index < count; index++) Object.defineProperty(fields, `f${index}`, { enumerable: true, get });
	return { fields, seen };
}

/** Buys one order with `create` in the place of the service, and nothing that remembers it. */
export async function buyWith(
	create: (attempt: CreateAttempt) => Promise<{ id: string }>,
	{
		order = plannedOrder(0),
		begin = async () => {},
		sleep,
		clock,
		...client
	}: { order?: Order; begin?: WriteAhead['begin'] } & Pick<BuyPorts, 'clock' | 'sleep'> & BuyPorts['client'],
): Promise<{ id: string } | undefined> {
	const { signal } = new AbortController();
	const creation: Creation<{ id: string }> = {
		status: 'queued',
		send: async (_body, attempt) => await create(attempt),
	};
	const ports: BuyPorts = {
		...{ clock, client, sleep, filesOf: () => new Map(), uploadImage: async () => await Promise.resolve('') },
		ledger: new OrderLedger({ store: {}, executionId: '1', runIndex: 0 }),
		writeAhead: { beforeUploads: async () => {}, begin, note: () => {} },
		events: { accepted: () => {}, unclear: () => {}, continued: () => {}, finished: () => {} },
	};
	return await buyOnce(order, creation, ports, {
		...{ signal, heldBack: () => undefined },
		submitting: async (send) => await send(signal, () => {}),
		uploading: async (work) => await work(),
		delivering: async (work) => await work(),
	});
}
