/** Requests to the service through n8n's helper, without n8n: what is sent, what ends it, and what comes back. */
import { sleep } from 'n8n-workflow';
import { NotSentError, TOO_LARGE, type HttpRequest } from '../../core/http/types';
import { abortListeners } from '../../core/processMemory';
import {
	answerWithin,
	connectionCode,
	createSend,
	HEADERS,
	hidingKey,
	realClock,
	type GatewayContext,
} from '../../nodes/connection/transport';

const credential = { apiKey: 'sk-1' };
const GET: HttpRequest = { method: 'GET', url: 'https://g.example/x', timeoutMs: 1_000 };
const answer = { statusCode: 200, headers: {}, body: 'done' };

type Helper = (type: string, options: { abortSignal: AbortSignal } & Record<string, unknown>) => unknown;

/** Sends a request; the helper answers, or takes part in what happens. */
function sending(helper: Helper = () => answer, more: object = {}) {
	const stop = new AbortController();
	const calls: Array<{ context: Record<string, unknown>; type: string; options: Record<string, unknown> }> = [];
	const context = {
		logger: { info() {} },
		getNode: () => 'the node',
		getCredentials: () => 'not asked for',
		getExecutionCancelSignal: () => stop.signal,
		helpers: {
			async httpRequestWithAuthentication(this: Record<string, unknown>, ...[type, options]: Parameters<Helper>) {
				calls.push({ context: this, type, options });
				return await helper(type, options);
			},
		},
		...more,
	};
	return { send: createSend(context as unknown as GatewayContext, credential), context, calls, stop };
}

const never = async (signal: AbortSignal): Promise<never> =>
	await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('canceled'))));

describe('what is given to n8n', () => {
	const always = {
		encoding: 'stream',
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		timeout: 1_000,
		headers: HEADERS,
		abortSignal: expect.any(AbortSignal) as AbortSignal,
	};

	test.each<[string, HttpRequest, object]>([
		['a read', { ...GET, query: { a: '1' } }, { method: 'GET', url: GET.url, qs: { a: '1' } }],
		['a body', { ...GET, method: 'POST', body: { a: 1 } }, { method: 'POST', url: GET.url, body: { a: 1 } }],
		[
			'an empty body, as JSON',
			{ ...GET, method: 'POST', body: {} },
			{ method: 'POST', url: GET.url, body: '{}', headers: { ...HEADERS, 'Content-Type': 'application/json' } },
		],
		['the longest silence', { ...GET, timeoutMs: 900_000 }, { method: 'GET', url: GET.url, timeout: 300_000 }],
	])('a request is given to n8n with %s', async (_, request, options) => {
		const { send, calls } = sending();
		expect(await send(request)).toEqual({ status: 200, headers: {}, text: 'done' });
		expect(calls.map(({ type }) => type)).toEqual(['generationGatewayApi']);
		expect(calls[0].options).toEqual({ ...always, ...options });
	});

	test('a file is given to n8n as the field of a form, with its name and type', async () => {
		const { send, calls } = sending();
		const file = { field: 'image', fileName: 'a.png', mimeType: 'image/png', bytes: new Uint8Array([1, 2]) };
		await send({ ...GET, method: 'POST', file });
		const sent = (calls[0].options.body as FormData).get('image') as File;
		expect([sent.name, sent.type, new Uint8Array(await sent.arrayBuffer())]).toEqual([
			'a.png',
			'image/png',
			file.bytes,
		]);
	});

	test('a request has a context of its own: the credential that was read, and no signal of n8n', async () => {
		const { send, calls, context } = sending();
		await send(GET);
		const own = calls[0].context as Record<string, () => unknown>;
		expect(Object.keys(own)).toEqual(['helpers', 'logger', 'getNode', 'getCredentials']);
		expect([own.helpers, own.logger, own.getNode(), await own.getCredentials()]).toEqual([
			...[context.helpers, context.logger, 'the node', credential],
		]);
	});

	test('the client names itself by its name and version', () => {
		expect(HEADERS).toEqual({
			Accept: 'application/json',
			'User-Agent': expect.stringMatching(/^n8n-nodes-generation-gateway\/\d+\.\d+\.\d+$/) as string,
		});
	});

	test('what cannot be made into a request is not sent, and says so', async () => {
		const { send, calls } = sending();
		const failed = await send({ ...GET, body: null as never }).catch((error: Error) => error);
		expect(failed).toBeInstanceOf(NotSentError);
		expect((failed as Error).cause).toBeInstanceOf(TypeError);
		expect(calls).toEqual([]);
	});
});

