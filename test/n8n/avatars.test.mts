/** Avatars in a real n8n: from a group to a video, and persons who verify themselves, by fetch and in a browser. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { withParameters, type Workflow } from '../../tools/n8n/examples.mjs';
import { itemsOf, readExecution, startExecution, untilFinished, type Execution } from '../../tools/n8n/executions.mjs';
import { openBrowser } from './support/browser.mts';
import { startInstance, type Instance } from './support/instance.mts';
import { activate, executionsOf, readExample, saveWorkflow, untilExecuted } from './support/production.mts';
import { pause, until } from './support/until.mts';

let instance: Instance;
before(async () => {
	// A flood of callbacks must not be a flood of lookups: the log of requests tells, a limit would hide it.
	instance = await startInstance({ sandbox: { videoTaskMs: 400, assetMs: 600, requestsPerSecond: 0 } });
});
after(() => instance.close());
beforeEach(() => instance.sandbox.reset());

const lookups = () => instance.sandbox.requests.filter(({ path }) => path.includes('/verify-results'));

test('private-avatar-to-video.json: a group, an active asset, and a real video that is made with it', { timeout: 60_000 }, async () => {
	const workflowId = await saveWorkflow(instance, readExample('private-avatar-to-video.json'));
	const execution = await untilFinished(instance.rest, await startExecution(instance.rest, workflowId, 'Start'));
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));

	const [group] = itemsOf(execution, 'Create Group');
	const [asset] = itemsOf(execution, 'Upload Asset');
	assert.equal(asset?.json.status, 'active');
	assert.equal(asset?.json.group_id, group?.json.group_id);
	assert.deepEqual(instance.sandbox.tasks.map(({ body }) => body), [
		{
			model: 'alpha-video-2-0',
			prompt: 'She looks up from her book, smiles, and waves',
			image_with_roles: [{ url: `asset://${asset?.json.asset_id}`, role: 'reference_image' }],
		},
	]);
	const [video] = itemsOf(execution, 'Generate Video');
	assert.equal(video?.json.status, 'completed');
	assert.equal(video?.binary?.data?.mimeType, 'video/mp4');
	const file = await instance.rest.readBinary(video?.binary?.data.id);
	assert.equal(file.subarray(4, 8).toString('latin1'), 'ftyp', 'a real MP4 file');
});

/** What the person does: opens the link and presses the button. Returns the page they end on, and its address. */
async function press(button: 'pass' | 'fail', link: string) {
	assert.equal((await fetch(link)).status, 200, 'the link is valid');
	const decided = await fetch(`${link}/${button}`, { method: 'POST', redirect: 'manual' });
	const callback = decided.headers.get('location') ?? '';
	const page = await fetch(callback);
	return { callback, status: page.status, type: page.headers.get('content-type'), html: await page.text() };
}

/** The same with a mouse. */
async function click(link: string) {
	const browser = await openBrowser();
	try {
		const page = await browser.newPage();
		const hosts = new Set<string>();
		page.on('request', (request) => hosts.add(new URL(request.url()).host));
		await page.goto(link);
		await page.click('#pass');
		await page.waitForURL((url) => url.searchParams.has('vendorToken') || url.search.includes('vendorToken'));
		return { text: (await page.textContent('body')) ?? '', hosts };
	} finally {
		await browser.close();
	}
}

/** What the person is told of the verification that an execution has created. */
async function linkFrom(executionId: string): Promise<string> {
	let execution: Execution | undefined;
	await until('the execution waits for the person', async () => {
		execution = await readExecution(instance.rest, executionId);
		assert.notEqual(execution.status, 'error', JSON.stringify(execution.error));
		return execution.status === 'waiting';
	});
	const message = String(itemsOf(execution as Execution, 'Send the Link')[0]?.json.message);
	return /https?:\S+/.exec(message)?.[0] ?? '';
}

