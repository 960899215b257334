/** Sending requests: the tries, what ends them, and the errors. */
import type { GatewayError } from '../../core/errors';
import { encodeId, GatewayRequests, type RequestContext } from '../../core/http/requests';
import { RequestLimiter } from '../../core/http/requestLimiter';
import { ConnectionError, NotSentError, TOO_LARGE, type HttpRequest, type HttpResponse } from '../../core/http/types';
import { readSettings } from '../../nodes/connection/settings';
import { fakeClock, HTML, json, trouble } from './support';

type Answer = HttpResponse | Error;

/** Requests to a service that gives these answers in turn, the last one again and again. */
function service(answers: Answer[], context: Partial<RequestContext> = {}) {
	const clock = fakeClock();
	const sent: HttpRequest[] = [];
	const limiter = new RequestLimiter(1000, clock);
	const pace: string[] = [];
	const { holdBack, recover } = limiter;
	limiter.holdBack = (delayMs) => (pace.push(`hold back ${delayMs}`), holdBack.call(limiter, delayMs));
	limiter.recover = () => (pace.push('recover'), recover.call(limiter));
	const requests = new GatewayRequests({
		clock,
		limiter,
		settings: readSettings({ baseUrl: 'https://gateway.example/base' }),
		send: async (request) => {
			sent.push(request);
			const answer = answers[Math.min(sent.length, answers.length) - 1];
			if (answer instanceof Error) throw answer;
			return answer;
		},
		...context,
	});
	return { requests, clock, sent, pace, waited: () => clock.slept.filter((ms) => ms > 5) };
}

const done = json(200, { id: 'task-1' });
const parse = ({ text }: HttpResponse) => /task-\d+/.exec(text)?.[0];
const order = { path: '/v1/things', body: { a: 1 }, thing: 'task' as const, parse, wanted: 'a task ID' };
const failure = async (work: Promise<unknown>) =>
	await work.then(
		() => undefined,
		(error: GatewayError) => error,
	);
/** The details of the error of a creating request. */
const create = async (answers: Answer[], context: Partial<RequestContext> = {}) => {
	const used = service(answers, context);
	const outcome = await used.requests.create(order).catch((error: GatewayError) => error);
	const { kind, details } = typeof outcome === 'string' ? {} : outcome;
	return { ...used, outcome, kind, details, what: (details?.reason?.data as { what?: string } | undefined)?.what };
};

