/** A service that means harm, and what it costs n8n. It listens on loopback only, and counts what it is asked. */
import { readdirSync } from 'node:fs';
import { createGzip, gzipSync } from 'node:zlib';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runInNewContext } from 'node:vm';

export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

export const TASK_ID = 'task_1';
const task = (fields: object) =>
	JSON.stringify({ id: TASK_ID, object: 'generation.task', model: 'm', created_at: 1, ...fields });

/** Ordinary answers, to be replaced. `GET /files/…` is a result file. */
const ORDINARY = {
	create: text(task({ status: 'queued', progress: 0 })),
	poll: text(task({ status: 'completed', progress: 100 })),
	balance: text(JSON.stringify({ success: true, remain_credits: 5 })),
	file: text('\0 file', { 'content-type': 'image/png' }),
};

export type Hostile = Awaited<ReturnType<typeof startHostile>>;

export async function startHostile() {
	const answers: Record<keyof typeof ORDINARY, Answer> = { ...ORDINARY };
	const requests: Array<{ method: string; url: string; key?: string; body?: string }> = [];
	let answering = 0;
	const server = createServer((request, response) => {
		answering++;
		response.on('close', () => answering--);
		const { method = '', url = '' } = request;
		const seen: (typeof requests)[number] = { method, url, key: request.headers.authorization };
		requests.push(seen);
		const isJson = request.headers['content-type']?.startsWith('application/json') === true;
		request.on('data', (chunk) => (seen.body = isJson ? `${seen.body ?? ''}${String(chunk)}` : undefined));
		const kind =
			method === 'POST' ? 'create' : url.startsWith('/files/') ? 'file' : url.includes('balance') ? 'balance' : 'poll';
		response.on('error', () => {});
		request.resume().on('end', () => answers[kind](response, request));
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	return {
		baseUrl: `http://127.0.0.1:${port}`,
		apiKey: 'sk-hostile-0123456789',
		answers,
		requests,
		/** Connections that are open now. */
		open: async () =>
			await new Promise<number>((resolve, reject) =>
				server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
			),
		/** The number of answers under way: a connection each. */
		answering: () => answering,
		posts: () => requests.filter(({ method }) => method === 'POST').length,
		reset() {
			Object.assign(answers, ORDINARY);
			requests.length = 0;
		},
		/** Ends every connection. */
		hangUp: () => server.closeAllConnections(),
		async close() {
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
		},
	};
}

export function text(body: string | Buffer, headers: Record<string, string> = {}, status = 200): Answer {
	const bytes = Buffer.from(body); // here, so that it does not count as memory that the node takes
	return (response) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(bytes);
}

/** The beginning, then the same megabyte until nobody reads any more, or `megabytes` are sent. */
export function flood(begin: string, megabytes = Infinity, status = 200): Answer {
	const filler = Buffer.alloc(2 ** 20, ' ');
	return (response) => {
		response.writeHead(status, { 'content-type': 'application/json' }).write(begin);
		let sent = 0;
		const more = () => {
			while (sent++ < megabytes) if (!response.write(filler)) return void response.once('drain', more);
			response.end();
		};
		more();
	};
}

/** One byte at a time, for ever. */
export function drip(begin = '{'): Answer {
	return (response) => {
		response.writeHead(200, { 'content-type': 'application/json' }).write(begin);
		const timer = setInterval(() => response.write(' '), 50);
		response.on('close', () => clearInterval(timer));
	};
}

/** The beginning of a file, then a byte every so many milliseconds, or nothing at all. */
export function stall(begin: string, everyMs = Infinity): Answer {
	return (response) => {
		response.writeHead(200, { 'content-type': 'image/png' }).write(begin);
		if (everyMs === Infinity) return;
		const timer = setInterval(() => response.write('.'), everyMs);
		response.on('close', () => clearInterval(timer));
	};
}

/** A file in pieces, ten a second. */
export function steadily(bytes: Buffer, pieceBytes: number): Answer {
	return (response) => {
		response.writeHead(200, { 'content-type': 'image/png' });
		let sent = 0;
		const timer = setInterval(() => {
			response.write(bytes.subarray(sent, (sent += pieceBytes)));
			if (sent >= bytes.length) response.end();
			if (sent >= bytes.length) clearInterval(timer);
		}, 100);
	};
}

/** The names of all files below a folder. */
export function filesIn(folder: string): string[] {
	return readdirSync(folder, { recursive: true }).map(String);
}

/** Megabytes of zeros, as fast as they are read; `gzip`: compressed to a thousandth. */
export function endlessFile(gzip = false): Answer {
	const plain = Buffer.alloc(2 ** 20);
	const filler = gzip ? gzipSync(plain) : plain;
	const headers = { 'content-type': 'image/png', ...(gzip ? { 'content-encoding': 'gzip' } : {}) };
	return (response) => {
		response.writeHead(200, headers);
		const more = () => {
			while (!response.destroyed) if (!response.write(filler)) return void response.once('drain', more);
		};
		more();
	};
}

/** Headers that do not end. */
export function dripHeaders(): Answer {
	return (_, { socket }) => {
		socket.write('HTTP/1.1 200 OK\r\nX-A: ');
		const timer = setInterval(() => socket.write('a'), 50);
		socket.on('error', () => {}).on('close', () => clearInterval(timer));
	};
}

/** The connection ends after this, although more was announced. */
export function cut(begin: string): Answer {
	return (response) => {
		response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' }).write(begin);
		setTimeout(() => response.destroy(), 50);
	};
}

/** Spaces, compressed to a thousandth. */
export const gzipped = (megabytes: number) =>
	text(gzipSync(Buffer.alloc(megabytes * 2 ** 20, ' ')), { 'content-encoding': 'gzip' });

/** Random bytes, compressed, until nobody reads any more. */
export function gzippedFlood(): Answer {
	return (response) => {
		response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
		const gzip = createGzip({ level: 0 });
		const filler = Buffer.alloc(2 ** 18, 'ab');
		const more = () => {
			while (!response.destroyed) if (!gzip.write(filler)) return void gzip.once('drain', more);
		};
		response.on('close', () => gzip.destroy());
		gzip.on('error', () => {}).pipe(response);
		more();
	};
}

/** The record of a finished task with these fields. */
export const finished = (fields: object) => text(task({ status: 'completed', progress: 100, ...fields }));

/** As many lists within each other. `JSON.stringify` could not write it. */
export const nested = (levels: number, name = 'deep') =>
	text(`${task({ status: 'completed' }).slice(0, -1)},"${name}":${'['.repeat(levels)}${']'.repeat(levels)}}`);

/** The cost of the work: the most MB by which the process grows, and the seconds of the processor. */
export async function costOf<T>(work: () => Promise<T>): Promise<{ result: T; grownMb: number; cpuSeconds: number }> {
	const before = process.memoryUsage().rss;
	const cpu = process.cpuUsage();
	let peak = before;
	const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5);
	try {
		const result = await work();
		peak = Math.max(peak, process.memoryUsage().rss);
		const { user, system } = process.cpuUsage(cpu);
		return { result, grownMb: (peak - before) / 2 ** 20, cpuSeconds: (user + system) / 1e6 };
	} finally {
		clearInterval(timer);
	}
}

/**
 * The longest piece of the work in which n8n could have answered nobody, in milliseconds of the processor: a busy machine
 * does not make it longer. Other work of the process may fall into it, so it is measured up to three times, until it is
 * short enough.
 */
export async function longestPieceOf(work: () => Promise<unknown>, shortEnoughMs: number): Promise<number> {
	let shortest = Infinity;
	for (let round = 0; round < 3 && shortest >= shortEnoughMs; round++)
		shortest = Math.min(shortest, await longestTurnDuring(work));
	return shortest;
}

/** The milliseconds in which this machine parses 20,000 small objects now: bounds of time are told as multiples of it. */
export function parsingMs(): number {
	const objects = JSON.stringify(Array.from({ length: 20_000 }, (_, index) => ({ [`name_${index}`]: 'a value' })));
	const rounds = Array.from({ length: 5 }, () => {
		const before = process.cpuUsage();
		JSON.parse(objects);
		const { user, system } = process.cpuUsage(before);
		return (user + system) / 1000;
	});
	return Math.min(...rounds);
}

async function longestTurnDuring(work: () => Promise<unknown>): Promise<number> {
	let [isOver, longest] = [false, 0];
	let [at, cpu] = [performance.now(), process.cpuUsage()];
	const turn = () => {
		const { user, system } = process.cpuUsage(cpu);
		longest = Math.max(longest, Math.min(performance.now() - at, (user + system) / 1000));
		[at, cpu] = [performance.now(), process.cpuUsage()];
		if (!isOver) setImmediate(turn);
	};
	setImmediate(turn);
	await work().finally(() => (isOver = true));
	turn();
	return longest;
}

/** The text of an expression of n8n's, to which every node has these items. */
export const evaluated = (expression: string, items: object[]): string =>
	String(runInNewContext(expression, { $: () => ({ all: () => items }) }));
