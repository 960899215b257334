/** An order is plain data, and a retry goes by its end. */
import { codeOf, gatewayError, GatewayError } from '../../core/errors';
import { REASONS } from '../../core/errors/catalogue';
import type { Order, OrderDraft, OrderEnd } from '../../core/orders/order';
import {
	accept,
	beginSubmitting,
	checkOrder,
	endBadly,
	errorOf,
	makeOrder,
	promptOf,
	reopenForRetry,
	retryOf,
	staysFailed,
} from '../../core/orders/states';
import { parseOrder } from './support';

const task = { taskId: 'task-1', status: 'queued', elapsedMs: 0 };
const request = { body: { prompt: 'a cat' }, hash: 'h' };
const wait = { plan: { kind: 'automatic' as const }, timeoutMs: 100 };
const planned = (more: Partial<OrderDraft> = {}): Order =>
	makeOrder({ item: 0, thing: 'task', kind: 'image', then: 'poll', request, ...more });
const accepted = (more: Partial<OrderDraft> = {}): Order => {
	const order = planned(more);
	beginSubmitting(order);
	accept(order, task, 5);
	return order;
};
const throughTheDatabase = (order: Order) => parseOrder(JSON.parse(JSON.stringify(order)));

describe('the states of an order', () => {
	test('an accepted order has its ID, its time and its prompt, and its request is gone', () => {
		const order = accepted();
		expect(order).toMatchObject({ state: 'accepted', task, acceptedAtMs: 5, prompt: 'a cat' });
		expect(order).not.toHaveProperty('request');
	});

	test.each<[string, Order]>([
		['planned', planned()],
		['accepted', accepted()],
		['accepted, with a retry to come', accepted({ isRetried: true })],
	])('an order that is %s has its prompt once', (_, order) => {
		expect(promptOf(throughTheDatabase(order) as Order)).toBe('a cat');
		expect(JSON.stringify(order).split('a cat')).toHaveLength(2);
		endBadly(order, new GatewayError('taskFailed', 'x'));
		expect(promptOf(throughTheDatabase(order) as Order)).toBe('a cat');
		expect(JSON.stringify(order).split('a cat')).toHaveLength(2);
	});

	test('of a very long prompt an order keeps the beginning', () => {
		const order = planned({ request: { ...request, body: { prompt: 'x'.repeat(99_999) } } });
		endBadly(order, new GatewayError('rejected', 'x'));
		expect(throughTheDatabase(order)?.prompt).toBe(`${'x'.repeat(32_000)}…`);
	});

	test.each<{ as: OrderEnd['as']; error: GatewayError; isAccepted: boolean }>([
		{ as: 'refused', error: new GatewayError('rejected', 'x'), isAccepted: false },
		{ as: 'notSubmitted', error: gatewayError('notSubmitted', { because: 'x' }), isAccepted: false },
		{ as: 'outcomeUnknown', error: new GatewayError('outcomeUnknown', 'x'), isAccepted: false },
		{ as: 'failed', error: new GatewayError('taskFailed', 'x'), isAccepted: true },
		{ as: 'failed', error: new GatewayError('download', 'x'), isAccepted: true },
		{ as: 'timedOut', error: new GatewayError('taskTimedOut', 'x'), isAccepted: true },
		{ as: 'stopped', error: gatewayError('executionStopped', {}), isAccepted: true },
		{ as: 'stopped', error: gatewayError('executionStopped', {}), isAccepted: false },
	])(
		'an order (accepted: $isAccepted) ends as $as after an error of the kind $error.kind',
		({ as, error, isAccepted }) => {
			const order = isAccepted ? accepted() : planned();
			endBadly(order, error);
			expect(order.end?.as).toBe(as);
		},
	);
});

const taskFailed = new GatewayError('taskFailed', 'x');
const failsAgain = new GatewayError('taskFailed', 'x', { permanent: true });
const notFound = new GatewayError('notFound', 'x');
const rejected = new GatewayError('rejected', 'x');
const download = new GatewayError('download', 'x');
const lostFile = new GatewayError('download', 'x', { permanent: true });
const unknown = new GatewayError('outcomeUnknown', 'x');
const heldBack = new GatewayError('notSubmitted', 'x');

