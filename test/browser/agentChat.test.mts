/** The example of an agent with a budget, in the editor's chat: the picture is there, and not only its address. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { withCredential } from '../../tools/n8n/examples.mjs';
import { startChatModel, type ChatModel } from '../n8n/support/chatModel.mts';
import { readExample } from '../n8n/support/production.mts';
import { n8n, releasePage, screenshot, showWorkflow, takePage } from './support/session.mts';

let model: ChatModel;
before(async () => {
	model = await startChatModel();
});
after(() => model.close());

const url = /http:\/\/[^"\s]+\.png/;

test('the chat shows the picture that the agent has made', async () => {
	const { rest, credential } = await n8n();
	const data = { apiKey: 'none', url: model.baseUrl, header: false };
	const made = await rest.request('POST', '/rest/credentials', { name: 'Model', type: 'openAiApi', data });
	const { nodes, ...workflow } = withCredential(readExample('agent-budget.json'), credential);
	const credentials = { openAiApi: { id: String(made.id), name: 'Model' } };
	const { id } = await rest.request('POST', '/rest/workflows', {
		...workflow,
		nodes: nodes.map((node) => (node.name === 'Chat Model' ? { ...node, credentials } : node)),
	});
	model.play(
		[{ name: 'Generate_Image', arguments: { prompt: 'A lighthouse' } }],
		([answer]) => `![A lighthouse](${url.exec(answer ?? '')?.[0]}) by gamma-image-2`,
	);
	const page = await takePage();
	await showWorkflow(page, String(id));
	// On the canvas, the button is above other things only while the mouse is there.
	const open = page.getByRole('button', { name: 'Open chat' }).first();
	await open.evaluate((button) => button.click());
	const input = page.locator('.chat-inputs textarea, [data-test-id="canvas-chat"] textarea').first();
	await input.fill('A lighthouse, please');
	await input.press('Enter');
	const picture = page.locator('.chat-message-from-bot img').first();
	await picture.waitFor();
	await picture.evaluate((element) => (element as unknown as { decode: () => Promise<void> }).decode());
	const width = await picture.evaluate((element) => (element as unknown as { naturalWidth: number }).naturalWidth);
	assert.ok(width > 100, `${width} pixels wide`);
	assert.match((await picture.getAttribute('src')) ?? '', url);
	await screenshot(page, 'agent-chat');
	const system = JSON.stringify(model.requests()[0]?.messages[0]);
	assert.match(system, /Show each picture as Markdown/);
	await releasePage(page);
});
