/** The canaries of a run that is handed to another execution, and what else the node itself does before. */
import { Marks } from '../../core/journal/marks';
import { AccountPlaces } from '../../core/account/places';
import { gatewayError, stoppedError, type GatewayError } from '../../core/errors';
import { unknownOutcome } from '../../core/http/answers';
import type { CreateAttempt } from '../../core/http/types';
import type { Ports } from '../../core/engine/advance';
import { readyToHandOver } from '../../core/engine/canary';
import { OrderLedger } from '../../core/orders/ledger';
import type { Order } from '../../core/orders/order';
import { nameOfError, planned } from './journalWorld';
import { sharedClock } from './support';

interface Service {
	/** The end of the request of an item: after this time, with its ID or this error. */
	answers?: (item: number) => GatewayError | undefined;
	tookMs?: number;
	/** Orders with these items have a file, and the service refuses that of the second list. */
	files?: number[];
	refusedFiles?: number[];
	/** Tasks of others that fill the account. */
	isFull?: boolean;
}

function makeWorld({ answers = () => undefined, tookMs = 100, files = [], refusedFiles = [], isFull }: Service = {}) {
	const clock = sharedClock();
	const beganMs = clock.now();
	const sent: string[] = [];
	const ledger = new OrderLedger({ store: {}, executionId: '1', runIndex: 0 });
	const scope = { establishedAtMs: 1, executionId: '1', runIndex: 0, isRetry: false };
	const account = new AccountPlaces(clock);
	account.most = isFull ? 1 : Infinity;
	if (isFull) account.ofRun().occupy('task of another run');
	const uploadOf = async (item: number) => {
		sent.push(`upload ${item}`);
		await clock.sleep(tookMs);
		if (refusedFiles.includes(item)) throw gatewayError('fileUnreadable', { name: 'x', words: 'x' });
		return `https://files.example/${item}.png`;
	};
	const createTask = async (_: unknown, { item }: { item: number }, attempt: CreateAttempt) => {
		if (attempt.signal?.aborted) throw stoppedError();
		attempt.beforeSend?.();
		sent.push(`create ${item}`);
		await clock.sleep(tookMs);
		const error = answers(item);
		if (error !== undefined) throw error;
		return { id: `task ${item}` };
	};
	const ports = {
		client: { createTask, backlogMs: 0, places: account.ofRun() },
		...{ clock, ledger, writeAhead: new Marks(scope, ledger) },
		events: { accepted: () => {}, unclear: () => {}, continued: () => {}, finished: () => {} },
		filesOf: ({ item }: Order) =>
			new Map(files.includes(item) ? [['file', { read: async () => await Promise.resolve(item as never) }]] : []),
		uploadImage: async (file: unknown) => await uploadOf(file as never),
	} as unknown as Ports;
	/** Each order as its state, or the name of its error. */
	const ready = async (orders: Order[], options: Partial<Parameters<typeof readyToHandOver>[2]> = {}) => {
		const given = { continueOnError: false, submitsAll: false, ...options };
		const outcomes = await clock.run(readyToHandOver(orders, ports, given));
		return orders.map((order) => {
			const outcome = outcomes.get(order);
			return outcome?.ok === false ? nameOfError(outcome.error) : order.state;
		});
	};
	return { clock, sent, ledger, ready, elapsedMs: () => clock.now() - beganMs };
}

const ofScopes = (...scopes: Array<string | undefined>) =>
	scopes.map((scope, item) => planned(item, { scope, request: { body: { item }, hash: `hash ${item}` } }));
const refusal = (httpStatus: 401 | 402 | 403 | 422) =>
	({
		401: gatewayError('keyRefused', {}, { httpStatus }),
		402: gatewayError('balanceTooLow', {}, { httpStatus }),
		403: gatewayError('keyNotAllowed', {}, { httpStatus }),
		422: gatewayError('requestRejected', {}, { httpStatus }),
	})[httpStatus];

test.each([
	['one of a run without scopes', [undefined, undefined, undefined], [0]],
	['one of each model', ['a', 'a', 'b', 'b'], [0, 2]],
	['three at the most', ['a', 'b', 'a', 'c', 'd'], [0, 1, 3]],
])('the node submits %s, and the rest goes on elsewhere', async (_, scopes, canaries) => {
	const { ready, sent, elapsedMs } = makeWorld();
	const states = scopes.map((__, item) => (canaries.includes(item) ? 'accepted' : 'planned'));
	expect(await ready(ofScopes(...scopes))).toEqual(states);
	expect(sent).toEqual(canaries.map((item) => `create ${item}`));
	// Side by side.
	expect(elapsedMs()).toBe(100);
});

