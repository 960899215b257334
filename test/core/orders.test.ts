/** An order is plain data: it is read back as it was written, a state follows only where it may, a retry goes by its end. */
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
	errorOf,
	makeOrder,
	reopenForRetry,
	retryOf,
	staysFailed,
} from '../../core/orders/states';
import { readPropertySettings } from '../support/propertySettings.mts';
import { parseOrder } from './support';

const { seed, runs = 200, path } = readPropertySettings('orders');

const task = { taskId: 'task-1', status: 'queued', elapsedMs: 0 };
const request = { body: { prompt: 'a cat' }, hash: 'h', submitAgain: false };
const wait = { plan: { kind: 'automatic' as const }, timeoutMs: 1, onTimeout: 'error' as const };
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

describe('the states of an order', () => {
	test('an accepted order has its ID and time, and its prompt is gone', () => {
		const order = accepted();
		expect(order).toMatchObject({ state: 'accepted', task, acceptedAtMs: 5 });
		expect(JSON.stringify(order)).not.toContain('a cat');
	});

	test('an order that is being sent, or is accepted, is not sent a second time', () => {
		const order = planned();
		beginSubmitting(order);
		expect(() => beginSubmitting(order)).toThrow(/submitting cannot become submitting/);
		expect(() => beginSubmitting(accepted())).toThrow(/accepted cannot become/);
		expect(() => accept(accepted(), task, 5)).toThrow(/accepted cannot become/);
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

	test.each<[string, Parameters<typeof retryOf>[0], string, string]>([
		['a success', ended('done'), 'continues', 'continues'],
		['a refusal', ended('refused', notFound), 'submits', 'submits'],
		['an order that was held back', ended('notSubmitted'), 'submits', 'submits'],
		['an unknown outcome', ended('outcomeUnknown'), 'refuses', 'submits'],
		['a task that has failed', ended('failed', taskFailed), 'submits', 'submits'],
		['a task that would fail again', ended('failed', failsAgain), 'endsAgain', 'endsAgain'],
		['a task that is not known any more', ended('failed', notFound), 'continues', 'continues'],
		['a task that is not shown', ended('failed', new GatewayError('notShown', 'x')), 'continues', 'continues'],
		['a file that could not be downloaded', ended('failed', lostFile), 'continues', 'continues'],
		['a failure without an error', ended('failed'), 'continues', 'continues'],
		['a timeout', ended('timedOut'), 'continues', 'continues'],
		['a stop', ended('stopped'), 'continues', 'continues'],
	])('a retry after %s does what this end asks for, without and with Submit Again', (_, end, without, withIt) => {
		expect([retryOf(end, { submitAgain: false }), retryOf(end, { submitAgain: true })]).toEqual([without, withIt]);
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
});

describe('Retry On Fail of an order that waits in the database', () => {
	const onFail = { ...batch, retry: { tries: 3, pauseMs: 0, tried: 1 } };
	const waitingFor = (more: Partial<OrderDraft> = {}) =>
		accepted({
			wait: { ...wait, startedAtMs: 5, dueAtMs: 6, polls: [{ atMs: 1 }], contradictedSinceMs: 9 },
			...{ request: { ...request }, batch: onFail, ...more },
		});
	const elsewhere = () => makeOrder({ item: 0, thing: 'task', kind: 'image', then: 'poll', task, wait, batch: onFail });
	const neverAccepted = (more: Partial<OrderDraft> = {}) =>
		planned({ wait: { ...wait }, request: { ...request }, batch: onFail, ...more });

	test.each<[string, 'continues' | 'submits' | 'does nothing', Order, GatewayError]>([
		['a file that could not be downloaded', 'continues', waitingFor(), download],
		['a task that is not known any more', 'continues', waitingFor(), notFound],
		['a timeout', 'continues', waitingFor(), new GatewayError('taskTimedOut', 'x')],
		['an undelivered task that another node has created', 'continues', elsewhere(), download],
		['a task that has failed', 'submits', waitingFor(), taskFailed],
		['a refusal', 'submits', neverAccepted(), rejected],
		['an order that was held back', 'submits', neverAccepted(), heldBack],
		[
			'an unknown outcome with Submit Again',
			'submits',
			neverAccepted({ request: { ...request, submitAgain: true } }),
			unknown,
		],
		['an unknown outcome', 'does nothing', neverAccepted(), unknown],
		['a task that would fail again', 'does nothing', waitingFor(), failsAgain],
		['a failed task that another node has created', 'does nothing', elsewhere(), taskFailed],
		['a stop before the submission', 'does nothing', neverAccepted(), gatewayError('executionStopped', {})],
		['a task that is not waited for', 'does nothing', waitingFor({ wait: undefined }), download],
	])('after %s, Retry On Fail of a stored order %s', (_, expected, order, error) => {
		endBadly(order, error);
		expect(reopenForRetry(order)).toBe(expected !== 'does nothing');
		expect(order.state).toBe({ continues: 'accepted', submits: 'planned', 'does nothing': 'ended' }[expected]);
	});

	test('Retry On Fail continues a task with its ID, its polls, the whole timeout and a new grace period', () => {
		const order = waitingFor();
		endBadly(order, download);
		reopenForRetry(order);
		expect(order).toMatchObject({ task, acceptedAtMs: 5 });
		expect(order).not.toHaveProperty('end');
		expect(order.wait).toEqual({ ...wait, polls: [{ atMs: 1 }] });
	});

	test('Retry On Fail submits an order in the place of a failed task as it was at first, but keeps the ID', () => {
		const order = waitingFor();
		Object.assign(order, { reused: true, purchase: { attempt: 'a', hash: 'h' }, earlierTaskIds: ['task-0'] });
		Object.assign(order.request ?? {}, { wave: 3 });
		endBadly(order, taskFailed);
		reopenForRetry(order);
		expect(order).toEqual(neverAccepted({ earlierTaskIds: ['task-0', 'task-1'] }));
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

	test.each(['fromAnotherVersion', 'toString', ...Object.keys(REASONS)])(
		'an error with the reason %s, but without its data, is told as well as it can be',
		(name) => {
			const order = accepted();
			endBadly(order, new GatewayError('notFound', 'x', { reason: { name, data: {} } as never, httpStatus: 404 }));
			const read = errorOf(throughTheDatabase(order) as Order) as GatewayError;
			expect(describeError(read)).toContain('The server answered 404.');
		},
	);
});

describe('an order in the database', () => {
	/** Absent, or one of these. */
	const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
	const ms = fc.nat(8_640_000_000);
	const text = (length: number) => fc.string({ minLength: 1, maxLength: length });
	const json = fc.dictionary(
		text(9).filter((name) => name !== '__proto__'),
		fc.jsonValue({ maxDepth: 1 }),
	);
	const ids = (most: number) => fc.array(text(30), { maxLength: most });
	const made = fc.record({
		version: fc.constant(1),
		item: fc.nat(),
		thing: fc.constantFrom('task', 'asset', 'group', 'verification'),
		kind: fc.constantFrom('image', 'video'),
		then: fc.constantFrom('nothing', 'read', 'poll'),
		...{ model: maybe(text(1000)), scope: maybe(text(1100)), about: maybe(json), input: maybe(json) },
		request: fc.record({
			...{ body: json, hash: text(64), submitAgain: fc.boolean(), wave: maybe(fc.nat(1_000_000)) },
			files: maybe(fc.constant({ 'file 1': { id: 'f', fileName: 'a.png', mimeType: 'image/png' } })),
			...{ uploads: maybe(ids(4)), maybeSent: maybe(fc.boolean()), keyHash: maybe(text(64)) },
		}),
		task: fc.record({
			...{
				taskId: text(1000),
				status: maybe(text(201)),
				progress: maybe(fc.nat(100)),
				elapsedMs: ms,
				urls: maybe(ids(4)),
			},
		}),
		...{ earlierTaskIds: maybe(ids(5)), acceptedAtMs: maybe(ms), reused: maybe(fc.boolean()) },
		purchase: maybe(fc.record({ attempt: text(200), hash: text(64), keyHash: maybe(text(64)) })),
		wait: maybe(
			fc.record({
				plan: fc.oneof(
					fc.constant({ kind: 'automatic' }),
					fc.record({ kind: fc.constant('fixed'), intervalMs: fc.integer({ min: 1000, max: 30 * 86_400_000 }) }),
				),
				...{ timeoutMs: fc.nat(30 * 86_400_000), onTimeout: fc.constantFrom('error', 'return') },
				...{ wantedAtMs: maybe(ms), startedAtMs: maybe(ms), notBeforeMs: maybe(ms), contradictedSinceMs: maybe(ms) },
				polls: maybe(
					fc.array(fc.record({ atMs: ms, progress: maybe(fc.nat(100)), failed: maybe(fc.boolean()) }), {
						maxLength: 9,
					}),
				),
				sameAnswer: maybe(fc.record({ sinceMs: ms, polls: fc.nat(), words: text(30) })),
				...{ graceMs: maybe(fc.nat(86_400_000)), otherIds: maybe(ids(3)), dueAtMs: maybe(ms) },
			}),
		),
		batch: maybe(
			fc.record({
				...{
					name: text(30),
					places: fc.integer({ min: 1, max: 50 }),
					requestsPerSecond: fc.integer({ min: 1, max: 1000 }),
				},
				...{
					stopsAtError: fc.boolean(),
					waves: fc.nat(1_000_000),
					inDoubt: maybe(fc.nat(1000)),
					isTakenOver: maybe(fc.boolean()),
				},
				retry: maybe(fc.record({ tries: fc.integer({ min: 2, max: 5 }), pauseMs: fc.nat(5000), tried: fc.nat(5) })),
				credits: maybe(fc.record({ usedBefore: fc.nat(), shared: fc.boolean(), models: maybe(text(200)) })),
			}),
		),
		result: maybe(
			fc.record({
				...{ downloadResult: fc.boolean(), downloadLink: fc.boolean(), outputField: text(200), fileName: text(300) },
				...{ simplify: fc.boolean(), resultPath: text(1000), urlExpected: fc.boolean(), resultNeeded: fc.boolean() },
				requestUrls: ids(4),
			}),
		),
		state: fc.oneof(
			fc.constantFrom('planned', 'submitting', 'accepted').map((state) => ({ state })),
			fc.record({ json, binary: maybe(json) }).map((output) => ({ state: 'ended', end: { as: 'done', output } })),
		),
	});

	test('an order is read back from the database as it was written', () => {
		fc.assert(
			fc.property(made, ({ state, ...order }) => {
				const stored = JSON.parse(JSON.stringify({ ...order, ...state })) as Order;
				expect(parseOrder(stored)).toEqual(stored);
			}),
			{ seed, path, numRuns: runs },
		);
	});

	test.each<[string, object]>([
		['another version', { version: 2 }],
		['no version', { version: undefined }],
		['another thing', { thing: 'castle' }],
		['a kind that is no medium', { kind: 'real' }],
		['an end of a running order', { end: { as: 'done', output: { json: {} } } }],
		['no end of an ended one', { state: 'ended' }],
		[
			'an end that is both output and error',
			{
				state: 'ended',
				end: { as: 'done', output: { json: {} }, error: { kind: 'rejected', message: 'x', details: {} } },
			},
		],
		['an error without words', { state: 'ended', end: { as: 'failed', error: { kind: 'download', details: {} } } }],
		[
			'a reason without data',
			{
				state: 'ended',
				end: { as: 'failed', error: { kind: 'download', message: 'x', details: { reason: { name: 'timedOut' } } } },
			},
		],
		['no ID', { task: undefined }],
		['an empty ID', { task: { ...task, taskId: '' } }],
		['a long ID', { task: { ...task, taskId: 'x'.repeat(1001) } }],
		['planned without a request', { state: 'planned' }],
		['a request without a body', { request: { hash: 'h', submitAgain: false } }],
		['thousands of uploads', { request: { ...request, uploads: Array(1001).fill('u') } }],
		['a negative item', { item: -1 }],
		['a time before all times', { acceptedAtMs: -1 }],
		['a poll each millisecond', { wait: { ...wait, plan: { kind: 'fixed', intervalMs: 1 } } }],
		['a wait of years', { wait: { ...wait, timeoutMs: 1e12 } }],
		['thousands of requests', { batch: { ...batch, requestsPerSecond: 5000 } }],
		['six tries', { batch: { ...batch, retry: { tries: 6, pauseMs: 0, tried: 1 } } }],
	])('a stored order that a person has changed is refused: %s', (_, change) => {
		expect(parseOrder(accepted())).toBeDefined();
		expect(parseOrder({ ...accepted(), ...change })).toBeUndefined();
	});

	test('a form that lets through what cannot be stored is a mistake of ours, before anything is sent', () => {
		const check = () => checkOrder({ ...accepted(), model: 'x'.repeat(1001) });
		expect(check).toThrow('model: String must contain at most');
		expect(check).toThrow(expect.objectContaining({ kind: 'ownMistake' }) as Error);
	});
});
