/** A thousand callbacks at the Avatar Trigger in a real n8n: by one browser, by nobody, by somebody who guesses. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startInstance, type Instance } from './support/instance.mts';
import { pause, until } from './support/until.mts';
import { askForLink, emitted, press, startVerificationTrigger } from './support/verification.mts';

let instance: Instance;
let trigger: Awaited<ReturnType<typeof startVerificationTrigger>>;
before(async () => {
	instance = await startInstance({
		// A flood of lookups would show in the log of requests: a limit would hide it.
		sandbox: { requestsPerSecond: 0 },
		// n8n takes 70 ms to make the sandbox in which it reads a node's parameters. What is tested here is the node.
		env: { N8N_EXPRESSION_ENGINE: 'legacy' },
	});
	trigger = await startVerificationTrigger(instance);
});
after(() => instance?.close());

const lookups = () => instance.sandbox.requests.filter(({ path }) => path.includes('/verify-results')).length;

test('a thousand callbacks with the same token make one execution and one lookup, and each gets the page', async () => {
	const link = await askForLink(trigger.start, 'customer-42');
	await press('pass', link);
	const [person] = await emitted(instance, trigger.workflowId, 1);
	assert.deepEqual(await flood(() => `${trigger.callbackUrl}?vendorToken=${person.vendor_token}`), { 200: 1000 });
	await emitted(instance, trigger.workflowId, 1);
	assert.equal(lookups(), 1);
});

test('a thousand callbacks without parameters are each told so, and nothing starts', async () => {
	assert.deepEqual(await flood(() => trigger.callbackUrl), { 400: 1000 });
	await emitted(instance, trigger.workflowId, 1);
});

test('of a thousand callbacks with made-up tokens each gets the page, a hundred per minute start the workflow, and none is looked up', async () => {
	const startedAt = Date.now();
	assert.deepEqual(await flood((index) => `${trigger.callbackUrl}?resultCode=10000&vendorToken=made-up-${index}`), {
		200: 1000,
	});
	const minutes = Math.ceil((Date.now() - startedAt) / 60_000);
	// Beside them there are two of the person: one made the link, the callback started the other.
	await until('the executions have ended', async () => (await countExecutions('success')) >= 102);
	await pause(1000);
	assert.ok((await countExecutions()) <= 2 + 100 * minutes);
	assert.equal(lookups(), 1);
});

test('after a flood of callbacks a person is served as before', async () => {
	const { html } = await press('pass', await askForLink(trigger.start, 'customer-43'));
	assert.match(html, /You are verified/);
});

/** Of the workflow, with this status or with any. */
async function countExecutions(status?: string): Promise<number> {
	const filter = encodeURIComponent(
		JSON.stringify({ workflowId: trigger.workflowId, ...(status && { status: [status] }) }),
	);
	const { count } = await instance.rest.request('GET', `/rest/executions?limit=1&filter=${filter}`);
	return count;
}

/** As a browser does: a connection that was kept may be closed by the time that a slow machine uses it again. */
async function get(url: string): Promise<Response> {
	return await fetch(url).catch(async (thrown: Error) => {
		const { code = '' } = (thrown.cause ?? {}) as { code?: string };
		if (!['UND_ERR_SOCKET', 'ECONNRESET'].includes(code)) throw thrown;
		return await fetch(url);
	});
}

/** A thousand GET requests, fifty at a time: how often each HTTP status came. */
async function flood(url: (index: number) => string): Promise<Record<number, number>> {
	const statuses: Record<number, number> = {};
	let next = 0;
	const visitor = async () => {
		while (next < 1000) {
			const response = await get(url(next++));
			await response.arrayBuffer();
			statuses[response.status] = (statuses[response.status] ?? 0) + 1;
		}
	};
	await Promise.all(Array.from({ length: 50 }, visitor));
	return statuses;
}
