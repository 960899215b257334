/** Deliveries, their parts by themselves: names of files, the turns of slow ones, the size that n8n can store, links, and the fields of a task. */
import type { IExecuteFunctions } from 'n8n-workflow';
import type { GatewayError } from '../../core/errors';
import { makeOrder } from '../../core/orders/states';
import { learnedStorageLimit } from '../../core/processMemory';
import { parseTaskRecord, type TaskRecord } from '../../core/records/taskRecord';
import { FILE_LIMITS } from '../../nodes/connection/fileLimits';
import { linksTo } from '../../nodes/generation/downloadLinks';
import { cleanFileName, describeNoFile, FileNames, resultMimeType } from '../../nodes/generation/fileNames';
import { takeDeliveryTurn } from '../../nodes/generation/slowDeliveries';
import { formatSize, learnLimit, StorageLimit } from '../../nodes/generation/storageLimit';
import { toTaskOutput } from '../../nodes/generation/taskOutput';
import { HINTS } from '../../nodes/run/hints';
import { deferred, flushPromises } from '../core/support';

describe('the type of a file', () => {
	test.each<[string, string | undefined]>([
		['text/html; charset=utf-8', 'a web page'],
		['TEXT/HTML', 'a web page'],
		['application/xhtml+xml', 'a web page'],
		['application/json', 'JSON'],
		['application/problem+json', 'JSON'],
		['application/x-ndjson', 'JSON'],
		['text/x-json', 'JSON'],
		['application/json-seq', 'JSON'],
		['application/xml', 'XML'],
		['application/atom+xml', 'XML'],
		['application/xml-dtd', 'XML'],
		['text/plain', 'text'],
		['text/html5', 'text'],
		['text/plain;\nx=y', 'text'],
		[' text/csv ,text/html', 'text'],
		['image/svg+xml', undefined],
		['video/mp4', undefined],
		['audio/json', undefined],
		['application/octet-stream', undefined],
		['application/jsonp', undefined],
		['application/xmlish', undefined],
		['context/html', undefined],
		['application/text/plain', undefined],
		['x-image/json', 'JSON'],
		['', undefined],
	])('%s is no result: %p', (type, words) => {
		expect(describeNoFile(type)).toBe(words);
		if (words !== undefined)
			expect(resultMimeType(type, { disposition: '', urls: ['https://a.example/a.png'] }, 'image')).toBeUndefined();
	});

	test.each<[string, string, 'image' | 'video', string]>([
		['image/WEBP; q=1', 'https://a.example/a.png', 'image', 'image/webp'],
		['application/octet-stream', 'https://a.example/a.JPG?x=.gif', 'image', 'image/jpeg'],
		['', 'https://a.example/a.jpeg', 'video', 'image/jpeg'],
		['', 'https://a.example/a.webp', 'video', 'image/webp'],
		['', 'https://a.example/a.gif', 'video', 'image/gif'],
		['', 'https://a.example/a.avif', 'video', 'image/avif'],
		['', 'https://a.example/a.mp4', 'image', 'video/mp4'],
		['', 'https://a.example/a.webm', 'image', 'video/webm'],
		['', 'https://a.example/a.mov', 'image', 'video/quicktime'],
		['', 'https://a.example/a.mov.exe', 'image', 'image/png'],
		['', 'https://a.example/png', 'image', 'image/png'],
		['', 'https://a.example/a', 'video', 'video/mp4'],
		['', 'https://a.example/a.exe', 'video', 'video/mp4'],
	])('%j at %s of a %s is %s', (type, url, kind, expected) => {
		expect(resultMimeType(type, { disposition: '', urls: [url] }, kind)).toBe(expected);
	});

	test.each<[string, string[], string]>([
		['attachment; filename="cat.jpg"', ['/a.png', '/a.gif'], 'image/jpeg'],
		['attachment; filename=cat.jpg ; x=y', ['/download'], 'image/jpeg'],
		["attachment; filename*=UTF-8''cat.webp; filename=cat.jpg", ['/download'], 'image/webp'],
		['attachment; filename="cat"', ['/a.gif', '/a.png'], 'image/gif'],
		['', ['/files/1', '/bucket/x.webp'], 'image/webp'],
		['', ['/files/1', '/files/1'], 'image/png'],
	])('without a type, a file is what its names say: %j at %j is %s', (disposition, paths, expected) => {
		const urls = paths.map((path) => `https://a.example${path}`);
		for (const type of ['', 'application/octet-stream', 'binary/octet-stream'])
			expect(resultMimeType(type, { disposition, urls }, 'image')).toBe(expected);
		expect(resultMimeType('image/avif', { disposition, urls }, 'image')).toBe('image/avif');
	});
});

