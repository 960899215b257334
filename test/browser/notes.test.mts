/** The notes of the examples: n8n cuts off what does not fit into the frame, and nobody sees that there is more. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { readExamples, withCredential } from '../../tools/n8n/examples.mjs';
import { n8n, releasePage, showWorkflow, takePage } from './support/session.mts';

test('every note of every example fits into its frame', async () => {
	const page = await takePage();
	const { rest, credential } = await n8n();
	const cutOff: string[] = [];
	let notes = 0;
	for (const { file, workflow } of readExamples()) {
		const { id } = await rest.request('POST', '/rest/workflows', withCredential(workflow, credential));
		await showWorkflow(page, String(id));
		const shown = page.getByTestId('sticky');
		await shown.first().locator('h2, h3').first().waitFor();
		notes += await shown.count();
		for (const text of await cutOffIn(page)) cutOff.push(`${file}: ${text}`);
	}
	await releasePage(page);
	assert.ok(notes > 40);
	assert.deepEqual(cutOff, []);
});

/** The beginning of each paragraph that ends below the frame of its note. */
async function cutOffIn(shown: Page): Promise<string[]> {
	return await shown
		.getByTestId('sticky')
		.evaluateAll((frames) =>
			frames.flatMap((frame) =>
				[...frame.querySelectorAll('p, li')]
					.filter((paragraph) => paragraph.getBoundingClientRect().bottom > frame.getBoundingClientRect().bottom)
					.map((paragraph) => (paragraph.textContent ?? '').slice(0, 40)),
			),
		);
}
