/** Persons who verify themselves, and the example person-verification-trigger.json that they come back to. */
import assert from 'node:assert/strict';
import { withParameters, type Workflow } from '../../../tools/n8n/examples.mjs';
import { itemsOf, readExecution } from '../../../tools/n8n/executions.mjs';
import { activate, executionsOf, readExample, saveWorkflow } from './production.mts';
import type { Joined } from './shared.mts';
import { until } from './until.mts';

/** Plays the person: opens the link and presses the button. Returns the page they end on, and its address. */
export async function press(button: 'pass' | 'fail', link: string) {
	assert.equal((await fetch(link)).status, 200, 'the link is valid');
	const decided = await fetch(`${link}/${button}`, { method: 'POST', redirect: 'manual' });
	const callback = decided.headers.get('location') ?? '';
	const page = await fetch(callback);
	return { callback, status: page.status, type: page.headers.get('content-type'), html: await page.text() };
}

/** Opens the address that people are given: where it sends the browser. */
export async function askForLink(start: string, reference: string): Promise<string> {
	const sent = await fetch(`${start}?reference=${encodeURIComponent(reference)}`, { redirect: 'manual' });
	return sent.headers.get('location') ?? '';
}

/** The example as its sticky note says: the trigger's production URL as callback URL, active. */
export async function startVerificationTrigger(
	instance: Joined,
	workflow: Workflow = readExample('person-verification-trigger.json'),
) {
	const workflowId = await saveWorkflow(instance, workflow);
	const saved = await instance.rest.request('GET', `/rest/workflows/${workflowId}`);
	const urlOf = (name: string, path: string) => {
		const webhookId = saved.nodes.find((node: { name: string }) => node.name === name)?.webhookId;
		const folder = webhookId ?? `${workflowId}/${encodeURIComponent(name.toLowerCase())}`;
		return `${instance.n8n.url}/webhook/${folder}/${path}`;
	};
	const callbackUrl = urlOf('Person Verified', 'avatar-verification');
	const withUrl = withParameters(saved, 'Create Verification', { callbackUrl });
	await instance.rest.request('PATCH', `/rest/workflows/${workflowId}`, {
		nodes: withUrl.nodes,
		connections: withUrl.connections,
		versionId: saved.versionId,
	});
	await activate(instance, workflowId);
	return { workflowId, callbackUrl, start: `${instance.n8n.url}/webhook/verify-yourself` };
}

/** The items that callbacks have started the workflow with, once there are so many. */
export async function emitted(instance: Joined, workflowId: string, count: number) {
	const read = async () => {
		const executions = await Promise.all(
			(await executionsOf(instance, workflowId)).map((id) => readExecution(instance.rest, id)),
		);
		return executions.flatMap((execution) => itemsOf(execution, 'Person Verified').map(({ json }) => json));
	};
	await until(`${count} callbacks are emitted`, async () => (await read()).length >= count);
	const items = await read();
	assert.equal(items.length, count);
	return items;
}
