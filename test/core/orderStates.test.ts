/** The remaining steps of an order: put off, ended by each kind of error, kept for a retry, or not. */
import { GatewayError, type GatewayErrorKind } from '../../core/errors';
import type { Order, OrderDraft } from '../../core/orders/order';
import {
	accept,
	beginSubmitting,
	endBadly,
	endWell,
	hasEnded,
	isOpen,
	isReplacedByRetry,
	makeOrder,
	putOff,
	reopen,
	reopenForRetry,
} from '../../core/orders/states';

const task = { taskId: 'task-1', status: 'queued', elapsedMs: 0 };
const wait = { plan: { kind: 'automatic' as const }, timeoutMs: 1, onTimeout: 'error' as const };
const retry = { tries: 2, pauseMs: 0, tried: 1 };
const batch = { name: 'a run', places: 5, requestsPerSecond: 60, stopsAtError: true, waves: 1 };
const planned = (more: Partial<OrderDraft> = {}): Order =>
	makeOrder({
		...{ item: 0, thing: 'task', kind: 'image', then: 'poll', wait: { ...wait } },
		request: { body: { prompt: 'a cat' }, hash: 'h', submitAgain: false, wave: 1 },
		...more,
	});
const accepted = (more: Partial<OrderDraft> = {}): Order => {
	const order = planned(more);
	accept(order, task, 5);
	return order;
};
const failed = (kind: GatewayErrorKind) => new GatewayError(kind, 'x');

describe('the URLs of the request of an accepted order are no result', () => {
	const body = { prompt: 'a cat', image: 'https://in.example/a.png' };
	const result = {
		...{ downloadResult: false, downloadLink: false, outputField: 'data', fileName: '', simplify: true },
		...{ resultPath: '', urlExpected: true, resultNeeded: true, requestUrls: [] },
	};
	const request = { body, hash: 'h', submitAgain: false };
	const uploads = ['https://in.example/b.png'];
	const urlsOf = (order: Order, ...known: string[][]) => {
		accept(order, task, 5, ...known);
		return order.result?.requestUrls;
	};

	test.each<[string, Order['request'], string[][], string[]]>([
		['without uploads', request, [], [body.image]],
		['with its uploads', { ...request, uploads }, [], [body.image, ...uploads]],
		[
			'with those of an earlier try',
			{ ...request, uploads },
			[['https://in.example/c.png']],
			[body.image, 'https://in.example/c.png'],
		],
	])('%s', (_, sent, known, urls) => {
		expect(urlsOf(planned({ request: sent, result }), ...known)).toEqual(urls);
	});

	test('of an order without a wanted result nothing is noted', () => {
		expect(urlsOf(planned({ request }))).toBeUndefined();
	});
});

test('a model that a key may not use is known as long as the order has not ended, where it is polled elsewhere, too', () => {
	const order = accepted({ scope: 'the model a' });
	expect(order).toMatchObject({ scope: 'the model a' });
	expect(order).not.toHaveProperty('request');
	endBadly(order, failed('permission'));
	expect(order).not.toHaveProperty('scope');
});

test('a retry that goes on with a refused task gives it its grace period again', () => {
	const order = accepted({ batch: { ...batch, retry } });
	Object.assign(order.wait ?? {}, { contradictedSinceMs: 9 });
	endBadly(order, failed('permission'));
	expect(reopenForRetry(order)).toBe(true);
	expect(order.wait).toEqual(wait);
});

test('an order that is put off is planned again, and in no wave', () => {
	const order = planned();
	beginSubmitting(order);
	putOff(order);
	expect(order.state).toBe('planned');
	expect(order.request).not.toHaveProperty('wave');
	// It can be sent again.
	beginSubmitting(order);
	expect(order.state).toBe('submitting');
});

test('an order that was not under way, or is accepted, stays what it is when it is put off', () => {
	const waiting = planned();
	putOff(waiting);
	expect(waiting.state).toBe('planned');
	const bought = accepted();
	putOff(bought);
	expect(bought).toMatchObject({ state: 'accepted', task });
});

test.each<[string, (order: Order) => void, boolean]>([
	['planned', () => {}, false],
	['accepted', (order) => accept(order, task, 5), false],
	['ended', (order) => void endWell(order, { json: {} }), true],
])('only an ended order has ended: %s', (_, change, expected) => {
	const order = planned();
	change(order);
	expect(hasEnded(order)).toBe(expected);
});

