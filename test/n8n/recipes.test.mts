/** Recipes of the cookbook that end outside of n8n: files with their names, messages in the inbox of the sandbox, rows of a table. */
import assert from 'node:assert/strict';
import { basename, dirname } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { manualTriggerOf, withParameters, type Workflow } from '../../tools/n8n/examples.mjs';
import { filesFolderOf } from '../../tools/n8n/launch.mjs';
import { itemsOf, readExecution, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { activate, exampleFor, kindOfFile, posted, saveWorkflow } from './support/production.mts';
import { readTable } from './support/purchaseLog.mts';
import { joinN8n, type Joined } from './support/shared.mts';
import { until } from './support/until.mts';

let instance: Joined;
before(async () => {
	instance = await joinN8n({ imageTaskMs: 400, videoTaskMs: 600 });
});
after(() => instance?.close());
beforeEach(() => instance.sandbox.reset());

async function start(workflow: Workflow): Promise<string> {
	const trigger = manualTriggerOf(workflow);
	assert.ok(trigger, 'the example has a manual trigger');
	return await startExecution(instance.rest, await saveWorkflow(instance, workflow), trigger);
}

async function finish(executionId: string) {
	const execution = await untilFinished(instance.rest, executionId);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	return execution;
}

const run = async (workflow: Workflow) => await finish(await start(workflow));

const withPrompts = (workflow: Workflow, ...prompts: string[]) =>
	withParameters(workflow, 'Set Prompts', {
		assignments: { assignments: [{ id: '1', name: 'prompts', type: 'string', value: prompts.join('\n') }] },
	});

const boughtPrompts = () => instance.sandbox.tasks.map(({ body }) => body.prompt);
const today = () => new Date().toLocaleDateString('sv-SE', { timeZone: 'America/New_York' }); // n8n's default

/** The files of these names are real, and where the n8n of this test may write. */
function assertStored(files: string[], names: string[], kind = 'png') {
	assert.deepEqual(files.map(dirname), Array(names.length).fill(filesFolderOf(instance.n8n.userFolder)));
	for (const [index, name] of names.entries()) assert.ok(basename(files[index] ?? '').startsWith(name), files[index]);
	assert.deepEqual(files.map(kindOfFile), Array(names.length).fill(kind));
}

test('pictures-from-a-sheet.json buys each row once, stores its file, and leaves a row with a problem alone', async () => {
	const prompts = ['a teapot', 'a lamp', 'a chair [[sandbox fail=model_error]]'];
	const jsCode = `return ${JSON.stringify(prompts.map((prompt) => ({ json: { prompt } })))}`;
	const sheet = withParameters(exampleFor(instance, 'pictures-from-a-sheet.json'), 'Samples', { jsCode });
	for (let runs = 1; runs <= 2; runs++) {
		await run(sheet);
		assert.deepEqual(boughtPrompts().sort(), [...prompts].sort(), `after run ${runs}`);
	}
	const rows = await readTable<Record<string, string>>(instance, 'Pictures to Make');
	assert.deepEqual(
		rows.map(({ prompt }) => prompt),
		prompts,
	);
	const files = rows.flatMap(({ file }) => file ?? []);
	assertStored(files, ['a-teapot', 'a-lamp']);
	assert.equal(rows[2]?.file, null);
	assert.match(rows[2]?.problem ?? '', /could not finish task/);
	assert.deepEqual(
		rows.map((row) => row.task_id),
		prompts.map((prompt) => instance.sandbox.tasks.find(({ body }) => body.prompt === prompt)?.id),
	);
});

test('video-every-morning.json stores the video under its day and prompt, and tells of each one', async () => {
	const prompts = ['a boat at sunrise', 'a storm [[sandbox fail=model_error]]'];
	const execution = await run(withPrompts(exampleFor(instance, 'video-every-morning.json'), ...prompts));
	const files = itemsOf(execution, 'Store File').map(({ json }) => String(json.fileName));
	assertStored(files, [`${today()} a-boat-at-sunrise`], 'mp4');
	const texts = posted(instance, 'messages').map(({ text = '' }) => text);
	assert.equal(texts.length, 2);
	assert.ok(
		texts.some((text) => text.includes(`stored as ${files[0]}`) && /http\S+\.mp4$/.test(text)),
		texts.join('\n'),
	);
	assert.ok(
		texts.some((text) => /no video of “a storm .*could not finish task/s.test(text)),
		texts.join('\n'),
	);
});

test('product-photo-to-video.json uploads the photo once; the scene made of it is the first frame', async () => {
	const execution = await run(exampleFor(instance, 'product-photo-to-video.json'));
	const [photo] = itemsOf(execution, 'Upload Photo').map(({ json }) => json.url);
	const [scene] = itemsOf(execution, 'Generate Scene').map(({ json }) => json.url);
	assert.equal(instance.sandbox.uploads.length, 1);
	const [picture, video] = instance.sandbox.tasks.map(({ body }) => JSON.stringify(body));
	assert.ok(picture?.includes(photo), picture);
	assert.ok(video?.includes(scene), video);
	assertStored([itemsOf(execution, 'Store Video')[0]?.json.fileName], ['The-steam-rises-slowly'], 'mp4');
});

test('form-to-video.json makes a video of the uploaded picture, and sends it to the person', async () => {
	const workflowId = await saveWorkflow(instance, exampleFor(instance, 'form-to-video.json'));
	await activate(instance, workflowId);
	for (const [text, says] of [
		['The leaves move', /^Your video is ready: http\S+\.mp4$/],
		['It fails [[sandbox fail=model_error]]', /^We could not make your video/],
	] as const) {
		const form = new FormData();
		form.set('field-0', 'anna@example.com');
		form.set('field-1', new Blob([ONE_PIXEL], { type: 'image/png' }), 'garden.png');
		form.set('field-2', text);
		const answer = await fetch(`${instance.n8n.url}/form/make-a-video`, { method: 'POST', body: form });
		assert.equal(answer.status, 200, await answer.text());
		const before = posted(instance, 'emails').length;
		await until('the email is sent', () => posted(instance, 'emails').length > before);
		const email = posted(instance, 'emails').at(-1);
		assert.equal(email?.to, 'anna@example.com');
		assert.match(email?.text ?? '', says);
	}
	assert.equal(instance.sandbox.uploads.length, 2);
	assert.deepEqual(
		instance.sandbox.tasks.map(({ body }) => [body.prompt, JSON.stringify(body).includes('/uploads/')]),
		[
			['The leaves move', true],
			['It fails [[sandbox fail=model_error]]', true],
		],
	);
});

for (const [decision, pictures] of [
	['Buy', 2],
	['Don’t Buy', 0],
] as const)
	test(`approval-before-buying.json: opening the link buys nothing, "${decision}" buys ${pictures} pictures`, async () => {
		const executionId = await start(exampleFor(instance, 'approval-before-buying.json'));
		const isAsleep = async () => (await readExecution(instance.rest, executionId)).status === 'waiting';
		await until('the execution waits for the decision', isAsleep);
		const [question] = posted(instance, 'approvals');
		assert.match(question?.text ?? '', /A tent by a mountain lake/);
		const link = question?.decide ?? '';
		assert.match(await (await fetch(link)).text(), /Buy these pictures\?/);
		assert.ok(await isAsleep());
		assert.deepEqual(boughtPrompts(), []);
		const form = new FormData();
		form.set('field-0', decision);
		assert.equal((await fetch(link, { method: 'POST', body: form })).status, 200);
		await finish(executionId);
		assert.equal(boughtPrompts().length, pictures);
		assert.deepEqual(
			posted(instance, 'pictures').map(({ url = '' }) => new URL(url).pathname.slice(-4)),
			Array<string>(pictures).fill('.png'),
		);
	});

test('scheduled-batch.json stores each picture; the alert of one that failed has reason, advice and task ID', async () => {
	const prompts = ['a cup', 'a book [[sandbox fail=content_policy_violation]]', 'a pair of headphones'];
	const execution = await run(withPrompts(exampleFor(instance, 'scheduled-batch.json'), ...prompts));
	const files = itemsOf(execution, 'Store Files').map(({ json }) => String(json.fileName));
	assertStored(files, [`${today()} a-cup`, `${today()} a-pair-of-headphones`]);
	const [alert, ...others] = posted(instance, 'alerts');
	assert.equal(others.length, 0);
	assert.match(alert?.message ?? '', /no picture of “a book .*declined/s);
	assert.match(alert?.advice ?? '', /^[A-Z][^{}]+$/, 'the advice is a sentence, not an object');
	const failed = instance.sandbox.tasks.find(({ body }) => body.prompt === prompts[1]);
	assert.equal(alert?.task_id, failed?.id);
});

/** The smallest picture there is. */
const ONE_PIXEL = Buffer.from(
	'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
	'base64',
);