const waiting: Array<{ title: string; callback?: string; button: 'pass' | 'fail' | 'click' }> = [
	{ title: 'passes, at a service that appends "&"', button: 'pass' },
	{ title: 'passes, at a service that appends a second "?"', button: 'pass', callback: 'naive' },
	{ title: 'fails', button: 'fail' },
	{ title: 'passes in a browser', button: 'click' },
];

for (const { title, callback, button } of waiting) {
	test(`person-verification-wait.json: the person ${title}`, { timeout: 120_000 }, async () => {
		let workflow = readExample('person-verification-wait.json');
		if (callback) workflow = withParameters(workflow, 'Create Verification', { options: { additionalFields: `{"sandbox":"callback=${callback}"}` } });
		const workflowId = await saveWorkflow(instance, workflow);
		const executionId = await startExecution(instance.rest, workflowId, 'Start');
		const link = await linkFrom(executionId);

		if (button === 'click') {
			const { text } = await click(link);
			assert.match(text, /You can close this page/);
		} else {
			const page = await press(button, link);
			assert.equal(page.status, 200, page.html);
			assert.match(page.html, /You can close this page/);
			assert.match(page.callback, callback === 'naive' ? /\?.*\?resultCode=/ : /^[^?]*\?[^?]*&resultCode=/);
		}
		const execution = await untilFinished(instance.rest, executionId);
		assert.equal(execution.status, 'success', JSON.stringify(execution.error));
		const [result] = itemsOf(execution, 'Get Result');
		const passed = button !== 'fail';
		assert.equal(result?.json.verified, passed);
		assert.equal(typeof result?.json.group_id, passed ? 'string' : 'undefined');
		assert.equal(itemsOf(execution, passed ? 'Verified' : 'Not Verified').length, 1);
		assert.equal(itemsOf(execution, passed ? 'Not Verified' : 'Verified').length, 0);
	});
}

/** The example as its sticky note says: the trigger's production URL as callback URL, active. */
async function startVerificationTrigger(change: (workflow: Workflow) => Workflow = (workflow) => workflow) {
	const workflowId = await saveWorkflow(instance, change(readExample('person-verification-trigger.json')));
	const saved = await instance.rest.request('GET', `/rest/workflows/${workflowId}`);
	const urlOf = (name: string, path: string) => {
		const webhookId = saved.nodes.find((node: { name: string }) => node.name === name)?.webhookId;
		const folder = webhookId ?? `${workflowId}/${encodeURIComponent(name.toLowerCase())}`;
		return `${instance.n8n.url}/webhook/${folder}/${path}`;
	};
	const callbackUrl = urlOf('Person Verified', 'avatar-verification');
	const withUrl = withParameters(saved, 'Create Verification', { callbackUrl });
	await instance.rest.request('PATCH', `/rest/workflows/${workflowId}`, { nodes: withUrl.nodes, connections: withUrl.connections, versionId: saved.versionId });
	await activate(instance, workflowId);
	return { workflowId, callbackUrl, start: `${instance.n8n.url}/webhook/verify-yourself` };
}

/** What the callbacks have started the workflow with, once there are so many and nothing is under way. */
async function emitted(workflowId: string, count: number) {
	const read = async () => (await readExecutions(workflowId)).filter(({ runData }) => runData['Person Verified']);
	await until(`${count} callbacks are emitted`, async () => (await read()).length >= count);
	const items = (await read()).flatMap((execution) => itemsOf(execution, 'Person Verified'));
	assert.equal(items.length, count);
	return items.map(({ json }) => json);
}

const readExecutions = async (workflowId: string) =>
	await Promise.all((await executionsOf(instance, workflowId)).map((id) => readExecution(instance.rest, id)));

/** Opens the address that people are given: where it sends the browser. */
async function askForLink(start: string, reference: string): Promise<string> {
	const sent = await fetch(`${start}?reference=${encodeURIComponent(reference)}`, { redirect: 'manual' });
	return sent.headers.get('location') ?? '';
}

