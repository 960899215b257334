/** The output panel: the message of a wrong value, and pictures and videos. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createWorkflow, packageType } from '../n8n/support/workflow.mts';
import { openNode } from './support/form.mts';
import { executeStep, messageOf, untilToast, viewFile } from './support/run.mts';
import { n8n, releasePage, screenshot, showWorkflow, takePage } from './support/session.mts';

const wrongValues = [
	{
		what: 'an empty prompt',
		node: 'imageGeneration',
		parameters: { prompt: '={{ "" }}' },
		message: 'The expression in Prompt gave nothing for this item',
	},
	{
		what: 'a duration of 99',
		node: 'videoGeneration',
		parameters: { prompt: 'A lighthouse', duration: 99 },
		message: 'Duration (Seconds) is 99: alpha-video-1-5-pro allows whole numbers from 4 to 12',
	},
	{
		what: 'a second image without a file',
		node: 'videoGeneration',
		parameters: {
			prompt: 'A lighthouse',
			images: {
				image: [
					{ source: 'url', url: 'https://example.com/a.png' },
					{ source: 'binary', binaryPropertyName: "={{ $('Start').item.binary?.data }}" },
				],
			},
		},
		message: 'Image 2: Input Binary Field is empty',
	},
	{
		what: 'an empty task ID',
		node: 'videoGeneration',
		parameters: { operation: 'getTask', taskId: '={{ "" }}' },
		message: 'The expression in Task ID gave nothing for this item',
	},
	{
		what: 'an amount that is no number',
		node: 'token',
		parameters: { name: 'Test', amount: '={{ "much" }}' },
		message: 'Amount is "much": it must be a number, 0 or more',
	},
];

describe('output panel', () => {
	let page: Page;
	before(async () => {
		page = await takePage();
	});
	after(() => releasePage(page));

	/** Opens the node in a workflow of its own. */
	async function open(node: string, parameters: Record<string, unknown>) {
		const { sandbox, ...instance } = await n8n();
		sandbox.reset();
		await showWorkflow(
			page,
			await createWorkflow(instance, [{}], [{ name: 'Node', type: packageType(node), parameters }]),
		);
		await openNode(page, 'Node');
		return sandbox;
	}

	for (const { what, node, parameters, message } of wrongValues) {
		test(`${what} is named, and nothing is sent`, async () => {
			const sandbox = await open(node, parameters);
			await executeStep(page);
			const shown = await messageOf(page);
			await screenshot(page, `message, ${what}`);
			assert.ok(shown.message.startsWith(message), shown.message);
			assert.match(shown.description, /Nothing was sent/);
			assert.deepEqual(sandbox.requests, []);
		});
	}

	test('a required field that is empty keeps the workflow from starting, and is named', async () => {
		await open('imageGeneration', {});
		await page.getByTestId('node-execute-button').click();
		await untilToast(page, 'Parameter "Prompt" is required');
	});

	test('a picture can be looked at', async () => {
		await open('imageGeneration', { prompt: 'A lighthouse', downloadResult: true });
		await executeStep(page);
		await viewFile(page);
		const picture = page.getByTestId('output-panel').locator('img[src*="binary-data"]');
		await picture.waitFor();
		await screenshot(page, 'result, image');
		assert.equal(await picture.evaluate((image) => image.decode().then(() => image.naturalWidth)), 1024);
	});

	test('in the table, the URL comes first and can be seen', async () => {
		await open('imageGeneration', { prompt: 'A lighthouse', downloadResult: false });
		await executeStep(page);
		const panel = page.getByTestId('output-panel');
		await panel.getByTestId('radio-button-table').click();
		const headers = panel.locator('table thead th');
		await headers.first().waitFor();
		assert.equal((await headers.first().innerText()).trim(), 'url');
		const [column, whole] = [await headers.first().boundingBox(), await panel.boundingBox()];
		assert.ok(column && whole && column.x >= whole.x && column.x + column.width <= whole.x + whole.width);
		await screenshot(page, 'result, table');
	});

	test('the first and the last frame come from two nodes', async () => {
		const { sandbox, ...instance } = await n8n();
		sandbox.reset();
		const make = (name: string) => ({
			name,
			type: packageType('imageGeneration'),
			parameters: { prompt: name, downloadResult: true },
		});
		const images = {
			image: ['Dawn', 'Dusk'].map((name) => ({
				source: 'binary',
				binaryPropertyName: `={{ $('${name}').item.binary.data }}`,
			})),
		};
		const video = {
			name: 'Video',
			type: packageType('videoGeneration'),
			parameters: { prompt: 'From dawn to dusk', images },
		};
		await showWorkflow(page, await createWorkflow(instance, [{}], [make('Dawn'), make('Dusk'), video]));
		await openNode(page, 'Video');
		await executeStep(page);
		await screenshot(page, 'result, video from two nodes');
		const [dawn, dusk, both] = sandbox.tasks;
		assert.deepEqual(
			sandbox.uploads.map(({ fileName }) => fileName),
			[`${dawn.id}_1.png`, `${dusk.id}_1.png`],
		);
		assert.deepEqual([(both.body.image_urls as string[]).length, both.body.prompt], [2, 'From dawn to dusk']);
	});

	test('a video can be played', async () => {
		await open('videoGeneration', { prompt: 'A lighthouse', downloadResult: true });
		await executeStep(page);
		await viewFile(page);
		const video = page.getByTestId('output-panel').locator('video');
		// Not "canplay": it may have come already. 3 is enough to play on.
		while ((await video.evaluate((element) => element.readyState)) < 3) await page.waitForTimeout(100);
		await screenshot(page, 'result, video');
		assert.ok((await video.evaluate((element) => element.videoWidth)) > 0);
	});
});
