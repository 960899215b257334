/** The sending of requests: what is sent once only, what is sent again and when, and what ends it. */
import { GatewayError, type GatewayErrorKind } from '../../core/errors';
import { encodeId, GatewayRequests, type RequestContext } from '../../core/http/requests';
import { parseBody } from '../../core/http/answers';
import { AccountPace } from '../../core/account/pace';
import {
	ConnectionError,
	NO_ROOM,
	TOO_LARGE,
	type CreateAttempt,
	type HttpRequest,
	type HttpResponse,
} from '../../core/http/types';
import { readSettings } from '../../nodes/connection/settings';
import { fakeClock, HTML, json } from './support';

type Answer = HttpResponse | Error;

const BASE_URL = 'https://gateway.example/base';

/** Requests to a service that gives these answers in turn, the last one again and again. `pace` is what happens to the batch. */
function service(answers: Answer[], context: Partial<RequestContext> = {}) {
	const clock = fakeClock();
	const sent: HttpRequest[] = [];
	const limiter = new AccountPace(1000, clock).ofRun();
	const pace: string[] = [];
	const { holdBack, recover } = limiter;
	limiter.holdBack = (delayMs) => (pace.push(`hold back ${delayMs}`), holdBack.call(limiter, delayMs));
	limiter.recover = () => (pace.push('recover'), recover.call(limiter));
	const requests = new GatewayRequests({
		clock,
		pace: limiter,
		settings: readSettings({ baseUrl: BASE_URL }),
		send: async (request) => {
			sent.push(request);
			const answer = answers[Math.min(sent.length, answers.length) - 1];
			if (answer instanceof Error) throw answer;
			return answer;
		},
		...context,
	});
	return { requests, clock, sent, pace, pausesMs: () => clock.slept.filter((ms) => ms > 5) };
}

const failure = async (work: Promise<unknown>) =>
	await work.then(
		() => undefined,
		(error: GatewayError) => error,
	);
const done = json(200, { id: 'task-1' });
const cutOff = (status: number, body: string, by: string): Answer => ({ ...json(status, body), cutOff: by });
const mistake = new TypeError('x');

/** A creating request, with its result or the parts of its error. */
async function create(answers: Answer[], attempt: CreateAttempt = {}, context: Partial<RequestContext> = {}) {
	const used = service(answers, context);
	const parse = (_: unknown, { text }: HttpResponse) => {
		const [id] = /task-\d+/.exec(text) ?? [];
		return id === undefined ? undefined : { id };
	};
	const order = { path: '/v1/things', body: { a: 1 }, thing: 'task' as const, parse, wanted: 'a task ID', attempt };
	const outcome = await used.requests.create(order).catch((error: GatewayError) => error);
	const error = outcome instanceof GatewayError ? outcome : undefined;
	const { kind, details } = error ?? {};
	const what = (details?.reason?.data as { what?: string } | undefined)?.what;
	return { ...used, id: outcome instanceof GatewayError ? undefined : outcome.id, kind, details, what };
}