describe('the name of a file', () => {
	const nameOf = (disposition: string, url = 'https://a.example/0.png', wanted = '', mimeType = 'image/png') =>
		new FileNames(wanted).nameOf({ disposition, urls: [url], mimeType }, 'task/1');

	test.each([
		['attachment; filename="cat.png"', 'cat.png'],
		['attachment; filename = cat.png ; x=y', 'cat.png'],
		[`attachment; filename="a.png"; filename*=UTF-8'de'Kätzchen%20%C3%BC.png`, 'Kätzchen ü.png'],
		['attachment; FILENAME*=cat%.png', 'cat%.png'],
		['attachment; filename="../../etc/cat.png"', 'cat.png'],
		['attachment; filename="..\\\\cat.png"', 'cat.png'],
		['attachment; filename="...cat.png"', 'cat.png'],
		["attachment; filename*=UTF-8''%20.cat.png", 'cat.png'],
		['attachment; filename="c:a|t?<>*.png"', 'c_a_t____.png'],
		['attachment; filename="0.png"', '1.png'],
		['attachment; filename="12.png"', '1.png'],
		['attachment; filename* = cat.png', 'cat.png'],
		["attachment; filename*=UTF-8''x%0A/../../etc%5Ccat.png", 'cat.png'],
		['attachment; filename="Image-12.png"', '1.png'],
		['attachment; filename="output"', '1.png'],
		['attachment; filename="output of cat.png"', 'output of cat.png'],
		['attachment; filename="my output.png"', 'my output.png'],
		['attachment; filename=""', '1.png'],
		['attachment', '1.png'],
		['', '1.png'],
	])('the name of a file is what the service says: %s', (disposition, expected) => {
		expect(nameOf(disposition)).toBe(expected);
	});

	test.each([
		['https://a.example/x/cat%20a.png?y=z', 'cat a.png'],
		['https://a.example/x/cat', '1.png'],
		['https://a.example/cat.exe', '1.png'],
		['https://a.example/', '1.png'],
	])('the name of a file is that of the address %s', (url, expected) => {
		expect(nameOf('', url)).toBe(expected);
	});

	test('the name of a file is that of the address that redirects have led to, where the record names none', () => {
		const at = (...urls: string[]) =>
			new FileNames('').nameOf({ disposition: '', urls, mimeType: 'image/webp' }, 'task_1');
		expect(at('https://a.example/files/1', 'https://b.example/x/cat.webp')).toBe('cat.webp');
		expect(at('https://a.example/dog.webp', 'https://b.example/x/cat.webp')).toBe('dog.webp');
		expect(at('https://a.example/0.webp', 'https://b.example/x/cat.webp')).toBe('cat.webp');
		expect(at('https://a.example/files/1', 'https://b.example/x/cat')).toBe('task_1.webp');
	});

	test.each([
		['cat', 'image/png', 'cat.png'],
		['cat.png', 'image/png', 'cat.png'],
		['cat.JPEG', 'image/jpeg', 'cat.JPEG'],
		['cat', 'image/jpeg', 'cat.jpg'],
		['cat.png', 'video/mp4', 'cat.mp4'],
		['my.cat.png', 'video/mp4', 'my.cat.mp4'],
		['v1.5', 'video/mp4', 'v1.5.mp4'],
		['cat', 'image/tiff', 'cat.tiff'],
		['cat', 'image/svg+xml', 'cat.svg'],
		['cat', 'image/vnd.microsoft.icon', 'cat.ico'],
		['cat', 'video/x-matroska', 'cat.mkv'],
		['cat', 'video/x-msvideo', 'cat.avi'],
		['cat', 'audio/mpeg', 'cat.mp3'],
		['cat', 'audio/x-flac', 'cat.flac'],
		['cat', 'image/heic+zip', 'cat.heic'],
		['cat', 'image/../x-heic', 'cat.heic'],
	])('the name of a file is what the user has entered, with the right end: %s of %s', (wanted, mimeType, expected) => {
		expect(nameOf('attachment; filename="other.png"', undefined, wanted, mimeType)).toBe(expected);
	});

	test('a type without end gives the name no more than an end', () => {
		const type = `image/${'x'.repeat(15_000)}`;
		const known = resultMimeType(type, { disposition: '', urls: ['https://a.example/a'] }, 'image');
		expect(known).toBe(type.slice(0, 100));
		expect(nameOf('', undefined, 'cat', known)).toBe(`cat.${'x'.repeat(94)}`);
		expect(describeNoFile(`${'x'.repeat(15_000)}/html`)).toBeUndefined();
	});

	test('no two of an item are the same, whatever the case of their letters', () => {
		const names = new FileNames('Cat.PNG');
		const file = { disposition: '', urls: ['https://a.example/a.png'], mimeType: 'image/png' };
		const taken = Array.from({ length: 3 }, () => {
			const name = names.nameOf(file, 'x');
			names.use(name);
			return name;
		});
		expect(taken).toEqual(['Cat.PNG', 'Cat_1.PNG', 'Cat_2.PNG']);
		names.use('cat_3.png');
		expect(names.nameOf(file, 'x')).toBe('Cat_4.PNG');
		const dotted = new FileNames('v1.5');
		dotted.use('v1.5.png');
		expect(dotted.nameOf(file, 'x')).toBe('v1.5_1.png');
		const plain = new FileNames('');
		plain.use('A');
		expect(plain.nameOf({ ...file, disposition: 'filename=a' }, 'x')).toBe('a_1');
	});

	test('a long name of the service begins with no half of a character', () => {
		const [name = ''] = [nameOf(`filename="${'a'.repeat(20)}😀${'b'.repeat(145)}.png"`)];
		expect(name).toBe(`${'b'.repeat(145)}.png`);
		expect(() => encodeURIComponent(name)).not.toThrow();
	});

	test('the name of an arrived file is taken only when it has arrived', () => {
		const names = new FileNames('cat');
		const file = { disposition: '', urls: ['https://a.example/a.png'], mimeType: 'image/png' };
		expect([names.nameOf(file, 'x'), names.nameOf(file, 'x')]).toEqual(['cat.png', 'cat.png']);
	});

	test('the name of a file that somebody enters is cleaned, also where it is a whole prompt', () => {
		expect(cleanFileName('  a/b\\c  ')).toBe('a_b_c');
		expect(cleanFileName('cat. . ')).toBe('cat');
		expect(cleanFileName('..cat')).toBe('cat');
		expect(cleanFileName(' / ')).toBe('_');
		expect(cleanFileName('...')).toBe('');
		expect(cleanFileName('x'.repeat(400))).toBe('x'.repeat(150));
		expect(cleanFileName(`  ${'x'.repeat(150)}`)).toBe('x'.repeat(150));
		expect(cleanFileName(`start ${'x'.repeat(400)}`)).toMatch(/^start x+$/);
		expect(cleanFileName(`${'x'.repeat(149)}😀y`)).toBe('x'.repeat(149));
		expect(cleanFileName(`${'x'.repeat(148)}😀y`)).toBe(`${'x'.repeat(148)}😀`);
	});

	test('the name of a file from the service is cut from its front: its end says what it is', () => {
		expect(nameOf(`attachment; filename="${'x'.repeat(200)}.png"`)).toBe(`${'x'.repeat(146)}.png`);
		expect(nameOf('attachment; filename="  ..cat.png"')).toBe('cat.png');
	});
});

