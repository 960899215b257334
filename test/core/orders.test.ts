/** An order is plain data: what is written can be read again, and a state follows only where it may. */
import fc from 'fast-check';
import { codeOf, gatewayError, GatewayError } from '../../core/errors';
import { REASONS } from '../../core/errors/catalogue';
import { describe as describeError } from '../../core/errors/describe';
import { ENDS as ENDINGS, MAX_POLLS, type Order, type OrderDraft } from '../../core/orders/order';
import {
	accept,
	beginSubmitting,
	checkOrder,
	endBadly,
	endWell,
	errorOf,
	isCreatedAgain,
	makeOrder,
	makeRefused,
	parseOrder,
	retryOf,
	trimPolls,
} from '../../core/orders/states';

const task = { taskId: 'task-1', status: 'queued', elapsedMs: 0 };
const request = { body: { prompt: 'a cat' }, hash: 'h', submitAgain: false };
const planned = (more: Partial<OrderDraft> = {}): Order =>
	makeOrder({ item: 0, thing: 'task', kind: 'image', then: 'poll', request, ...more });
const accepted = (more: Partial<OrderDraft> = {}): Order => {
	const order = planned(more);
	beginSubmitting(order);
	accept(order, task, 5);
	return order;
};
const throughTheDatabase = (order: Order) => parseOrder(JSON.parse(JSON.stringify(order)));

test('an order with a request is planned, one for what exists is accepted', () => {
	expect(planned().state).toBe('planned');
	expect(makeOrder({ item: 0, thing: 'task', kind: 'image', then: 'poll', task }).state).toBe('accepted');
});

test('an accepted order has its ID and time, and its prompt is gone', () => {
	const order = accepted();
	expect(order).toMatchObject({ state: 'accepted', task, acceptedAtMs: 5 });
	expect(JSON.stringify(order)).not.toContain('a cat');
});

test('its task is its own: what happens to the one that it was made of does not change it', () => {
	const own = { ...task };
	const order = planned();
	accept(order, own, 5);
	own.taskId = 'other';
	expect(order.task?.taskId).toBe('task-1');
});

test('an ended order waits for nothing, and has its output', () => {
	const wait = { plan: { kind: 'automatic' as const }, timeoutMs: 1, onTimeout: 'error' as const };
	const order = accepted({ wait });
	endWell(order, { json: { url: 'u' } }, new Set(['a hint']));
	expect(order).toMatchObject({
		state: 'ended',
		end: { as: 'done', output: { json: { url: 'u' } }, hints: ['a hint'] },
	});
	expect(order).not.toHaveProperty('wait');
	expect(errorOf(order)).toBeUndefined();
});

test('without hints nothing is said of them', () => {
	const order = accepted();
	endWell(order, { json: {} });
	expect(order.end).not.toHaveProperty('hints');
});

test.each<[string, (order: Order) => void]>([
	['accepted twice', (order) => accept(order, task, 5)],
	['sent again', beginSubmitting],
])('an accepted order is never %s', (_, change) => {
	expect(() => change(accepted())).toThrow(/accepted cannot become/);
});

test('an ended order never changes', () => {
	const order = accepted();
	endWell(order, { json: {} });
	for (const change of [
		() => endBadly(order, new Error()),
		() => beginSubmitting(order),
		() => accept(order, task, 1),
		() => endWell(order, { json: {} }),
	])
		expect(change).toThrow(/ended cannot become/);
});

test('an order that is being sent is not sent a second time', () => {
	const order = planned();
	beginSubmitting(order);
	expect(() => beginSubmitting(order)).toThrow(/submitting cannot become submitting/);
});

