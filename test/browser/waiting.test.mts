/** The executions that n8n lists of a node that waits in its database: the nodes that each of them shows. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openPath } from '../../tools/browser/editor.mjs';
import { startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { until } from '../n8n/support/until.mts';
import { createWorkflow, packageType } from '../n8n/support/workflow.mts';
import { canvasNode } from './support/form.mts';
import { messageOf } from './support/run.mts';
import { n8n, releasePage, screenshot, takePage } from './support/session.mts';

describe('the executions of Survive Restarts', () => {
	let page: Page;
	before(async () => {
		page = await takePage();
	});
	after(() => releasePage(page));

	/** Runs a batch. The IDs of the workflow and of the two executions that n8n lists beside its own. */
	async function run(prompts: string[]) {
		const { rest, credential } = await n8n();
		const node = {
			name: 'Generate',
			type: packageType('imageGeneration'),
			parameters: { prompt: '={{ $json.prompt }}', options: { surviveRestarts: true } },
		};
		const items = prompts.map((prompt) => ({ prompt }));
		const workflow = await createWorkflow({ rest, credential }, items, [node]);
		await untilFinished(rest, await startExecution(rest, workflow, 'Start'));
		const filter = encodeURIComponent(JSON.stringify({ workflowId: workflow }));
		const { results } = await rest.request('GET', `/rest/executions?filter=${filter}`);
		const [polls, waits] = results.map(({ id }: { id: string }) => id);
		return { workflow, polls, waits };
	}

	test('the one that waits shows the node Results, and the one that polls shows Poll Tasks', async () => {
		const { n8n: editor } = await n8n();
		const { workflow, polls, waits } = await run(['A lighthouse']);
		for (const [execution, shown] of [
			[waits, ['Start', 'Results', 'All Finished?']],
			[polls, ['Start', 'Note Address', 'Sleep Until Called', 'Poll Tasks', 'All Finished?']],
		] as const) {
			await openPath(page, editor.url, `/workflow/${workflow}/executions/${execution}`);
			const nodes = page.getByTestId('canvas-node');
			await nodes.first().waitFor();
			await screenshot(page, `execution, ${shown[1]}`);
			const names = await nodes.evaluateAll((all) => all.map((each) => each.getAttribute('data-node-name')));
			assert.deepEqual([...new Set(names)].sort(), [...shown].sort());
		}
		await openPath(page, editor.url, `/workflow/${workflow}/executions/${waits}`);
		await canvasNode(page, 'Results').last().dblclick();
		await page.getByTestId('output-panel').getByText(/\.png/).first().waitFor();
		await screenshot(page, 'execution, the node Results');
	});

	test('where one task has failed, the input of Results has the results of the others', async () => {
		const { n8n: editor } = await n8n();
		const { workflow, waits } = await run(['A lighthouse', 'A bridge [[sandbox fail]]']);
		await openPath(page, editor.url, `/workflow/${workflow}/executions/${waits}`);
		await canvasNode(page, 'Results').last().dblclick();
		await page
			.getByTestId('output-panel')
			.getByText(/could not finish task/)
			.first()
			.waitFor();
		await screenshot(page, 'execution, the results beside a failure');
		await page.getByTestId('ndv-input-panel').getByText(/\.png/).first().waitFor();
	});

	test('no retry of the execution that waited buys anything or loses a result, and each says why it changes nothing', async () => {
		const { n8n: editor, sandbox, rest } = await n8n();
		sandbox.reset();
		const { workflow, polls, waits } = await run(['A lighthouse', 'A bridge [[sandbox fail]]']);
		assert.equal(sandbox.tasks.length, 2);
		const show = async (execution: string) => {
			await openPath(page, editor.url, `/workflow/${workflow}/executions/${execution}`);
			await page.getByTestId('canvas-node').first().waitFor();
		};
		const retry = page.getByTestId('execution-preview-retry-button');
		/** Clicks Retry, and the entry with these words. Returns all entries, as n8n offers them. */
		const choose = async (words: string) => {
			await show(waits);
			await retry.click();
			const offered = page.getByRole('menuitem').filter({ hasText: /^\s*Retry with/ });
			await offered.first().waitFor();
			const names = await offered.allInnerTexts();
			await offered.filter({ hasText: words }).click();
			return names;
		};

		// What n8n offers first looks for the node in the workflow of the user, and starts nothing.
		const names = await choose('currently saved');
		assert.match(String(names[0]), /currently saved workflow/);
		await page.getByText('Could not find the node "Results" in workflow.').waitFor();
		await screenshot(page, 'execution, retry with the saved workflow');

		await choose('original');
		const filter = encodeURIComponent(JSON.stringify({ workflowId: workflow }));
		const all = async () => (await rest.request('GET', `/rest/executions?filter=${filter}`)).results;
		await until('the retry has ended', async () => {
			const [last, ...others] = await all();
			return others.length === 3 && last.mode === 'retry' && last.status === 'error';
		});
		const [{ id }] = await all();
		await show(id);
		await canvasNode(page, 'Results').last().dblclick();
		const { description } = await messageOf(page);
		assert.match(
			description,
			new RegExp(`The other results are in execution ${id} \\(input of Results\\)\\. A retry changes nothing\\.`),
		);
		await page.getByTestId('ndv-input-panel').getByText(/\.png/).first().waitFor();
		await screenshot(page, 'execution, retry of Results');

		await show(polls);
		await page.getByText('Copy to editor').first().waitFor();
		assert.equal(await retry.isVisible(), false, 'the one that polled has ended well');
		assert.equal(sandbox.tasks.length, 2);
	});
});
