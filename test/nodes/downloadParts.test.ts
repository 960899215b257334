/** Downloads of result files without n8n and without a host: what is fetched, tried again, named, measured and said. */
import { sleep, type IHttpRequestOptions } from 'n8n-workflow';
import { GatewayError, type TaskReference } from '../../core/errors';
import { learnedStorageLimit } from '../../core/processMemory';
import { FILE_LIMITS } from '../../nodes/connection/fileLimits';
import { downloadResults, type DownloadOptions } from '../../nodes/generation/downloads';
import { deferred } from '../core/support';
import { lightContext, untilDone } from '../support/lightContext.mts';

const REAL_LIMITS = { ...FILE_LIMITS };
beforeEach(() => {
	jest.useFakeTimers();
	jest.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
	// Whatever came of a file, nothing watches it any more.
	expect(jest.getTimerCount()).toBe(0);
	jest.useRealTimers();
	jest.restoreAllMocks();
	Object.assign(FILE_LIMITS, REAL_LIMITS);
	learnedStorageLimit.bytes = Infinity;
});

interface Answer {
	status?: number;
	headers?: Record<string, string>;
	/** The bytes of each piece. */
	pieces?: number[];
	/** Ends the connection behind the pieces. */
	breaks?: boolean;
}

class Body {
	static from = (bytes: AsyncIterable<Uint8Array>) => bytes;

	readonly destroy = jest.fn();

	private readonly listeners: Array<() => void> = [];

	constructor(private readonly answer: Answer) {}

	on(_: 'error', listen: () => void) {
		this.listeners.push(listen);
	}

	async *[Symbol.asyncIterator]() {
		const { pieces = [3], breaks } = this.answer;
		for (const size of pieces) yield await Promise.resolve(new Uint8Array(size));
		if (!breaks) return;
		this.listeners.forEach((listen) => listen());
		throw new Error('socket hang up');
	}
}

/** A host that says nothing until the request is ended. */
const silent = async ({ abortSignal }: IHttpRequestOptions) =>
	await new Promise<never>((_, reject) => {
		(abortSignal as AbortSignal).addEventListener('abort', () => reject(new Error('canceled')));
	});
const MISSING: Answer = { status: 404 };
type Host = Answer | Error | typeof silent;
type Store = (file: AsyncIterable<Uint8Array>, name: string, mimeType: string) => Promise<object>;

async function sizeOf(file: AsyncIterable<Uint8Array>) {
	let size = 0;
	for await (const piece of file) size += piece.length;
	return size;
}
const stores: Store = async (file, fileName, mimeType) => ({ fileName, mimeType, fileSize: await sizeOf(file) });

const url = (name: string) => `https://files.test/${name}`;
const TASK: TaskReference = { taskId: 'task', elapsedMs: 7, urls: [url('0.png')] };

/** @param hosts what comes of each request; of all further ones the last */
function begin(hosts: Host[], { store = stores, ...more }: Partial<DownloadOptions> & { store?: Store } = {}) {
	const requests: Array<{ url: string; atMs: number; isEnded: () => boolean }> = [];
	const bodies: Body[] = [];
	const stop = new AbortController();
	const beganMs = Date.now();
	const httpRequest = async (request: IHttpRequestOptions) => {
		const isEnded = () => request.abortSignal?.aborted === true;
		requests.push({ url: request.url, atMs: Date.now() - beganMs, isEnded });
		const host = hosts[Math.min(requests.length, hosts.length) - 1] ?? {};
		if (typeof host === 'function') return await host(request);
		if (host instanceof Error) throw host;
		const body = new Body(host);
		bodies.push(body);
		return await Promise.resolve({ statusCode: host.status ?? 200, headers: host.headers ?? {}, body });
	};
	const prepareBinaryData = async (file: AsyncIterable<Uint8Array> | Buffer, name: string, mimeType: string) =>
		Buffer.isBuffer(file) ? {} : await store(file, name, mimeType);
	const { context } = lightContext({ helpers: { httpRequest, prepareBinaryData } });
	const options = {
		...{ urls: [url('0.png')], task: TASK, kind: 'image' as const, fieldName: 'data', fileName: '' },
		rules: { baseUrl: 'https://gateway.test', allowPrivateAddresses: false },
		...{ signal: stop.signal, ...more },
	};
	return { requests, bodies, stop, downloading: downloadResults(context, options) };
}