describe('a retry', () => {
	const ended = (as: OrderEnd['as'], error?: GatewayError) => ({ as, error });

	test.each<[string, Parameters<typeof retryOf>[0], string]>([
		['a success', ended('done'), 'continues'],
		['a refusal', ended('refused', notFound), 'submits'],
		['an order that was held back', ended('notSubmitted'), 'submits'],
		['an unknown outcome', ended('outcomeUnknown'), 'refuses'],
		['a task that has failed', ended('failed', taskFailed), 'submits'],
		['a task that would fail again', ended('failed', failsAgain), 'endsAgain'],
		['a task that is not known any more', ended('failed', notFound), 'continues'],
		['a task that is not shown', ended('failed', new GatewayError('notShown', 'x')), 'continues'],
		['a file that could not be downloaded', ended('failed', lostFile), 'continues'],
		['a failure without an error', ended('failed'), 'continues'],
		['a timeout', ended('timedOut'), 'continues'],
		['a stop', ended('stopped'), 'continues'],
	])('after %s, a retry %s', (_, end, expected) => {
		expect(retryOf(end)).toBe(expected);
	});

	test('of a task that was accepted, a retry buys another one only if it has failed', () => {
		const kinds = new Set(Object.values(REASONS).map(({ kind = 'badInput' }) => kind));
		const bought = [...kinds].filter((kind) => {
			const order = accepted();
			endBadly(order, new GatewayError(kind, 'x'));
			return retryOf(order.end as OrderEnd) === 'submits';
		});
		expect(bought.sort()).toEqual(['notSubmitted', 'taskFailed']);
	});
});

