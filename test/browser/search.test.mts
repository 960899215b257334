/** The node creator finds the nodes by the words that people type, and adds them. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { addNodeBySearch, foundNode, searchNodes } from './support/creator.mts';
import { canvasNode, closeNode, valueOf } from './support/form.mts';
import { openNodes, releasePage, screenshot, takePage } from './support/session.mts';

/**
 * n8n lists a trigger together with its node, under the name of the node, if its internal name is the one of the
 * node: Gateway Balance Trigger is. Gateway Avatar Trigger is an entry of its own.
 */
const all = [
	'Gateway Image',
	'Gateway Video',
	'Gateway Avatar',
	'Gateway Balance',
	'Gateway Avatar Trigger',
	'Gateway API Key Creator',
];

const finds: Record<string, string[]> = {
	image: ['Gateway Image'],
	media: ['Gateway Image', 'Gateway Video'],
	picture: ['Gateway Image'],
	video: ['Gateway Video'],
	generate: ['Gateway Image', 'Gateway Video'],
	'create image': ['Gateway Image'],
	'create video': ['Gateway Video'],
	'text to image': ['Gateway Image'],
	'ai video': ['Gateway Video'],
	'text to video': ['Gateway Video'],
	animate: ['Gateway Video'],
	'lip sync': ['Gateway Video'],
	'talking head': ['Gateway Video', 'Gateway Avatar'],
	avatar: ['Gateway Avatar', 'Gateway Avatar Trigger'],
	'avatar verification': ['Gateway Avatar Trigger'],
	verification: ['Gateway Avatar', 'Gateway Avatar Trigger'],
	'identity verification': ['Gateway Avatar', 'Gateway Avatar Trigger'],
	callback: ['Gateway Avatar Trigger'],
	balance: ['Gateway Balance'],
	credits: ['Gateway Balance', 'Gateway API Key Creator'],
	token: ['Gateway API Key Creator'],
	'api key': ['Gateway API Key Creator'],
	'api keys': ['Gateway API Key Creator'],
};

describe('node creator', () => {
	let page: Page;
	before(async () => {
		page = await takePage();
		await openNodes(page, [{ name: 'Start', type: 'n8n-nodes-base.manualTrigger', parameters: {} }]);
	});
	after(() => releasePage(page));

	for (const [word, names] of Object.entries(finds)) {
		test(`"${word}" finds ${names.join(' and ')}`, async () => {
			await searchNodes(page, word);
			for (const name of names) await foundNode(page, name).waitFor();
		});
	}

	for (const word of ['gateway', 'generation gateway', 'gatew']) {
		test(`"${word}" lists what most people want first, and the node for keys last`, async () => {
			await searchNodes(page, word);
			await foundNode(page, 'Gateway API Key Creator').waitFor();
			const names = await page.getByTestId('node-creator-item-name').allInnerTexts();
			assert.deepEqual(
				names.map((name) => name.trim()).filter((name) => name.startsWith('Gateway')),
				all,
			);
		});
	}

	test('a node is added with the action that was chosen', async () => {
		await addNodeBySearch(page, 'text to video', 'Gateway Video', 'Wait for video task');
		await screenshot(page, 'added by search');
		assert.equal(await valueOf(page, 'Operation'), 'Wait for Task');
		await closeNode(page);
		await canvasNode(page, 'Wait for video task').waitFor();
	});
});