describe('a creating request', () => {
	test('a creating request is a POST that may take two minutes and is not cut off by a stop', async () => {
		const { requests, sent } = service([done]);
		expect(await requests.create(order)).toBe('task-1');
		expect(sent).toEqual([
			{
				method: 'POST',
				url: 'https://gateway.example/base/v1/things',
				body: { a: 1 },
				timeoutMs: 120_000,
				mustFinish: true,
			},
		]);
		expect(requests.sent).toBe(1);
	});

	test.each<[string, Answer, string, object]>([
		[
			'no answer',
			new ConnectionError('ECONNRESET'),
			'The request was sent, but no complete answer came (ECONNRESET)',
			{ httpStatus: undefined },
		],
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
			'half an answer',
			{ ...json(200, '{"na'), cutOff: 'ECONNRESET' },
			'The request was sent, but no complete answer came (ECONNRESET)',
			{},
		],
		[
			'too much',
			{ ...json(200, '{"na'), cutOff: TOO_LARGE },
			'The answer from the service was too large, and was cut off',
			{},
		],
		[
			'half a refusal',
			{ ...json(429, '{"na'), cutOff: 'ECONNRESET' },
			'The request was sent, but no complete answer came (ECONNRESET)',
			{},
		],
		[
			'half a redirect',
			{ ...json(300, ''), cutOff: TOO_LARGE },
			'The answer from the service was too large, and was cut off',
			{},
		],
	])(
		'a creating request that gets %s is not known to be accepted, and is not sent again',
		async (_, answer, words, more) => {
			const { kind, what, details, sent, waited } = await create([answer, done]);
			expect([kind, what]).toEqual(['outcomeUnknown', words]);
			expect(details).toMatchObject({ ...more, reason: { data: { thing: 'task' } } });
			expect([sent.length, waited()]).toEqual([1, []]);
		},
	);

	test.each([303, 408, 500, 502, 504])(
		'a creating request that gets %d may have been accepted, although the words are about credits',
		async (status) => {
			const { kind, what, sent } = await create([json(status, { error: { code: 'insufficient_quota' } }), done]);
			expect([kind, what, sent.length]).toEqual(['outcomeUnknown', `The service answered with HTTP ${status}`, 1]);
		},
	);

	test.each([
		{ success: false, message: 'w' },
		{ success: false, message: 'w', id: 'task-1' },
	])('a creating request that is answered with a no was not accepted: %j', async (body) => {
		const { kind, details, sent } = await create([json(200, body), done]);
		expect([kind, details?.serviceMessage, sent.length]).toEqual(['rejected', 'w', 1]);
	});

	test('a no that came as a success, with words after which something may have been created, leaves that open', async () => {
		const { kind, what, details, sent } = await create([
			json(200, { success: false, message: 'Failed to get user quota' }),
		]);
		expect([kind, what, sent.length]).toEqual(['outcomeUnknown', 'The service answered with HTTP 200', 1]);
		expect(details).toMatchObject({ httpStatus: 200, serviceMessage: 'Failed to get user quota' });
		const own = await create([json(200, { success: false, message: '生成令牌失败' })]);
		expect([own.kind, own.details?.reason?.name, own.sent.length]).toEqual(['outcomeUnknown', 'tokenNotCreated', 1]);
	});

	test('a creating request whose sending makes us stumble is not known to be accepted', async () => {
		const mistake = new TypeError('x');
		const { what, details } = await create([mistake]);
		expect([what, details?.cause]).toEqual(['The request was sent, but no complete answer came (UNKNOWN)', mistake]);
	});

	test('a creating request finds the ID in what has come of an answer', async () => {
		expect(await service([{ ...json(200, '{"id":"task-7","na'), cutOff: TOO_LARGE }]).requests.create(order)).toBe(
			'task-7',
		);
	});

	test('a creating request whose answer causes a mistake of our own has an unknown outcome', async () => {
		const mistake = new TypeError('x');
		const { requests } = service([done]);
		const error = await failure(
			requests.create({
				...order,
				parse: () => {
					throw mistake;
				},
			}),
		);
		expect(error).toMatchObject({
			kind: 'outcomeUnknown',
			details: {
				reason: { data: { thing: 'task', what: 'The service answered, but the answer could not be read' } },
				cause: mistake,
			},
		});
		const known = trouble('rejected');
		expect(
			await failure(
				requests.create({
					...order,
					parse: () => {
						throw known;
					},
				}),
			),
		).toBe(known);
	});

	test('a creating request to a path that does not exist names the path', async () => {
		const { kind, details, sent } = await create([json(404, { message: 'w' })]);
		expect([kind, details?.reason, details?.serviceMessage]).toEqual([
			'notFound',
			{ name: 'endpointNotFound', data: { path: '/v1/things' } },
			'w',
		]);
		expect(sent).toHaveLength(1);
	});

	test('a creating request without a connection names the host', async () => {
		const { details, sent, waited } = await create([new ConnectionError('ENOTFOUND')]);
		expect(details?.reason).toEqual({
			name: 'serviceUnreachable',
			data: { host: 'gateway.example', code: 'ENOTFOUND' },
		});
		expect([sent.length, waited()]).toEqual([4, [750, 1_500, 3_000]]);
	});

	test.each([
		['0', 500],
		['7', 7_000],
		['120', 120_000],
	])('a creating request that is to be sent again after %s s waits %d ms', async (retryAfter, ms) => {
		const { sent, waited } = await create([json(503, {}, { 'retry-after': retryAfter }), done]);
		expect([sent.length, waited()]).toEqual([2, [ms]]);
	});

	test.each(['121', '3600'])(
		'a creating request that is to be sent again after %s s is given up: it is repeated for two minutes',
		async (retryAfter) => {
			const { kind, sent, waited } = await create([json(503, {}, { 'retry-after': retryAfter }), done]);
			expect([kind, sent.length, waited()]).toEqual(['unavailable', 1, []]);
		},
	);

	test.each<[string, Answer, string[]]>([
		['429 holds back the batch as long as the service asks', json(429, {}, { 'retry-after': '7' }), ['hold back 7000']],
		['429 without a time, for half a second to a second', json(429, {}), ['hold back 750']],
		['429 with no time, for half a second', json(429, {}, { 'retry-after': '0' }), ['hold back 500']],
		['503 is about this request only', json(503, { error: {} }), []],
		['without a connection nothing was answered', new ConnectionError('ECONNREFUSED'), []],
	])('the answer to a creating request sets the pace of the batch: %s', async (_, answer, held) => {
		expect((await create([answer, done])).pace).toEqual([...held, 'recover']);
	});

	test.each([json(400, {}), json(500, {}), done])(
		'an answer that is not about the pace lets it recover: %j',
		async (answer) => {
			expect((await create([answer])).pace).toEqual(['recover']);
		},
	);

	test.each<[string, Answer]>([
		['no answer at all', new ConnectionError('ECONNRESET')],
		['half a refusal', { ...json(429, '{"na'), cutOff: 'ECONNRESET' }],
	])('%s says nothing about the pace', async (_, answer) => {
		expect((await create([answer])).pace).toEqual([]);
	});

	test('the two minutes in which a creating request is repeated begin with its first answer, not while it waits for its turn', async () => {
		const used = service([json(503, {}, { 'retry-after': '120' }), done]);
		const begin = async () => await used.clock.sleep(200_000);
		expect(await used.requests.create({ ...order, tries: { begin } })).toBe('task-1');
		expect(used.sent).toHaveLength(2);
	});

	test('a creating request that the service is not ready for is repeated for two minutes, however often that is', async () => {
		const { outcome, sent, waited } = await create([
			...Array.from({ length: 5 }, () => json(503, { error: {} })),
			done,
		]);
		expect([outcome, sent.length, waited()]).toEqual(['task-1', 6, [750, 1_500, 3_000, 6_000, 12_000]]);
	});

	describe('a stop', () => {
		test.each(['of the run', 'of this request'])(
			'a stop %s ends the repeating: nothing is sent after it',
			async (whose) => {
				const stop = new AbortController();
				const { requests, clock, sent } = service(
					[json(503, { error: {} }), done],
					whose === 'of the run' ? { signal: stop.signal } : {},
				);
				const { sleep } = clock;
				clock.sleep = async (ms) => await sleep(ms).then(() => stop.abort());
				expect(
					await failure(
						requests.create({ ...order, tries: whose === 'of the run' ? undefined : { signal: stop.signal } }),
					),
				).toMatchObject({ kind: 'stopped' });
				expect(sent).toHaveLength(1);
			},
		);

		test('a stop while the answer is on its way does not lose it', async () => {
			const stop = new AbortController();
			const { requests } = service([], {
				signal: stop.signal,
				send: async () => await Promise.resolve(stop.abort()).then(() => done),
			});
			expect(await requests.create(order)).toBe('task-1');
		});
	});
});

