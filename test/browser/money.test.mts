/** The messages about money: following them to the end buys nothing. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { FaultAction } from '../../sandbox/faults/answers.mts';
import { until } from '../n8n/support/until.mts';
import { withPurchaseLog } from '../n8n/support/purchaseLog.mts';
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
		await showWorkflow(page, await createWorkflow(instance, items, [node]));
		return { sandbox, instance };
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
			/Retry this execution in the Executions list: it continues the task and costs nothing.* Debug in editor creates a new task, and you pay again\./,
		);
		await closeNode(page);
		await retryLastExecution(page);
		await until('the file is there', async () => sandbox.fileRequests.length > 4);
		assert.equal(sandbox.tasks.length, 1);
		const anew = { name: 'Get', type, parameters: { operation: 'getTask', taskId: id, downloadResult: true } };
		await showWorkflow(page, await createWorkflow(instance, [{}], [anew]));
		await run('Get');
		await page.getByTestId('output-panel').getByTestId('ndv-view-binary-data').first().waitFor();
		assert.equal(sandbox.tasks.length, 1);
		await closeNode(page);
	});

	test('each task ID and the progress are in the console, and one failed item of three says what it costs to get the others', async () => {
		const said: string[] = [];
		page.on('console', (line) => said.push(line.text()));
		const failing = { prompt: 'c [[sandbox duration=6s fail=generation_failed]]' };
		const { sandbox } = await show({ prompt: '={{ $json.prompt }}' }, [
			{ prompt: 'a [[sandbox duration=60s]]' },
			{ prompt: 'b [[sandbox duration=60s]]' },
			failing,
		]);
		await run('Generate');
		const { description } = await messageOf(page);
		await screenshot(page, 'money, one failed item');
		assert.ok((await linesOfAdvice(page)) <= 5, `${await linesOfAdvice(page)} lines: ${description}`);
		assert.match(
			description,
			/^The service says: .* To try again, retry this execution in the Executions list: that creates a new task, and you pay again; the 2 other tasks continue and cost nothing\./,
		);
		for (const task of sandbox.tasks)
			assert.ok(
				said.some((line) => line.includes(`Task ${task.id}`)),
				said.join('\n'),
			);
		assert.ok(
			said.some((line) => /of 3 done, 3 running/.test(line)),
			said.join('\n'),
		);
		await closeNode(page);
	});

	test('the panel of a batch of which one item goes wrong has the cause first, one way on, and five lines on a small screen', async () => {
		const wide = page;
		page = await takePage('dark', smallScreen);
		const wrong = {
			'create=402': /^The service says: .* Add credits, .* Then retry this execution .*: the other task continues/,
			'create=403': /^The service says: .* Then retry this execution .*: the other task continues/,
			'create=400': /^The service says: .* To get the rest, set On Error to .*: the other task continues/,
			'create=504!after': /^The service answered .* If your account has no task of .*: the other task continues/,
			'duration=1s file=500*8':
				/^The file host answered .* it continues the task and the (other one|2 others), and costs nothing/,
			'duration=1s fail=generation_failed': /^The service says: .* you pay again; the other task continues/,
		};
		for (const [directive, words] of Object.entries(wrong)) {
			const { sandbox } = await show({ prompt: '={{ $json.prompt }}', options: { ...quick, concurrentTasks: 2 } }, [
				{ prompt: 'a [[sandbox duration=60s]]' },
				{ prompt: `b [[sandbox ${directive}]]` },
				{ prompt: 'c' },
			]);
			await run('Generate');
			const { description } = await messageOf(page);
			await screenshot(page, `money, batch, ${directive.replace(/\W+/g, ' ')}`);
			assert.match(description, words);
			assert.ok((await linesOfAdvice(page)) <= 5, `${await linesOfAdvice(page)} lines: ${description}`);
			const details = page.getByTestId('output-panel').getByText('From Gateway Image');
			await details.click();
			for (const { id } of sandbox.tasks.slice(0, 1))
				await page.getByTestId('output-panel').getByText(id).first().waitFor();
			await closeNode(page);
		}
		await releasePage(page);
		page = wide;
	});

	test('long words of the service leave the panel of a failed batch at five lines, and are under Error details as a whole', async () => {
		const message = `${'The prompt was refused by our content policy, which you find on our pages. '.repeat(4)}The end.`;
		const error = { code: 'invalid_request', message };
		const answers: Record<string, [on: 'create' | 'status', FaultAction]> = {
			400: ['create', { status: 400, body: { error } }],
			401: ['create', { status: 401, body: { error } }],
			402: ['create', { status: 402, body: { error } }],
			failed: ['status', { merge: { status: 'failed', error } }],
		};
		for (const [name, [on, action]] of Object.entries(answers)) {
			const { sandbox } = await show({ prompt: '={{ $json.prompt }}', options: { ...quick, concurrentTasks: 2 } }, [
				{ prompt: 'a [[sandbox duration=5s]]' },
				{ prompt: 'wrong' },
				{ prompt: 'c [[sandbox duration=5s]]' },
			]);
			// An answer about a task names no prompt: the first one that is polled fails.
			sandbox.faults.add(
				on === 'create' ? { on, match: { promptIncludes: 'wrong' }, times: -1, do: action } : { on, do: action },
			);
			await run('Generate');
			const { description } = await messageOf(page);
			assert.match(description, /retry|Retry/);
			for (const size of [smallScreen, largeScreen]) {
				await resize(page, size);
				await screenshot(page, `money, long words, ${name}, ${size.width}`);
				assert.ok((await linesOfAdvice(page)) <= 5, `${await linesOfAdvice(page)} lines: ${description}`);
			}
			const panel = page.getByTestId('output-panel');
			await panel.getByText('From Gateway Image').click();
			await panel.getByText('The end.').first().waitFor();
			await closeNode(page);
		}
	});

	test('after Survive Restarts, the panel of a failed batch has the cause, then one way, then the IDs, in five lines', async () => {
		const options = { ...quick, surviveRestarts: true };
		const { sandbox } = await show({ prompt: '={{ $json.prompt }}', options }, [
			{ prompt: 'a' },
			{ prompt: 'b' },
			{ prompt: 'c [[sandbox fail=generation_failed]]' },
		]);
		await openNode(page, 'Generate');
		await page.getByTestId('node-execute-button').click();
		await page.getByTestId('output-panel').getByTestId('node-error-message').waitFor();
		const { description } = await messageOf(page);
		await screenshot(page, 'money, Survive Restarts, one failed item');
		assert.match(
			description,
			/^The service says: .* run only this item again: .* The other results are in execution \d+ \(input of Results\)\. A retry changes nothing\. (Other tasks: |IDs: see Error details)/,
		);
		assert.ok((await linesOfAdvice(page)) <= 5, `${await linesOfAdvice(page)} lines: ${description}`);
		assert.equal(sandbox.tasks.length, 3);
		await closeNode(page);
	});

	test('HTML of the service is text in the panel and in the toast', async () => {
		const { sandbox } = await show({ prompt: 'A lighthouse' });
		sandbox.faults.add({
			on: 'create',
			times: -1,
			do: {
				status: 400,
				body: { error: { code: 'invalid_request', message: 'See <a href="https://example.com">here</a> <b>now</b>' } },
			},
		});
		await run('Generate');
		const { description } = await messageOf(page);
		await screenshot(page, 'money, HTML of the service');
		assert.match(description, /See ‹a href="https:\/\/example\.com"›here‹\/a› ‹b›now‹\/b›/);
		const rendered = page.locator(
			'[data-test-id="output-panel"] a[href="https://example.com"], .el-notification a[href="https://example.com"], .el-notification b',
		);
		assert.equal(await rendered.count(), 0);
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
		const signed = await withPurchaseLog(instance);
		const options = { ...quick, purchaseKey: '={{ $json.order }}' };
		const node = { name: 'Generate', type, parameters: { prompt: '={{ $json.prompt }}', options } };
		const show = async (...items: Array<{ order: string; prompt: string }>) => {
			await showWorkflow(page, await createWorkflow(signed, items, [node]));
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
		for (const images of ['={{ $json.photo }}', { image: [photo] }, { image: photo }, [photo]]) {
			const { sandbox } = await show({ prompt: 'a', images }, [{ photo }]);
			await openNode(page, 'Generate');
			await screenshot(page, `money, images ${JSON.stringify(images).replace(/\W+/g, ' ')}`);
			await executeStep(page);
			assert.deepEqual(
				sandbox.tasks.map(({ body }) => body.reference_images),
				[[photo]],
			);
			await closeNode(page);
		}
	});

	test('a double click on Execute step buys the batch once at most', async () => {
		const items = ['a', 'b', 'c'].map((letter) => ({ prompt: `${letter} [[sandbox duration=4s]]` }));
		const { sandbox } = await show({ prompt: '={{ $json.prompt }}' }, items);
		await openNode(page, 'Generate');
		await page.getByTestId('node-execute-button').dblclick();
		await page.waitForTimeout(10_000);
		assert.ok(sandbox.tasks.length <= items.length, `${sandbox.tasks.length} tasks`);
		await closeNode(page);
	});
});