describe('the turn of a delivery', () => {
	beforeEach(() => jest.useFakeTimers());
	afterEach(() => jest.useRealTimers());

	/** Turns that come one after the other. */
	function turns() {
		let last = Promise.resolve<unknown>(undefined);
		const { signal } = new AbortController();
		const delivering = async <R>(work: () => Promise<R>) => {
			const own = last.then(work);
			last = own.catch(() => {});
			return await own;
		};
		return { signal, delivering };
	}

	test('the turn of a delivery is over with the work, whatever comes of it', async () => {
		const controls = turns();
		const first = takeDeliveryTurn(controls, async () => await Promise.reject(new Error('no luck')));
		const second = takeDeliveryTurn(controls, async () => await Promise.resolve('it'));
		await expect(first).rejects.toThrow('no luck');
		expect(await second).toBe('it');
		expect(jest.now() - jest.getRealSystemTime()).toBeLessThan(FILE_LIMITS.turnMs);
	});

	test('the turn of a delivery goes to the next one after a while, and the work goes on beside it', async () => {
		const controls = turns();
		const slow = deferred<string>();
		const first = takeDeliveryTurn(controls, async () => await slow.promise);
		const begun = jest.fn(async () => await Promise.resolve('it'));
		const second = takeDeliveryTurn(controls, begun);
		await jest.advanceTimersByTimeAsync(FILE_LIMITS.turnMs - 1);
		expect(begun).not.toHaveBeenCalled();
		await jest.advanceTimersByTimeAsync(2);
		expect(begun).toHaveBeenCalledTimes(1);
		expect(await second).toBe('it');
		slow.resolve('later');
		expect(await first).toBe('later');
	});

	test('the turn of a delivery stays with the work where twelve go on beside it, until one of them has ended', async () => {
		const works = Array.from({ length: 13 }, () => deferred<string>());
		const controls = turns();
		const running = works.map(async ({ promise }) => await takeDeliveryTurn(controls, async () => await promise));
		const last = jest.fn(async () => await Promise.resolve('it'));
		const after = takeDeliveryTurn(controls, last);
		await jest.advanceTimersByTimeAsync(20 * FILE_LIMITS.turnMs);
		expect(last).not.toHaveBeenCalled();
		works[3]?.resolve('it');
		await jest.advanceTimersByTimeAsync(10);
		expect(last).toHaveBeenCalledTimes(1);
		works.forEach(({ resolve }) => resolve('it'));
		expect(await Promise.all([...running, after])).toHaveLength(14);
	});

	test('the turn of a delivery ends with a stop of the batch', async () => {
		const stop = new AbortController();
		const { delivering } = turns();
		void takeDeliveryTurn({ delivering, signal: stop.signal }, async () => await new Promise(() => {}));
		const next = jest.fn(async () => await Promise.resolve('it'));
		const second = takeDeliveryTurn({ delivering, signal: stop.signal }, next);
		stop.abort();
		await flushPromises();
		expect(next).toHaveBeenCalledTimes(1);
		expect(await second).toBe('it');
	});
});

