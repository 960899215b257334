/** The executions that n8n lists of a node that waits in its database: the nodes that each of them shows. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { createWorkflow, packageType } from '../n8n/support/workflow.mts';
import { canvasNode } from './support/form.mts';
import { n8n, newPage, screenshot } from './support/session.mts';

describe('the executions of Survive Restarts', () => {
	let page: Page;
	before(async () => {
		page = await newPage();
	});
	after(() => page?.context().close());

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
			await page.goto(`${editor.url}/workflow/${workflow}/executions/${execution}`);
			const nodes = page.getByTestId('canvas-node');
			await nodes.first().waitFor();
			await screenshot(page, `execution, ${shown[1]}`);
			const names = await nodes.evaluateAll((all) => all.map((each) => each.getAttribute('data-node-name')));
			assert.deepEqual([...new Set(names)].sort(), [...shown].sort());
		}
		await page.goto(`${editor.url}/workflow/${workflow}/executions/${waits}`);
		await canvasNode(page, 'Results').last().dblclick();
		await page.getByTestId('output-panel').getByText(/\.png/).first().waitFor();
		await screenshot(page, 'execution, the node Results');
	});

	test('where one task has failed, the input of Results has the results of the others', async () => {
		const { n8n: editor } = await n8n();
		const { workflow, waits } = await run(['A lighthouse', 'A bridge [[sandbox fail]]']);
		await page.goto(`${editor.url}/workflow/${workflow}/executions/${waits}`);
		await canvasNode(page, 'Results').last().dblclick();
		await page
			.getByTestId('output-panel')
			.getByText(/could not finish task/)
			.first()
			.waitFor();
		await screenshot(page, 'execution, the results beside a failure');
		await page.getByTestId('ndv-input-panel').getByText(/\.png/).first().waitFor();
	});
});
