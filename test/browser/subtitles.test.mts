/** The line below the name of a node on the canvas: enough to tell two nodes apart without opening them. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { packageType } from '../n8n/support/workflow.mts';
import { canvasNode } from './support/form.mts';
import { openNodes, releasePage, takePage } from './support/session.mts';

const subtitles: Array<[subtitle: string, node: string, parameters: Record<string, unknown>]> = [
	['gamma-image-2', 'imageGeneration', {}],
	['Upload Image', 'imageGeneration', { operation: 'uploadImage' }],
	['alpha-video-2-0', 'videoGeneration', { model: 'custom', customModelId: 'alpha-video-2-0' }],
	['other model', 'videoGeneration', { model: 'custom' }],
	['Verification: Get Result', 'avatar', { resource: 'verification', operation: 'getResult' }],
	['Get User Balance', 'balance', {}],
	['Create', 'token', {}],
	['below 5 USD', 'balanceTrigger', { threshold: 5, unit: 'usd' }],
];

describe('subtitles', () => {
	let page: Page;
	before(async () => {
		page = await takePage();
		await openNodes(
			page,
			subtitles.map(([, node, parameters], index) => ({ name: `Node ${index}`, type: packageType(node), parameters })),
		);
	});
	after(() => releasePage(page));

	for (const [index, [subtitle, node]] of subtitles.entries()) {
		test(`the subtitle of ${node} can be "${subtitle}"`, async () => {
			const lines = (await canvasNode(page, `Node ${index}`).innerText()).split('\n');
			assert.equal(lines[lines.indexOf(`Node ${index}`) + 1], subtitle);
		});
	}
});