/** The files, or else the error. */
async function download(...given: Parameters<typeof begin>) {
	const { downloading, requests, bodies } = begin(...given);
	const ended = await untilDone(
		downloading.then(
			(files) => ({ files, error: undefined }),
			(error: unknown) => ({ files: undefined, error: error as GatewayError }),
		),
	);
	const reason = ended.error?.details.reason as { name: string; data: Record<string, unknown> } | undefined;
	return { ...ended, reason, requests, bodies };
}

const THREE = ['1.png', '2.png', '3.png'].map(url);

describe('files that arrive', () => {
	test('each file of a task is in a field of its own, and no connection is ended', async () => {
		const { files, requests } = await download([{ pieces: [2, 3] }], { urls: THREE, fieldName: 'picture' });
		expect(files).toEqual({
			picture: { fileName: 'task_1.png', mimeType: 'image/png', fileSize: 5 },
			picture_1: { fileName: 'task_2.png', mimeType: 'image/png', fileSize: 5 },
			picture_2: { fileName: 'task_3.png', mimeType: 'image/png', fileSize: 5 },
		});
		expect(requests.map((request) => [request.url, request.isEnded()])).toEqual(THREE.map((each) => [each, false]));
	});

	test.each([
		[{ fileName: 'Cat' }, {}, ['Cat.png', 'Cat_1.png']],
		[{}, { 'content-disposition': 'attachment; filename="dog.png"' }, ['dog.png', 'dog_1.png']],
		[{}, { 'content-type': 'image/webp' }, ['task_1.webp', 'task_2.webp']],
	])('the files of a task are named %j by the user and %j by their host', async (wanted, headers, names) => {
		const { files } = await download([{ headers: headers as never }], { urls: THREE.slice(1), ...wanted });
		expect(Object.values(files ?? {}).map(({ fileName }) => fileName)).toEqual(names);
	});

	test('a file whose host names no type has that of its address', async () => {
		const headers = { 'content-type': 'application/octet-stream' };
		const { files } = await download([{ headers }], { urls: [url('a.webp')] });
		expect(files).toMatchObject({ data: { mimeType: 'image/webp' } });
	});

	test('a file that has not arrived at once has its name all the same', async () => {
		const { files, requests } = await download([{ breaks: true }, {}], { fileName: 'Cat' });
		expect([files?.data.fileName, requests.length]).toEqual(['Cat.png', 2]);
	});

	test('a task may have a hundred files, and not one more', async () => {
		const urls = Array.from({ length: 101 }, (_, index) => url(`${index}.png`));
		expect(Object.keys((await download([], { urls: urls.slice(1) })).files ?? {})).toHaveLength(100);
		const { reason, error, requests } = await download([], { urls });
		expect(reason).toEqual({
			name: 'tooManyResultFiles',
			data: { id: 'task', count: 101, max: 100, urls: TASK.urls?.[0] },
		});
		expect([error?.task, requests]).toEqual([TASK, []]);
	});
});