describe('a creating request', () => {
	test('is a POST that may take two minutes and is not cut off by a stop', async () => {
		const { id, sent } = await create([done]);
		expect(id).toBe('task-1');
		expect(sent).toEqual([
			{ method: 'POST', url: `${BASE_URL}/v1/things`, body: { a: 1 }, timeoutMs: 120_000, mustFinish: true },
		]);
	});

	const BROKEN = 'The request was sent, but no complete answer came';
	const LARGE = 'The answer from the service was too large, and was cut off';
	test.each<[string, Answer, string, object]>([
		['no answer', new ConnectionError('ECONNRESET'), `${BROKEN} (ECONNRESET)`, {}],
		['a mistake of our own', mistake, `${BROKEN} (UNKNOWN)`, { cause: mistake }],
		['a proxy', json(504, HTML), 'The service answered with HTTP 504', { httpStatus: 504 }],
		[
			'an inner fault',
			json(500, { error: { code: 'internal_error', message: 'w' } }),
			'The service answered with HTTP 500',
			{ httpStatus: 500, serviceMessage: 'w', serviceCode: 'internal_error' },
		],
		[
			'nothing of use',
			json(200, { message: 'w' }),
			'The service answered the request without a task ID',
			{ httpStatus: 200, serviceMessage: '{"message":"w"}' },
		],
		[
			'a no after which something may have been created',
			json(200, { success: false, message: 'Failed to get user quota' }),
			'The service answered with HTTP 200',
			{ serviceMessage: 'Failed to get user quota' },
		],
		...['upstream request timed out', 'socket hang up'].map((words): [string, Answer, string, object] => [
			`a no in the words of what stands in front of another service: ${words}`,
			json(200, { success: false, message: words, code: 500 }),
			'The service answered with HTTP 200',
			{ httpStatus: 200, serviceMessage: words },
		]),
		[
			'a no with a code that gives no reason',
			json(200, { success: false, code: 'internal_error', message: 'read ECONNRESET' }),
			'The service answered with HTTP 200',
			{ serviceMessage: 'read ECONNRESET', serviceCode: 'internal_error' },
		],
		['half an answer', cutOff(200, '{"na', 'ECONNRESET'), `${BROKEN} (ECONNRESET)`, {}],
		['too much', cutOff(200, '{"na', TOO_LARGE), LARGE, {}],
	])('that gets %s may have been accepted, and is not sent again', async (_, answer, words, more) => {
		const { kind, what, details, sent, pausesMs } = await create([answer, done]);
		expect([kind, what, sent.length, pausesMs()]).toEqual(['outcomeUnknown', words, 1, []]);
		expect(details).toMatchObject(more);
	});

	test.each<[string, Answer, GatewayErrorKind]>([
		['a refusal', json(400, { message: 'w' }), 'rejected'],
		['429 for credits that are used up', json(429, { error: { code: 'insufficient_quota' } }), 'balance'],
		['a redirect', json(302, '', { location: 'https://other.example/?key=1' }), 'unexpectedAnswer'],
		['a no with 200', json(200, { success: false, message: 'w', id: 'task-1' }), 'rejected'],
		[
			'a no about an input that cannot be fetched',
			json(200, { success: false, message: 'Failed to download image: timeout' }),
			'rejected',
		],
		[
			'a no before another service is reached',
			json(200, { success: false, message: 'connect ECONNREFUSED' }),
			'rejected',
		],
		...(
			[
				['insufficient_quota', 'balance'],
				['content_policy_violation', 'contentPolicy'],
				['invalid_request', 'rejected'],
				['rate_limit_exceeded', 'rateLimited'],
			] as const
		).map(([code, kind]): [string, Answer, GatewayErrorKind] => [
			`a no with the code ${code}, whatever its words`,
			json(200, { success: false, code, message: 'The timeout is over' }),
			kind,
		]),
		['a refused certificate', new ConnectionError('CERT_HAS_EXPIRED'), 'unreachable'],
	])('that gets %s was surely not accepted, and ends', async (_, answer, expected) => {
		const { kind, sent } = await create([answer, done]);
		expect([kind, sent.length]).toEqual([expected, 1]);
	});

	test('finds the ID in the part of an answer that has come', async () => {
		expect((await create([cutOff(200, '{"id":"task-7","na', TOO_LARGE)])).id).toBe('task-7');
	});

	test('whose answer we cannot read has an unknown outcome, with our mistake as the cause', async () => {
		const { requests } = service([done]);
		const order = { path: '/x', body: {}, thing: 'task' as const, wanted: 'a task ID' };
		const parse = () => {
			throw mistake;
		};
		expect(await failure(requests.create({ ...order, parse }))).toMatchObject({
			kind: 'outcomeUnknown',
			details: { reason: { data: { what: 'The service answered, but the answer could not be read' } }, cause: mistake },
		});
	});

	const asks = (status: number, retryAfter: string) =>
		json(status, { error: {} }, retryAfter === '' ? {} : { 'retry-after': retryAfter });
	test.each<[string, Answer, GatewayErrorKind, object, number | undefined]>([
		['no connection', new ConnectionError('ECONNREFUSED'), 'unreachable', { isConnection: true }, undefined],
		['429', asks(429, ''), 'rateLimited', { isConnection: false }, undefined],
		['503 of the service', asks(503, ''), 'unavailable', { isConnection: false }, undefined],
		['Retry-After: 7', asks(429, '7'), 'rateLimited', { isConnection: false }, 7_000],
	])('after %s may be sent again: it is up to the code that buys', async (_, answer, expected, again, retryAfterMs) => {
		const { kind, details, sent } = await create([answer, done]);
		expect([kind, sent.length, details?.again, details?.retryAfterMs]).toEqual([expected, 1, again, retryAfterMs]);
	});

	test('is not sent where a pause moves its turn further away than it can wait', async () => {
		const { requests, sent } = service([done]);
		requests.context.pace.holdBack(7_000);
		const order = { path: '/x', body: {}, thing: 'task' as const, parse: () => ({ id: 'it' }), wanted: '' };
		const error = await failure(requests.create({ ...order, attempt: { turnWithinMs: 500 } }));
		expect([error?.kind, sent]).toEqual(['stopped', []]);
		expect(error?.details.again?.lateByMs).toBeCloseTo(6_500, -2);
	});

	test.each<[string, Answer, string[]]>([
		['an answer is one', done, ['recover']],
		['a refusal is one', json(400, { message: 'w' }), ['recover']],
		['503 is about this request only', asks(503, ''), []],
		['no answer says nothing', new ConnectionError('ECONNRESET'), []],
	])('sets the pace of its batch: %s', async (_, answer, pace) => {
		expect((await create([answer, done])).pace).toEqual(pace);
	});

	test('a stop while the answer to it is on its way does not lose the answer', async () => {
		const stop = new AbortController();
		const send = async () => await Promise.resolve(stop.abort()).then(() => done);
		expect((await create([], {}, { signal: stop.signal, send })).id).toBe('task-1');
	});
});