test('person-verification-trigger.json', { timeout: 240_000 }, async (context) => {
	const { workflowId, callbackUrl, start } = await startVerificationTrigger();
	let count = 0;

	await context.test('a person who passes is emitted with group, task and reference, once however often the browser repeats it', async () => {
		const page = await press('pass', await askForLink(start, 'customer 42'));
		assert.equal(page.status, 200);
		assert.equal(page.type, 'text/html; charset=utf-8');
		assert.match(page.html, /You are verified/);
		assert.doesNotMatch(page.html, /src=|href=|url\(|@import/);
		const [item] = await emitted(workflowId, ++count);
		assert.deepEqual([item.proved, item.verified, item.reference], [true, true, 'customer 42']);
		const [{ taskId, groupId } = {}] = instance.sandbox.requests.filter(({ path }) => path.includes('/verify-results')).map(({ path }) => ({ taskId: path, groupId: path }));
		assert.ok(taskId?.includes(item.task_id) || groupId);
		assert.match(item.group_id, /^rg_/);
		for (let repeat = 0; repeat < 5; repeat++) assert.equal((await fetch(page.callback)).status, 200);
		await pause(500);
		await emitted(workflowId, count);
		assert.equal(lookups().length, 1);
	});

	await context.test('in a browser the page needs nothing from elsewhere', async () => {
		const { text, hosts } = await click(await askForLink(start, 'browser'));
		assert.match(text, /You are verified/);
		const own = [instance.sandbox.baseUrl, instance.n8n.url].map((url) => new URL(url).host);
		assert.deepEqual([...hosts].filter((host) => !own.includes(host)), []);
		await emitted(workflowId, ++count);
	});

	await context.test('persons who ask at the same moment are each proved', async () => {
		const people = ['a', 'b', 'c', 'd', 'e'];
		const links = await Promise.all(people.map((reference) => askForLink(start, reference)));
		await pause(1000);
		await Promise.all(links.map((link) => press('pass', link)));
		const items = (await emitted(workflowId, (count += people.length))).filter(({ reference }) => people.includes(reference));
		console.log(items);
		assert.deepEqual(items.map(({ reference, proved, verified }) => [reference, proved, verified]).sort(), people.map((reference) => [reference, true, true]));
	});

	await context.test('a thousand callbacks with the same token: one execution, one lookup, each gets the page', async () => {
		const before = lookups().length;
		const link = await askForLink(start, 'flood');
		const { callback } = await press('pass', link);
		const statuses = await flood(() => callback);
		assert.deepEqual(statuses, { 200: 1000 });
		await emitted(workflowId, ++count);
		assert.equal(lookups().length, before + 1);
	});

	await context.test('a thousand callbacks without parameters start nothing', async () => {
		assert.deepEqual(await flood(() => callbackUrl), { 400: 1000 });
		await emitted(workflowId, count);
	});

	await context.test('a thousand callbacks with made-up tokens', async () => {
		const before = lookups().length;
		const startedAt = Date.now();
		console.log(await flood((index) => `${callbackUrl}?resultCode=10000&vendorToken=made-up-${index}`), Date.now() - startedAt);
		await pause(3000);
		const filter = encodeURIComponent(JSON.stringify({ workflowId }));
		const { count: executions } = await instance.rest.request('GET', `/rest/executions?limit=1&filter=${filter}`);
		console.log('executions', executions, Date.now() - startedAt);
		assert.equal(lookups().length, before);
	});
});

/** A thousand GET requests, fifty at a time: how often each HTTP status came. */
async function flood(url: (index: number) => string): Promise<Record<number, number>> {
	const statuses: Record<number, number> = {};
	let next = 0;
	const visitor = async () => {
		while (next < 1000) {
			const response = await fetch(url(next++));
			await response.arrayBuffer();
			statuses[response.status] = (statuses[response.status] ?? 0) + 1;
		}
	};
	await Promise.all(Array.from({ length: 50 }, visitor));
	return statuses;
}
