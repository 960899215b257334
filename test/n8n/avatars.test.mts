/** Avatars in a real n8n: from a group to a video, and persons who verify themselves, by fetch and in a browser. */
import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { after, before, test } from 'node:test';
import { withParameters, type Workflow } from '../../tools/n8n/examples.mjs';
import { itemsOf, readExecution, startExecution, untilFinished, type Execution } from '../../tools/n8n/executions.mjs';
import { exampleFor, kindOfFile, posted, saveWorkflow } from './support/production.mts';
import { joinN8n, type Joined } from './support/shared.mts';
import { pause, until } from './support/until.mts';
import { askForLink, emitted, press, startVerificationTrigger } from './support/verification.mts';

let instance: Joined;
/** An execution to which no person comes. It is started first: n8n looks only once a minute whether a wait is over. */
let nobody: string;
before(async () => {
	instance = await joinN8n({ videoTaskMs: 400, assetMs: 600 });
	nobody = await startPeople(['Nobody'], { resumeAmount: 1, resumeUnit: 'seconds' });
});
after(() => instance?.close());
const lookups = () => instance.sandbox.requests.filter(({ path }) => path.includes('/verify-results'));

test('private-avatar-to-video.json makes a group, an active asset, and a real video with it, and later another one', async () => {
	const example = exampleFor(instance, 'private-avatar-to-video.json');
	const run = async (workflow: Workflow, trigger: string) => {
		const workflowId = await saveWorkflow(instance, workflow);
		const execution = await untilFinished(instance.rest, await startExecution(instance.rest, workflowId, trigger));
		assert.equal(execution.status, 'success', JSON.stringify(execution.error));
		assert.equal(kindOfFile(itemsOf(execution, 'Store Video')[0]?.json.fileName), 'mp4');
		return execution;
	};
	const execution = await run(example, 'Start');
	const [group] = itemsOf(execution, 'Create Group');
	const [asset] = itemsOf(execution, 'Upload Asset');
	assert.equal(asset?.json.status, 'active');
	assert.equal(asset?.json.group_id, group?.json.group_id);
	const reference = `asset://${asset?.json.asset_id}`;
	const later = setOf({ asset_id: String(asset?.json.asset_id), prompt: 'She turns around' });
	await run(withParameters(example, 'Set Asset', later), 'Every Week');
	assert.deepEqual(
		instance.sandbox.tasks.map(({ body }) => body),
		['She looks up from her book, smiles, and waves', 'She turns around'].map((prompt) => ({
			model: 'alpha-video-2-0',
			prompt,
			image_with_roles: [{ url: reference, role: 'reference_image' }],
		})),
	);
});

const setOf = (values: Record<string, string>) => ({
	assignments: {
		assignments: Object.entries(values).map(([name, value]) => ({ id: name, name, type: 'string', value })),
	},
});

/** The link in the message to this person, once the execution waits for them. */
async function linkFor(executionId: string, name: string): Promise<string> {
	const message = () => posted(instance, 'people').find(({ to }) => to === `${name}@example.com`);
	await until(`the execution waits for ${name}`, async () => {
		const execution = await readExecution(instance.rest, executionId);
		assert.notEqual(execution.status, 'error', JSON.stringify(execution.error));
		return execution.status === 'waiting' && message() !== undefined;
	});
	return /https?:\S+/.exec(message()?.text ?? '')?.[0] ?? '';
}

/** Starts verified-person-to-video.json for these people. Returns the execution's id. */
async function startPeople(names: string[], wait: Record<string, unknown> = {}): Promise<string> {
	const people = names.map((name) => ({
		...{ name, email: `${name}@example.com` },
		picture: `https://example.com/${name}.png`,
	}));
	const assignments = [{ id: '1', name: 'people', type: 'array', value: JSON.stringify(people) }];
	const example = withParameters(exampleFor(instance, 'verified-person-to-video.json'), 'Set People', {
		assignments: { assignments },
	});
	const workflowId = await saveWorkflow(instance, withParameters(example, 'Wait for the Person', wait));
	return await startExecution(instance.rest, workflowId, 'Start');
}

const notVerified = ({ runData }: Execution) =>
	(runData['Not Verified'] ?? []).map((_, run) => itemsOf({ runData } as Execution, 'Not Verified', { run })[0]?.json);

test('verified-person-to-video.json: each person sees a page, and each who passes gets an asset and a video of their own', async () => {
	const before = instance.sandbox.tasks.length;
	const executionId = await startPeople(['Anna', 'Ben', 'Cleo']);
	for (const [name, button] of [
		['Anna', 'pass'],
		['Ben', 'fail'],
		['Cleo', 'pass'],
	] as const) {
		const page = await press(button, await linkFor(executionId, name));
		assert.deepEqual([page.status, String(page.type).split(';')[0]], [200, 'text/html']);
		const says = button === 'pass' ? 'You are verified' : 'The verification was not successful';
		assert.match(page.html, new RegExp(`<h1>${says}\\.</h1>\\s*<p>You can close this page`));
	}
	const execution = await untilFinished(instance.rest, executionId);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	const runs = (node: string) =>
		(execution.runData[node] ?? []).map((_, run) => itemsOf(execution, node, { run })[0]?.json);
	const files = runs('Store Video').map(({ fileName }) => String(fileName));
	assert.deepEqual(
		files.map((file) => [basename(file).split(' ')[0], kindOfFile(file)]),
		[
			['Anna', 'mp4'],
			['Cleo', 'mp4'],
		],
	);
	assert.deepEqual(
		runs('Upload Asset').map(({ source_url: url }) => url),
		['Anna', 'Cleo'].map((name) => `https://example.com/${name}.png`),
	);
	assert.equal(new Set(runs('Upload Asset').map(({ group_id: id }) => id)).size, 2);
	assert.deepEqual(
		notVerified(execution).map(({ name }) => name),
		['Ben'],
	);
	assert.equal(instance.sandbox.tasks.length, before + 2);
});

test('verified-person-to-video.json: the person sees a page when the service cannot be asked, too', async () => {
	const executionId = await startPeople(['Dora']);
	const link = await linkFor(executionId, 'Dora');
	instance.sandbox.faults.add({ on: 'avatar', match: { path: 'verify-results' }, do: '403' });
	const page = await press('pass', link);
	assert.deepEqual([page.status, String(page.type).split(';')[0]], [503, 'text/html']);
	assert.match(page.html, /<h1>The result is not known yet/);
	const execution = await untilFinished(instance.rest, executionId);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	assert.match(String(notVerified(execution)[0]?.reason), /./);
});

test('verified-person-to-video.json goes on when nobody comes', async () => {
	const execution = await untilFinished(instance.rest, nobody);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	assert.deepEqual(
		notVerified(execution).map(({ name }) => name),
		['Nobody'],
	);
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