describe('a read', () => {
	const get = async (answers: Answer[], context: Partial<RequestContext> = {}) => {
		const used = service(answers, context);
		return { ...used, error: await failure(used.requests.get('/v1/things', { query: { a: 'b' } })) };
	};

	test('is a GET that may take half a minute', async () => {
		const { sent, pace } = await get([done]);
		expect(sent).toEqual([{ method: 'GET', url: `${BASE_URL}/v1/things`, query: { a: 'b' }, timeoutMs: 30_000 }]);
		expect(pace).toEqual(['recover']);
	});

	const UNREACHABLE = { name: 'serviceUnreachable', data: { host: 'gateway.example', code: 'ECONNRESET' } };
	test.each<[string, Answer, object]>([
		['no connection', new ConnectionError('ECONNRESET'), UNREACHABLE],
		['half an answer', cutOff(200, '', 'ECONNRESET'), UNREACHABLE],
		['too much', cutOff(200, '', TOO_LARGE), { name: 'answerTooLarge' }],
		['too much at the same time', cutOff(200, '', NO_ROOM), { name: 'tooManyLargeAnswers' }],
		['a mistake of our own', mistake, { name: 'packageBug' }],
	])('that gets %s says so', async (_, answer, reason) => {
		const { error } = await get([answer]);
		expect(error?.details.reason).toMatchObject(reason);
	});

	const asks = (retryAfter: string) => json(503, {}, { 'retry-after': retryAfter });
	const NO = json(200, { success: false, message: 'w' });
	test.each<[string, Answer[], unknown, number[]]>([
		[
			'trouble that passes',
			[json(502, HTML), new ConnectionError('ECONNRESET'), json(200, HTML), json(200, [1])],
			[1],
			[750, 1_500, 3_000],
		],
		['Retry-After: 0', [asks('0'), done], { id: 'task-1' }, [500]],
		['Retry-After: 30', [asks('30'), done], { id: 'task-1' }, [30_000]],
		['Retry-After: 31', [asks('31'), done], 'unavailable', []],
		['no from the service', [NO], 'rejected', [750, 1_500, 3_000]],
		['no JSON', [json(200, HTML)], 'unexpectedAnswer', [750, 1_500, 3_000]],
		['trouble that does not pass', [json(503, HTML)], 'unavailable', [750, 1_500, 3_000]],
	])('is tried four times where that may help: %s', async (_, answers, expected, pauses) => {
		const { requests, sent, pausesMs } = service(answers);
		const outcome = await requests
			.withRetries(async () => parseBody(await requests.get('/v1/things')))
			.catch((error: GatewayError) => error.kind);
		expect([outcome, sent.length, pausesMs()]).toEqual([expected, pauses.length + 1, pauses]);
	});
});

