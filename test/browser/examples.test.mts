/** Every example, imported as by `npm start`, is tried by clicking what its notes say; what it sends arrives in the inbox. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { newEditorPage, openWorkflow } from '../../tools/browser/editor.mjs';
import { readExamples, withParameters } from '../../tools/n8n/examples.mjs';
import { startChatModel, type ChatModel } from '../n8n/support/chatModel.mts';
import { startInstance, type Instance } from '../n8n/support/instance.mts';
import { deactivate, LEAP_DAYS, listExecutions, untilActive } from '../n8n/support/production.mts';
import { readPurchases } from '../n8n/support/purchaseLog.mts';
import { until } from '../n8n/support/until.mts';
import { canvasNode, closeNode, openNode, typeOver } from './support/form.mts';
import { executeFrom, executeStep, executeWorkflow, filesIn, publish, shownAddress } from './support/run.mts';
import { browser, screenshot } from './support/session.mts';

/** Nodes with a webhook whose editor shows an address. */
const calledNodes = [
	'agentBudget When a Message Comes',
	'backgroundChat When a Message Comes',
	'backgroundWebhook Order',
	'personVerificationTrigger Person Verified',
	'personVerificationTrigger Verification Wanted',
];
/** A node with a webhook in n8n that shows no address. */
const shownNowhere = ['n8n-nodes-base.wait'];
const prompts = Array.from({ length: 12 }, (_, index) => `A lighthouse on island number ${index + 1}`);

let instance: Instance;
let model: ChatModel;
let page: Page;
let tried: string[] = [];
/** The charges of the sandbox for "Text to image, in parallel", for the spending report. */
const charged = { tasks: 0, credits: 0 };