describe('the largest file that n8n can store', () => {
	afterEach(() => (learnedStorageLimit.bytes = Infinity));
	const IN_MEMORY = ((2 ** 29 - 24) / 4) * 3;
	const limitOf = (id?: string) => {
		const prepareBinaryData = jest.fn(async () => await Promise.resolve({ id }));
		return {
			limit: new StorageLimit({ helpers: { prepareBinaryData } } as unknown as IExecuteFunctions),
			prepareBinaryData,
		};
	};

	test('nobody asks where n8n stores small files', async () => {
		const { limit, prepareBinaryData } = limitOf();
		expect(await limit.exceededBy(1, Math.min(IN_MEMORY, FILE_LIMITS.bytesInMemory))).toBeUndefined();
		expect(prepareBinaryData).not.toHaveBeenCalled();
	});

	test.each<[string, string | undefined, number, number, object | undefined]>([
		['in memory: one file', undefined, IN_MEMORY + 1, IN_MEMORY + 1, { bytes: IN_MEMORY, isOurs: false }],
		[
			'in memory: all files',
			undefined,
			1,
			FILE_LIMITS.bytesInMemory + 1,
			{ bytes: FILE_LIMITS.bytesInMemory, isOurs: true },
		],
		[
			'in memory: just not too large',
			undefined,
			Math.min(IN_MEMORY, FILE_LIMITS.bytesInMemory),
			FILE_LIMITS.bytesInMemory,
			undefined,
		],
		[
			'in the database',
			'database:1',
			1,
			FILE_LIMITS.bytesInMemory + 1,
			{ bytes: FILE_LIMITS.bytesInMemory, isOurs: true },
		],
		['elsewhere', 'filesystem-v2:1', IN_MEMORY + 1, FILE_LIMITS.bytes, undefined],
		['elsewhere: too much', 'filesystem-v2:1', 1, FILE_LIMITS.bytes + 1, { bytes: FILE_LIMITS.bytes, isOurs: true }],
	])('%s', async (_, id, fileBytes, taskBytes, excess) => {
		const { limit, prepareBinaryData } = limitOf(id);
		expect(await limit.exceededBy(fileBytes, taskBytes)).toEqual(excess);
		await limit.exceededBy(fileBytes, taskBytes);
		expect(prepareBinaryData.mock.calls).toEqual([[Buffer.alloc(0), 'empty.txt', 'text/plain']]);
	});

	test('the largest file that n8n can store is learned from the words of n8n', async () => {
		learnLimit('no words of a limit');
		expect(learnedStorageLimit.bytes).toBe(Infinity);
		learnLimit('The file exceeds the max size limit of 1.5 MB set for `database` mode');
		expect(learnedStorageLimit.bytes).toBe(1.5 * 1024 ** 2);
		const { limit } = limitOf();
		expect(await limit.exceededBy(1.5 * 1024 ** 2, 1)).toBeUndefined();
		expect(await limit.exceededBy(1.5 * 1024 ** 2 + 1, 1)).toEqual({ bytes: 1.5 * 1024 ** 2, isOurs: false });
	});

	test('the largest file that n8n can store is said in MiB', () => {
		expect([formatSize(512 * 1024 ** 2), formatSize(1.25 * 1024 ** 2), formatSize(0)]).toEqual([
			'512 MiB',
			'1.3 MiB',
			'0 MiB',
		]);
	});
});