describe('files that do not arrive', () => {
	const code = (name: string) => Object.assign(new Error('x'), { code: name });

	test.each<[string, Host, number | undefined]>([
		['The file host answered with HTTP 404', { status: 404, headers: { 'content-type': 'image/png' } }, 404],
		['The file host answered with HTTP 500', { status: 500, headers: { 'content-type': 'text/html' } }, 500],
		['The file host sent JSON', { headers: { 'content-type': 'application/json' } }, 200],
		['The file host sent an empty file', { pieces: [] }, undefined],
		['The file host sent no complete file (UNKNOWN)', { breaks: true }, undefined],
		['The file host sent no complete file (ECONNREFUSED)', code('ECONNREFUSED'), undefined],
	])('%s: that is tried four times, with pauses, and then said', async (what, host, httpStatus) => {
		const { error, reason, requests, bodies } = await download([host]);
		expect(reason).toEqual({ name: 'downloadFailed', data: { id: 'task', what, urls: url('0.png') } });
		expect(error).toMatchObject({ kind: 'download', details: { httpStatus, task: TASK } });
		expect(requests.map(({ atMs }) => atMs)).toEqual([0, 500, 1_500, 3_500]);
		expect(requests.every(({ isEnded }) => isEnded())).toBe(true);
		if (httpStatus !== undefined) expect(bodies.map(({ destroy }) => destroy.mock.calls.length)).toEqual([1, 1, 1, 1]);
	});

	test('the file that does not arrive is named where there are several, and the others are not asked for', async () => {
		const { reason, requests } = await download([{}, MISSING], { urls: THREE });
		expect(reason?.data.what).toBe(`The file host answered with HTTP 404 (file 2 of 3: ${url('2.png')})`);
		expect(requests.map((request) => request.url)).toEqual([0, 1, 1, 1, 1].map((index) => THREE[index]));
	});

	test('no other try begins after the tries of a file have taken two minutes, those of the files before it aside', async () => {
		const alone = await download([silent]);
		expect(alone.reason?.data.what).toBe('The file host did not begin to answer within 1 min');
		expect(alone.requests.map(({ atMs }) => atMs)).toEqual([0, 61_000]);
		const second = await download([silent, {}, silent], { urls: THREE });
		expect(second.requests.map((request) => request.url)).toEqual([0, 0, 1, 1].map((index) => THREE[index]));
		// Exactly as long as one try takes.
		FILE_LIMITS.triesMs = 60_500;
		expect((await download([silent])).requests).toHaveLength(1);
	});

	test.each<[string, Record<string, string>, number[]]>([
		['seconds', { 'retry-after': '10' }, [0, 10_000, 20_000, 30_000]],
		['less than the usual pauses', { 'retry-after': '1' }, [0, 1_000, 2_000, 4_000]],
		[
			'a date by its own clock',
			{ 'retry-after': 'Wed, 01 Jan 2020 00:00:50 GMT', date: 'Wed, 01 Jan 2020 00:00:00 GMT' },
			[0, 50_000, 100_000],
		],
		['longer than anybody waits', { 'retry-after': '120' }, [0]],
		['nothing that can be read', { 'retry-after': 'soon' }, [0, 500, 1_500, 3_500]],
	])(
		'the pause that the file host asks for is made, if the tries do not take two minutes with it: %s',
		async (_, headers, times) => {
			const { reason, requests } = await download([{ status: 429, headers }]);
			expect(requests.map(({ atMs }) => atMs)).toEqual(times);
			expect(reason?.data.what).toBe('The file host answered with HTTP 429');
		},
	);

	test('a task whose files take more than an hour is given up at once, in the words of a download', async () => {
		FILE_LIMITS.taskMs = 1_000;
		const { reason, requests } = await download([silent]);
		expect(reason).toMatchObject({ name: 'downloadFailed', data: { what: 'The files did not arrive within 1 s' } });
		expect(requests).toHaveLength(1);
	});

	test('what nobody has expected is tried again, and said with the URL of the result', async () => {
		const odd = {
			get 'content-type'(): string {
				throw new Error('odd');
			},
		};
		const { reason, requests } = await download([{ headers: odd }]);
		expect(reason?.data.what).toBe('This node ran into something unexpected: Error: odd');
		expect(requests).toHaveLength(4);
	});

	test.each<[string, number, Host[], number]>([
		['while the host is silent', 1_000, [silent], 1],
		['between two tries', 300, [MISSING], 1],
		['in the last try', 4_000, [MISSING, MISSING, MISSING, silent], 4],
	])('a stop %s ends the download, and nothing is asked for any more', async (_, afterMs, hosts, count) => {
		const { downloading, stop, requests } = begin(hosts);
		void sleep(afterMs).then(() => stop.abort());
		const error = await untilDone(downloading.catch((thrown: unknown) => thrown));
		expect(error).toMatchObject({ kind: 'stopped', details: { task: TASK } });
		expect(requests).toHaveLength(count);
	});

	test('an address that is not allowed is said, and not tried again', async () => {
		const { error, reason, requests } = await download([], { urls: ['http://127.0.0.1/a.png'] });
		const data = { id: 'task', host: '127.0.0.1', urls: url('0.png') };
		expect(reason).toEqual({ name: 'downloadNotAllowed', data });
		expect([error?.task, requests]).toEqual([TASK, []]);
	});
});

