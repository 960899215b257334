/** The purchase of one order, from its place to its outcome: what is sent again and when, and what ends it. */
import type { GatewayError, GatewayErrorDetails, GatewayErrorKind } from '../../core/errors';
import { AccountPlaces } from '../../core/account/places';
import { plannedOrder } from '../support/orders.mts';
import { buyWith, fakeClock, sharedClock, trouble } from './support';

/** A service that gives these answers in turn, the last one again and again. */
async function buy(answers: Array<GatewayError | 'accepted'>, takesMs = 0) {
	const clock = fakeClock();
	const heldBackMs: number[] = [];
	let sent = 0;
	const create = async (attempt: { beforeSend?: () => void }) => {
		clock.at += takesMs;
		attempt.beforeSend?.();
		const answer = answers[Math.min(++sent, answers.length) - 1];
		if (answer !== 'accepted') throw trouble(answer.kind, { ...answer.details });
		return await Promise.resolve({ id: 'task-1' });
	};
	const client = { holdBack: (delayMs: number) => void heldBackMs.push(delayMs) };
	const outcome = await buyWith(create, { clock, ...client }).catch((error: GatewayError) => error.kind);
	const id = typeof outcome === 'object' ? outcome.id : outcome;
	return { id, sent, pausesMs: clock.slept.filter((ms) => ms > 0), heldBackMs };
}

const again = (kind: GatewayErrorKind, details: GatewayErrorDetails = {}) => trouble(kind, { again: {}, ...details });
const noConnection = again('unreachable', { again: { isConnection: true } });
const tooMany = (retryAfterMs?: number) => again('rateLimited', { httpStatus: 429, retryAfterMs });
const busy = (retryAfterMs?: number) => again('unavailable', { httpStatus: 503, retryAfterMs });

test.each<[string, GatewayError, number]>([
	['no connection', noConnection, 750],
	['429', tooMany(), 750],
	['503 of the service', busy(), 750],
	['Retry-After: 0', busy(0), 500],
	['Retry-After: 7', tooMany(7_000), 7_000],
	['Retry-After: 120', busy(120_000), 120_000],
	['a pause before its turn', again('stopped', { again: { lateByMs: 900 } }), 900],
])('after %s the request is sent again, in %#: %d ms', async (_, answer, pauseMs) => {
	expect(await buy([answer, 'accepted'])).toMatchObject({ id: 'task-1', sent: 2, pausesMs: [pauseMs] });
});

test.each<[string, GatewayError, GatewayErrorKind, number, number[]]>([
	['connections that are refused', noConnection, 'unreachable', 4, [750, 1_500, 3_000]],
	['503', busy(), 'unavailable', 10, [750, 1_500, 3_000, 6_000, 12_000, ...Array<number>(4).fill(22_500)]],
	['Retry-After: 121', busy(121_000), 'unavailable', 1, []],
	['Retry-After: 3600', tooMany(3_600_000), 'rateLimited', 1, []],
])('a request is given up after four connections or two minutes: %s', async (_, answer, id, sent, pausesMs) => {
	expect(await buy([answer])).toMatchObject({ id, sent, pausesMs });
});

test('a request has its two minutes from its first answer on, not while it waits for its turn', async () => {
	expect(await buy([busy(120_000), 'accepted'], 200_000)).toMatchObject({ id: 'task-1', sent: 2 });
});

test.each<[string, GatewayError, number[]]>([
	['429 holds back all requests of the account as long as the service asks', tooMany(7_000), [7_000]],
	['503 is about this request only', busy(), []],
	['a connection that was not made, too', noConnection, []],
])('%s', async (_, answer, heldBackMs) => {
	expect((await buy([answer, 'accepted'])).heldBackMs).toEqual(heldBackMs);
});

test.each<GatewayErrorKind>(['rejected', 'outcomeUnknown', 'authentication'])(
	'an answer that is %s ends it',
	async (kind) => {
		expect(await buy([trouble(kind), 'accepted'])).toMatchObject({ id: kind, sent: 1 });
	},
);

test.each<[string, GatewayError]>([
	['429', tooMany()],
	['503', busy()],
])(
	'in n8n’s database, an order that wakes up after its timeout asks once more, and %s is the end',
	async (_, answer) => {
		const clock = sharedClock();
		const wait = { plan: { kind: 'automatic' as const }, timeoutMs: 60_000, wantedAtMs: clock.at - 61_000 };
		let sent = 0;
		const create = async (attempt: { beforeSend?: () => void }) => {
			attempt.beforeSend?.();
			sent++;
			return await Promise.reject<{ id: string }>(answer);
		};
		const given = { clock, order: plannedOrder(0, { wait }), places: new AccountPlaces(clock).ofRun() };
		const sleep = { signal: new AbortController().signal, waitsForOther: () => () => {} };
		const error = await clock.run(buyWith(create, { ...given, sleep }).catch((thrown: GatewayError) => thrown));
		expect([(error as GatewayError).kind, sent]).toEqual([answer.kind, 1]);
	},
);

describe('an order whose row was not written, because others have found the account full', () => {
	const HOUR_MS = 3_600_000;

	/** Its row is refused after two minutes each time. It has an hour. */
	async function buyFull({ sleeps = false, answers = [] as GatewayError[] }) {
		const clock = sharedClock();
		const beganMs = clock.at;
		const places = new AccountPlaces(clock);
		// A task of the account runs: a 429 would say that there are fewer places.
		places.ofRun().occupy('task');
		const refused = jest.spyOn(places as never, 'learnFrom');
		const heldBackMs: number[] = [];
		let rows = 0;
		const begin = async () => {
			if (rows++ < answers.length) return;
			await clock.sleep(120_000);
			throw trouble('rateLimited');
		};
		const create = async (attempt: { beforeSend?: () => void }) => {
			attempt.beforeSend?.();
			return await Promise.reject<{ id: string }>(answers[rows - 1]);
		};
		const order = plannedOrder(0, { wait: { plan: { kind: 'automatic' }, timeoutMs: HOUR_MS } });
		const error = await clock.run(
			buyWith(create, {
				...{ clock, begin, order, places: places.ofRun() },
				holdBack: (ms) => heldBackMs.push(ms),
				sleep: sleeps ? { signal: new AbortController().signal, waitsForOther: () => () => {} } : undefined,
			}).catch((thrown: GatewayError) => thrown),
		);
		const learned = refused.mock.calls.length;
		return { error, rows, heldBackMs, learned, afterMs: clock.at - beganMs };
	}

	test('ends, and nothing is learned of it', async () => {
		expect(await buyFull({})).toMatchObject({ rows: 1, heldBackMs: [], learned: 0, afterMs: 120_000 });
	});

	test('asks again until its timeout, where it sleeps in n8n', async () => {
		const { rows, heldBackMs, learned, afterMs } = await buyFull({ sleeps: true });
		expect({ heldBackMs, learned }).toEqual({ heldBackMs: [], learned: 0 });
		expect(afterMs).toBeGreaterThanOrEqual(HOUR_MS);
		expect(rows).toBeGreaterThan(10);
	});

	test('quotes the answer that it got itself, if it was sent before', async () => {
		const answer = tooMany();
		const { error, ...others } = await buyFull({ answers: [answer] });
		expect(error).toBe(answer);
		expect(others).toMatchObject({ rows: 2, learned: 1 });
	});
});
