/** What happens when a result file does not arrive, or arrives and cannot be stored. */
import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import { quick, quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox({ imageTaskMs: 100, videoTaskMs: 100 });
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());
afterEach(() => jest.restoreAllMocks());

const download = async (directive: string, kind: 'image' | 'video' = 'video') =>
	await runGateway(kind, sandbox, { operation: 'generate', prompt: `a [[sandbox duration=0 ${directive}]]`, downloadResult: true, options: quick });

describe('an answer that is no file', () => {
	jest.setTimeout(30_000);

	test('is asked for again, and then said', async () => {
		const { error, items } = await download('type=application/json');
		expect(items).toEqual([]);
		expect(error?.message).toBe(`The result of task ${sandbox.tasks[0]?.id} could not be downloaded`);
		expect(error?.description).toContain('the file host sent JSON');
		expect(sandbox.fileRequests).toHaveLength(4);
	});

	test('is not the file that comes after it', async () => {
		sandbox.faults.add({ on: 'file', do: { status: 200, headers: { 'content-type': 'application/json' }, body: { message: 'not yet' } } });
		const { items } = await download('');
		expect(items[0]?.binary?.data).toMatchObject({ mimeType: 'video/mp4' });
		expect(sandbox.fileRequests).toHaveLength(2);
	});
});

describe('a file that n8n does not store', () => {
	const words = 'Failed to write binary file "a.mp4" because its size of 600 MB exceeds the max size limit of 512 MB';

	test.each([
		['as it reads the file', async () => await Promise.reject(new Error(words))],
		[
			'after it has read the file',
			async (_: unknown, file: AsyncIterable<unknown>) => {
				for await (const chunk of file) expect(chunk).toBeDefined();
				throw Object.assign(new Error(words), { code: 'ECONNRESET' }); // a store that is elsewhere
			},
		],
		['because the disk is full', async () => await Promise.reject(Object.assign(new Error(words), { code: 'ENOSPC' }))],
	])('%s: its own words are shown, and nothing is downloaded again', async (_, store) => {
		jest.spyOn(Container.get(BinaryDataService), 'store').mockImplementation(store as never);
		const { error } = await download('');
		const id = sandbox.tasks[0]?.id;
		expect(error?.message).toBe(`The result of task ${id} could not be stored`);
		expect(error?.description).toContain(`n8n says: "${words}".`);
		expect(error?.description).toContain(`/results/${id}/0.mp4`);
		expect(sandbox.fileRequests).toHaveLength(1);
	});

	test.each(['file=cut', 'file=cut*2'])('a connection that breaks is another matter: %s', async (directive) => {
		const { items } = await download(directive);
		expect(items[0]?.binary?.data).toMatchObject({ mimeType: 'video/mp4' });
		expect(sandbox.fileRequests.length).toBeGreaterThan(1);
	});

	test('as is a stream that n8n gives up', async () => {
		const { store } = Container.get(BinaryDataService);
		const gaveUp = new Error('Response body timed out after 1000ms without data');
		jest.spyOn(Container.get(BinaryDataService), 'store').mockRejectedValueOnce(gaveUp).mockImplementation(store.bind(Container.get(BinaryDataService)));
		const { items } = await download('');
		expect(items[0]?.binary?.data).toMatchObject({ mimeType: 'video/mp4' });
		expect(sandbox.fileRequests).toHaveLength(2);
	});
});