test.each<[string, Service, string, number]>([
	['a canary that finds no place for 2 s is submitted elsewhere', { isFull: true }, 'planned', 2_000],
	['one that is out is awaited, however long that takes', { tookMs: 90_000 }, 'accepted', 90_000],
])('%s', async (_, service, state, tookMs) => {
	const { ready, elapsedMs, sent } = makeWorld(service);
	const orders = ofScopes(undefined, undefined);
	expect(await ready(orders)).toEqual([state, 'planned']);
	expect([elapsedMs(), sent.length]).toEqual([tookMs, service.isFull ? 0 : 1]);
	expect(orders[1]?.end).toBeUndefined();
});

test.each([
	['429', gatewayError('rateLimited', {}, { httpStatus: 429, again: {} })],
	['503', gatewayError('serviceUnavailable', {}, { httpStatus: 503, again: {} })],
])('a canary whose request is answered by %s after its time is submitted elsewhere', async (_, error) => {
	const { ready, sent } = makeWorld({ answers: () => error, tookMs: 10_500 });
	expect(await ready(ofScopes(undefined, undefined))).toEqual(['planned', 'planned']);
	expect(sent).toEqual(['create 0']);
});

const held = 'notSubmitted';

test.each<[string, GatewayError, boolean, string[]]>([
	['a refusal, with Stop Workflow', refusal(422), false, ['requestRejected', 'planned', 'accepted', 'planned']],
	['a refusal', refusal(422), true, ['requestRejected', 'planned', 'accepted', 'planned']],
	['an unknown outcome', unknownOutcome('task', 'x'), true, ['outcomeUnknown', 'planned', 'accepted', 'planned']],
	['a 401, which is about all', refusal(401), true, ['keyRefused', held, 'accepted', held]],
	['a 402, which is about all', refusal(402), true, ['balanceTooLow', held, 'accepted', held]],
	['a 403, which is about its scope', refusal(403), true, ['keyNotAllowed', held, 'accepted', 'planned']],
])('the end of a canary holds back the others that it is about: %s', async (_, error, continueOnError, ends) => {
	const { ready, sent } = makeWorld({ answers: (item) => (item === 0 ? error : undefined) });
	expect(await ready(ofScopes('a', 'a', 'b', 'b'), { continueOnError })).toEqual(ends);
	expect(sent).toEqual(['create 0', 'create 2']);
});

test('what earlier tries have created goes on, and the canary is the first order without an ID', async () => {
	const { ready, sent, ledger } = makeWorld();
	ledger.accepted(0, { taskId: 'known', hash: 'hash 0', acceptedAtMs: 1 });
	const orders = ofScopes(undefined, undefined, undefined);
	expect(await ready(orders)).toEqual(['accepted', 'accepted', 'planned']);
	expect([sent, orders[0]?.task?.taskId]).toEqual([['create 1'], 'known']);
});

test.each([
	[false, ['outcomeStillUnknown', 'planned']],
	[true, ['outcomeStillUnknown', 'accepted']],
])('an order in doubt is told before anything is sent (Continue: %s)', async (continueOnError, ends) => {
	const { ready, sent, ledger } = makeWorld();
	ledger.outcomeUnknown(0, { hash: 'hash 0', acceptedAtMs: 1 });
	expect(await ready(ofScopes(undefined, undefined), { continueOnError })).toEqual(ends);
	expect(sent).toEqual(continueOnError ? ['create 1'] : []);
});

test.each<[boolean, number[], string[], string[]]>([
	[false, [], ['accepted', 'planned', 'planned'], ['upload 1', 'upload 2', 'create 0']],
	[false, [2], ['planned', 'planned', 'fileUnreadable'], ['upload 1', 'upload 2']],
	[true, [1], ['accepted', 'fileUnreadable', 'planned'], ['upload 1', 'upload 2', 'create 0']],
])(
	'all files are uploaded before anything is bought (Continue: %s, refused: %j)',
	async (continueOnError, refusedFiles, ends, expected) => {
		const { ready, sent } = makeWorld({ files: [1, 2], refusedFiles });
		const orders = ofScopes(undefined, undefined, undefined);
		const said = await ready(orders, { continueOnError });
		expect(said.map((end) => end.replace(', not asked', '').replace('executionStopped', 'planned'))).toEqual(ends);
		expect(sent).toEqual(expected);
		const uploaded = orders[2]?.request?.uploads;
		if (refusedFiles.length === 0) expect(uploaded).toEqual(['https://files.example/2.png']);
	},
);

test('where rows do not tell what was sent, all are submitted here, whatever time that takes', async () => {
	const { ready, sent } = makeWorld({ tookMs: 10_000 });
	expect(await ready(ofScopes(undefined, undefined, undefined), { submitsAll: true })).toEqual(
		Array(3).fill('accepted'),
	);
	expect(sent).toHaveLength(3);
});

test('after a stop, nothing is sent', async () => {
	const { ready, sent } = makeWorld({ files: [0] });
	expect(await ready(ofScopes(undefined), { signal: AbortSignal.abort() })).toEqual(['planned']);
	expect(sent).toEqual([]);
});