describe('files that are too large', () => {
	const MIB = 1024 ** 2;
	const announced = (size: number): Answer => ({ headers: { 'content-length': String(size) } });

	test('a file that says that n8n cannot store it is not read', async () => {
		learnedStorageLimit.bytes = 2 * MIB;
		const { error, reason, requests, bodies } = await download([announced(3 * MIB)]);
		const data = { id: 'task', limit: '2 MiB', size: '3 MiB', urls: url('0.png') };
		expect([reason, error?.task]).toEqual([{ name: 'resultTooLargeToStore', data }, TASK]);
		expect([requests.length, requests[0]?.isEnded(), bodies[0]?.destroy.mock.calls.length]).toEqual([1, true, 1]);
		expect((await download([announced(2 * MIB)])).files?.data.fileSize).toBe(3);
	});

	test('a file that gets larger than n8n can store is cut off', async () => {
		learnedStorageLimit.bytes = 2 * MIB;
		const { reason, requests } = await download([{ pieces: [MIB, MIB, 1] }]);
		const data = { id: 'task', limit: '2 MiB', size: 'larger than 2 MiB', urls: url('0.png') };
		expect(reason).toEqual({ name: 'resultTooLargeToStore', data });
		expect([requests.length, requests[0]?.isEnded()]).toEqual([1, true]);
	});

	test.each<[string, Answer]>([
		['says that it is too large for its task', { ...announced(MIB + 1), pieces: [1] }],
		['gets too large for its task', { pieces: [MIB, 1] }],
	])('a file that %s is counted with those before it', async (_, last) => {
		FILE_LIMITS.bytesInMemory = 2 * MIB;
		const { error, reason, requests } = await download([{ pieces: [MIB] }, last], { urls: THREE.slice(1) });
		const which = ` (file 2 of 2: ${url('3.png')})`;
		expect(reason).toEqual({ name: 'resultTooLarge', data: { id: 'task', limit: '2 MiB', which, urls: url('0.png') } });
		expect([error?.task, requests.length]).toEqual([TASK, 2]);
		expect((await download([{ pieces: [MIB] }], { urls: THREE.slice(1) })).error).toBeUndefined();
	});

	test('the bytes of a try that has failed are not counted', async () => {
		FILE_LIMITS.bytesInMemory = 2 * MIB;
		expect((await download([{ pieces: [MIB, MIB], breaks: true }, { pieces: [MIB] }])).files?.data.fileSize).toBe(MIB);
	});
});