describe('what ends a request', () => {
	test('a stop ends a read', async () => {
		const { send, stop } = sending(async (_, { abortSignal }) => await never(abortSignal));
		const sent = send(GET);
		stop.abort();
		await expect(sent).rejects.toMatchObject({ name: 'ConnectionError' });
	});

	test('a stop does not end a request whose answer may hold the ID of something that was paid for', async () => {
		const { send, stop, calls } = sending(async () => (await sleep(5), answer));
		const sent = send({ ...GET, mustFinish: true });
		stop.abort();
		expect(await sent).toMatchObject({ text: 'done' });
		expect((calls[0].options.abortSignal as AbortSignal).aborted).toBe(false);
	});

	test('a context without a signal sends all the same', async () => {
		const { getNode, helpers } = sending().context;
		const without = { getNode, helpers } as unknown as GatewayContext;
		expect(await createSend(without, credential)(GET)).toMatchObject({ status: 200 });
	});

	test('a deadline ends a request that gets no answer', async () => {
		const { send } = sending(async (_, { abortSignal }) => await never(abortSignal));
		await expect(send({ ...GET, timeoutMs: 10 })).rejects.toMatchObject({ code: 'ETIMEDOUT' });
	});

	test('a connection that fails says how, and its request is ended', async () => {
		let signal: AbortSignal | undefined;
		const failing = answerWithin({ timeoutMs: 1_000 }, async (given) => {
			signal = given;
			throw await Promise.resolve(Object.assign(new Error('no'), { code: 'ECONNREFUSED', config: 'the key' }));
		});
		const error = await failing.catch((thrown: Error) => thrown);
		expect(error).toMatchObject({ name: 'ConnectionError', code: 'ECONNREFUSED', message: 'ECONNREFUSED' });
		expect((error as Error).cause).toBeUndefined();
		expect(signal?.aborted).toBe(true);
	});

	test('when an answer has come, neither the deadline nor a stop ends anything any more', async () => {
		const stop = new AbortController();
		let signal: AbortSignal | undefined;
		await answerWithin({ timeoutMs: 15, stopped: stop.signal }, async (given) => {
			signal = given;
			return await Promise.resolve(answer);
		});
		stop.abort();
		await sleep(40);
		expect(signal?.aborted).toBe(false);
		expect(abortListeners.has(stop.signal)).toBe(false);
	});
});

/** A body that comes in these parts, then ends, or hangs until it is destroyed. */
function streamOf(parts: string[], hangs = false) {
	const destroyed: Error[] = [];
	let destroy: (error: Error) => void = () => {};
	const broken = new Promise<never>((_, reject) => (destroy = reject));
	broken.catch(() => {});
	async function* body() {
		yield* parts.map((part) => new TextEncoder().encode(part));
		if (hangs) await broken;
	}
	return Object.assign(body(), { destroyed, destroy: (error: Error) => (destroyed.push(error), destroy(error)) });
}

describe('what comes back', () => {
	test.each<[string, unknown, string]>([
		['a stream', streamOf(['{"a"', ':1}']), '{"a":1}'],
		['a text', '{"a":1}', '{"a":1}'],
		['an object', { a: 1 }, '{"a":1}'],
		['nothing', undefined, '""'],
		['null', null, '""'],
	])('the text of an answer is read of %s', async (_, body, text) => {
		const { send } = sending(() => ({ statusCode: 201, headers: { 'Retry-After': 7, X: 'Y' }, body }));
		expect(await send(GET)).toEqual({ status: 201, headers: { 'retry-after': '7', x: 'Y' }, text });
	});

	test('an answer that does not end is read as far as it came, and its stream is ended', async () => {
		const body = streamOf(['{"id":"task-1"'], true);
		const { send } = sending(() => ({ ...answer, body }));
		expect(await send({ ...GET, timeoutMs: 10 })).toMatchObject({ text: '{"id":"task-1"', cutOff: 'ETIMEDOUT' });
		expect(body.destroyed).toMatchObject([{ code: 'ECONNABORTED' }]);
	});

	test('a stop ends an answer to a read that does not end', async () => {
		const { send, stop } = sending(() => ({ ...answer, body: streamOf(['begun'], true) }));
		const sent = send(GET);
		await sleep(5);
		stop.abort();
		expect(await sent).toMatchObject({ text: 'begun', cutOff: 'ECONNABORTED' });
	});

	test('an answer that is too large is cut off, and its connection ended', async () => {
		const body = streamOf(['x'.repeat(9 * 2 ** 20)]);
		const { send, calls } = sending(() => ({ ...answer, body }));
		expect(await send(GET)).toMatchObject({ cutOff: TOO_LARGE });
		expect((calls[0].options.abortSignal as AbortSignal).aborted).toBe(true);
		expect(body.destroyed).toEqual([]);
	});

	test('a stream that cannot be destroyed is read all the same', async () => {
		const stopped = AbortSignal.abort();
		const body = { [Symbol.asyncIterator]: () => streamOf(['done']) };
		expect(
			await answerWithin({ timeoutMs: 1_000, stopped }, async () => await Promise.resolve({ ...answer, body })),
		).toEqual({
			...{ status: 200, headers: {}, text: 'done' },
		});
	});
});

