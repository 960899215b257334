/** The main forms on a small screen, in the dark theme. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { packageType } from '../n8n/support/workflow.mts';
import { closeNode, openNode } from './support/form.mts';
import { openNodes, releasePage, screenshot, smallScreen, takePage } from './support/session.mts';

const generate = (name: string) => ({ name, type: packageType(name), parameters: {} });

describe('the main form on a small dark screen', () => {
	test('the main form on a small dark screen shows the prompt at once, and nothing is wider than the form', async () => {
		const page = await takePage('dark', smallScreen);
		try {
			await openNodes(page, [generate('imageGeneration'), generate('videoGeneration')]);
			for (const node of ['imageGeneration', 'videoGeneration']) {
				await openNode(page, node);
				await screenshot(page, `${node}, small and dark`);
				const form = page.getByTestId('node-parameters');
				const prompt = await form.locator('textarea:visible').first().boundingBox();
				assert.ok(prompt && prompt.y + prompt.height <= 768, 'the prompt is on the screen');
				assert.equal(await form.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth), false);
				await closeNode(page);
			}
		} finally {
			await releasePage(page);
		}
	});
});