describe('examples', () => {
	before(async () => {
		model = await startChatModel();
		instance = await startInstance({
			editor: true,
			examples: true,
			sandbox: { imageTaskMs: 300, videoTaskMs: 300, assetMs: 300 },
		});
		const data = { apiKey: 'none', url: model.baseUrl, header: false };
		await instance.rest.request('POST', '/rest/credentials', { name: 'Model', type: 'openAiApi', data });
		await keepFromStarting('backgroundSchedule', 'Every Hour');
		page = await newEditorPage(await browser(), instance.n8n.url);
	});
	beforeEach(() => instance.sandbox.reset());
	after(async () => {
		await page?.context().close();
		await instance?.close();
		await model?.close();
	});

	/** An example as somebody tries it, who has just opened it. */
	function example(id: string, what: string, tryIt: () => Promise<void>) {
		tried.push(id);
		test(`${id}: ${what}`, async () => {
			await openWorkflow(page, instance.n8n.url, id);
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
		for (const { id } of (await instance.rest.request('GET', '/rest/workflows')) as Array<{ id: string }>) {
			const { nodes } = await instance.rest.request('GET', `/rest/workflows/${id}`);
			for (const { name, type, webhookId } of nodes) {
				assert.equal(webhookId !== undefined, called.has(type), `${id}, ${name}`);
				if (called.has(type) && !shownNowhere.includes(type)) found.push(`${id} ${name}`);
			}
		}
		assert.deepEqual(found.sort(), calledNodes);
	});

	for (const [id, nodes] of Object.entries({
		textToImage: { 'Generate Image': 1 },
		imagesFromReferences: { 'Generate Image': 1 },
		promptToImageToVideo: { 'Generate Image': 1, 'Generate Video': 1 },
		privateAvatarToVideo: { 'Generate Video': 1 },
		veryLongJobs: { 'All Videos': 2 },
	}))
		example(id, 'a click on Execute workflow makes its files', async () => {
			await executeWorkflow(page);
			for (const [node, count] of Object.entries(nodes)) assert.equal(await filesIn(page, node), count);
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

	example('scheduledBatch', 'a start by hand makes three files', async () => {
		await executeFrom(page, 'Start');
		assert.equal(await filesIn(page, 'Finished'), 3);
	});

	example('spendingReport', 'it shows the tasks and the credits that the service has charged', async () => {
		await openWorkflow(page, instance.n8n.url, 'textToImageBatch');
		await executeBatch();
		await openWorkflow(page, instance.n8n.url, 'spendingReport');
		await executeWorkflow(page);
		await openNode(page, 'Sum Up');
		await page.getByTestId('output-panel').getByTestId('radio-button-table').click();
		const row = page.getByTestId('output-panel').locator('tr').filter({ hasText: 'Text to image, in parallel' });
		await row.first().waitFor();
		const cells = (await row.locator('td').allInnerTexts()).map((cell) => cell.trim()).filter(Boolean);
		const { tasks, credits } = charged;
		assert.ok(tasks >= 4 && credits > 0);
		assert.deepEqual(cells, [String(tasks), String(credits), 'gamma-image-2', 'Text to image, in parallel']);
	});

	example('lowBalanceAlert', 'Fetch Test Event shows the balance', async () => {
		await openNode(page, 'Balance Is Low');
		await executeStep(page);
		await page.getByTestId('output-panel').getByText('remain_credits').first().waitFor();
	});

	example('aiAgent', 'the agent answers with the URL of a picture', async () => {
		await selectModel();
		model.play([{ name: 'Generate_Image', arguments: { prompt: 'A lighthouse' } }], ([answer]) => String(answer));
		await executeWorkflow(page);
		await openNode(page, 'AI Agent');
		await page.getByTestId('output-panel').getByText('.png').first().waitFor();
	});

	example('agentBudget', 'the key is created, and the agent answers in the chat', async () => {
		await executeWorkflow(page);
		await openNode(page, 'Create API Key');
		await page.getByTestId('output-panel').getByText('api_key').first().waitFor();
		await closeNode(page);
		await selectModel();
		await chat('The picture is there.');
	});

	example('backgroundChat', 'the agent answers at once, and the picture arrives in the inbox', async () => {
		const address = await addressOf('When a Message Comes');
		await selectModel();
		await publish(page);
		await untilActive(instance, 'backgroundChat');
		assert.match(await (await fetch(address)).text(), /<html/);
		await chat('It comes later.');
		await arrived(/to chat[\s\S]*Here is your picture: http/);
	});

	example('backgroundWebhook', 'the order is answered at once, and the video arrives in the inbox', async () => {
		const address = await addressOf('Order');
		await publish(page);
		await untilActive(instance, 'backgroundWebhook');
		const answer = await fetch(address, {
			method: 'POST',
			headers: { 'content-type': 'application/json' },
			body: JSON.stringify({ prompt: 'A lighthouse', order: '17' }),
		});
		const { order, task_id: taskId } = (await answer.json()) as Record<string, string>;
		assert.equal(order, '17');
		await arrived(new RegExp(`to videos[\\s\\S]*"17"[\\s\\S]*${taskId}[\\s\\S]*\\.mp4`));
	});

	example('backgroundSchedule', 'after a start by hand the results arrive in the lower part', async () => {
		await publish(page);
		await executeFrom(page, 'Start');
		await until('the lower part has run', async () => {
			const runs = await listExecutions(instance, 'backgroundSchedule');
			return runs.length >= 3 && runs.every(({ status }) => status === 'success');
		});
		await deactivate(instance, 'backgroundSchedule');
		assert.equal(instance.sandbox.tasks.length, 5);
	});

	example('personVerificationWait', 'the person sees a page, and the workflow goes on', async () => {
		await page.getByTestId('execute-workflow-button').last().click();
		await openNode(page, 'Create Verification');
		await pass(await linkShown());
		await closeNode(page);
		await canvasNode(page, 'Verified').locator('[data-test-id="canvas-node-status-success"]').waitFor();
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

	test('every example is tried', () => {
		assert.deepEqual(
			tried.sort(),
			readExamples()
				.map(({ id }) => id)
				.sort(),
		);
	});
});

/** The schedule would start it by itself once an hour, in a second that n8n chooses. */
async function keepFromStarting(id: string, trigger: string) {
	const path = `/rest/workflows/${id}`;
	const saved = await instance.rest.request('GET', path);
	const { nodes, connections } = withParameters(saved, trigger, { rule: LEAP_DAYS });
	await instance.rest.request('PATCH', path, { nodes, connections, versionId: saved.versionId });
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

/** n8n selects the only credential that there is, when the node is opened. */
async function selectModel() {
	await openNode(page, 'Chat Model');
	await page.getByTestId('node-credentials-select').first().waitFor();
	await closeNode(page);
}

/** Asks the agent for a picture, in the chat of the editor. */
async function chat(answer: string) {
	model.play([{ name: 'Generate_Image', arguments: { prompt: 'A lighthouse' } }], answer);
	const question = page.locator('textarea:visible').last();
	const open = page.getByRole('button', { name: 'Open chat' }).last();
	await question.or(open).first().waitFor();
	if (!(await question.isVisible())) await open.click(); // n8n leaves it open from one workflow to the next
	await question.fill('A lighthouse, please');
	await page.keyboard.press('Enter');
	await page.getByText(answer).first().waitFor();
}

/** The page of the sandbox that shows what the workflows have sent. */
async function arrived(text: RegExp) {
	const inbox = await page.context().newPage();
	await inbox.goto(`${instance.sandbox.baseUrl}/inbox`);
	await until('it has arrived', async () => text.test(await inbox.locator('main').innerText()));
	await inbox.close();
}

/** The link in the output of the open node. */
async function linkShown(): Promise<string> {
	const link = page.getByTestId('output-panel').getByText('/h5/real-person/').first();
	return /http\S+\/h5\/real-person\/\w+/.exec(await link.innerText())?.[0] ?? '';
}

/** The person in a browser of their own. */
async function pass(link: string) {
	const person = await (await browser()).newPage();
	await person.goto(link);
	await person.getByRole('button', { name: 'Pass' }).click();
	await person.getByRole('heading', { name: /^You are verified/ }).waitFor();
	await person.close();
}
