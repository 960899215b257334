/** One try to fetch a result file: what is counted of it, when its host is given up, and what ends its request. */
import { GatewayError } from '../../core/errors';
import { SIGNATURE_BYTES } from '../../core/mediaTypes';
import { FILE_LIMITS } from '../../nodes/connection/fileLimits';
import { Arrival, brokenDownload, type CheckSize } from '../../nodes/generation/arrival';
import { deferred, flushPromises } from '../core/support';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

/** A body whose chunks the test sends. `from` is what makes n8n's kind of stream of counted bytes. */
class Body {
	static from(bytes: AsyncIterable<Uint8Array>, options: object) {
		return { bytes, options, of: this };
	}

	readonly destroy = jest.fn();

	private readonly listeners: Array<() => void> = [];

	private next = deferred<Uint8Array | undefined>();

	on(event: string, listen: () => void) {
		if (event === 'error') this.listeners.push(listen);
	}

	/** Sends so many bytes; nothing: it has ended. */
	async send(count?: number) {
		const { resolve } = this.next;
		this.next = deferred();
		resolve(count === undefined ? undefined : new Uint8Array(count));
		await flushPromises();
	}

	fail() {
		this.listeners.forEach((listen) => listen());
		return this.listeners.length;
	}

	async *[Symbol.asyncIterator]() {
		for (;;) {
			const chunk = await this.next.promise;
			if (chunk === undefined) return;
			yield chunk;
		}
	}
}

function begin({ bytes = 0, tookMs = 0 } = {}) {
	const stop = new AbortController();
	const totals = { bytes, tookMs };
	const arrival = new Arrival(stop.signal, totals);
	const body = new Body();
	/** Reads the body as n8n does. */
	const read = (check: CheckSize = async () => await Promise.resolve(undefined)) => {
		const chunks: number[] = [];
		const all = (async () => {
			const { start, source } = await arrival.follow(body, check);
			const { bytes: counted, options } = source as unknown as ReturnType<typeof Body.from>;
			for await (const chunk of counted) chunks.push(chunk.length);
			return { start, options };
		})();
		all.catch(() => {});
		return { all, chunks };
	};
	/** Lets time pass. Returns why the file was given up. */
	const pass = async (ms: number) => {
		await jest.advanceTimersByTimeAsync(ms);
		return arrival.failure?.message;
	};
	return { arrival, body, read, pass, stop, totals };
}

test('the bytes of a file are counted as they come, and it is whole when the last one has come', async () => {
	const { arrival, body, read } = begin();
	const check = jest.fn(async () => await Promise.resolve(undefined));
	const { all, chunks } = read(check);
	await flushPromises();
	await body.send(3);
	expect([arrival.bytes, arrival.isWhole]).toEqual([3, false]);
	await body.send(4);
	await body.send();
	const { options } = await all;
	expect([arrival.bytes, arrival.isWhole, arrival.isBroken, arrival.failure]).toEqual([7, true, false, undefined]);
	expect([chunks, check.mock.calls, options]).toEqual([[3, 4], [[3], [7]], { objectMode: false }]);
});

test('the first bytes tell the type: the file goes on as soon as they have come, and no more of it is held', async () => {
	const { body, read } = begin();
	const { all, chunks } = read();
	await flushPromises();
	await body.send(100);
	expect(chunks).toEqual([]);
	await body.send(5000);
	expect(chunks).toEqual([100, 5000]);
	await body.send(7);
	expect(chunks).toEqual([100, 5000, 7]);
	await body.send();
	expect((await all).start).toHaveLength(100 + SIGNATURE_BYTES);
});

test('a body that is no stream of this kind is passed on as it is', async () => {
	const { arrival } = begin();
	const buffer = Buffer.from('abc');
	const plain = Object.assign(Object.create(null), { constructor: {}, [Symbol.asyncIterator]: () => {} }) as object;
	const check = async () => await Promise.resolve(undefined);
	expect(await arrival.follow(buffer, check)).toEqual({ start: buffer, source: buffer });
	expect(await arrival.follow(plain, check)).toEqual({ start: new Uint8Array(), source: plain });
});

test('a file that gets too large is given up at once, for that reason', async () => {
	const { arrival, body, read } = begin();
	const tooLarge = new GatewayError('download', 'too large');
	const { all, chunks } = read(async (bytes) => await Promise.resolve(bytes > 3 ? tooLarge : undefined));
	await flushPromises();
	await body.send(3);
	await body.send(1);
	await expect(all).rejects.toBe(tooLarge);
	expect([chunks, arrival.failure, arrival.isWhole]).toEqual([[], tooLarge, false]);
});

test('a file without a byte is none', async () => {
	const { arrival, body, read } = begin();
	const { all } = read();
	await flushPromises();
	await body.send();
	await expect(all).rejects.toMatchObject({ kind: 'download', message: 'The file host sent an empty file' });
	expect([arrival.failure?.message, arrival.isWhole]).toEqual(['The file host sent an empty file', false]);
});

test('a connection that breaks is noted', async () => {
	const { arrival, body, read } = begin();
	void read();
	await flushPromises();
	expect(body.fail()).toBe(1);
	expect(arrival.isBroken).toBe(true);
});

