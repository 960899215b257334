/** Every example workflow runs to its end in a real n8n, and what comes out are real files. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import {
	manualTriggerOf,
	readExamples,
	withCredential,
	withParameters,
	type Example,
} from '../../tools/n8n/examples.mjs';
import { itemsOf, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { joinN8n, type Joined } from './support/shared.mts';

const kinds = {
	png: { mimeType: 'image/png', isReal: (file: Buffer) => file.subarray(0, 8).toString('hex') === '89504e470d0a1a0a' },
	mp4: { mimeType: 'video/mp4', isReal: (file: Buffer) => file.subarray(4, 8).toString('latin1') === 'ftyp' },
} as const;

/** The files that each node puts out, one for each item. */
const expectedFiles: Record<string, Record<string, Array<keyof typeof kinds>>> = {
	'images-from-references.json': { 'Generate Image': ['png'] },
	'prompt-to-image-to-video.json': { 'Generate Image': ['png'], 'Generate Video': ['mp4'] },
	'scheduled-batch.json': {
		'Generate Images': ['png', 'png', 'png'],
		Finished: ['png', 'png', 'png'],
		'Not Finished': [],
	},
	'text-to-image-batch.json': { 'Generate Images': ['png', 'png', 'png', 'png'] }, // its gallery: test/browser/examples
	'text-to-image.json': { 'Generate Image': ['png'] },
	'very-long-jobs.json': { 'Generate Videos': ['mp4', 'mp4'] },
};

/** Examples with a test of their own. */
const runElsewhere: Record<string, string> = {
	'agent-budget.json': 'agent.test.mts',
	'ai-agent.json': 'agent.test.mts',
	'background-chat.json': 'background.test.mts',
	'background-schedule.json': 'background.test.mts',
	'background-webhook.json': 'background.test.mts',
	'failed-batch-alert.json': 'errorWorkflow.test.mts',
	'low-balance-alert.json': 'balance.test.mts',
	'spending-report.json': 'purchaseLog.test.mts',
	'person-verification-trigger.json': 'avatars.test.mts',
	'person-verification-wait.json': 'avatars.test.mts',
	'private-avatar-to-video.json': 'avatars.test.mts',
};

let instance: Joined;
before(async () => {
	instance = await joinN8n({ imageTaskMs: 400, videoTaskMs: 600 });
});
after(() => instance?.close());
beforeEach(() => instance.sandbox.reset());

test('every example is run by a test, and every example known here exists', () => {
	const known = Object.keys({ ...expectedFiles, ...runElsewhere }).sort();
	assert.deepEqual(
		readExamples()
			.map(({ file }) => file)
			.sort(),
		known,
	);
	for (const [example, file] of Object.entries(runElsewhere)) {
		assert.ok(readFileSync(new URL(file, import.meta.url), 'utf8').includes(example), `${file} runs ${example}`);
	}
});

test('every example can be imported as it is: no credentials, no ids of an instance, and notes that explain it', () => {
	for (const { file, workflow } of readExamples()) {
		const notes = workflow.nodes.filter(({ type }) => type === 'n8n-nodes-base.stickyNote');
		assert.ok(notes.length >= 2, `${file} has notes`);
		// The spending report reads what the nodes of this package have written, and has none of them.
		if (workflow.nodes.some(({ type }) => type.startsWith('n8n-nodes-generation-gateway')))
			assert.match(
				JSON.stringify(notes),
				/select your credentials?\b/i,
				`a note of ${file} says that a credential is to be selected`,
			);
		assert.deepEqual(Object.keys(workflow).sort(), ['connections', 'name', 'nodes', 'settings'], file);
		assert.doesNotMatch(JSON.stringify(workflow), /"(credentials|webhookId)":/, file);
	}
});

for (const example of readExamples().filter(({ file }) => file in expectedFiles)) {
	test(`${example.file} runs and gives its files`, async () => {
		const execution = await runExample(example);
		assert.equal(execution.status, 'success', JSON.stringify(execution.error));
		for (const [node, files] of Object.entries(expectedFiles[example.file] ?? {})) {
			const items = allItemsOf(execution, node);
			assert.equal(items.length, files.length, `items of ${node}`);
			for (const [index, kind] of files.entries()) await assertFile(items[index], kind, `item ${index} of ${node}`);
		}
	});
}

