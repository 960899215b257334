/** A host of result files that sends nothing, too little, too much or too many. SECURITY.md names each case. */
import { Container } from '@n8n/di';
import { BinaryDataConfig, BinaryDataService } from 'n8n-core';
import type { IDataObject } from 'n8n-workflow';
import { FILE_LIMITS } from '../../nodes/generation/fileLimits';
import { useBinaryMode } from '../support/engine.mts';
import {
	costOf,
	dripHeaders,
	filesIn,
	endlessFile,
	finished,
	stall,
	startHostile,
	steadily,
	TASK_ID,
	text,
	type Answer,
	type Hostile,
} from '../support/hostile.mts';
import { memoryMb } from '../support/memory.mts';
import { pause, runGateway, type RunOptions, type Sandbox } from '../support/nodes.mts';

let hostile: Hostile;
beforeAll(async () => {
	hostile = await startHostile();
	// What the first run loads stays.
	hostile.answers.poll = completed(fileUrl('first'));
	await runGateway('image', hostile as unknown as Sandbox, getTask);
});
afterAll(async () => await hostile.close());

const MIB = 2 ** 20;
/** Megabytes instead of gigabytes. A test shortens only the time that it is about: a busy machine exceeds all others. */
const SMALL: typeof FILE_LIMITS = {
	files: 5,
	bytes: 20 * MIB,
	bytesInMemory: 10 * MIB,
	openMs: 60_000,
	silenceMs: 60_000,
	graceMs: 60_000,
	bytesPerSecond: 10_000,
	taskMs: 60_000,
	triesMs: 600,
	turnMs: 400,
};
const REAL = { ...FILE_LIMITS };
/** Less than one of the files, whose sizes are bounded above. */
const MOST_KEPT_MB = 8;
let memoryBeforeMb: number;
beforeEach(async () => {
	hostile.reset();
	Object.assign(FILE_LIMITS, SMALL);
	expect(await hostile.open()).toBe(0);
	memoryBeforeMb = memoryMb();
});
afterEach(async () => {
	Object.assign(FILE_LIMITS, REAL);
	hostile.reset();
	expect(await noneOpen()).toBe(true);
	// Buffers go a moment later.
	for (let waited = 0; memoryMb() - memoryBeforeMb > MOST_KEPT_MB && waited < 20; waited++) await pause(100);
	expect(memoryMb() - memoryBeforeMb).toBeLessThan(MOST_KEPT_MB);
});

const fileUrl = (name: number | string) => `${hostile.baseUrl}/files/${name}.png`;
const files = () => hostile.requests.filter(({ url }) => url.startsWith('/files/'));
const completed = (...urls: string[]) => finished({ images: urls });
const getTask: IDataObject = { operation: 'getResult', wait: 'dontWait', taskId: TASK_ID, result: 'file' };
const download = async (answer?: Answer, options: RunOptions = {}) => {
	hostile.answers.poll = completed(fileUrl('a'));
	if (answer) hostile.answers.file = answer;
	return await runGateway('image', hostile as unknown as Sandbox, getTask, options);
};
const noneOpen = async () => {
	for (let waited = 0; (await hostile.open()) > 0 && waited < 100; waited++) await pause(20);
	return (await hostile.open()) === 0;
};
const NOT_DOWNLOADED = `The result of task ${TASK_ID} could not be downloaded`;
const TOO_LARGE = `The result of task ${TASK_ID} is larger than this node downloads`;
const TOO_LARGE_FOR_N8N = `The result of task ${TASK_ID} is too large for this n8n, and was not downloaded`;