test('the key is removed wherever an answer has it, unless it is too short to be one', async () => {
	const send = async () => await Promise.resolve({ status: 200, headers: {}, text: 'sk-45678 sk-45678 sk-4567' });
	expect(hidingKey(send, 'sk-4567')).toBe(send);
	expect(await hidingKey(send, 'sk-45678')(GET)).toEqual({
		...{ status: 200, headers: {}, text: '[API key] [API key] sk-4567' },
	});
});

const inside = (depth: number): unknown =>
	depth === 0
		? { code: 'ECONNRESET' }
		: depth % 2 === 0
			? { cause: inside(depth - 1) }
			: { errorResponse: inside(depth - 1) };
const endless: Record<string, unknown> = {};
endless.cause = endless;

test.each<[string, unknown, string]>([
	['a text', 'ECONNRESET', 'UNKNOWN'],
	['nothing', undefined, 'UNKNOWN'],
	['null', null, 'UNKNOWN'],
	['a number as code', { code: 7 }, 'UNKNOWN'],
	['a list as code', { code: ['ECONNRESET'] }, 'UNKNOWN'],
	['words around a code', { code: 'x ECONNRESET' }, 'UNKNOWN'],
	['words behind a code', { code: 'ECONNRESET x' }, 'UNKNOWN'],
	['one letter', { code: 'E' }, 'UNKNOWN'],
	['two', { code: 'E2' }, 'E2'],
	['the outer code first', { code: 'EPIPE', cause: { code: 'ECONNRESET' } }, 'EPIPE'],
	['four errors around it', inside(4), 'ECONNRESET'],
	['five errors around it', inside(5), 'UNKNOWN'],
	['an error that contains itself', endless, 'UNKNOWN'],
	['a block of n8n', { name: 'SsrfBlockedHostError', code: 'ECONNREFUSED' }, 'ERR_BLOCKED_BY_N8N'],
	['another name', { name: 'NotSsrfBlocked', code: 'EPIPE' }, 'EPIPE'],
	['no name', { name: 7, code: 'EPIPE' }, 'EPIPE'],
	['a refused connection', { code: 'ECONNREFUSED', syscall: 'connect' }, 'ECONNREFUSED'],
	['a time-out while connecting', { code: 'ETIMEDOUT', cause: { syscall: 'connect' } }, 'EHOSTUNREACH'],
	['another end while connecting', { code: 'EPIPE', syscall: 'connect' }, 'EPIPE'],
	[
		'an older Node that speaks TLS to a port without',
		{
			code: 'EPROTO',
			cause: { message: 'write EPROTO 4:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../x.c:3:' },
		},
		'ERR_SSL_WRONG_VERSION_NUMBER',
	],
	['another reason of TLS', { code: 'EPROTO', message: 'read EPROTO' }, 'EPROTO'],
	['a time-out while writing', { code: 'ETIMEDOUT', syscall: 'write' }, 'ETIMEDOUT'],
])('the code of a connection that ended with %s is found', (_, thrown, code) => {
	expect(connectionCode(thrown)).toBe(code);
});

describe('real time', () => {
	test('the clock is that of the machine', () => {
		jest.spyOn(Date, 'now').mockReturnValue(7);
		jest.spyOn(performance, 'now').mockReturnValue(8);
		jest.spyOn(Math, 'random').mockReturnValue(0.9);
		expect([realClock.now(), realClock.elapsed?.(), realClock.random()]).toEqual([7, 8, 0.9]);
		jest.restoreAllMocks();
	});

	test.each<[string, Parameters<typeof realClock.sleep>, number[]]>([
		['takes one timer', [50], [50]],
		['is over after the longest time that is allowed', [50, undefined, 20], [20]],
		['of minutes takes several timers', [130_000], [60_000, 60_000, 10_000]],
		['of no time takes none', [0], []],
		['of less than no time takes none', [-1], []],
		['after a stop takes none', [50, AbortSignal.abort()], []],
	])('a sleep that %s', async (_, given, lengths) => {
		jest.useFakeTimers();
		// It begins at zero.
		await jest.advanceTimersByTimeAsync(5_000);
		let isOver = false;
		const slept = realClock.sleep(...given).then(() => (isOver = true));
		const timers: number[] = [];
		while (jest.getTimerCount() > 0 && timers.length <= lengths.length) {
			expect(isOver).toBe(false);
			const atMs = performance.now();
			await jest.advanceTimersToNextTimerAsync();
			timers.push(performance.now() - atMs);
		}
		expect(timers).toEqual(lengths);
		await slept;
		jest.useRealTimers();
	});

	test('a stop ends a sleep at once, and nothing is left of it', async () => {
		jest.useFakeTimers();
		const stop = new AbortController();
		const slept = realClock.sleep(200_000, stop.signal);
		stop.abort();
		await slept;
		expect(jest.getTimerCount()).toBe(0);
		jest.useRealTimers();
	});

	test('a sleep that is over has forgotten the signal', async () => {
		const { signal } = new AbortController();
		const sleep = realClock.sleep(1, signal);
		expect(abortListeners.has(signal)).toBe(true);
		await sleep;
		expect(abortListeners.has(signal)).toBe(false);
	});
});
