/** The README's "First picture", click by click, from the start page of an n8n without workflows and credentials. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { newEditorPage } from '../../tools/browser/editor.mjs';
import { sandboxKey, startInstance, type Instance } from '../n8n/support/instance.mts';
import { addNodeBehind, foundNode, searchNodes } from './support/creator.mts';
import { closeNode } from './support/form.mts';
import { executeStep, viewFile } from './support/run.mts';
import { browser, screenshot } from './support/session.mts';

describe('a first picture', () => {
	let instance: Instance;
	let page: Page;
	before(async () => {
		instance = await startInstance({ editor: true, sandbox: { imageTaskMs: 300 } });
		await instance.rest.request('DELETE', `/rest/credentials/${instance.credential.id}`);
		page = await newEditorPage(await browser(), instance.n8n.url);
	});
	after(async () => {
		await page?.context().close();
		await instance?.close();
	});

	const type = async (parameter: string, text: string) =>
		await page.getByTestId(`parameter-input-${parameter}`).locator('input, textarea').first().fill(text);

	test('the way that the README describes leads to a first picture', async () => {
		const { sandbox, n8n } = instance;
		await page.goto(n8n.url);
		await page.getByTestId('universal-add').first().click();
		await page.getByText('New workflow', { exact: true }).click();
		await page.getByTestId('canvas-add-button').getByRole('button').click();
		await page.getByText('Trigger manually', { exact: true }).click();

		await addNodeBehind(page, 'gateway', 'Gateway Image', 'Generate image');

		await page.getByText('Connect to Generation Gateway').click();
		// n8n asks its server for the name, and does not save one without.
		await page.getByTestId('credential-name').and(page.getByTitle('Generation Gateway account')).waitFor();
		await type('baseUrl', sandbox.baseUrl);
		await type('apiKey', sandboxKey);
		// The notice about it is gone again after a few seconds.
		const saved = page.waitForResponse(
			(response) => response.request().method() === 'POST' && response.url().endsWith('/rest/credentials'),
		);
		await page.getByRole('button', { name: 'Save', exact: true }).click();
		assert.ok((await saved).ok());

		await type('prompt', 'A lighthouse');
		await executeStep(page);
		await viewFile(page);
		const picture = page.getByTestId('output-panel').locator('img[src*="binary-data"]');
		await picture.waitFor();
		await screenshot(page, 'first picture');
		assert.equal(await picture.evaluate((image) => image.decode().then(() => image.naturalWidth)), 1024);
		assert.deepEqual(
			sandbox.tasks.map(({ body }) => body.prompt),
			['A lighthouse'],
		);
	});

	test('the words that people type find the nodes, and the one that makes keys comes last', async () => {
		await closeNode(page);
		for (const [word, name] of [
			['create image', 'Gateway Image'],
			['text to video', 'Gateway Video'],
			['talking head', 'Gateway Video'],
			['verification', 'Gateway Avatar Trigger'],
			['credits', 'Gateway Balance'],
			['api key', 'Gateway API Key Creator'],
		] as const) {
			await searchNodes(page, word);
			await foundNode(page, name).waitFor();
		}
		await searchNodes(page, 'gateway');
		await foundNode(page, 'Gateway API Key Creator').waitFor();
		const names = (await page.getByTestId('node-creator-item-name').allInnerTexts()).map((name) => name.trim());
		const ours = names.filter((name) => name.startsWith('Gateway'));
		assert.deepEqual([ours[0], ours.at(-1)], ['Gateway Image', 'Gateway API Key Creator']);
	});
});
