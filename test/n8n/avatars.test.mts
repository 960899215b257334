/** Avatars in a real n8n: from a group to a video, and persons who verify themselves, by fetch and in a browser. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { withParameters, type Workflow } from '../../tools/n8n/examples.mjs';
import { itemsOf, readExecution, startExecution, untilFinished, type Execution } from '../../tools/n8n/executions.mjs';
import { startInstance, type Instance } from './support/instance.mts';
import { readExample, saveWorkflow } from './support/production.mts';
import { pause, until } from './support/until.mts';
import { askForLink, click, emitted, press, startVerificationTrigger } from './support/verification.mts';

let instance: Instance;
/** An execution to which no person comes. It is started first: n8n looks only once a minute whether a wait is over. */
let nobody: string;
before(async () => {
	instance = await startInstance({ sandbox: { videoTaskMs: 400, assetMs: 600 } });
	nobody = await startWaiting({ resumeAmount: 1, resumeUnit: 'seconds' });
});
after(() => instance?.close());
const lookups = () => instance.sandbox.requests.filter(({ path }) => path.includes('/verify-results'));

test('private-avatar-to-video.json makes a group, an active asset, and a real video with it', async () => {
	const workflowId = await saveWorkflow(instance, readExample('private-avatar-to-video.json'));
	const execution = await untilFinished(instance.rest, await startExecution(instance.rest, workflowId, 'Start'));
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));

	const [group] = itemsOf(execution, 'Create Group');
	const [asset] = itemsOf(execution, 'Upload Asset');
	assert.equal(asset?.json.status, 'active');
	assert.equal(asset?.json.group_id, group?.json.group_id);
	assert.deepEqual(
		instance.sandbox.tasks.map(({ body }) => body),
		[
			{
				model: 'alpha-video-2-0',
				prompt: 'She looks up from her book, smiles, and waves',
				image_with_roles: [{ url: `asset://${asset?.json.asset_id}`, role: 'reference_image' }],
			},
		],
	);
	const [video] = itemsOf(execution, 'Generate Video');
	assert.equal(video?.json.status, 'completed');
	assert.equal(video?.binary?.data?.mimeType, 'video/mp4');
	const file = await instance.rest.readBinary(video?.binary?.data.id);
	assert.equal(file.subarray(4, 8).toString('latin1'), 'ftyp', 'a real MP4 file');
});

/** The link for the person of the verification that an execution has created. */
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

/** Starts person-verification-wait.json. Returns the execution's id. */
async function startWaiting(wait: Record<string, unknown>, options: Record<string, unknown> = {}): Promise<string> {
	const workflow = withParameters(readExample('person-verification-wait.json'), 'Wait for the Person', wait);
	const workflowId = await saveWorkflow(instance, withParameters(workflow, 'Create Verification', { options }));
	return await startExecution(instance.rest, workflowId, 'Start');
}

const waiting: Array<{ title: string; callback?: string; button: 'pass' | 'fail' | 'click' }> = [
	{ title: 'passes, at a service that appends "&"', button: 'pass' },
	{ title: 'passes, at a service that appends a second "?"', button: 'pass', callback: 'naive' },
	{ title: 'fails', button: 'fail' },
	{ title: 'passes in a browser', button: 'click' },
];

