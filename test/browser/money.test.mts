/** The messages about money: following them to the end buys nothing. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { until } from '../n8n/support/until.mts';
import { listExecutions } from '../n8n/support/production.mts';
import { createWorkflow, packageType } from '../n8n/support/workflow.mts';
import { closeNode, openNode } from './support/form.mts';
import { executeStep, linesOfAdvice, messageOf, retryLastExecution } from './support/run.mts';
import {
	largeScreen,
	n8n,
	releasePage,
	resize,
	screenshot,
	showWorkflow,
	smallScreen,
	takePage,
} from './support/session.mts';

const type = packageType('imageGeneration');
const quick = { pollIntervalSeconds: 1 };

describe('what is paid for', () => {
	let page: Page;
	before(async () => {
		page = await takePage();
	});
	after(() => releasePage(page));

	/** Shows a workflow with Generate. */
	async function show(generate: Record<string, unknown>, items: Array<Record<string, unknown>> = [{}]) {
		const { sandbox, ...instance } = await n8n();
		sandbox.reset();
		const node = { name: 'Generate', type, parameters: { options: quick, ...generate } };
		const id = await createWorkflow(instance, items, [node]);
		await showWorkflow(page, id);
		return { sandbox, instance, id };
	}

	async function run(node: string) {
		await openNode(page, node);
		await executeStep(page);
	}

	test('a retry of the execution gets a file that could not be fetched, and buys nothing', async () => {
		const { sandbox, instance } = await show({ prompt: 'A lighthouse [[sandbox duration=0 file=500*4]]' });
		await run('Generate');
		const { message, description } = await messageOf(page);
		await screenshot(page, 'money, file not fetched');
		const id = sandbox.tasks[0]?.id;
		assert.equal(message, `The result of task ${id} could not be downloaded`);
		assert.match(
			description,
			/Retry this execution in the Executions list: tasks that exist continue, nothing is paid twice\. Execute step and Debug in editor buy again\./,
		);
		await closeNode(page);
		await retryLastExecution(page);
		await until('the file is there', async () => sandbox.fileRequests.length > 4);
		assert.equal(sandbox.tasks.length, 1);
		const anew = {
			name: 'Get',
			type,
			parameters: { operation: 'getResult', wait: 'dontWait', taskId: id, result: 'file' },
		};
		await showWorkflow(page, await createWorkflow(instance, [{}], [anew]));
		await run('Get');
		await page.getByTestId('output-panel').getByTestId('ndv-view-binary-data').first().waitFor();
		assert.equal(sandbox.tasks.length, 1);
		await closeNode(page);
	});

	test('long words of the service leave the panel of a failed batch at five lines, and are under Error details as a whole', async () => {
		const message = `${'The prompt was refused by our content policy, which you find on our pages. '.repeat(4)}The end.`;
		const body = { error: { code: 'insufficient_quota', message } };
		const { sandbox } = await show({ prompt: '={{ $json.prompt }}', options: { ...quick, concurrentTasks: 2 } }, [
			{ prompt: 'a [[sandbox duration=5s]]' },
			{ prompt: 'wrong' },
			{ prompt: 'c [[sandbox duration=5s]]' },
		]);
		const refusal = { status: 402, body };
		sandbox.faults.add({ on: 'create', match: { promptIncludes: 'wrong' }, times: -1, do: refusal });
		const said: string[] = [];
		page.on('console', (line) => said.push(line.text()));
		await run('Generate');
		const { description } = await messageOf(page);
		assert.match(description, /^The service says: .* Add credits, .* Then retry this execution/);
		for (const size of [smallScreen, largeScreen]) {
			await resize(page, size);
			await screenshot(page, `money, long words, ${size.width}`);
			assert.ok((await linesOfAdvice(page)) <= 5, `${await linesOfAdvice(page)} lines: ${description}`);
		}
		const panel = page.getByTestId('output-panel');
		await panel.getByText('From Gateway Image').click();
		await panel.getByText('The end.').first().waitFor();
		for (const { id } of sandbox.tasks) {
			await panel.getByText(id).first().waitFor();
			assert.ok(
				said.some((line) => line.includes(`Task ${id}`)),
				`the console names ${id}:\n${said.join('\n')}`,
			);
		}
		await closeNode(page);
	});

	test('braces that stayed text are refused before anything is bought, and the text says how to switch the field', async () => {
		const items = [{ prompt: 'a' }, { prompt: 'b' }];
		const { sandbox } = await show({ prompt: '{{ $json.prompt }}' }, items);
		await run('Generate');
		const { message, description } = await messageOf(page);
		await screenshot(page, 'money, braces as text');
		assert.match(message, /^Prompt contains \{\{ … \}\} as text, which n8n does not evaluate/);
		assert.match(description, /^Switch Prompt from Fixed to Expression.*Nothing was sent\./s);
		assert.ok((await linesOfAdvice(page)) <= 5, description);
		assert.equal(sandbox.tasks.length, 0);
		await closeNode(page);
	});

	test('one Purchase Key for different requests buys once, and the panel says which execution used it', async () => {
		const { sandbox, ...instance } = await n8n();
		sandbox.reset();
		const options = { ...quick, purchaseKey: '={{ $json.order }}' };
		const node = { name: 'Generate', type, parameters: { prompt: '={{ $json.prompt }}', options } };
		const show = async (...items: Array<{ order: string; prompt: string }>) => {
			await showWorkflow(page, await createWorkflow(instance, items, [node]));
			await run('Generate');
		};
		const panel = async (name: string) => {
			const said = await messageOf(page);
			await screenshot(page, `money, ${name}`);
			assert.ok((await linesOfAdvice(page)) <= 5, said.description);
			await closeNode(page);
			return said;
		};
		await show({ order: 'order 1', prompt: 'a' }, { order: 'order 1', prompt: 'b' });
		const shared = await panel('one Purchase Key in one run');
		assert.match(shared.message, /^Items 0, 1 have the same Purchase Key, but not the same request/);
		assert.match(shared.description, /Use another Purchase Key for each request/);
		assert.equal(sandbox.tasks.length, 0);

		await show({ order: 'order 1', prompt: 'a' });
		await closeNode(page);
		assert.equal(sandbox.tasks.length, 1);
		await show({ order: 'order 1', prompt: 'b' });
		const taken = await panel('one Purchase Key in two executions');
		assert.match(taken.message, /^Execution \d+ has used this Purchase Key for a different request/);
		assert.match(
			taken.description,
			new RegExp(`bought task ${sandbox.tasks[0]?.id}\\. Nothing was bought now\\. .* use another Purchase Key`),
		);
		assert.equal(sandbox.tasks.length, 1);
	});

	test('images in another shape, as JSON may hold them, open in the editor and are sent', async () => {
		const photo = 'https://example.com/a.png';
		for (const images of ['={{ $json.photo }}', [photo]]) {
			const { sandbox } = await show({ prompt: 'a', images }, [{ photo }]);
			await run('Generate');
			assert.deepEqual(
				sandbox.tasks.map(({ body }) => body.reference_images),
				[[photo]],
			);
			await closeNode(page);
		}
	});

	test('a double click on Execute step buys the batch once', async () => {
		const items = ['a', 'b', 'c'].map((letter) => ({ prompt: `${letter} [[sandbox duration=4s]]` }));
		const { sandbox, instance, id } = await show({ prompt: '={{ $json.prompt }}' }, items);
		await openNode(page, 'Generate');
		await page.getByTestId('node-execute-button').dblclick();
		await until('what the clicks have started has ended', async () => {
			const started = await listExecutions(instance, id);
			return started.length > 0 && started.every(({ status }) => !['new', 'running'].includes(status));
		});
		await page.waitForTimeout(2_000); // in which a second execution would begin
		assert.equal(sandbox.tasks.length, items.length);
		await closeNode(page);
	});
});