test.each([
	['...', '...'],
	['.a', '.a'],
	['a/../b', 'a%2F..%2Fb'],
	['a b $&', 'a%20b%20%24%26'],
	['\ud83d\ude00', '%F0%9F%98%80'],
])('the ID %j is sent as %s', (id, encoded) => {
	expect(encodeId(id)).toBe(encoded);
});

test.each(['', '.', '..', 'a\ud800', '\udc00'])('%j is no ID: it would lead elsewhere, or cannot be sent', (id) => {
	const message = `An ID cannot be "${id}"`;
	expect(() => encodeId(id)).toThrow(expect.objectContaining({ kind: 'badInput', message }));
});

describe('a credential that a person changes meanwhile', () => {
	const other = () => {
		const by: string[] = [];
		const renewed = {
			send: async ({ url }: HttpRequest) => {
				by.push(url);
				return await Promise.resolve(done);
			},
			pace: new AccountPace(1000, fakeClock()).ofRun(),
			settings: readSettings({ baseUrl: 'https://mended.example' }),
		};
		return { by, renewed };
	};

	test.each<[string, Answer, boolean]>([
		[
			'a refused key is replaced, and the request is sent again',
			json(401, { error: { message: 'Invalid key' } }),
			true,
		],
		['no connection: the address is corrected', new ConnectionError('ECONNREFUSED'), true],
		['the account is empty: no other key is asked for money', json(402, {}), false],
		['it may have been accepted', new ConnectionError('ECONNRESET'), false],
	])('a creating request: %s', async (_, answer, isSentAgain) => {
		const { by, renewed } = other();
		const { requests, details, kind } = await create(
			[answer],
			{},
			{ renew: async () => await Promise.resolve(renewed) },
		);
		expect([kind === undefined, details?.again !== undefined]).toEqual([false, isSentAgain]);
		if (isSentAgain) await requests.get('/v1/a');
		expect(by).toEqual(isSentAgain ? ['https://mended.example/v1/a'] : []);
	});

	test('no other key goes to the address of the old one: a request that waits for its turn has both of one credential', async () => {
		const { by, renewed } = other();
		const { requests, sent } = service([json(401, { error: { message: 'Invalid key' } })], {
			renew: async () => await Promise.resolve(renewed),
		});
		const outcomes = await Promise.allSettled([requests.get('/v1/a'), requests.get('/v1/b')].map(failure));
		expect(outcomes).toHaveLength(2);
		const { send } = requests.context;
		const waiting = failure(requests.get('/v1/c'));
		await requests.renews(new GatewayError('authentication', 'Invalid key'), send);
		await waiting;
		expect([sent.map(({ url }) => url), by]).toEqual([['a', 'b', 'c'].map((id) => `${BASE_URL}/v1/${id}`), []]);
	});

	test('a refusal is the end where it has not changed', async () => {
		const renew = async () => await Promise.resolve(undefined);
		const { details } = await create([json(401, { error: { message: 'Invalid key' } })], {}, { renew });
		expect(details?.again).toBeUndefined();
	});
});