describe.each(['default', 'filesystem'] as const)('where n8n stores files in mode %s', (mode) => {
	beforeAll(async () => void (await useBinaryMode(mode)));
	afterAll(async () => void (await useBinaryMode('default')));

	/** The stored parts of files that are not whole. */
	const leftovers = () =>
		mode === 'default'
			? []
			: filesIn(Container.get(BinaryDataConfig).localStoragePath).filter((name) =>
					String(name).split('/').at(-1)?.includes('tmp'),
				);

	afterEach(() => expect(leftovers()).toEqual([]));

	test.each<[string, Answer, string, Partial<typeof FILE_LIMITS>]>([
		['a beginning, and then nothing', stall('0123456789'), 'The file host sent nothing for', { silenceMs: 300 }],
		['a byte now and then', stall('0123456789', 50), 'The file host sent less than 10 KB per second', { graceMs: 600 }],
		[
			'most of it at once, and then a byte now and then',
			stall('\0'.repeat(3 * MIB), 50),
			'The file host sent less than 10 KB per second',
			{ graceMs: 600 },
		],
		['no answer', () => {}, 'The file host did not begin to answer within', { openMs: 600 }],
		['headers a byte at a time', dripHeaders(), 'The file host did not begin to answer within', { openMs: 600 }],
		['an empty file', text('', { 'content-type': 'image/png' }), 'The file host sent an empty file', {}],
	])(
		'a download that gets %s ends with what happened, the task and the URL, and no connection stays',
		async (_, answer, what, limits) => {
			Object.assign(FILE_LIMITS, limits);
			const { result, grownMb } = await costOf(async () => await download(answer));
			const { error, items } = result;
			expect(grownMb).toBeLessThan(150);
			expect(items).toEqual([]);
			expect(error?.message).toBe(NOT_DOWNLOADED);
			expect(error?.description).toContain(what);
			expect(error?.description).toContain(`Result URLs: ${fileUrl('a')}`);
			expect(files()[0]?.key).toBeUndefined();
		},
	);

	test.each([
		['an endless file', endlessFile()],
		['an endless file, compressed to a thousandth', endlessFile(true)],
		[
			'a file that says that it is too large',
			((response) => {
				response.writeHead(200, { 'content-type': 'image/png', 'content-length': String(5 * 1024 * MIB) }).write('a');
			}) as Answer,
		],
	])('%s is cut off, and tried once', async (what, answer) => {
		if (mode === 'default') FILE_LIMITS.bytes = FILE_LIMITS.bytesInMemory;
		const { result, grownMb } = await costOf(async () => await download(answer));
		const isTooLargeForN8n = mode === 'default' && what === 'a file that says that it is too large';
		expect(result.error?.message).toBe(isTooLargeForN8n ? TOO_LARGE_FOR_N8N : TOO_LARGE);
		expect(result.error?.description).toContain(fileUrl('a'));
		expect(files()).toHaveLength(1);
		expect(grownMb).toBeLessThan(150);
	});

	test('a file with a name of 10,000 characters, in the URL and in the header, gets a name that can be stored', async () => {
		const long = 'x'.repeat(10_000);
		hostile.answers.poll = completed(fileUrl(long));
		const header = { 'content-type': 'image/png', 'content-disposition': `attachment; filename="${long}.png"` };
		hostile.answers.file = text('\0 file', header);
		const { result, grownMb } = await costOf(
			async () => await runGateway('image', hostile as unknown as Sandbox, getTask),
		);
		expect(result.error).toBeUndefined();
		expect(result.items[0]?.binary?.data).toMatchObject({ mimeType: 'image/png', bytes: 6 });
		expect(result.items[0]?.binary?.data?.fileName?.length).toBeLessThan(256);
		expect(grownMb).toBeLessThan(150);
	});

	test('a host that is slow, but quick enough, is waited for', async () => {
		Object.assign(FILE_LIMITS, { graceMs: 600, silenceMs: 1_000 });
		const bytes = Buffer.alloc(2 * MIB);
		const { items } = await download(steadily(bytes, 128 * 1024));
		expect(items[0]?.binary?.data).toMatchObject({ bytes: bytes.length });
	});
});

test.each(['s3', 'azure', 'database'])(
	'n8n collects a file in memory before it stores it in %s: the limit is the one of memory',
	async (mode) => {
		jest.spyOn(Container.get(BinaryDataService), 'store').mockImplementation((async (
			_: unknown,
			file: Buffer | AsyncIterable<Buffer>,
			data: object,
		) => {
			let bytes = 0;
			for await (const chunk of file) bytes += (chunk as Buffer).length;
			return { ...data, id: `${mode}:1`, bytes };
		}) as never);
		const { error } = await download(text(Buffer.alloc(12 * MIB), { 'content-type': 'image/png' }));
		jest.restoreAllMocks();
		expect(error?.message).toBe(TOO_LARGE);
		expect(error?.description).toContain('at most 10 MiB');
	},
);

test('a store that takes its time is no silent host', async () => {
	FILE_LIMITS.silenceMs = 300;
	jest.spyOn(Container.get(BinaryDataService), 'store').mockImplementation((async (
		_: unknown,
		file: AsyncIterable<Buffer>,
		data: object,
	) => {
		let bytes = 0;
		for await (const chunk of file) {
			if (bytes < 300_000) await pause(400);
			bytes += chunk.length;
		}
		return { ...data, bytes };
	}) as never);
	const { items, error } = await download(text(Buffer.alloc(2 * MIB), { 'content-type': 'image/png' }));
	jest.restoreAllMocks();
	expect(error).toBeUndefined();
	expect(items[0]?.binary?.data).toMatchObject({ bytes: 2 * MIB });
	expect(files()).toHaveLength(1);
});

