/** An order is plain data: what is written can be read again, and a state follows only where it may. */
import fc from 'fast-check';
import { codeOf, gatewayError, GatewayError } from '../../core/errors';
import { REASONS } from '../../core/errors/catalogue';
import { describe as describeError } from '../../core/errors/describe';
import { ENDS as ENDINGS, type Order, type OrderDraft, type OrderEnd } from '../../core/orders/order';
import {
	accept,
	beginSubmitting,
	checkOrder,
	endBadly,
	endWell,
	errorOf,
	isReplacedByRetry,
	makeOrder,
	makeRefused,
	retryOf,
	reopenForRetry,
	staysFailed,
} from '../../core/orders/states';
import { MAX_POLLS } from '../../core/polling/planner';
import { SAME_IN_PIPELINES } from '../support/propertySettings.mts';
import { parseOrder } from './support';

const task = { taskId: 'task-1', status: 'queued', elapsedMs: 0 };
const request = { body: { prompt: 'a cat' }, hash: 'h', submitAgain: false };
const batch = { name: 'a run', places: 5, requestsPerSecond: 60, stopsAtError: true, waves: 0 };
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

test('the task of an order is its own: what happens to the one that it was made of does not change it', () => {
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

test('an order that ends well without hints says nothing of them', () => {
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

	test('an error is kept with all that it says, and without what an HTTP client has thrown', () => {
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
	])('an error is kept with its code %s', (code, thrown) => {
		const order = accepted();
		endBadly(order, thrown);
		const read = errorOf(throughTheDatabase(order) as Order) as GatewayError;
		expect([codeOf(thrown), codeOf(read), codeOf(read.withTask(task))]).toEqual([code, code, code]);
	});

	test.each([7, 'timedOut', { name: 7, data: {} }, { name: 'timedOut' }])(
		'what is kept with a reason such as %j is no error',
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

	test.each(['fromAnotherVersion', 'toString'])(
		'an error with the unknown reason %s is told without advice',
		(name) => {
			expect(told(name)).toBe('The server answered 404.');
		},
	);

	test.each(Object.keys(REASONS))(
		'an error with the reason %s, but without its data, is told as well as it can be',
		(name) => {
			expect(told(name)).toContain('The server answered 404.');
		},
	);

	test('whatever was thrown is kept as an error', () => {
		expect(endBadly(accepted(), new TypeError('x')).kind).toBe('ownMistake');
	});

	test('the error of an item that could not be read is kept', () => {
		const order = makeRefused(3, error);
		expect(order).toMatchObject({ item: 3, state: 'ended', end: { as: 'refused' } });
		expect(errorOf(order)?.message).toBe(error.message);
	});
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

const ended = (as: OrderEnd['as'], error?: GatewayError) => ({ as, error });
const taskFailed = new GatewayError('taskFailed', 'x');
const failsAgain = new GatewayError('taskFailed', 'x', { permanent: true });
const notFound = new GatewayError('notFound', 'x');
const download = new GatewayError('download', 'x', { permanent: true });

test.each<[string, Parameters<typeof retryOf>[0], string, string]>([
	['a success', ended('done'), 'continues', 'continues'],
	['a refusal', ended('refused', notFound), 'submits', 'submits'],
	['an order that was held back', ended('notSubmitted'), 'submits', 'submits'],
	['an unknown outcome', ended('outcomeUnknown'), 'refuses', 'submits'],
	['a task that has failed', ended('failed', taskFailed), 'submits', 'submits'],
	['a task that would fail again', ended('failed', failsAgain), 'endsAgain', 'endsAgain'],
	['a task that is not known any more', ended('failed', notFound), 'continues', 'continues'],
	[
		'a task that the service does not show',
		ended('failed', new GatewayError('notShown', 'x')),
		'continues',
		'continues',
	],
	['a file that could not be downloaded', ended('failed', download), 'continues', 'continues'],
	['a failure without an error', ended('failed'), 'continues', 'continues'],
	['a timeout', ended('timedOut'), 'continues', 'continues'],
	['a stop', ended('stopped'), 'continues', 'continues'],
])('a retry after %s does what this end asks for, without and with Submit Again', (_, end, retry, withSubmitAgain) => {
	expect([retryOf(end, { submitAgain: false }), retryOf(end, { submitAgain: true })]).toEqual([retry, withSubmitAgain]);
});

test('every end that is stored has its row in the table of retries', () => {
	for (const as of ENDINGS) expect(retryOf({ as }, { submitAgain: false })).toMatch(/^(continues|submits|refuses)$/);
});

test('every reason whose advice is a retry without a change has an end that a retry does not submit again', () => {
	const submitted = Object.entries(REASONS).filter(([, { retryContinues, kind = 'badInput' }]) => {
		const order = accepted();
		endBadly(order, new GatewayError(kind, 'x'));
		return retryContinues && /submits|refuses/.test(retryOf(order.end as OrderEnd, { submitAgain: false }));
	});
	expect(submitted).toEqual([]);
});

describe('Retry On Fail of an order that waits in the database', () => {
	const wait = { plan: { kind: 'automatic' as const }, timeoutMs: 1, onTimeout: 'error' as const };
	const onFail = { ...batch, retry: { tries: 3, pauseMs: 0, tried: 1 } };
	const waitingFor = (more: Partial<OrderDraft> = {}) => {
		const polls = [{ atMs: 1 }];
		const late = { ...wait, startedAtMs: 5, dueAtMs: 6, polls };
		return accepted({ wait: late, request: { ...request }, batch: onFail, ...more });
	};
	const elsewhere = () => makeOrder({ item: 0, thing: 'task', kind: 'image', then: 'poll', task, wait, batch: onFail });
	const neverAccepted = (more: Partial<OrderDraft> = {}) =>
		planned({ wait: { ...wait }, request: { ...request }, batch: onFail, ...more });
	const taken = (order: Order, error: GatewayError) => {
		endBadly(order, error);
		return reopenForRetry(order);
	};

	test.each([
		['a file that could not be downloaded', download],
		['a task that is not known any more', notFound],
		['a timeout', new GatewayError('taskTimedOut', 'x')],
	])('Retry On Fail continues a stored order with the same ID and the whole timeout after %s', (_, error) => {
		const order = waitingFor();
		expect(taken(order, error)).toBe(true);
		expect(order).toMatchObject({ state: 'accepted', task, acceptedAtMs: 5 });
		expect(order.end).toBeUndefined();
		expect(order.wait).toEqual({ ...wait, polls: [{ atMs: 1 }] });
	});

	test('Retry On Fail continues a stored order with a task that another node has created', () => {
		const order = elsewhere();
		expect(taken(order, download)).toBe(true);
		expect(order).toMatchObject({ state: 'accepted', task });
	});

	test('Retry On Fail submits a stored order again in the place of a task that has failed, and keeps its ID', () => {
		const order = waitingFor();
		order.reused = true;
		order.earlierTaskIds = ['task-0'];
		if (order.request) order.request.wave = 3;
		expect(taken(order, taskFailed)).toBe(true);
		expect(order).toEqual(neverAccepted({ earlierTaskIds: ['task-0', 'task-1'] }));
	});

	test.each([
		['a refusal', new GatewayError('rejected', 'x')],
		['an order that was held back', new GatewayError('notSubmitted', 'x')],
	])('Retry On Fail submits a stored order that was never accepted after %s', (_, error) => {
		const order = neverAccepted();
		expect(taken(order, error)).toBe(true);
		expect(order).toEqual(neverAccepted());
	});

	test('Retry On Fail does nothing about a stored order after a task that would fail again', () => {
		const order = waitingFor();
		expect(taken(order, failsAgain)).toBe(false);
		expect(order.state).toBe('ended');
	});

	test('Retry On Fail does nothing about a failed task that another node has created', () => {
		expect(taken(elsewhere(), taskFailed)).toBe(false);
	});

	test.each([
		['is left alone', false, false],
		['is submitted again with Submit Again', true, true],
	])('Retry On Fail: a stored order whose outcome is unknown %s', (_, submitAgain, expected) => {
		const order = neverAccepted({ request: { ...request, submitAgain } });
		expect(taken(order, new GatewayError('outcomeUnknown', 'x'))).toBe(expected);
	});

	test.each([
		['a task that would fail again', waitingFor(), failsAgain, true],
		['a task that has failed', waitingFor(), taskFailed, false],
		['a file that could not be downloaded', waitingFor(), new GatewayError('download', 'x'), false],
		['an order that was held back', neverAccepted(), new GatewayError('notSubmitted', 'x'), false],
		['an unknown outcome', neverAccepted(), new GatewayError('outcomeUnknown', 'x'), true],
		['a request that would be refused again', neverAccepted(), new GatewayError('rejected', 'x'), true],
		['a request that may not be refused again', neverAccepted(), new GatewayError('unavailable', 'x'), false],
		['a file that can never be downloaded', waitingFor(), new GatewayError('download', 'x', { permanent: true }), true],
		['a task that nobody waits for', waitingFor({ wait: undefined }), new GatewayError('download', 'x'), true],
	])('the error of %s stays, whatever Retry On Fail does', (_, order, error, stays) => {
		expect(staysFailed(order)).toBe(false);
		endBadly(order, error);
		expect(staysFailed(order)).toBe(stays);
		expect(order.state).toBe('ended');
	});

	test('Retry On Fail continues what exists also where nothing is to be submitted', () => {
		const [late, failed, heldBack] = [waitingFor(), waitingFor(), neverAccepted()];
		endBadly(late, new GatewayError('taskTimedOut', 'x'));
		endBadly(failed, taskFailed);
		endBadly(heldBack, new GatewayError('notSubmitted', 'x'));
		const only = { submits: false };
		expect([late, failed, heldBack].map((order) => reopenForRetry(order, only))).toEqual([true, false, false]);
		expect([late, failed, heldBack].map(({ state }) => state)).toEqual(['accepted', 'ended', 'ended']);
	});

	test('the error of an order that has ended well does not stay: there is none', () => {
		const done = waitingFor();
		endWell(done, { json: {} });
		expect(staysFailed(done)).toBe(false);
	});

	test('Retry On Fail leaves an order alone that was stopped before it was submitted', () => {
		const order = neverAccepted();
		expect(taken(order, gatewayError('executionStopped', {}))).toBe(false);
	});

	test('Retry On Fail leaves an order alone that has ended well, that has not ended, or that nobody waits for', () => {
		const done = waitingFor();
		endWell(done, { json: {} });
		const withoutWait = waitingFor({ wait: undefined });
		expect([reopenForRetry(done), reopenForRetry(waitingFor()), taken(withoutWait, download)]).toEqual([
			false,
			false,
			false,
		]);
	});
});

test('an order that a retry replaces was accepted, and its task has failed', () => {
	const [failed, refused, running] = [accepted(), planned(), accepted()];
	endBadly(failed, taskFailed);
	endBadly(refused, new GatewayError('rejected', 'x'));
	expect([failed, refused, running].map((order) => isReplacedByRetry(order))).toEqual([true, false, false]);
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
		['thousands of requests', { batch: { ...batch, requestsPerSecond: 5000 } }],
	])('a stored order that somebody has changed is refused: %s', (_, change) => {
		expect(parseOrder(accepted())).toBeDefined();
		expect(parseOrder({ ...accepted(), ...change })).toBeUndefined();
	});
	test('the end of a stored order is either an output or an error', () => {
		const order = accepted();
		endWell(order, { json: {} });
		const both = { ...order.end, error: { kind: 'rejected', message: 'x', details: {} } };
		expect(parseOrder(order)).toBeDefined();
		expect(parseOrder({ ...order, end: both })).toBeUndefined();
		expect(parseOrder({ ...order, end: { as: 'done' } })).toBeUndefined();
	});
	test('whatever is read as an order, nothing is thrown', () => {
		const property = fc.property(fc.anything(), (value) => parseOrder(value) === undefined);
		fc.assert(property, SAME_IN_PIPELINES);
	});
});

test('a form that lets through what cannot be stored is a mistake of ours, before anything is sent', () => {
	expect(() => planned({ model: 'x'.repeat(1001) })).toThrow();
	expect(() => checkOrder({ ...accepted(), item: 0.5 })).toThrow();
});

describe('an order is read back as it was written', () => {
	const wait = { plan: { kind: 'automatic' as const }, timeoutMs: 1, onTimeout: 'error' as const };
	const result = {
		...{ downloadResult: true, downloadLink: false, outputField: 'data', fileName: '', simplify: true },
		...{ resultPath: '', urlExpected: true, resultNeeded: true, requestUrls: [] as string[] },
	};
	const LONGEST_MS = 30 * 86_400_000;
	const ended = (end: object) => ({ ...accepted(), state: 'ended', end });

	test.each<[string, object]>([
		['of a video', { kind: 'video' }],
		['of a real avatar', { thing: 'asset', kind: 'real' }],
		['of a private avatar', { thing: 'asset', kind: 'private' }],
		['of a token, which has no ID', { thing: 'token', kind: '', task: { taskId: '', elapsedMs: 0 } }],
		['of a verification', { thing: 'verification', kind: '' }],
		['that is being submitted', { state: 'submitting', task: undefined, request }],
		['that is only created', { then: 'nothing' }],
		['that is read once', { then: 'read' }],
		['with the longest scope', { scope: 'x'.repeat(1100) }],
		['with a fixed interval', { wait: { ...wait, plan: { kind: 'fixed', intervalMs: 1_000 } } }],
		['with the longest interval', { wait: { ...wait, plan: { kind: 'fixed', intervalMs: LONGEST_MS } } }],
		['that returns what has not finished', { wait: { ...wait, timeoutMs: LONGEST_MS, onTimeout: 'return' } }],
		['with a poll', { wait: { ...wait, polls: [{ atMs: 1, progress: 5, failed: true }] } }],
		['with one request per second', { batch: { ...batch, requestsPerSecond: 1 } }],
		['with a thousand requests per second', { batch: { ...batch, requestsPerSecond: 1_000 } }],
		['with options of its result', { result }],
		[
			'with the longest options of its result',
			{
				result: {
					...result,
					outputField: 'x'.repeat(200),
					fileName: 'x'.repeat(300),
					resultPath: 'x'.repeat(1000),
					requestUrls: Array(2000).fill('u'),
				},
			},
		],
	])('an order %s is read back as it was written', (_, more) => {
		const order = JSON.parse(JSON.stringify({ ...accepted(), ...more })) as Order;
		expect(parseOrder(order)).toEqual(order);
	});

	test('a planned order is read back with its request', () => {
		expect(throughTheDatabase(planned())).toEqual(planned());
	});

	test.each<[string, object]>([
		['with files', { as: 'done', output: { json: { a: 1 }, binary: { data: { id: 'x' } } } }],
		['with fifty hints', { as: 'done', output: { json: {} }, hints: Array(50).fill('x') }],
		['with an error', { as: 'failed', error: { kind: 'download', message: 'x', details: {} } }],
	])('an order that has ended %s is read back as it was written', (_, end) => {
		expect(parseOrder(ended(end))).toEqual(ended(end));
	});

	test.each<[string, object]>([
		['without an output', { as: 'done', output: {} }],
		['with files that are none', { as: 'done', output: { json: {}, binary: 'x' } }],
		['with more than fifty hints', { as: 'done', output: { json: {} }, hints: Array(51).fill('x') }],
		['with an error that is none', { as: 'failed', error: null }],
		['with an error without a kind', { as: 'failed', error: { message: 'x', details: {} } }],
		['with an error without words', { as: 'failed', error: { kind: 'download', details: {} } }],
		['with an error without details', { as: 'failed', error: { kind: 'download', message: 'x' } }],
	])('an order that has ended %s is not read', (_, end) => {
		expect(parseOrder(ended(end))).toBeUndefined();
	});

	test.each<[string, object]>([
		['of a task without an ID', { task: { taskId: '', elapsedMs: 0 } }],
		['of a task that is neither image nor video', { kind: 'real' }],
		['with a request without a body', { request: { hash: 'h', submitAgain: false } }],
		['with a longer scope', { scope: 'x'.repeat(1101) }],
		['with a longer interval', { wait: { ...wait, plan: { kind: 'fixed', intervalMs: LONGEST_MS + 1 } } }],
		['with less than a request per second', { batch: { ...batch, requestsPerSecond: 0.5 } }],
		['with options of a result that nobody wants', { result: {} }],
		['with a longer field', { result: { ...result, outputField: 'x'.repeat(201) } }],
		['with a longer name', { result: { ...result, fileName: 'x'.repeat(301) } }],
		['with a longer path', { result: { ...result, resultPath: 'x'.repeat(1001) } }],
		['with more URLs', { result: { ...result, requestUrls: Array(2001).fill('u') } }],
	])('an order %s is not read', (_, more) => {
		expect(parseOrder({ ...accepted(), ...more })).toBeUndefined();
	});

	test('polls that no plan needs are left out of an order that is read back', () => {
		const polls = Array.from({ length: MAX_POLLS + 1 }, (_, atMs) => ({ atMs }));
		expect(parseOrder({ ...accepted(), wait: { ...wait, polls } })?.wait).toEqual(wait);
	});
});

test.each<[string, object]>([
	['model: String must contain at most', { model: 'x'.repeat(1001) }],
	['wait.timeoutMs: ', { wait: { plan: { kind: 'automatic' }, timeoutMs: -1, onTimeout: 'error' } }],
	['an end is what ended orders have', { state: 'ended' }],
	['an order to submit has a request', { state: 'planned' }],
	['an accepted order has an ID', { task: undefined }],
	['a task has a kind', { kind: '' }],
])('an order that cannot be stored says why: %s', (words, change) => {
	const check = () => checkOrder({ ...accepted(), ...change } as Order);
	expect(check).toThrow(words);
	expect(check).toThrow(expect.objectContaining({ kind: 'ownMistake' }) as Error);
});

test('an order that has not ended has no error', () => {
	expect(errorOf(accepted())).toBeUndefined();
});

test('an order that ends badly without hints has none', () => {
	const order = accepted();
	endBadly(order, new Error());
	expect(order.end).not.toHaveProperty('hints');
});

test('an order that is being submitted may end', () => {
	const order = planned();
	beginSubmitting(order);
	endBadly(order, new GatewayError('outcomeUnknown', 'x'));
	expect(order.end?.as).toBe('outcomeUnknown');
});