describe('an error is kept', () => {
	const cause = new Error('with the key');
	const error = gatewayError(
		'timedOut',
		{ thing: 'task', id: 'task-1', after: '2 minutes' },
		{ cause, task, httpStatus: 503, others: [gatewayError('executionStopped', {}, { cause })] },
	);

	test('with all that it says, and without what an HTTP client has thrown', () => {
		const order = accepted();
		expect(endBadly(order, error)).toBe(error);
		expect(JSON.stringify(order)).not.toContain('with the key');
		const read = errorOf(throughTheDatabase(order) as Order) as GatewayError;
		expect(read).toBeInstanceOf(GatewayError);
		expect([read.kind, read.message]).toEqual([error.kind, error.message]);
		expect(read.details).toMatchObject({ task, httpStatus: 503, reason: { name: 'timedOut' } });
		expect(read.details.others?.[0]).toBeInstanceOf(GatewayError);
		expect(error.details.cause).toBe(cause);
	});

	test.each<[string, GatewayError]>([
		['timed_out', error],
		['number_too_large', gatewayError('numberTooLarge', { label: 'x', value: '2', max: 1 })],
		['task_failed', new GatewayError('taskFailed', 'x')], // without a reason: of its kind
	])('with its code %s', (code, thrown) => {
		const order = accepted();
		endBadly(order, thrown);
		const read = errorOf(throughTheDatabase(order) as Order) as GatewayError;
		expect([codeOf(thrown), codeOf(read), codeOf(read.withTask(task))]).toEqual([code, code, code]);
	});

	test.each([7, 'timedOut', { name: 7, data: {} }, { name: 'timedOut' }])(
		'with a reason such as %j it is no error',
		(reason) => {
			for (const details of [{ reason }, { serviceReason: reason }]) {
				const order = accepted();
				endBadly(order, new GatewayError('badInput', 'x', details as never));
				expect(parseOrder(order)).toBeUndefined();
			}
		},
	);

	const told = (name: string) => {
		const order = accepted();
		endBadly(order, new GatewayError('notFound', 'x', { reason: { name, data: {} } as never, httpStatus: 404 }));
		return describeError(errorOf(throughTheDatabase(order) as Order) as GatewayError);
	};

	test.each(['fromAnotherVersion', 'toString'])('with the unknown reason %s it is told without advice', (name) => {
		expect(told(name)).toBe('The service answered with HTTP 404.');
	});

	test.each(Object.keys(REASONS))(
		'with the reason %s, but without its data, it is told as well as it can be',
		(name) => {
			expect(told(name)).toContain('The service answered with HTTP 404.');
		},
	);

	test('whatever was thrown', () => {
		expect(endBadly(accepted(), new TypeError('x')).kind).toBe('ownMistake');
	});

	test('of an item that could not be read', () => {
		const order = makeRefused(3, error);
		expect(order).toMatchObject({ item: 3, state: 'ended', end: { as: 'refused' } });
		expect(errorOf(order)?.message).toBe(error.message);
	});
});

test.each<[Order['end'] extends infer E ? (E extends { as: infer A } ? A : never) : never, GatewayError, boolean]>([
	['refused', new GatewayError('rejected', 'x'), false],
	['notSubmitted', gatewayError('notSubmitted', { because: 'x' }), false],
	['outcomeUnknown', new GatewayError('outcomeUnknown', 'x'), false],
	['failed', new GatewayError('taskFailed', 'x'), true],
	['failed', new GatewayError('download', 'x'), true],
	['timedOut', new GatewayError('taskTimedOut', 'x'), true],
	['stopped', gatewayError('executionStopped', {}), true],
	['stopped', gatewayError('executionStopped', {}), false],
])('it ends as %s after %s', (as, error, isAccepted) => {
	const order = isAccepted ? accepted() : planned();
	endBadly(order, error);
	expect(order.end?.as).toBe(as);
});

test.each<[Order['end'] extends infer E ? (E extends { as: infer A } ? A : never) : never, string, string]>([
	['done', 'continues', 'continues'],
	['refused', 'submits', 'submits'],
	['notSubmitted', 'submits', 'submits'],
	['outcomeUnknown', 'refuses', 'submits'],
	['failed', 'submits', 'submits'],
	['timedOut', 'continues', 'continues'],
	['stopped', 'continues', 'continues'],
])('a retry after %s %s, with Submit Again it %s', (as, retry, withSubmitAgain) => {
	expect([retryOf(as, { submitAgain: false }), retryOf(as, { submitAgain: true })]).toEqual([retry, withSubmitAgain]);
});

