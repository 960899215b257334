/** The examples that are called from outside, imported as by `npm start`, answer at the address that the editor shows. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { newEditorPage, openWorkflow } from '../../tools/browser/editor.mjs';
import { startInstance, type Instance } from '../n8n/support/instance.mts';
import { activate } from '../n8n/support/production.mts';
import { closeNode, openNode } from './support/form.mts';
import { shownAddress } from './support/run.mts';
import { browser } from './support/session.mts';

/** A node with a webhook in n8n that shows no address. */
const shownNowhere = ['n8n-nodes-base.wait'];

const order = {
	method: 'POST',
	headers: { 'content-type': 'application/json' },
	body: JSON.stringify({ prompt: 'A lighthouse', order: '17' }),
};
const calls: Record<string, Record<string, { request?: RequestInit; status: number; says: RegExp }>> = {
	agentBudget: { 'When a Message Comes': { status: 200, says: /<html/ } },
	backgroundWebhook: { Order: { request: order, status: 200, says: /"task_id":"vid_/ } },
	backgroundChat: { 'When a Message Comes': { status: 200, says: /<html/ } },
	personVerificationTrigger: {
		'Verification Wanted': { status: 307, says: /^/ },
		// The page of the node: nobody has been verified.
		'Person Verified': { status: 400, says: /<!DOCTYPE html>/ },
	},
};

describe('examples that are called from outside', () => {
	let instance: Instance;
	let page: Page;
	before(async () => {
		instance = await startInstance({ examples: true, sandbox: { imageTaskMs: 300, videoTaskMs: 300 } });
		page = await newEditorPage(await browser(), instance.n8n.url);
	});
	after(async () => {
		await page?.context().close();
		await instance?.close();
	});

	test('every node with a webhook has an ID for its address, and is called here if the editor shows it', async () => {
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
		const known = Object.entries(calls).flatMap(([id, nodes]) => Object.keys(nodes).map((name) => `${id} ${name}`));
		assert.deepEqual(found.sort(), known.sort());
	});

	for (const [id, nodes] of Object.entries(calls)) {
		test(`${id} answers where its editor says`, { timeout: 90_000 }, async () => {
			const addresses = new Map<string, string>();
			await openWorkflow(page, instance.n8n.url, id);
			for (const name of Object.keys(nodes)) {
				await openNode(page, name);
				addresses.set(name, await shownAddress(page));
				await closeNode(page);
			}
			await publish(id, addresses.get('Person Verified'));
			for (const [name, { request, status, says }] of Object.entries(nodes)) {
				const address = addresses.get(name) ?? '';
				const answer = await fetch(address, { redirect: 'manual', ...request });
				const text = await answer.text();
				assert.equal(answer.status, status, `${address}: ${text}`);
				assert.match(text, says);
			}
		});
	}

	/** With what the notes of the example ask for. */
	async function publish(id: string, callbackUrl?: string) {
		const { rest } = instance;
		const { nodes, connections, versionId } = await rest.request('GET', `/rest/workflows/${id}`);
		const data = { apiKey: 'none', url: instance.sandbox.baseUrl, header: false };
		const model = await rest.request('POST', '/rest/credentials', { name: 'Model', type: 'openAiApi', data });
		const credentials = { openAiApi: { id: model.id, name: model.name } };
		const filled = nodes.map((node: { name: string; parameters: object }) => {
			if (node.name === 'Chat Model') return { ...node, credentials };
			if (node.name !== 'Create Verification') return node;
			return { ...node, parameters: { ...node.parameters, callbackUrl } };
		});
		await rest.request('PATCH', `/rest/workflows/${id}`, { nodes: filled, connections, versionId });
		await activate(instance, id);
	}
});