describe('files that n8n does not take', () => {
	const refusal = (message: string, code?: string) => Object.assign(new Error(message), { code });
	const refuses =
		(thrown: unknown, reads = false): Store =>
		async (file) => {
			if (reads) await sizeOf(file);
			throw thrown;
		};

	test.each<[string, unknown, string]>([
		['Its own words.', refusal('Its own words.'), 'Its own words'],
		['v1.2 refuses', refusal('v1.2 refuses'), 'v1.2 refuses'],
		['text', 'text', 'text'],
		['a whole page', refusal('x'.repeat(500)), `${'x'.repeat(400)}…`],
		['words about a stream inside others', refusal('no stream closed before'), 'no stream closed before'],
		['a code that only looks like one of a connection', refusal('a', 'XECONN'), 'a'],
		['an address of its own', refusal('a', 'XERR_STREAM'), 'a'],
	])('%s: that is said at once, and not tried again', async (_, thrown, words) => {
		const { error, reason, requests } = await download([{}], { store: refuses(thrown) });
		expect(reason).toEqual({ name: 'resultNotStored', data: { id: 'task', words, urls: url('0.png') } });
		expect([error?.task, requests.length, requests[0]?.isEnded()]).toEqual([TASK, 1, true]);
	});

	test.each(['NOSPC', 'DQUOT', 'ACCES', 'PERM', 'ROFS', 'NOENT', 'NOTDIR', 'MFILE', 'NFILE', 'FBIG', 'IO'])(
		'a disk that refuses with E%s is not the connection, though the stream breaks, too',
		async (name) => {
			const store: Store = async (file) => {
				await sizeOf(file).catch(() => {});
				throw refusal('premature close', `E${name}`);
			};
			expect((await download([{ breaks: true }], { store })).reason?.name).toBe('resultNotStored');
		},
	);

	test.each([
		['', 'ECONNRESET'],
		['', 'EPIPE'],
		['', 'ETIMEDOUT'],
		['', 'EHOSTUNREACH'],
		['', 'ENETUNREACH'],
		['', 'EAI_AGAIN'],
		['', 'ERR_STREAM_PREMATURE_CLOSE'],
		['', 'UND_ERR_SOCKET'],
		['Stream closed before the end', undefined],
		['Response body timed out after 1000ms', undefined],
		['Failed to decompress the response', undefined],
		['Premature close', undefined],
		['aborted', undefined],
		['aborted', 'EIOX'],
		['aborted', 'XEIO'],
	])('%j with the code %s is about the connection, and the file is fetched again', async (message, code) => {
		const thrown = refusal(message, code);
		const { reason, requests } = await download([{}], { store: refuses(thrown) });
		expect(reason?.data.what).toBe(`The file host sent no complete file (${code ?? 'UNKNOWN'})`);
		expect(requests).toHaveLength(4);
		// The host has sent all of it, so it was n8n's own connection.
		expect((await download([{}], { store: refuses(thrown, true) })).reason?.name).toBe('resultNotStored');
	});

	test('the largest file that n8n takes is learned from its refusal, and the next one is not read', async () => {
		await download([{}], { store: refuses(refusal('It exceeds the max size limit of 1 MB')) });
		expect(learnedStorageLimit.bytes).toBe(1024 ** 2);
	});

	test('a file that we have cut off is not called one that n8n refuses', async () => {
		const wraps: Store = async (file) => {
			await sizeOf(file).catch(() => {});
			throw new Error('something else');
		};
		learnedStorageLimit.bytes = 2;
		expect((await download([{ pieces: [3] }], { store: wraps })).reason?.name).toBe('resultTooLargeToStore');
	});
});

const many = (count: number) => Array.from({ length: count }, (_, index) => `u${index}`);
test.each<[string, string[] | undefined, string]>([
	['nothing where there are none', undefined, ''],
	['no angle brackets, which n8n would not show', ['https://a.test/<1>?<2>'], 'https://a.test/%3C1%3E?%3C2%3E'],
	['twenty', many(20), many(20).join(' ')],
	['twenty of more', many(22), `${many(20).join(' ')} and 2 more`],
])('a message shows of the URLs of a task: %s', async (_, urls, shown) => {
	const { reason } = await download([MISSING], { task: { ...TASK, urls } });
	expect(reason?.data.urls).toBe(shown);
});

test('a stop while n8n stores a file is a stop', async () => {
	const storing = deferred<object>();
	const { downloading, stop, requests } = begin([{}], { store: async () => await storing.promise });
	const stopping = sleep(10).then(() => {
		stop.abort();
		storing.reject(new Error('aborted'));
	});
	await expect(untilDone(downloading)).rejects.toMatchObject({ kind: 'stopped' });
	await stopping;
	expect(requests).toHaveLength(1);
});
