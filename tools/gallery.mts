/**
 * `npm run gallery`: a picture of each example workflow, taken from the real editor, in docs/images, one of a node with its
 * result, one of the credential, and one of the purchase log. `npm run gallery -- batch chat` takes those with one of these
 * words in their names.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { openNode } from '../test/browser/support/form.mts';
import { executeStep, viewFile } from '../test/browser/support/run.mts';
import { sandboxKey, startInstance, type Instance } from '../test/n8n/support/instance.mts';
import { createWorkflow, packageType } from '../test/n8n/support/workflow.mts';
import { newEditorPage, openPath, openWorkflow } from './browser/editor.mjs';
import { launchBrowser } from './browser/launch.mjs';
import { credentialType, readExamples, withCredential, type Example } from './n8n/examples.mjs';
import { startExecution, untilFinished } from './n8n/executions.mjs';
import { projectDir } from './paths.mjs';
import { atEnd } from './processes/end.mjs';
import { step } from './report/step.mjs';

const folder = join(projectDir, 'docs', 'images');
/** CSS pixels. Without the empty rim, which goes, the pictures are less than 1200 wide. */
const width = 1340;
const height = 860;
/** Of the one with the result. */
const resultSize = { width: 1440, height: 760 };
/** Of the table, of which the first columns are seen. */
const tableSize = { width: 1400, height: 480 };
const marginPixels = 24;
/** The names of nodes stand below them. */
const labelPixels = 40;
/** The last ones have a line with a "+" to their right. */
const tailPixels = 36;
/** Levels of each colour that remain. An editor has few; the difference is not seen, and the file halves. */
const fewLevels = 32;
/** A generated picture has gradients, which would become stripes. */
const allLevels = 256;

/**
 * Hides what lies on top of the canvas, and the warning signs of credentials that everybody has to choose for
 * themselves.
 */
const hideFurniture = `
	[data-test-id="canvas-controls"], *:has(> * > [data-test-id="node-creator-plus-button"]), [data-test-id="node-issues"], .vue-flow__panel,
	[data-test-id="canvas-wrapper"] > *:has([data-test-id="execute-workflow-button"]), .el-notification { visibility: hidden !important; }`;

export default async function gallery(words: string[]) {
	const instance = await step('Starting n8n', () => startInstance({ editor: true }));
	atEnd(() => instance.close());
	const browser = await launchBrowser();
	atEnd(() => browser.close());
	const page = await newEditorPage(browser, instance.n8n.url, { width, height });

	mkdirSync(folder, { recursive: true });
	const isWanted = (name: string) => words.length === 0 || words.some((word) => name.includes(word));
	for (const example of readExamples().filter(({ file }) => isWanted(file))) {
		await step(example.file, async (tell) => {
			const picture = await takePicture(page, instance, example);
			tell(save(basename(example.file, '.json'), picture));
			if (example.file === 'text-to-image.json') tell(save('first-picture', await takeResult(page)));
		});
	}
	if (isWanted('credential'))
		await step('The credential', async (tell) => tell(save('credential', await takeCredential(page, instance))));
	if (isWanted('purchase-log'))
		await step('The purchase log', async (tell) => tell(save('purchase-log', await takeTable(page, instance))));
}

function save(name: string, picture: Buffer): string {
	writeFileSync(join(folder, `${name}.png`), picture);
	return `${(picture.length / 1000).toFixed(0)} kB`;
}

/** The node of the workflow on the page: its form, and the picture that it has made. */
async function takeResult(page: Page): Promise<Buffer> {
	await page.setViewportSize(resultSize);
	await openNode(page, 'Generate Image');
	await executeStep(page);
	await viewFile(page);
	const image = page.getByTestId('output-panel').locator('img[src*="binary-data"]');
	await image.evaluate((element) => (element as unknown as { decode: () => Promise<void> }).decode());
	const picture = smallPng(await page.getByTestId('ndv').screenshot(), allLevels);
	await page.setViewportSize({ width, height });
	return picture;
}

