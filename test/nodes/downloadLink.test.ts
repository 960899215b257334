/** Links to n8n's own copies of result files: who gets them, what they open, and what happens where n8n makes none. */
import { Container } from '@n8n/di';
import { BinaryDataService } from 'n8n-core';
import type { IDataObject } from 'n8n-workflow';
import { runTool } from '../support/agent.mts';
import { useBinaryMode } from '../support/engine.mts';
import { quick, quickSandbox, runGateway, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());
afterEach(() => jest.restoreAllMocks());

const withLink = { ...quick, downloadLink: true };
const generate = { operation: 'generate', prompt: 'a cat', options: { ...withLink, n: 2 } };
const noLink = expect.stringMatching(/^There is no download link/) as string;

const hintsOf = (task: Awaited<ReturnType<typeof runGateway>>['task']) =>
	(task?.hints ?? []).map(({ message }) => message);

/** The files behind the links of an item: each link is the signed ID of a file. */
async function open({ download_urls: links }: IDataObject): Promise<Buffer[]> {
	const files = Container.get(BinaryDataService);
	return await Promise.all(
		(links as string[]).map(async (link) => {
			const id = files.validateSignedToken(new URL(link).searchParams.get('token') ?? '');
			return await files.getAsBuffer({ id, data: '', mimeType: '' });
		}),
	);
}

const daysLeft = (link: unknown) => {
	const { exp, iat } = JSON.parse(Buffer.from(String(link).split('.')[1], 'base64url').toString()) as {
		exp: number;
		iat: number;
	};
	return (exp - iat) / 86_400;
};

describe('where n8n stores files', () => {
	beforeAll(async () => await useBinaryMode('filesystem').then(() => {}));

	test('Generate downloads and links every file, also with Download Result off', async () => {
		const { items, task } = await runGateway('image', sandbox, { ...generate, downloadResult: false });
		const [{ json, binary }] = items;
		expect(json).toMatchObject({ status: 'completed', download_url: (json.download_urls as string[])[0] });
		expect(Object.keys(binary ?? {})).toEqual(['data', 'data_1']);
		const delivered = await Promise.all(
			(json.urls as string[]).map(async (url) => Buffer.from(await (await fetch(url)).arrayBuffer())),
		);
		expect(await open(json)).toEqual(delivered);
		expect(daysLeft(json.download_url)).toBe(30);
		expect(hintsOf(task)).toEqual([]);
	});

	test('Wait for Task and Get Task download and link the files of a task that exists', async () => {
		const { json: bought } = await runGateway('video', sandbox, {
			operation: 'generate',
			prompt: 'a',
			whenDone: 'return',
		});
		for (const operation of ['waitForTask', 'getTask']) {
			const options = operation === 'getTask' ? { downloadLink: true } : withLink;
			const { items } = await runGateway('video', sandbox, { operation, taskId: bought[0].task_id, options });
			expect(await open(items[0].json)).toHaveLength(1);
			expect(items[0].binary?.data).toMatchObject({ mimeType: 'video/mp4' });
		}
	});

	test('nobody gets a download link who has not asked for one', async () => {
		const { json } = await runGateway('image', sandbox, { ...generate, downloadResult: true, options: quick });
		expect(Object.keys(json[0])).not.toEqual(expect.arrayContaining([expect.stringContaining('download')]));
	});

	test('a tool stores the file and gives its agent the link alone', async () => {
		const { answers, run } = await runTool('image', sandbox, { prompt: 'a cat', options: withLink }, [{}]);
		const [json] = JSON.parse(answers[0].text ?? '') as IDataObject[];
		expect(json).toMatchObject({ status: 'completed', task_id: sandbox.tasks[0].id });
		expect((await open(json))[0].length).toBeGreaterThan(100);
		expect(JSON.stringify(run.data.resultData.runData)).not.toContain('"binary"');
	});

	test('a tool whose file cannot be fetched is no reason to buy again: its agent gets the result without a link', async () => {
		jest
			.spyOn(Container.get(BinaryDataService), 'store')
			.mockRejectedValue(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
		const { answers } = await runTool('image', sandbox, { prompt: 'a cat', options: withLink }, [{}]);
		expect(answers[0].error).toBeUndefined();
		const [json] = JSON.parse(answers[0].text ?? '') as IDataObject[];
		expect(json).toMatchObject({ status: 'completed', url: expect.stringContaining(sandbox.filesUrl) });
		expect(json).not.toHaveProperty('download_url');
	});
});

describe('where n8n keeps files in memory', () => {
	beforeAll(async () => await useBinaryMode('default').then(() => {}));

	test('where n8n keeps files in memory, there is a hint instead of a link, and the file', async () => {
		const { items, error, task } = await runGateway('image', sandbox, generate);
		expect(error).toBeUndefined();
		expect(items[0].json).toMatchObject({ status: 'completed' });
		expect(items[0].json).not.toHaveProperty('download_url');
		expect(Object.keys(items[0].binary ?? {})).toEqual(['data', 'data_1']);
		expect(hintsOf(task)).toEqual([noLink]);
	});
});