test.each<[GatewayErrorKind, 'planned' | 'accepted', string]>([
	['stopped', 'accepted', 'stopped'],
	['outcomeUnknown', 'planned', 'outcomeUnknown'],
	['notSubmitted', 'planned', 'notSubmitted'],
	['taskTimedOut', 'accepted', 'timedOut'],
	['unavailable', 'accepted', 'failed'],
	['rejected', 'planned', 'refused'],
])('an error of the kind %s ends an order that is %s as %s', (kind, state, as) => {
	const order = state === 'planned' ? planned() : accepted();
	endBadly(order, failed(kind));
	expect(order.end?.as).toBe(as);
});

test.each<[string, Partial<OrderDraft>, (order: Order) => void, boolean]>([
	[
		'an error where Retry On Fail is on',
		{ batch: { ...batch, retry } },
		(order) => endBadly(order, failed('rejected')),
		true,
	],
	['an error where it is off', { batch }, (order) => endBadly(order, failed('rejected')), false],
	['an error of a run without a batch', {}, (order) => endBadly(order, failed('rejected')), false],
	['a good end where it is on', { batch: { ...batch, retry } }, (order) => endWell(order, { json: {} }), false],
])('after %s, the request and the wait are there for a retry only where one can follow', (_, more, end, isKept) => {
	const order = planned(more);
	end(order);
	expect([order.request !== undefined, order.wait !== undefined]).toEqual([isKept, isKept]);
});

test('a retry in the place of a failed task begins anew: without its wave, its task, its time and its polls', () => {
	const order = accepted({ batch: { ...batch, retry } });
	Object.assign(order.wait ?? {}, {
		polls: [{ atMs: 1, status: 'queued' }],
		startedAtMs: 7,
		wantedAtMs: 6,
		dueAtMs: 8,
		contradictedSinceMs: 9,
	});
	Object.assign(order.request ?? {}, { wave: 2 });
	order.reused = true;
	order.purchase = { attempt: 'a', hash: 'h' };
	endBadly(order, failed('taskFailed'));
	expect(reopenForRetry(order)).toBe(true);
	expect(order).toEqual({
		...{ version: order.version, item: 0, thing: 'task', kind: 'image', then: 'poll', state: 'planned', wait },
		request: { body: { prompt: 'a cat' }, hash: 'h', submitAgain: false },
		batch: { ...batch, retry },
		earlierTaskIds: ['task-1'],
	});
});

test.each<[string, (order: Order) => void, boolean]>([
	['planned', () => {}, true],
	['submitting', beginSubmitting, true],
	['accepted', (order) => accept(order, task, 5), false],
	['ended', (order) => void endWell(order, { json: {} }), false],
])('nothing is known to have been created for an order that is %s: %s', (_, change, expected) => {
	const order = planned();
	change(order);
	expect(isOpen(order)).toBe(expected);
});

test('an order of which a lost execution has sent another request begins anew, if it has its request', () => {
	const order = accepted({ batch: { ...batch, retry } });
	Object.assign(order.wait ?? {}, { startedAtMs: 7 });
	endBadly(order, failed('taskFailed'));
	expect(reopen(order)).toBe(true);
	expect(order).toEqual({
		...{ version: order.version, item: 0, thing: 'task', kind: 'image', then: 'poll', state: 'planned', wait },
		request: { body: { prompt: 'a cat' }, hash: 'h', submitAgain: false },
		batch: { ...batch, retry },
		earlierTaskIds: ['task-1'],
	});
	const unwaited = planned({ then: 'nothing', wait: undefined, batch: { ...batch, retry } });
	endBadly(unwaited, failed('rejected'));
	expect([reopen(unwaited), unwaited.state]).toEqual([true, 'planned']);
	const gone = accepted();
	endBadly(gone, failed('taskFailed'));
	expect([reopen(gone), gone.state]).toEqual([false, 'ended']);
});

test('a retry replaces what has failed, and neither what has not ended yet nor what it continues with', () => {
	const order = accepted();
	expect(isReplacedByRetry(order)).toBe(false);
	endBadly(order, failed('taskFailed'));
	expect(isReplacedByRetry(order)).toBe(true);
	const undelivered = accepted();
	endBadly(undelivered, failed('unavailable'));
	expect(isReplacedByRetry(undelivered)).toBe(false);
});