test('very-long-jobs.json puts all files into one item, and tells apart what did not succeed', async () => {
	const example = exampleIn('very-long-jobs.json');
	const prompts = [
		'slow [[sandbox duration=5s]]',
		'refused [[sandbox fail=generation_failed]]',
		'quick [[sandbox duration=100ms]]',
	];
	const workflow = withParameters(example.workflow, 'Set Prompts', {
		assignments: { assignments: [{ id: '1', name: 'prompts', type: 'string', value: prompts.join('\n') }] },
	});
	const execution = await runExample({ ...example, workflow });
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	const idOf = (prompt?: string) => instance.sandbox.tasks.find(({ body }) => body.prompt === prompt)?.id;
	const [all] = allItemsOf(execution, 'All Videos');
	assert.deepEqual(
		all?.json.videos.map(({ task_id }: { task_id: string }) => task_id),
		[idOf(prompts[0]), idOf(prompts[2])],
	);
	assert.deepEqual(
		Object.values(all?.binary ?? {}).map(({ mimeType }) => mimeType),
		['video/mp4', 'video/mp4'],
	);
	const refused = allItemsOf(execution, 'Not Finished').map(({ json }) => json);
	assert.deepEqual(
		refused.map(({ prompt, task_id }) => [prompt, task_id]),
		[[prompts[1], idOf(prompts[1])]],
	);
	assert.match(refused[0]?.reason, /could not finish task/);
	assert.equal(instance.sandbox.tasks.length, prompts.length, 'each task was created once');
});

test('scheduled-batch.json takes what has failed to its error branch, with prompt, advice and task ID', async () => {
	const failing = 'An open book [[sandbox fail=content_policy_violation]]';
	const example = JSON.stringify(exampleIn('scheduled-batch.json')).replace('An open book', failing);
	const execution = await runExample(JSON.parse(example) as Example);
	assert.equal(execution.status, 'success', JSON.stringify(execution.error));
	const finished = itemsOf(execution, 'Finished').map(({ json }) => json.prompt);
	assert.deepEqual(
		finished.map((prompt) => prompt.slice(0, 5)),
		['A cup', 'A pai'],
	);
	const [refused, ...others] = itemsOf(execution, 'Not Finished').map(({ json }) => json);
	assert.equal(others.length, 0);
	assert.match(refused.prompt, /open book/);
	assert.ok(refused.reason, 'it says why');
	assert.match(refused.advice, /^[A-Z][^{}]+$/, 'the advice is a sentence, not an object');
	assert.ok(
		instance.sandbox.tasks.some(({ id }) => id === refused.task_id),
		'the ID of the task that has failed is there',
	);
});

test('the editor gets the output schemas, also of nodes with one resource, which the form does not show', async () => {
	const readSchema = async (path: string) =>
		await instance.rest.request('GET', `/schemas/n8n-nodes-generation-gateway.${path}.json`);
	assert.equal((await readSchema('imageGeneration/1.0.0/image/generate')).properties.urls.type, 'array');
	assert.equal((await readSchema('avatar/1.0.0/asset/upload')).properties.reference.type, 'string');
});

function exampleIn(wanted: string): Example {
	const example = readExamples().find(({ file }) => file === wanted);
	assert.ok(example, wanted);
	return example;
}

/** Of all runs of the node: a loop runs it several times. */
function allItemsOf(execution: Parameters<typeof itemsOf>[0], node: string) {
	return (execution.runData[node] ?? []).flatMap((_, run) => itemsOf(execution, node, { run }));
}

async function runExample(example: Example) {
	const { rest, credential } = instance;
	const workflow = withParameters(example.workflow, 'Wait', { amount: 1 }); // seconds, in place of a minute
	const { id } = await rest.request('POST', '/rest/workflows', withCredential(workflow, credential));
	const trigger = manualTriggerOf(workflow);
	assert.ok(trigger, 'the example has a manual trigger');
	return await untilFinished(rest, await startExecution(rest, id, trigger));
}

async function assertFile(item: ReturnType<typeof itemsOf>[number], kind: keyof typeof kinds, where: string) {
	assert.equal(item.json.status, 'completed', where);
	assert.ok(item.json.task_id, `${where} has a task id`);
	const field = item.binary?.data;
	assert.ok(field, `${where} has a file in "data"`);
	assert.equal(field.mimeType, kinds[kind].mimeType, where);
	assert.match(field.fileName, new RegExp(`\\.${kind}$`), where);
	assert.ok(kinds[kind].isReal(await instance.rest.readBinary(field.id)), `${where} is a real ${kind} file`);
}