test('links lead to the files of n8n for 30 days; where n8n makes none, a hint says so', () => {
	const createBinarySignedUrl = jest.fn(({ id }: { id: string }, time: string) => `https://n8n.example/${id}?${time}`);
	const hints = new Set<string>();
	const files = { data: { id: 'a' }, data_1: { id: 'b' } } as never;
	const links = ['https://n8n.example/a?30 days', 'https://n8n.example/b?30 days'];
	expect(linksTo({ helpers: { createBinarySignedUrl } } as never, files, hints)).toEqual({
		download_url: links[0],
		download_urls: links,
	});
	expect([...hints]).toEqual([]);
	createBinarySignedUrl.mockImplementation(() => {
		throw new Error('in memory');
	});
	expect(linksTo({ helpers: { createBinarySignedUrl } } as never, files, hints)).toEqual({});
	expect([...hints]).toEqual([HINTS.noDownloadLink()]);
});

describe('the fields of a task', () => {
	const order = (more: object = {}) => ({
		...makeOrder({ item: 0, thing: 'task', kind: 'image', then: 'poll', task: { taskId: 'a', elapsedMs: 0 } }),
		...more,
	});
	const wanted = {
		...{ downloadResult: false, downloadLink: false, outputField: 'data', fileName: '', simplify: true },
		...{ resultPath: '', urlExpected: true, resultNeeded: true, requestUrls: [] as string[] },
	};
	const URL = 'https://files.example/1.png';
	type Shown = Partial<ReturnType<typeof toTaskOutput>> & { hints?: string[]; reason?: { name: string }; raw: object };

	function output(raw: object, result: Partial<typeof wanted> = {}, more: object = {}, waitedMs?: number): Shown {
		const hints = new Set<string>();
		const record = parseTaskRecord({ id: 'a', ...raw }) as TaskRecord;
		const delivery = {
			...{ order: order(more) as never, task: { taskId: 'a', elapsedMs: 0 }, record, waitedMs },
			result: { ...wanted, ...result },
		};
		try {
			return { ...toTaskOutput(delivery, hints), hints: [...hints], raw: record.raw };
		} catch (thrown) {
			return { reason: (thrown as GatewayError).details.reason, raw: record.raw };
		}
	}

	test('the fields of a task are those of a completed one, the result first', () => {
		const raw = {
			status: 'succeeded',
			model: 'm',
			created_at: 1_800_000_000,
			expires_at: 1_800_086_400,
			url: URL,
			cost: 3,
			error: 'x',
		};
		const { json, urls, hints } = output(raw, {}, { model: 'asked', reused: true }, 12_340);
		expect(json).toStrictEqual({
			...{ url: URL, task_id: 'a', status: 'completed', progress: 100, model: 'm', reused: true, waited_seconds: 12.3 },
			...{ created_at: '2027-01-15T08:00:00.000Z', expires_at: '2027-01-16T08:00:00.000Z', urls: [URL], cost: 3 },
		});
		expect(Object.keys(json ?? {})[0]).toBe('url');
		expect([urls, hints]).toEqual([[URL], []]);
	});

	test('the fields of a task are those of one that runs', () => {
		expect(output({ status: 'running' }, {}, { model: 'asked' }).json).toStrictEqual({
			...{ task_id: 'a', status: 'in_progress', model: 'asked' },
		});
		expect(output({ status: 'running', progress: 40 }).json).toStrictEqual({
			task_id: 'a',
			status: 'in_progress',
			progress: 40,
		});
		expect(output({ status: 'running' }, { simplify: false }).json?.record).toEqual({ id: 'a', status: 'running' });
	});

	test('say why one has failed', () => {
		expect(output({ status: 'failed', error: { message: 'w', code: 'c' } }).json?.reason).toBe('w');
		expect(output({ status: 'failed', error: { code: 'c' } }).json?.reason).toBe('c');
		expect(output({ status: 'cancelled' }).json?.reason).toBe('cancelled');
	});

	test('the fields of a task have a hint where the result was found at an unknown path', () => {
		const { json, hints } = output({ status: 'completed', answer: { file: URL } });
		expect(json).toMatchObject({ url: URL });
		expect(json).not.toHaveProperty('record');
		expect(hints).toEqual([HINTS.resultFound({ place: 'answer.file' })]);
		expect(output({ status: 'completed', answer: { file: URL } }, { urlExpected: false }).json).toHaveProperty(
			'record',
		);
	});

	test('the fields of a task have no record where the result is at its place, whatever was asked for', () => {
		expect(output({ status: 'completed', url: URL }, { urlExpected: false }).json).not.toHaveProperty('record');
	});

	test('the fields of a task have the record where the result is a file in it', () => {
		const file = { data: [{ b64_json: 'iVBORw0KGgo'.repeat(40) }] };
		const { json, hints } = output({ status: 'completed', result: file });
		expect(json?.record).toMatchObject({ result: file });
		expect(hints).toEqual([]);
	});

	test('the fields of a task have the record where the result is unclear, and both places in a hint', () => {
		const { json, hints } = output({ status: 'completed', one: { file: URL }, other: { file: `${URL}2` } });
		expect(json).toHaveProperty('record');
		expect(json).not.toHaveProperty('url');
		expect(hints).toEqual([HINTS.resultUnclear({ places: 'one.file or other.file' })]);
	});

	test('the fields of a task are none of a completed one without a result that is needed', () => {
		expect(output({ status: 'completed' }, {}, {}, 7).reason?.name).toBe('noResultUrl');
		expect(output({ status: 'completed' }, { resultPath: 'x.y' }).reason?.name).toBe('noResultAtPath');
	});

	test('the fields of a task have the record of a completed one without a result that is not needed', () => {
		const plain = { status: 'completed' };
		expect(output(plain, { resultNeeded: false }).hints).toEqual([HINTS.resultNotFound()]);
		expect(output(plain, { resultNeeded: false }).json).toHaveProperty('record');
		expect(output(plain, { resultNeeded: false, resultPath: 'x.y' }).hints).toEqual([
			HINTS.resultNotAtPath({ path: 'x.y' }),
		]);
		expect(output(plain, { urlExpected: false }).hints).toEqual([]);
		expect(output(plain, { urlExpected: false }).json).toHaveProperty('record');
		expect(output(plain, {}, { then: 'nothing' }).hints).toEqual([HINTS.resultNotFound()]);
	});

	test('do not take the URLs of the request for a result', () => {
		expect(output({ status: 'completed', url: URL }, { requestUrls: [URL] }).reason?.name).toBe('noResultUrl');
	});
});