test('the limits of downloads are those that SECURITY.md and the page about the output name', () => {
	expect(REAL).toMatchObject({ files: 100, bytes: 2 ** 30, bytesInMemory: 2 ** 29, silenceMs: 30_000, openMs: 60_000 });
	expect(REAL).toMatchObject({ bytesPerSecond: 10_000, graceMs: 120_000, taskMs: 3_600_000, turnMs: 60_000 });
});

describe('the files of one task', () => {
	const generous = text('\0 file', { 'content-type': 'image/png' });

	test('of 10,000 files of one task none is fetched, and the message names the task and the first URLs', async () => {
		const urls = Array.from({ length: 10_000 }, (_, index) => fileUrl(index));
		hostile.answers.poll = completed(...urls);
		hostile.answers.file = generous;
		const { result, grownMb } = await costOf(
			async () => await runGateway('image', hostile as unknown as Sandbox, getTask),
		);
		const { error } = result;
		expect(grownMb).toBeLessThan(150);
		expect(error?.message).toBe(`Task ${TASK_ID} has 10000 result files, and this node downloads at most 5`);
		expect(error?.description).toContain(`Result URLs: ${fileUrl(0)} `);
		expect(error?.description).toMatch(/ and 9980 more$/);
		expect(error?.description?.length).toBeLessThan(5_000);
		expect(files()).toHaveLength(0);
		const settings = { onError: 'continueRegularOutput' as const };
		const { json } = await runGateway('image', hostile as unknown as Sandbox, getTask, { settings });
		expect(json[0]).toMatchObject({ task_id: TASK_ID, urls });
	});

	test('the files of one task together are no larger than one may be', async () => {
		FILE_LIMITS.bytes = FILE_LIMITS.bytesInMemory = 5 * MIB;
		hostile.answers.poll = completed(fileUrl(0), fileUrl(1), fileUrl(2));
		hostile.answers.file = text(Buffer.alloc(2 * MIB), { 'content-type': 'image/png' });
		const { error } = await runGateway('image', hostile as unknown as Sandbox, getTask);
		expect(error?.message).toBe(TOO_LARGE);
		expect(error?.description).toContain('file 3 of 3');
		expect(error?.description).toContain('at most 5 MiB');
	});

	test('the files of one task together take no longer than one may take', async () => {
		FILE_LIMITS.taskMs = 1_000;
		hostile.answers.poll = completed(fileUrl(0), fileUrl(1));
		hostile.answers.file = stall('0123456789', 50);
		const { error } = await runGateway('image', hostile as unknown as Sandbox, getTask);
		expect(error?.description).toContain('The files did not arrive within');
		expect(files()).toHaveLength(1);
	});
});

describe('what waits beside such files', () => {
	const tasks = (count: number) => Array.from({ length: count }, (_, index) => ({ json: { id: `task_${index}` } }));
	const parameters = { ...getTask, taskId: '={{ $json.id }}' };
	const settings = { onError: 'continueRegularOutput' as const };
	beforeEach(() => {
		hostile.answers.poll = (response, request) => {
			const id = request.url?.split('/').at(-1) ?? '';
			finished({ id, images: [fileUrl(id)] })(response, request);
		};
	});

	test('a file is not held up by six that trickle for as long as they may', async () => {
		const trickling: Array<() => void> = [];
		let arrived = 0;
		hostile.answers.file = (response, request) => {
			if (!/task_[0-5]\./.test(request.url ?? '')) {
				text('\0 file', { 'content-type': 'image/png' })(response, request);
				response.once('close', () => ++arrived === 3 && trickling.splice(0).forEach((end) => end()));
				return;
			}
			if (arrived === 3) return text('', {}, 404)(response, request);
			trickling.push(() => response.destroy());
			stall('0123456789', 50)(response, request);
		};
		const { json, items } = await runGateway('image', hostile as unknown as Sandbox, parameters, {
			items: tasks(9),
			settings,
		});
		expect(json.map(({ error }) => error === undefined)).toEqual([...Array(6).fill(false), true, true, true]);
		expect(items.slice(6).every(({ binary }) => binary !== undefined)).toBe(true);
	});

	test('an answer that is not read leaves no connection: a redirect, a refusal, a page', async () => {
		const endless = (status: number, headers: Record<string, string>): Answer => {
			return (response) => void response.writeHead(status, headers).write('a');
		};
		for (const answer of [
			endless(404, { 'content-type': 'image/png' }),
			endless(200, { 'content-type': 'text/html' }),
			endless(302, { location: '/files/other.png' }),
			endless(302, { location: 'http://10.0.0.5/a.png' }),
		]) {
			await download(answer);
			expect(await noneOpen()).toBe(true);
		}
	});
});