describe('Retry On Fail of an order that waits in the database', () => {
	const again = { submits: true, nowMs: 50 };
	const waitingFor = (more: Partial<OrderDraft> = {}) =>
		accepted({
			wait: { ...wait, startedAtMs: 5, dueAtMs: 6, polls: [{ atMs: 1 }], contradictedSinceMs: 9 },
			...{ request: { ...request }, isRetried: true, ...more },
		});
	const elsewhere = () =>
		makeOrder({ item: 0, thing: 'task', kind: 'image', then: 'poll', task, wait, isRetried: true });
	const neverAccepted = (more: Partial<OrderDraft> = {}) =>
		planned({ wait: { ...wait }, request: { ...request }, isRetried: true, ...more });

	test.each<[string, 'continues' | 'submits' | 'does nothing', Order, GatewayError]>([
		['a file that could not be downloaded', 'continues', waitingFor(), download],
		['a task that is not known any more', 'continues', waitingFor(), notFound],
		['a timeout', 'continues', waitingFor(), new GatewayError('taskTimedOut', 'x')],
		['an undelivered task that another node has created', 'continues', elsewhere(), download],
		['a task that has failed', 'submits', waitingFor(), taskFailed],
		['a refusal', 'submits', neverAccepted(), rejected],
		['an order that was held back', 'submits', neverAccepted(), heldBack],
		['an unknown outcome', 'does nothing', neverAccepted(), unknown],
		[
			'an unknown outcome of a request that a person has submitted again',
			'does nothing',
			neverAccepted({ request: { ...request, submitAgainFor: '1.0' } }),
			unknown,
		],
		['a task that would fail again', 'does nothing', waitingFor(), failsAgain],
		['a failed task that another node has created', 'does nothing', elsewhere(), taskFailed],
		['a stop before the submission', 'does nothing', neverAccepted(), gatewayError('executionStopped', {})],
		['a task that is not waited for', 'does nothing', waitingFor({ wait: undefined }), download],
	])('after %s, Retry On Fail of a stored order %s', (_, expected, order, error) => {
		endBadly(order, error);
		expect(reopenForRetry(order, again)).toBe(expected !== 'does nothing');
		expect(order.state).toBe({ continues: 'accepted', submits: 'planned', 'does nothing': 'ended' }[expected]);
	});

	test.each<[string, boolean, object, Order]>([
		['a timeout that is over', false, { nowMs: 105 }, waitingFor()],
		['the last moment of it', true, { nowMs: 104 }, waitingFor()],
		['a wait that has not begun', true, { nowMs: 9_999 }, neverAccepted()],
		['a workflow that ends all the same: a task that exists', true, { submits: false }, waitingFor()],
		['a workflow that ends all the same: a request', false, { submits: false }, neverAccepted()],
	])(
		'all tries of Retry On Fail have one timeout, and buy nothing for a workflow that ends: with %s, it takes up: %s',
		(_, expected, more, order) => {
			endBadly(order, order.state === 'accepted' ? download : rejected);
			expect(reopenForRetry(order, { ...again, ...more })).toBe(expected);
			expect(order.state === 'ended').toBe(!expected);
		},
	);

	test('Retry On Fail continues a task with its ID, its polls, what is left of its timeout, and a new grace period', () => {
		const order = waitingFor();
		endBadly(order, download);
		reopenForRetry(order, again);
		expect(order).toMatchObject({ task, acceptedAtMs: 5 });
		expect(order).not.toHaveProperty('end');
		expect(order.wait).toEqual({ ...wait, startedAtMs: 5, polls: [{ atMs: 1 }] });
	});

	test('Retry On Fail submits an order in the place of a failed task as it was at first, but keeps the ID', () => {
		const order = waitingFor();
		Object.assign(order, { reused: true, purchase: { attempt: 'a', hash: 'h' }, earlierTaskIds: ['task-0'] });
		endBadly(order, taskFailed);
		reopenForRetry(order, again);
		expect(order).toEqual(neverAccepted({ wait: { ...wait, startedAtMs: 5 }, earlierTaskIds: ['task-0', 'task-1'] }));
	});

	test('the wait for the place of a task that has failed takes nothing of the timeout of the next one', () => {
		const order = waitingFor({ wait: { ...wait, wantedAtMs: 1, startedAtMs: 5 } });
		endBadly(order, taskFailed);
		reopenForRetry(order, again);
		expect(order.wait).toEqual({ ...wait, startedAtMs: 5, wantedAtMs: 5 });
	});

	test.each([
		['a task that would fail again', waitingFor(), failsAgain, true],
		['a task that has failed', waitingFor(), taskFailed, false],
		['a file that could not be downloaded', waitingFor(), download, false],
		['a file that can never be downloaded', waitingFor(), lostFile, true],
		['an order that was held back', neverAccepted(), heldBack, false],
		['an unknown outcome', neverAccepted(), unknown, true],
		['a request that would be refused again', neverAccepted(), rejected, true],
		['a request that may not be refused again', neverAccepted(), new GatewayError('unavailable', 'x'), false],
		['a task that is not waited for', waitingFor({ wait: undefined }), download, true],
	])('the error of %s stays, whatever Retry On Fail does', (_, order, error, stays) => {
		expect(staysFailed(order)).toBe(false);
		endBadly(order, error);
		expect(staysFailed(order)).toBe(stays);
	});
});

describe('the error of an order in the database', () => {
	const cause = new Error('with the key');
	const error = gatewayError(
		'timedOut',
		{ thing: 'task', id: 'task-1', after: '2 minutes' },
		{ cause, task, httpStatus: 503, others: [gatewayError('executionStopped', {}, { cause })] },
	);

	test('an error is kept with all that it says, and without what an HTTP client has thrown', () => {
		const order = accepted();
		endBadly(order, error);
		expect(JSON.stringify(order)).not.toContain('with the key');
		const read = errorOf(throughTheDatabase(order) as Order) as GatewayError;
		expect(read).toBeInstanceOf(GatewayError);
		expect([read.kind, read.message, codeOf(read)]).toEqual([error.kind, error.message, 'timed_out']);
		expect(read.details).toMatchObject({ task, httpStatus: 503, reason: { name: 'timedOut' } });
		expect(read.details.others?.[0]).toBeInstanceOf(GatewayError);
	});
});

test('a form that lets through what cannot be stored is a mistake of ours, before anything is sent', () => {
	const check = () => checkOrder({ ...accepted(), model: 'x'.repeat(1001) });
	expect(check).toThrow('model: String must contain at most');
	expect(check).toThrow(expect.objectContaining({ kind: 'ownMistake' }) as Error);
});
