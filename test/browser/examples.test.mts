/** Examples, imported as by `npm start`, are tried by clicking what their notes say. The others run in test/n8n/workflows. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { readExamples } from '../../tools/n8n/examples.mjs';
import type { Instance } from '../n8n/support/instance.mts';
import { listExecutions, untilActive } from '../n8n/support/production.mts';
import { readPurchases } from '../n8n/support/purchaseLog.mts';
import { until } from '../n8n/support/until.mts';
import { closeNode, openNode, typeOver } from './support/form.mts';
import { executeWorkflow, publish, shownAddress } from './support/run.mts';
import { browser, n8n, releasePage, screenshot, showWorkflow, takePage } from './support/session.mts';

/** Nodes with a webhook whose editor shows an address. */
const calledNodes = [
	'agentBudget When a Message Comes',
	'backgroundChat When a Message Comes',
	'formToVideo Form',
	'personVerificationTrigger Person Verified',
	'personVerificationTrigger Verification Wanted',
	'webhookOrder Order',
	'webhookOrder Status',
];
/** A node with a webhook in n8n that shows no address. */
const shownNowhere = ['n8n-nodes-base.wait'];
const prompts = Array.from({ length: 12 }, (_, index) => `A lighthouse on island number ${index + 1}`);

let instance: Instance;
let page: Page;
/** The charges of the sandbox for "Text to image, in parallel", for the spending report. */
const charged = { tasks: 0, credits: 0 };

describe('examples', () => {
	before(async () => {
		instance = await n8n();
		page = await takePage();
	});
	beforeEach(() => instance.sandbox.reset());
	after(() => releasePage(page));

	/** An example as somebody tries it, who has just opened it. */
	function example(id: string, what: string, tryIt: () => Promise<void>) {
		test(`${id}: ${what}`, async () => {
			await showWorkflow(page, id);
			await tryIt();
			await screenshot(page, `example, ${id}`);
		});
	}

	test('every node with a webhook has an ID for its address', async () => {
		const types: Array<{ name: string; webhooks?: unknown[] }> = await (
			await page.context().request.get(`${instance.n8n.url}/types/nodes.json`)
		).json();
		const called = new Set(types.filter(({ webhooks }) => webhooks?.length).map(({ name }) => name));
		const found: string[] = [];
		for (const { id } of readExamples()) {
			const { nodes } = await instance.rest.request('GET', `/rest/workflows/${id}`);
			for (const { name, type, webhookId } of nodes) {
				assert.equal(webhookId !== undefined, called.has(type), `${id}, ${name}`);
				if (called.has(type) && !shownNowhere.includes(type)) found.push(`${id} ${name}`);
			}
		}
		assert.deepEqual(found.sort(), calledNodes);
	});

	for (const { id } of readExamples())
		test(`${id}: no note is cut off`, async () => {
			await showWorkflow(page, id);
			assert.deepEqual(await cutOffNotes(page), []);
		});

	example(
		'textToImageBatch',
		'twelve prompts, one per line, make twelve pictures, and the gallery shows them',
		async () => {
			await openNode(page, 'Set Prompts');
			await page.locator('[data-test-id="assignment-value"] .cm-content').click();
			await page.keyboard.press('Control+a');
			await page.keyboard.insertText(prompts.join('\n'));
			await page.waitForTimeout(1_000); // n8n takes the text over a moment later
			await closeNode(page);
			await executeBatch();
			assert.deepEqual(instance.sandbox.tasks.map(({ body }) => body.prompt).sort(), [...prompts].sort());
			await openNode(page, 'Gallery');
			const gallery = page.getByTestId('output-panel').frameLocator('iframe');
			await gallery.getByText(String(prompts[11])).waitFor();
		},
	);

	example('spendingReport', 'it shows the tasks and the credits that the service has charged', async () => {
		await showWorkflow(page, 'textToImageBatch');
		await executeBatch();
		await showWorkflow(page, 'spendingReport');
		await executeWorkflow(page);
		await openNode(page, 'Report');
		await page.getByTestId('output-panel').getByTestId('radio-button-table').click();
		const row = page.getByTestId('output-panel').locator('tr').filter({ hasText: 'Text to image, in parallel' });
		await row.first().waitFor();
		const cells = (await row.locator('td').allInnerTexts()).map((cell) => cell.trim()).filter(Boolean);
		const { tasks, credits } = charged;
		assert.ok(tasks >= 4 && credits > 0);
		assert.deepEqual(cells, ['Text to image, in parallel', 'gamma-image-2', String(tasks), String(credits), '0']);
	});

	example('webhookOrder', 'the order is answered immediately, and the video arrives in the inbox', async () => {
		const address = await addressOf('Order');
		await publish(page);
		await untilActive(instance, 'webhookOrder');
		const answer = await fetch(address, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ order: '17', prompt: 'A lighthouse' }),
		});
		const { order, task_id: taskId } = (await answer.json()) as Record<string, string>;
		assert.equal(order, '17');
		await arrived(new RegExp(`to videos[\\s\\S]*"17"[\\s\\S]*${taskId}[\\s\\S]*\\.mp4`));
	});

	example('personVerificationTrigger', 'the person sees a page, and the trigger starts the workflow', async () => {
		const [callback, start] = [await addressOf('Person Verified'), await addressOf('Verification Wanted')];
		await openNode(page, 'Create Verification');
		await typeOver(page, 'Callback URL', callback);
		await closeNode(page);
		await publish(page);
		await untilActive(instance, 'personVerificationTrigger');
		await pass(`${start}?reference=4f9c2e71a8`);
		await until('the trigger has started the workflow', async () =>
			(await listExecutions(instance, 'personVerificationTrigger')).some(({ status }) => status === 'success'),
		);
	});
});

/** The beginning of each paragraph that ends below the frame of its note: n8n cuts it off. */
async function cutOffNotes(shown: Page): Promise<string[]> {
	await shown.getByTestId('sticky').first().locator('h2, h3').first().waitFor();
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

/** "Text to image, in parallel", which is open. */
async function executeBatch() {
	const before = chargedSoFar();
	const runsBefore = await countRuns();
	await executeWorkflow(page);
	// Nobody waits for the row with the credits.
	await until('the credits of the run are noted', async () => (await countRuns()) > runsBefore);
	const after = chargedSoFar();
	charged.tasks += after.tasks - before.tasks;
	charged.credits += after.credits - before.credits;
}

const countRuns = async () => (await readPurchases(instance)).filter(({ state }) => state === 'run').length;

function chargedSoFar() {
	const { tasks, users } = instance.sandbox;
	return { tasks: tasks.length, credits: users[0]?.usedCredits ?? 0 };
}

async function addressOf(node: string): Promise<string> {
	await openNode(page, node);
	const address = await shownAddress(page);
	await closeNode(page);
	return address;
}

/** The page of the sandbox that shows what the workflows have sent. */
async function arrived(text: RegExp) {
	const inbox = await page.context().newPage();
	await inbox.goto(`${instance.sandbox.baseUrl}/inbox`);
	await until('it has arrived', async () => text.test(await inbox.locator('main').innerText()));
	await inbox.close();
}

/** The person in a browser of their own. */
async function pass(link: string) {
	const person = await (await browser()).newPage();
	await person.goto(link);
	await person.getByRole('button', { name: 'Pass' }).click();
	await person.getByRole('heading', { name: /^You are verified/ }).waitFor();
	await person.close();
}