describe('a read', () => {
	const get = async (answers: Answer[], context: Partial<RequestContext> = {}) => {
		const used = service(answers, context);
		return { ...used, error: await failure(used.requests.get('/v1/things')) };
	};

	test('a read is a GET that may take half a minute', async () => {
		const { requests, sent, pace } = service([done]);
		expect(await requests.get('/v1/things', { a: 'b' })).toEqual(done);
		expect(sent).toEqual([
			{ method: 'GET', url: 'https://gateway.example/base/v1/things', query: { a: 'b' }, timeoutMs: 30_000 },
		]);
		expect(pace).toEqual(['recover']);
	});

	test.each<[string, Answer, object]>([
		[
			'no connection',
			new ConnectionError('ECONNRESET'),
			{ name: 'serviceUnreachable', data: { host: 'gateway.example', code: 'ECONNRESET' } },
		],
		[
			'half an answer',
			{ ...done, cutOff: 'ECONNRESET' },
			{ name: 'serviceUnreachable', data: { host: 'gateway.example', code: 'ECONNRESET' } },
		],
		['too much', { ...done, cutOff: TOO_LARGE }, { name: 'answerTooLarge' }],
		['too much of a refusal', { ...json(402, ''), cutOff: TOO_LARGE }, { name: 'balanceTooLow' }],
		['199', json(199, {}), { name: 'requestRejected' }],
		['300', json(300, {}), { name: 'serviceRedirects' }],
	])('a read that gets %s says so', async (_, answer, reason) => {
		expect((await get([answer])).error?.details.reason).toMatchObject(reason);
	});

	test.each([200, 299])('%d is an answer to a read', async (status) => {
		expect((await get([json(status, {})])).error).toBeUndefined();
	});

	test('a read that gets 429 holds back the batch, everything else lets the pace recover', async () => {
		expect((await get([json(429, {}, { 'retry-after': '7' })])).pace).toEqual(['hold back 7000']);
		expect((await get([json(429, {})])).pace).toEqual(['hold back 750']);
		expect((await get([json(500, {})])).pace).toEqual(['recover']);
		expect((await get([json(429, {}, { 'retry-after': '7' })])).error?.details).toMatchObject({
			retryAfterMs: 7_000,
			httpStatus: 429,
		});
	});

	test('a mistake of our own while a read is sent is no outage', async () => {
		const mistake = new TypeError('x');
		expect((await get([mistake])).error).toMatchObject({ kind: 'ownMistake', cause: mistake });
	});

	test('a stop before a read sends nothing; one during it ends it', async () => {
		const stop = new AbortController();
		const during = await get([], {
			signal: stop.signal,
			send: async () => await Promise.resolve(stop.abort()).then(() => done),
		});
		expect(during.error).toMatchObject({ kind: 'stopped' });
		const before = await get([done], { signal: stop.signal });
		expect(before.error).toMatchObject({ kind: 'stopped' });
		expect(before.sent).toHaveLength(0);
	});
});

