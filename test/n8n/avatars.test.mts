/** Avatars in a real n8n: from a group to a video, and persons who verify themselves, by fetch and in a browser. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { withParameters } from '../../tools/n8n/examples.mjs';
import { itemsOf, readExecution, startExecution, untilFinished, type Execution } from '../../tools/n8n/executions.mjs';
import { readExample, saveWorkflow } from './support/production.mts';
import { joinN8n, type Joined } from './support/shared.mts';
import { pause, until } from './support/until.mts';
import { askForLink, emitted, press, startVerificationTrigger } from './support/verification.mts';

let instance: Joined;
/** An execution to which no person comes. It is started first: n8n looks only once a minute whether a wait is over. */
let nobody: string;
before(async () => {
	instance = await joinN8n({ videoTaskMs: 400, assetMs: 600 });
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
async function startWaiting(wait: Record<string, unknown>): Promise<string> {
	const workflow = withParameters(readExample('person-verification-wait.json'), 'Wait for the Person', wait);
	const workflowId = await saveWorkflow(instance, workflow);
	return await startExecution(instance.rest, workflowId, 'Start');
}

for (const button of ['pass', 'fail'] as const) {
	test(`person-verification-wait.json: a person whose check ends with "${button}" sees a page, and the workflow goes on`, async () => {
		const executionId = await startWaiting({});
		const page = await press(button, await linkFrom(executionId));
		assert.deepEqual([page.status, String(page.type).split(';')[0]], [200, 'text/html']);
		assert.match(page.html, /<h1>.+<\/h1>\s*<p>You can close this page/);
		const execution = await untilFinished(instance.rest, executionId);
		assert.equal(execution.status, 'success', JSON.stringify(execution.error));
		const [result] = itemsOf(execution, 'Get Result');
		const passed = button === 'pass';
		assert.deepEqual([result?.json.verified, typeof result?.json.group_id === 'string'], [passed, passed]);
		const branches = ['Verified', 'Not Verified'].map((name) => itemsOf(execution, name).length);
		assert.deepEqual(branches, passed ? [1, 0] : [0, 1]);
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

test('person-verification-wait.json goes on when nobody comes', async () => {
	const execution = await untilFinished(instance.rest, nobody);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	assert.equal(itemsOf(execution, 'Get Result')[0]?.json.verified, false);
	assert.equal(itemsOf(execution, 'Not Verified').length, 1);
});

test('person-verification-trigger.json emits each person once, confirmed by a lookup', async (context) => {
	const { workflowId, start } = await startVerificationTrigger(instance);
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

	await context.test('where there is no link, the person sees a page', async () => {
		instance.sandbox.faults.add({ on: 'avatar', match: { path: 'verify-tasks' }, do: '403' });
		const page = await fetch(`${start}?reference=nobody`, { redirect: 'manual' });
		assert.deepEqual([page.status, page.headers.get('content-type')?.split(';')[0]], [503, 'text/html']);
		assert.match(await page.text(), /<h1>There is no link at the moment/);
	});
});