/** The form of the credential, right after n8n's test of it. */
async function takeCredential(page: Page, { rest, n8n }: Instance): Promise<Buffer> {
	const data = { baseUrl: 'https://gateway.example.com', apiKey: sandboxKey };
	const name = 'Generation Gateway account';
	const { id } = await rest.request('POST', '/rest/credentials', { name, type: credentialType, data });
	// The sandbox has no such address; what n8n's test says is as for one that works.
	await page.route('**/rest/credentials/test', (route) =>
		route.fulfill({ json: { data: { status: 'OK', message: 'Connection successful!' } } }),
	);
	await openPath(page, n8n.url, `/home/credentials/${id}`);
	await page.getByText('Connection tested successfully').waitFor();
	return smallPng(await page.getByTestId('editCredential-modal').screenshot());
}

/** The table of the purchase log, after a run of which the service has refused one item. */
async function takeTable(page: Page, { rest, credential, n8n }: Instance): Promise<Buffer> {
	const prompts = ['a lighthouse', 'a bridge', 'a harbour [[sandbox create=400]]'].map((prompt) => ({ prompt }));
	const parameters = { prompt: '={{ $json.prompt }}', options: { pollIntervalSeconds: 1 } };
	const type = packageType('imageGeneration');
	const node = { name: 'Generate Image', type, onError: 'continueRegularOutput', parameters };
	const workflowId = await createWorkflow({ rest, credential }, prompts, [node]);
	await untilFinished(rest, await startExecution(rest, workflowId, 'Start'));
	const project = String((await rest.request('GET', '/rest/projects/personal')).id);
	const { data: tables } = await rest.request('GET', `/rest/projects/${project}/data-tables`);
	await page.setViewportSize(tableSize);
	await page.goto(`${n8n.url}/projects/${project}/datatables/${tables[0].id}`);
	await page.getByText('not_accepted').first().waitFor();
	await page.addStyleTag({ content: hideFurniture });
	return smallPng(await page.screenshot());
}

async function takePicture(page: Page, { rest, credential, n8n }: Instance, { workflow }: Example): Promise<Buffer> {
	const { id } = await rest.request('POST', '/rest/workflows', withCredential(workflow, credential));
	await openWorkflow(page, n8n.url, String(id));
	await page.addStyleTag({ content: hideFurniture });
	await page.getByTestId('zoom-to-fit').evaluate((button) => button.click());
	await page.waitForTimeout(1_000); // the canvas glides there
	return smallPng(await page.screenshot({ clip: await contentOf(page) }));
}

/** The part of the page that holds nodes and notes, with a margin. */
async function contentOf(page: Page) {
	const boxes = await page.locator('.vue-flow__node').evaluateAll((nodes) =>
		nodes.map((node) => {
			const { left, top, right, bottom } = node.getBoundingClientRect();
			return { left, top, right, bottom };
		}),
	);
	const canvas = (await page.locator('.vue-flow').first().boundingBox()) ?? { x: 0, y: 0, width, height };
	const x = Math.max(canvas.x, Math.min(...boxes.map(({ left }) => left)) - marginPixels);
	const y = Math.max(canvas.y, Math.min(...boxes.map(({ top }) => top)) - marginPixels);
	const right = Math.min(
		canvas.x + canvas.width,
		Math.max(...boxes.map((box) => box.right)) + tailPixels + marginPixels,
	);
	const bottom = Math.min(
		canvas.y + canvas.height,
		Math.max(...boxes.map((box) => box.bottom)) + labelPixels + marginPixels,
	);
	return { x, y, width: right - x, height: bottom - y };
}

/** With fewer colours, and better packed. */
function smallPng(file: Buffer, levels = fewLevels): Buffer {
	const picture = PNG.sync.read(file);
	const size = 255 / (levels - 1);
	for (let index = 0; index < picture.data.length; index++) {
		picture.data[index] = Math.round(Math.round((picture.data[index] ?? 0) / size) * size);
	}
	return PNG.sync.write(picture, { colorType: 2, deflateLevel: 9 }); // no transparency
}