test('every end has its row in the table of retries', () => {
	for (const as of ENDINGS) expect(retryOf(as, { submitAgain: false })).toMatch(/^(continues|submits|refuses)$/);
});

test.each<[string, GatewayError, boolean, boolean]>([
	['a task that has failed', new GatewayError('taskFailed', 'x'), false, true],
	['one that would fail again', new GatewayError('taskFailed', 'x', { permanent: true }), false, false],
	['one that is not known any more', new GatewayError('notFound', 'x'), false, false],
	['the same with Submit Again', new GatewayError('notFound', 'x'), true, true],
	['one that was not seen in time', new GatewayError('taskTimedOut', 'x'), true, false],
])('created again by a retry, or not: %s', (_, error, submitAgain, expected) => {
	expect(isCreatedAgain(error, { submitAgain })).toBe(expected);
});

describe('polls', () => {
	const polls = Array.from({ length: 20 }, (_, index) => ({ atMs: index }));
	const wait = { plan: { kind: 'automatic' as const }, timeoutMs: 1, onTimeout: 'error' as const };
	test('the latest are stored', () => {
		const order = accepted({ wait: { ...wait } });
		if (order.wait) order.wait.polls = polls;
		trimPolls(order);
		expect(order.wait?.polls).toEqual(polls.slice(-MAX_POLLS));
		expect(throughTheDatabase(order)).toEqual(order);
	});
	test('none are where nobody knows when it was accepted', () => {
		const order = makeOrder({
			item: 0,
			thing: 'task',
			kind: 'image',
			then: 'poll',
			task,
			wait: { ...wait, polls: [] },
		});
		if (order.wait) order.wait.polls = polls;
		trimPolls(order);
		expect(order.wait?.polls).toEqual([]);
	});
	test('an order that waits for nothing has none', () => {
		const order = accepted();
		trimPolls(order);
		expect(order).not.toHaveProperty('wait');
	});
});

describe('what somebody has changed in the database is refused', () => {
	test.each<[string, object]>([
		['another version', { version: 2 }],
		['no version', { version: undefined }],
		['another thing', { thing: 'castle' }],
		['an end of a running order', { end: { as: 'done', output: { json: {} } } }],
		['no end of an ended one', { state: 'ended' }],
		['no ID', { task: undefined }],
		['a long ID', { task: { ...task, taskId: 'x'.repeat(1001) } }],
		['planned without a request', { state: 'planned' }],
		['a negative item', { item: -1 }],
		['a time before all times', { acceptedAtMs: -1 }],
		['a poll each millisecond', { wait: { plan: { kind: 'fixed', intervalMs: 1 }, timeoutMs: 1, onTimeout: 'error' } }],
		['a wait of years', { wait: { plan: { kind: 'automatic' }, timeoutMs: 1e12, onTimeout: 'error' } }],
		[
			'thousands of requests',
			{ wait: { plan: { kind: 'automatic' }, timeoutMs: 1, onTimeout: 'error', requestsPerSecond: 5000 } },
		],
	])('%s', (_, change) => {
		expect(parseOrder(accepted())).toBeDefined();
		expect(parseOrder({ ...accepted(), ...change })).toBeUndefined();
	});
	test('an end is either an output or an error', () => {
		const order = accepted();
		endWell(order, { json: {} });
		const both = { ...order.end, error: { kind: 'rejected', message: 'x', details: {} } };
		expect(parseOrder(order)).toBeDefined();
		expect(parseOrder({ ...order, end: both })).toBeUndefined();
		expect(parseOrder({ ...order, end: { as: 'done' } })).toBeUndefined();
	});
	test('whatever it is, nothing is thrown', () => {
		fc.assert(fc.property(fc.anything(), (value) => parseOrder(value) === undefined));
	});
});

test('a form that lets through what cannot be stored is a mistake of ours, before anything is sent', () => {
	expect(() => planned({ model: 'x'.repeat(1001) })).toThrow();
	expect(() => checkOrder({ ...accepted(), item: 0.5 })).toThrow();
});
