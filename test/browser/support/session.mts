/** One n8n, one sandbox and one browser for all test files here: `npm run test:browser` runs them in one process. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { newEditorPage, openWorkflow, type Theme } from '../../../tools/browser/editor.mjs';
import { launchBrowser } from '../../../tools/browser/launch.mjs';
import { withCredential } from '../../../tools/n8n/examples.mjs';
import { devDir } from '../../../tools/paths.mjs';
import { startInstance, type Instance } from '../../n8n/support/instance.mts';
import type { TestNode } from '../../n8n/support/workflow.mts';

let runningBrowser: Promise<Browser> | undefined;
let runningInstance: Promise<Instance> | undefined;

/** Started on first use, and ended after the last test. */
export function browser(): Promise<Browser> {
	return (runningBrowser ??= launchBrowser());
}

/** n8n with the package, the examples, and a sandbox whose tasks take little time. Started on first use, and ended after the last test. */
export function n8n(): Promise<Instance> {
	const sandbox = { imageTaskMs: 300, videoTaskMs: 300 };
	return (runningInstance ??= startInstance({ editor: true, examples: true, sandbox }));
}

after(async () => {
	await (await runningBrowser)?.close();
	await (await runningInstance)?.close();
});

export const smallScreen = { width: 1366, height: 768 };
export const largeScreen = { width: 1600, height: 1000 };

/** Pages that no test uses now, by their theme: to load the editor anew takes eight seconds of processor time. */
const freePages = new Map<Theme, Page>();
const themes = new WeakMap<Page, Theme>();

/** A page of n8n's editor, logged in, for one test file at a time: `releasePage` gives it back. */
export async function takePage(
	theme: Theme = 'light',
	{ width = largeScreen.width, height = largeScreen.height } = {},
): Promise<Page> {
	const free = freePages.get(theme);
	freePages.delete(theme);
	if (free) {
		await free.setViewportSize({ width, height });
		return free;
	}
	const [chromium, { n8n: editor }] = await Promise.all([browser(), n8n()]);
	const page = await newEditorPage(chromium, editor.url, { theme, width, height });
	themes.set(page, theme);
	return page;
}

/** n8n lays out an open node anew a moment later. */
export async function resize(page: Page, size: { width: number; height: number }): Promise<void> {
	await page.setViewportSize(size);
	await page.waitForTimeout(300);
}

/** For the next test file, which leaves whatever the page shows when it opens its own workflow. */
export async function releasePage(page: Page | undefined): Promise<void> {
	const theme = page && themes.get(page);
	if (!theme) return;
	if (freePages.has(theme)) await page.context().close();
	else freePages.set(theme, page);
}

const nodesInRow = 7;

/** Makes a workflow of these nodes, not connected, and shows it. Nodes of this package get the sandbox's credential. */
export async function openNodes(page: Page, nodes: TestNode[]): Promise<void> {
	const { rest, credential } = await n8n();
	const workflow = {
		name: 'Forms',
		nodes: nodes.map((node, index) => ({
			id: String(index),
			typeVersion: 1,
			position: [300 * (index % nodesInRow), 200 * Math.floor(index / nodesInRow)],
			parameters: {},
			...node,
		})),
		connections: {},
		settings: {},
	};
	const { id } = await rest.request('POST', '/rest/workflows', withCredential(workflow, credential));
	await showWorkflow(page, String(id));
}

export async function showWorkflow(page: Page, id: string): Promise<void> {
	await openWorkflow(page, (await n8n()).n8n.url, id);
}

const pictures = join(devDir, 'screenshots');

/** For people to look at: `.n8n-dev/screenshots/<name>.png`. */
export async function screenshot(page: Page, name: string): Promise<void> {
	mkdirSync(pictures, { recursive: true });
	await page.screenshot({ path: join(pictures, `${name}.png`) });
}
