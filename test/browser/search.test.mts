/** The node creator finds the nodes by the words that people type, and adds them. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { addNodeBySearch, foundNode, searchNodes } from './support/creator.mts';
import { canvasNode, closeNode, valueOf } from './support/form.mts';
import { newPage, openNodes, screenshot } from './support/session.mts';

/** n8n lists a trigger together with its node, under the name of the node. */
const finds: Record<string, string[]> = {
	'generation gateway': [
		'Gateway Image Generation',
		'Gateway Video Generation',
		'Gateway Avatar',
		'Gateway Balance',
		'Gateway Token',
	],
	image: ['Gateway Image Generation'],
	media: ['Gateway Image Generation', 'Gateway Video Generation'],
	picture: ['Gateway Image Generation'],
	video: ['Gateway Video Generation'],
	generate: ['Gateway Image Generation', 'Gateway Video Generation'],
	'create image': ['Gateway Image Generation'],
	'create video': ['Gateway Video Generation'],
	'text to image': ['Gateway Image Generation'],
	'text to video': ['Gateway Video Generation'],
	animate: ['Gateway Video Generation'],
	'lip sync': ['Gateway Video Generation'],
	'talking head': ['Gateway Video Generation', 'Gateway Avatar'],
	avatar: ['Gateway Avatar', 'Gateway Avatar Verification Trigger'],
	balance: ['Gateway Balance'],
	credits: ['Gateway Balance', 'Gateway Token'],
	token: ['Gateway Token'],
	'api key': ['Gateway Token'],
};

describe('node creator', () => {
	let page: Page;
	before(async () => {
		page = await newPage();
		await openNodes(page, [{ name: 'Start', type: 'n8n-nodes-base.manualTrigger', parameters: {} }]);
	});
	after(() => page?.context().close());

	for (const [word, names] of Object.entries(finds)) {
		test(`"${word}" finds ${names.join(' and ')}`, async () => {
			await searchNodes(page, word);
			for (const name of names) await foundNode(page, name).waitFor({ timeout: 10_000 });
		});
	}

	test('a node is added with the action that was chosen', async () => {
		await addNodeBySearch(page, 'text to video', 'Gateway Video Generation', 'Wait for video task');
		await screenshot(page, 'added by search');
		assert.equal(await valueOf(page, 'Operation'), 'Wait for Task');
		await closeNode(page);
		await canvasNode(page, 'Wait for video task').waitFor();
	});
});
