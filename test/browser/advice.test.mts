/** Follows the advice of messages, hints and the README by clicking what n8n offers first: nothing is bought by it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openPath } from '../../tools/browser/editor.mjs';
import { credentialType } from '../../tools/n8n/examples.mjs';
import { sandboxKey } from '../n8n/support/instance.mts';
import { createWorkflow, packageType } from '../n8n/support/workflow.mts';
import { until } from '../n8n/support/until.mts';
import { addNodeBehind, foundNode } from './support/creator.mts';
import { addOption, canvasNode, closeNode, openNode, turn, typeText } from './support/form.mts';
import { executeStep, messageOf, retryLastExecution } from './support/run.mts';
import { n8n, releasePage, screenshot, showWorkflow, takePage } from './support/session.mts';

const label = 'Gateway Video';
describe('advice that is followed', () => {
	let page: Page;
	before(async () => {
		page = await takePage();
	});
	after(() => releasePage(page));

	/** Runs Generate from its form. */
	async function generate(parameters: Record<string, unknown>) {
		const { sandbox, ...instance } = await n8n();
		sandbox.reset();
		const node = { name: 'Generate', type: packageType('videoGeneration'), parameters };
		const id = await createWorkflow(instance, [{}], [node]);
		await showWorkflow(page, id);
		await openNode(page, 'Generate');
		await executeStep(page);
		assert.equal(sandbox.tasks.length, 1);
		return { id, sandbox, taskId: String(sandbox.tasks[0]?.id) };
	}

	/** Takes longer than the node waits: until the sandbox releases it, unless for so long. */
	const late = (duration = 'never') => ({
		prompt: `A lighthouse [[sandbox duration=${duration}]]`,
		options: { pollIntervalSeconds: 1, timeoutMinutes: 0.05 },
	});

	/** The executions of the workflow, the newest first. */
	async function executions(workflowId: string): Promise<Array<{ status: string; mode: string }>> {
		const filter = encodeURIComponent(JSON.stringify({ workflowId }));
		return (await (await n8n()).rest.request('GET', `/rest/executions?filter=${filter}`)).results;
	}

	const filesShown = () => page.getByTestId('output-panel').getByTestId('ndv-view-binary-data').first().waitFor();

	test('after a timeout, Retry in the Executions list continues the task', async () => {
		const { id, sandbox, taskId } = await generate(late());
		const { message, description } = await messageOf(page);
		await screenshot(page, 'advice, timeout');
		assert.match(message, new RegExp(`^Task ${taskId} has not finished within 3 s`));
		assert.match(description, /^Retry this execution in the Executions list: it continues the task and costs nothing/);
		await closeNode(page);
		sandbox.release();
		assert.deepEqual(await retryLastExecution(page), [
			'Retry with currently saved workflow (from node with error)',
			'Retry with original workflow (from node with error)',
		]);
		await until('the retry has ended well', async () => {
			const [last, ...others] = await executions(id);
			return last?.status === 'success' && others.length === 1;
		});
		assert.deepEqual(
			sandbox.tasks.map((task) => task.id),
			[taskId],
		);
	});

	test('after a timeout, a new workflow with Wait for Task gets the result', async () => {
		const { sandbox, taskId } = await generate(late());
		const { description } = await messageOf(page);
		assert.match(description, /create a new workflow: a trigger, and behind it Wait for Task with this task ID\./);
		await closeNode(page);
		sandbox.release();
		await openPath(page, (await n8n()).n8n.url, '/workflow/new');
		await page.getByTestId('canvas-add-button').click();
		await foundNode(page, 'Trigger manually').click();
		await canvasNode(page, 'When clicking ‘Execute workflow’').waitFor();
		await addNodeBehind(page, 'gateway video', label, 'Wait for video task');
		await typeText(page, 'Task ID', taskId);
		await executeStep(page);
		await screenshot(page, 'advice, new workflow');
		await filesShown();
		assert.equal(sandbox.tasks.length, 1);
		await closeNode(page);
	});

	test('with the output of a task that goes on pinned, as the hint says, a node behind it gets the result', async () => {
		const { id, sandbox, taskId } = await generate({ ...late('3s'), whenDone: 'return' });
		const panel = page.getByTestId('output-panel');
		await panel.getByText(/1 task is still running .* pin this output before you add one/).waitFor();
		await page.getByTestId('ndv-pin-data').click();
		await closeNode(page);
		await addNodeBehind(page, 'gateway video', label, 'Wait for video task');
		// Typed as it is: while n8n changes the field into one for expressions, it may lose letters.
		await typeText(page, 'Task ID', taskId);
		await closeNode(page);
		await saved(id, 'Wait for video task', (nodes) => nodes.some(({ parameters }) => parameters?.taskId === taskId));
		// n8n has forgotten then what ran, and would run Generate again.
		await showWorkflow(page, id);
		await openNode(page, 'Wait for video task');
		await executeStep(page);
		await filesShown();
		await closeNode(page);
		assert.equal(sandbox.tasks.length, 1);
	});

	test('while building, Get Task stands in for Generate, which is deactivated, as the README says', async () => {
		const { id, sandbox, taskId } = await generate({ prompt: 'A lighthouse' });
		await filesShown();
		await closeNode(page);
		await addNodeBehind(page, 'gateway video', label, 'Get video task');
		await typeText(page, 'Task ID', taskId);
		await turn(page, 'Download Result');
		await closeNode(page);
		await canvasNode(page, 'Generate').click();
		await page.keyboard.press('d');
		await saved(id, 'Get video task', (nodes) => nodes.some(({ disabled }) => disabled));
		await showWorkflow(page, id);
		await openNode(page, 'Get video task');
		await executeStep(page);
		await filesShown();
		await closeNode(page);
		await page.getByTestId('execute-workflow-button').first().click();
		await until('the whole workflow has run', async () => {
			const [last] = await executions(id);
			return last?.status === 'success' && (await executions(id)).length === 3;
		});
		assert.equal(sandbox.tasks.length, 1);

		// When the workflow is ready.
		await canvasNode(page, 'Get video task').click();
		await page.keyboard.press('Delete');
		await canvasNode(page, 'Get video task').waitFor({ state: 'detached' });
		await canvasNode(page, 'Generate').click();
		await page.keyboard.press('d');
		await until('Generate alone is saved, and active', async () => {
			const { nodes } = await (await n8n()).rest.request('GET', `/rest/workflows/${id}`);
			return nodes.length === 2 && !nodes.some(({ disabled }: { disabled?: boolean }) => disabled);
		});
		await openNode(page, 'Generate');
		await executeStep(page);
		await filesShown();
		await closeNode(page);
		assert.equal(sandbox.tasks.length, 2, 'a new picture is bought again');
	});

	test('while building, Generate with a Purchase Key returns its task again, as the README says', async () => {
		const { sandbox, rest, n8n: editor } = await n8n();
		sandbox.reset();
		// Of its own: other tests go on without a log.
		const data = { baseUrl: sandbox.baseUrl, apiKey: sandboxKey };
		const credential = await rest.request('POST', '/rest/credentials', { name: 'Log', type: credentialType, data });
		const type = packageType('imageGeneration');
		const id = await createWorkflow(
			{ rest, credential },
			[{}],
			[{ name: 'Generate', type, parameters: { prompt: 'A lighthouse' } }],
		);
		await openPath(page, editor.url, `/home/credentials/${credential.id}`);
		await page.getByTestId('parameter-input-purchaseLog').locator('.el-switch').click();
		const answered = page.waitForResponse((response) => response.request().method() === 'PATCH');
		await page.getByRole('button', { name: 'Save', exact: true }).click();
		assert.ok((await answered).ok());

		await showWorkflow(page, id);
		await openNode(page, 'Generate');
		await addOption(page, 'Options', 'Purchase Key');
		await typeText(page, 'Purchase Key', 'A lighthouse');
		for (const times of [1, 2, 3]) {
			// On a busy machine, the editor may still show the run before as running: a click would start nothing.
			await page.getByTestId('node-execute-button').filter({ hasText: 'Execute step' }).waitFor();
			await executeStep(page);
			// The panel may still show the run before.
			await until('this one has ended', async () => {
				const all = await executions(id);
				return all.length === times && all.every(({ status }) => status === 'success');
			});
			await filesShown();
		}
		await screenshot(page, 'advice, Purchase Key');
		await page.getByTestId('output-panel').getByTestId('radio-button-json').click();
		await page.getByTestId('output-panel').getByText('reused').first().waitFor();
		await closeNode(page);
		await page.getByTestId('execute-workflow-button').first().click();
		await until('the whole workflow has run', async () => {
			const all = await executions(id);
			return all.length === 4 && all.every(({ status }) => status === 'success');
		});
		assert.equal(sandbox.tasks.length, 1);
	});

	/** n8n saves by itself, some time after a change. */
	async function saved(
		id: string,
		node: string,
		also: (nodes: Array<{ name: string; disabled?: boolean; parameters?: { taskId?: string } }>) => boolean = () =>
			true,
	) {
		const { rest } = await n8n();
		await until(`${node} is saved`, async () => {
			const { nodes } = await rest.request('GET', `/rest/workflows/${id}`);
			const added = nodes.find(({ name }: { name: string }) => name === node);
			return added?.parameters.taskId !== undefined && also(nodes);
		});
	}
});