describe('a read that is repeated', () => {
	const read = async (answers: Answer[], context: Partial<RequestContext> = {}) => {
		const used = service(answers, context);
		return { ...used, outcome: await used.requests.getJson('/v1/things').catch((error: GatewayError) => error.kind) };
	};

	test('a repeated read rides out trouble that passes, each time for longer', async () => {
		const { outcome, waited } = await read([
			json(502, HTML),
			new ConnectionError('ECONNRESET'),
			json(200, HTML),
			json(200, [1]),
		]);
		expect([outcome, waited()]).toEqual([[1], [750, 1_500, 3_000]]);
	});

	test.each<[string, Answer, string]>([
		['says no', json(200, { success: false, message: 'w' }), 'rejected'],
		['is no JSON', json(200, HTML), 'unexpectedAnswer'],
		['is not available', json(503, HTML), 'unavailable'],
	])('a repeated read gives up after four answers: one that %s', async (_, answer, kind) => {
		const { outcome, sent } = await read([answer]);
		expect([outcome, sent.length]).toEqual([kind, 4]);
		expect((await read([answer], { readTries: 2 })).sent).toHaveLength(2);
	});

	test('a read does not repeat what is final', async () => {
		const { outcome, sent } = await read([json(401, { message: 'w' }), json(200, {})]);
		expect([outcome, sent.length]).toEqual(['authentication', 1]);
	});

	test('a read repeats what its caller names', async () => {
		const { requests, sent, waited } = service([json(404, {}), json(404, {}), done]);
		const work = requests.withRetries(async () => await requests.get('/x'), {
			also: ({ kind }) => kind === 'notFound',
		});
		expect(await work).toEqual(done);
		expect([sent.length, waited()]).toEqual([3, [750, 1_500]]);
		expect(
			await failure(
				service([json(404, {}), done]).requests.withRetries(async () => await Promise.reject(trouble('notFound')), {
					also: () => false,
				}),
			),
		).toMatchObject({ kind: 'notFound' });
	});

	test.each([
		['0', [500]],
		['30', [30_000]],
		['31', []],
	])(
		'a repeated read waits as long as the service asks, but half a second at least and half a minute at most: %s s',
		async (retryAfter, pauses) => {
			const { outcome, waited } = await read([json(503, {}, { 'retry-after': retryAfter }), json(200, {})]);
			expect(waited()).toEqual(pauses);
			expect(outcome).toEqual(pauses.length > 0 ? {} : 'unavailable');
		},
	);

	test('a stop during a pause ends a repeated read', async () => {
		const stop = new AbortController();
		const used = service([], { signal: stop.signal });
		const { sleep } = used.clock;
		used.clock.sleep = async (ms, signal) => {
			expect(signal).toBe(stop.signal);
			await sleep(ms).then(() => stop.abort());
		};
		const read = jest.fn(async () => await Promise.reject(trouble('unavailable')));
		expect(await failure(used.requests.withRetries(read))).toMatchObject({ kind: 'stopped' });
		expect(read).toHaveBeenCalledTimes(1);
	});
});