for (const { title, callback, button } of waiting) {
	test(`person-verification-wait.json: the person ${title}`, async () => {
		const executionId = await startWaiting(
			{},
			callback === undefined ? {} : { additionalFields: `{"sandbox":"callback=${callback}"}` },
		);
		const link = await linkFrom(executionId);

		if (button === 'click') {
			const { text } = await click(link);
			assert.match(text, /You can close this page/);
		} else {
			const page = await press(button, link);
			assert.equal(page.status, 200, page.html);
			assert.match(page.html, /<h1>.+<\/h1>\s*<p>You can close this page/);
			assert.match(String(page.type), /^text\/html/);
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

test('person-verification-wait.json: the person sees a page when the service cannot be asked, too', async () => {
	const executionId = await startWaiting({});
	const link = await linkFrom(executionId);
	instance.sandbox.faults.add({ on: 'avatar', match: { path: 'verify-results' }, do: '403' });
	const page = await press('pass', link);
	assert.deepEqual([page.status, String(page.type).split(';')[0]], [503, 'text/html']);
	assert.match(page.html, /<h1>The result is not known yet/);
	const execution = await untilFinished(instance.rest, executionId);
	assert.equal(execution.status, 'error');
	assert.equal(execution.lastNode, 'Stop');
});

// Before n8n is restarted below: until then this execution runs in its memory.
test('person-verification-wait.json goes on when nobody comes', async () => {
	const execution = await untilFinished(instance.rest, nobody);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	assert.equal(itemsOf(execution, 'Get Result')[0]?.json.verified, false);
	assert.equal(itemsOf(execution, 'Not Verified').length, 1);
});

test('person-verification-trigger.json emits each person once, confirmed by a lookup', async (context) => {
	const { workflowId, callbackUrl, start } = await startVerificationTrigger(instance);
	let count = 0;

	await context.test(
		'a person who passes is emitted with group, task and reference, once however often the browser repeats it',
		async () => {
			const before = lookups().length;
			const page = await press('pass', await askForLink(start, 'customer 42'));
			assert.equal(page.status, 200);
			assert.equal(page.type, 'text/html; charset=utf-8');
			assert.match(page.html, /You are verified/);
			assert.doesNotMatch(page.html, /src=|href=|url\(|@import/);
			const [item] = await emitted(instance, workflowId, ++count);
			assert.deepEqual([item.confirmed, item.verified, item.reference], [true, true, 'customer 42']);
			assert.match(item.group_id, /^rg_/);
			assert.ok(lookups()[before]?.path.includes(`task_id=${item.task_id}`), 'confirmed by a lookup of this task');
			for (let repeat = 0; repeat < 5; repeat++)
				assert.match(await (await fetch(page.callback)).text(), /You are verified/);
			await pause(500);
			await emitted(instance, workflowId, count);
			assert.equal(lookups().length, before + 1);
		},
	);

	await context.test(
		'a person who calls the callback with the reference of somebody else does not get it',
		async () => {
			const link = await askForLink(start, 'mallory');
			const decided = await fetch(`${link}/pass`, { method: 'POST', redirect: 'manual' });
			const callback = new URL(decided.headers.get('location') ?? '');
			callback.searchParams.set('reference', 'alice');
			assert.match(await (await fetch(callback)).text(), /You are verified/);
			const items = await emitted(instance, workflowId, ++count);
			assert.deepEqual(
				items.filter(({ reference }) => reference === 'alice'),
				[],
			);
			const item = items.find(({ reference }) => reference === 'mallory');
			assert.deepEqual([item.confirmed, item.verified, item.reference_unconfirmed], [true, true, undefined]);
		},
	);

	await context.test('a person who does not pass is emitted as not verified', async () => {
		const page = await press('fail', await askForLink(start, 'stranger'));
		assert.match(page.html, /Not verified/);
		const item = (await emitted(instance, workflowId, ++count)).find(({ reference }) => reference === 'stranger');
		assert.deepEqual([item.confirmed, item.verified, item.group_id], [true, false, undefined]);
	});

	await context.test('where there is no link, the person sees a page', async () => {
		instance.sandbox.faults.add({ on: 'avatar', match: { path: 'verify-tasks' }, do: '403' });
		const page = await fetch(`${start}?reference=nobody`, { redirect: 'manual' });
		assert.deepEqual([page.status, page.headers.get('content-type')?.split(';')[0]], [503, 'text/html']);
		assert.match(await page.text(), /<h1>There is no link at the moment/);
	});

	await context.test('in a browser the page needs nothing from elsewhere', async () => {
		const { text, hosts } = await click(await askForLink(start, 'browser'));
		assert.match(text, /You are verified/);
		const own = [instance.sandbox.baseUrl, instance.n8n.url].map((url) => new URL(url).host);
		assert.deepEqual(
			[...hosts].filter((host) => !own.includes(host)),
			[],
		);
		await emitted(instance, workflowId, ++count);
	});

	await context.test('persons who ask at the same moment are each confirmed', async () => {
		const people = ['a', 'b', 'c', 'd', 'e'];
		const links = await Promise.all(people.map((reference) => askForLink(start, reference)));
		await Promise.all(links.map((link) => press('pass', link)));
		const items = (await emitted(instance, workflowId, (count += people.length))).filter(({ reference }) =>
			people.includes(reference),
		);
		const outcomes = items.map(({ reference, confirmed, verified }) => [reference, confirmed, verified]);
		assert.deepEqual(
			outcomes.sort(),
			people.map((reference) => [reference, true, true]),
		);
	});

	await context.test(
		'a person is emitted once over a restart between the link and the callback, and one after it',
		async () => {
			const restart = async () => {
				await instance.n8n.server.stop();
				await instance.restart();
				await until('the workflow is active again', async () => (await fetch(callbackUrl)).status === 400);
			};
			const link = await askForLink(start, 'restart');
			await restart();
			const { callback, html } = await press('pass', link);
			assert.match(html, /You are verified/);
			await emitted(instance, workflowId, ++count);
			await restart();
			assert.match(await (await fetch(callback)).text(), /You are verified/);
			await pause(500);
			await emitted(instance, workflowId, count);
		},
	);

	await context.test(
		'a verification of another workflow is emitted as unconfirmed, with what Get Result needs',
		async () => {
			const before = lookups().length;
			const other = await saveWorkflow(instance, manualCreate(`${callbackUrl}?reference=elsewhere`));
			const created = await untilFinished(instance.rest, await startExecution(instance.rest, other, 'Start'));
			const [session] = itemsOf(created, 'Create Verification');
			const page = await press('pass', session?.json.h5_link);
			assert.match(page.html, /Thank you/);
			const item = (await emitted(instance, workflowId, ++count)).find(
				(told) => told.reference_unconfirmed === 'elsewhere',
			);
			assert.deepEqual([item.confirmed, item.verified, item.vendor_token], [false, false, session?.json.vendor_token]);
			assert.equal(item.reference, undefined, 'only the address says it');
			assert.equal(lookups().length, before, 'nothing to look up by');
		},
	);
});

test('a verification that a manual run of the same workflow created is emitted as unconfirmed', async () => {
	const { workflowId, callbackUrl } = await startVerificationTrigger(
		instance,
		addManualStart(readExample('person-verification-trigger.json')),
	);
	const run = await untilFinished(instance.rest, await startExecution(instance.rest, workflowId, 'Start'));
	const [session] = itemsOf(run, 'Create Verification');
	assert.ok(String(session?.json.callback_url).startsWith(callbackUrl), JSON.stringify(run.runData));
	await press('pass', session?.json.h5_link);
	const [item] = await emitted(instance, workflowId, 1);
	assert.deepEqual([item.confirmed, item.verified], [false, false]);
	assert.match(item.next_step, /Get Result/);
});

const manualTrigger = {
	id: '1',
	name: 'Start',
	type: 'n8n-nodes-base.manualTrigger',
	typeVersion: 1,
	position: [0, 200],
	parameters: {},
};
const startToCreate = { Start: { main: [[{ node: 'Create Verification', type: 'main', index: 0 }]] } };

/** The example with a manual trigger in place of its webhook. */
function addManualStart(workflow: Workflow): Workflow {
	const kept = workflow.nodes.filter(
		({ name }) => !['Verification Wanted', 'Send the Browser to the Link', 'No Link'].includes(name),
	);
	const { 'Person Verified': verified } = workflow.connections;
	const nodes = [...kept, manualTrigger];
	const connections = { ...startToCreate, 'Person Verified': verified };
	// There is no request whose query has it.
	return withParameters({ ...workflow, nodes, connections }, 'Create Verification', { reference: '' });
}

function manualCreate(callbackUrl: string): Workflow {
	const workflow = addManualStart(readExample('person-verification-trigger.json'));
	const nodes = workflow.nodes.filter(({ name }) => ['Start', 'Create Verification'].includes(name));
	return withParameters({ ...workflow, nodes, connections: startToCreate }, 'Create Verification', { callbackUrl });
}