test('a request is ended by a stop, and by nothing once it is over', () => {
	const stopped = begin();
	stopped.stop.abort();
	expect(stopped.arrival.signal.aborted).toBe(true);
	const over = begin();
	over.arrival.end();
	over.stop.abort();
	expect(over.arrival.signal.aborted).toBe(false);
});

test('a body that nobody reads is ended with its connection, and its error ends nothing else', () => {
	const { arrival, body } = begin();
	arrival.cancel(body);
	expect([body.fail(), arrival.signal.aborted, body.destroy.mock.calls.length]).toEqual([1, true, 1]);
	const other = begin();
	other.arrival.cancel();
	other.arrival.cancel(Buffer.from(''));
	expect(other.arrival.signal.aborted).toBe(true);
});

test('a host that does not begin to answer is given up after a minute', async () => {
	const { arrival, pass } = begin();
	expect(await pass(FILE_LIMITS.openMs)).toBeUndefined();
	expect(arrival.signal.aborted).toBe(false);
	expect(await pass(500)).toBe('The file host did not begin to answer within 1 min');
	expect([arrival.signal.aborted, arrival.failure?.kind]).toEqual([true, 'download']);
});

test('a host that falls silent is given up after 30 s without a byte, counted from the beginning of its answer', async () => {
	const { body, read, pass } = begin();
	await pass(50_000);
	void read();
	await flushPromises();
	expect(await pass(30_000)).toBeUndefined();
	await body.send(1e6);
	expect(await pass(30_000)).toBeUndefined();
	expect(await pass(500)).toBe('The file host sent nothing for 30 s');
});

test('a host that sends too little is given up after two minutes of waiting for it', async () => {
	const enough = begin();
	void enough.read();
	const little = begin();
	void little.read();
	await flushPromises();
	for (let sentMs = 0; sentMs < 120_000; sentMs += 20_000) {
		await enough.pass(20_000);
		// In the end exactly as much as is asked for.
		await enough.body.send(sentMs < 100_000 ? 210_000 : 155_000);
		await little.body.send(190_000);
	}
	expect([enough.arrival.failure, little.arrival.failure]).toEqual([undefined, undefined]);
	expect(await little.pass(500)).toBe('The file host sent less than 10 KB per second');
	expect(enough.arrival.failure).toBeUndefined();
});

test('the time in which n8n stores what has come is not that of the host', async () => {
	const { arrival, body, read, pass, totals } = begin();
	const storing = deferred<undefined>();
	const { all } = read(async () => await storing.promise);
	await flushPromises();
	await body.send(1);
	expect(await pass(600_000)).toBeUndefined();
	storing.resolve(undefined);
	await flushPromises();
	expect(await pass(30_000)).toBeUndefined();
	await body.send();
	await all;
	expect(await pass(600_000)).toBeUndefined();
	expect(totals.tookMs).toBe(1_230_000);
	arrival.end();
});

test('where the limits are shorter, time is counted more often', async () => {
	const { silenceMs } = FILE_LIMITS;
	FILE_LIMITS.silenceMs = 1_000;
	try {
		const { read, pass } = begin();
		void read();
		await flushPromises();
		expect(await pass(1_000)).toBeUndefined();
		expect(await pass(250)).toBe('The file host sent nothing for 1 s');
	} finally {
		FILE_LIMITS.silenceMs = silenceMs;
	}
});

test('a stream that tells of no errors is counted, too', async () => {
	const { arrival, body, read } = begin();
	Object.assign(body, { on: undefined });
	const { all } = read();
	await flushPromises();
	await body.send(3);
	await body.send();
	await all;
	expect(arrival.isWhole).toBe(true);
});

test('a host is waited for again after each piece', async () => {
	const { body, read, pass } = begin();
	void read();
	await flushPromises();
	await body.send(1e6);
	await body.send(1e6);
	expect(await pass(30_000)).toBeUndefined();
	expect(await pass(500)).toBe('The file host sent nothing for 30 s');
});

test('the files of a task are given up after an hour, for good, whoever is slow', async () => {
	const { arrival, pass } = begin({ tookMs: FILE_LIMITS.taskMs - 1_000 });
	expect(await pass(1_000)).toBeUndefined();
	expect(await pass(500)).toBe('The files did not arrive within 60 min');
	expect(arrival.failure).toMatchObject({ kind: 'download', details: { permanent: true } });
});

test('the first reason stays, and nothing is counted any more once a file has arrived or was given up', async () => {
	const given = begin();
	await given.pass(FILE_LIMITS.openMs + 500);
	const { tookMs } = given.totals;
	await given.pass(10_000);
	expect([given.totals.tookMs, tookMs]).toEqual([60_500, 60_500]);
	const over = begin();
	await over.pass(1_000);
	over.arrival.end();
	await over.pass(100_000);
	expect(over.totals.tookMs).toBeLessThanOrEqual(1_500);
	expect(over.arrival.failure).toBeUndefined();
	expect(jest.getTimerCount()).toBe(0);
});

test('a broken download has the status of the answer', () => {
	expect(brokenDownload('x', 500)).toMatchObject({ kind: 'download', message: 'x', details: { httpStatus: 500 } });
});
