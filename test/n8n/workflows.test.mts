/** Every example workflow runs to its end in a real n8n, and what comes out are real files. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import { manualTriggerOf, readExamples, withCredential, type Example } from '../../tools/n8n/examples.mjs';
import { itemsOf, startExecution, untilFinished } from '../../tools/n8n/executions.mjs';
import { joinN8n, type Joined } from './support/shared.mts';

const kinds = {
	png: { mimeType: 'image/png', isReal: (file: Buffer) => file.subarray(0, 8).toString('hex') === '89504e470d0a1a0a' },
	mp4: { mimeType: 'video/mp4', isReal: (file: Buffer) => file.subarray(4, 8).toString('latin1') === 'ftyp' },
} as const;

/** The files that each node puts out, one for each item. */
const expectedFiles: Record<string, Record<string, Array<keyof typeof kinds>>> = {
	'prompt-to-image-to-video.json': { 'Generate Image': ['png'], 'Generate Video': ['mp4'] },
	'text-to-image-batch.json': { 'Generate Images': ['png', 'png', 'png', 'png'] }, // its gallery: test/browser/examples
	'text-to-image.json': { 'Generate Image': ['png'] },
};

/** Examples with a test of their own. */
const runElsewhere: Record<string, string> = {
	'agent-budget.json': 'agent.test.mts',
	'ai-agent.json': 'agent.test.mts',
	'approval-before-buying.json': 'recipes.test.mts',
	'background-chat.json': 'background.test.mts',
	'failed-batch-alert.json': 'errorWorkflow.test.mts',
	'form-to-video.json': 'recipes.test.mts',
	'person-verification-trigger.json': 'avatars.test.mts',
	'pictures-from-a-sheet.json': 'recipes.test.mts',
	'private-avatar-to-video.json': 'avatars.test.mts',
	'product-photo-to-video.json': 'recipes.test.mts',
	'result-by-result.json': 'background.test.mts',
	'scheduled-batch.json': 'recipes.test.mts',
	'spending-report.json': 'purchaseLog.test.mts',
	'verified-person-to-video.json': 'avatars.test.mts',
	'video-every-morning.json': 'recipes.test.mts',
	'webhook-order.json': 'background.test.mts',
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

test('the editor gets the output schemas, also of nodes with one resource, which the form does not show', async () => {
	const readSchema = async (path: string) =>
		await instance.rest.request('GET', `/schemas/n8n-nodes-generation-gateway.${path}.json`);
	assert.equal((await readSchema('imageGeneration/1.0.0/image/generate')).properties.urls.type, 'array');
	assert.equal((await readSchema('avatar/1.0.0/asset/upload')).properties.reference.type, 'string');
});

/** Of all runs of the node: a loop runs it several times. */
function allItemsOf(execution: Parameters<typeof itemsOf>[0], node: string) {
	return (execution.runData[node] ?? []).flatMap((_, run) => itemsOf(execution, node, { run }));
}

async function runExample(example: Example) {
	const { rest, credential } = instance;
	const { workflow } = example;
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