test.each(['', '.', '..', 'a\ud800', '\udc00'])('%j is no ID, as it would lead elsewhere, or cannot be sent', (id) => {
	expect(() => encodeId(id)).toThrow(
		expect.objectContaining({ kind: 'badInput', details: { reason: { name: 'notAnId', data: { id } } } }),
	);
});

test.each([
	['...', '...'],
	['.a', '.a'],
	['a.', 'a.'],
	['a/../b', 'a%2F..%2Fb'],
	['\ud83d\ude00', '%F0%9F%98%80'],
])('%j is an ID, and is encoded as %s', (id, encoded) => {
	expect(encodeId(id)).toBe(encoded);
});

test('a path that leads to another host is refused', () => {
	expect(() => service([]).requests.url('@evil.example/x')).not.toThrow(); // below /base it is a path
	const settings = { ...readSettings({ baseUrl: 'https://gateway.example' }) };
	expect(() => service([], { settings }).requests.url('@evil.example/x')).toThrow(
		expect.objectContaining({
			kind: 'badInput',
			details: { reason: { name: 'customPathLeadsElsewhere', data: {} } },
		}),
	);
});

describe('around the sending', () => {
	test('a request that is stopped while it waits for its turn is not said to be sent, and is not sent', async () => {
		const stop = new AbortController();
		const { requests, sent } = service([done]);
		const sending = jest.fn();
		const begin = async () => await Promise.resolve(stop.abort());
		const error = await failure(requests.create({ ...order, tries: { begin, sending, signal: stop.signal } }));
		expect([error?.kind, sending.mock.calls, sent]).toEqual(['stopped', [], []]);
	});

	test('a request that is to be sent is said before it is sent', async () => {
		const { requests, sent } = service([done]);
		const sentBefore: number[] = [];
		const sending = async () => await Promise.resolve(void sentBefore.push(sent.length));
		expect(await requests.create({ ...order, tries: { sending } })).toBe('task-1');
		expect(sentBefore).toEqual([0]);
	});

	test.each<[string, Answer, boolean, object]>([
		['a 429 where others make room', json(429, {}), true, { sent: 1, putOff: [0], pace: [] }],
		['a 429 where nobody does', json(429, {}), false, { sent: 2, putOff: [750], pace: ['hold back 750'] }],
		['a 503 where others make room', json(503, { error: {} }), true, { sent: 2, putOff: [750], pace: [] }],
		[
			'a 429 of an hour where others make room',
			json(429, {}, { 'retry-after': '3600' }),
			true,
			{ sent: 1, putOff: [0], pace: [] },
		],
		[
			'a 429 of an hour where nobody does',
			json(429, {}, { 'retry-after': '3600' }),
			false,
			{ sent: 1, putOff: [], pace: ['hold back 3600000'] },
		],
	])('a creating request gives way only where others make room: %s', async (_, answer, givesWay, expected) => {
		const { requests, sent, pace } = service([answer, done]);
		const putOff = jest.fn();
		await failure(requests.create({ ...order, tries: { putOff, givesWay: () => givesWay } }));
		const held = pace.filter((what) => what.startsWith('hold'));
		expect({ sent: sent.length, putOff: putOff.mock.calls.flat(), pace: held }).toEqual(expected);
	});
});

test('an error of the connection is shown as what it is', () => {
	expect(String(new ConnectionError('ECONNRESET'))).toBe('ConnectionError: ECONNRESET');
	expect(String(NotSentError.from('x'))).toBe('NotSentError: The request was not sent');
});
