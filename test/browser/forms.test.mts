/** Forms as people see them: the fields of the golden files, which are marked, what a change of the model keeps, and how long they are. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { packageType } from '../n8n/support/workflow.mts';
import { decidingChoices, goldenModels, shownFields, shownLabels, type Parameters } from '../support/goldens.mts';
import {
	addRow,
	chooseOption,
	closeNode,
	heightsOf,
	isMarked,
	noticesOf,
	offeredOptions,
	openNode,
	typeOver,
	typeText,
	valueOf,
	visibleFields,
} from './support/form.mts';
import { largeScreen, openNodes, releasePage, resize, screenshot, smallScreen, takePage } from './support/session.mts';

function modelNamed(id: string) {
	const golden = goldenModels.find((each) => each.id === id);
	assert.ok(golden, id);
	return golden;
}
const nodeOf = { image: 'imageGeneration', video: 'videoGeneration' };
type Kind = keyof typeof nodeOf;
const ALPHA = 'alpha-video-1-5-pro';

/** A new node of this type. */
async function openNew(page: Page, name: string) {
	await openNodes(page, [{ name: 'Generate', type: packageType(name), parameters: {} }]);
	await openNode(page, 'Generate');
}

describe('forms', () => {
	let page: Page;
	before(async () => {
		page = await takePage('light', { height: 1300 });
	});
	afterEach(() => closeNode(page));
	after(() => releasePage(page));

	const open = async (kind: Kind) => await openNew(page, nodeOf[kind]);

	for (const golden of ['gamma-image-2', ALPHA].map(modelNamed)) {
		test(`the form of ${golden.id} has the fields of its golden file, and marks those that are needed`, async () => {
			await open(golden.kind);
			await chooseOption(page, 'Model', golden.id);
			await screenshot(page, golden.id);
			const fields = ['Operation', 'Model', ...shownLabels(golden), 'Wait', 'Result', 'Options'];
			assert.deepEqual(await visibleFields(page), fields);
			const marked = [];
			for (const field of fields) if (await isMarked(page, field)) marked.push(field);
			assert.deepEqual(
				marked,
				shownFields(golden).flatMap(({ required, label }) => (required ? label : [])),
			);
		});
	}

	test('a choice on which other fields depend shows and hides them', async () => {
		const golden = modelNamed('beta-v3-omni');
		await open('video');
		await chooseOption(page, 'Model', golden.id);
		for (const { field, value, name } of decidingChoices(golden)) {
			await chooseOption(page, field.label, name);
			const choices: Parameters = { [field.parameter]: value };
			const shown = (await visibleFields(page)).slice(2, -3);
			assert.deepEqual(shown, shownLabels(golden, choices), name);
		}
	});

	test('an image is a URL or a binary field, with a role where the model has roles', async () => {
		await open('video');
		const rows = async () => {
			const fields = await visibleFields(page);
			const behind = fields.findIndex((field) => ['Audio', 'Wait'].includes(field));
			return fields.slice(fields.indexOf('Images') + 1, behind);
		};
		await addRow(page, 'Images');
		assert.deepEqual(await rows(), ['Source', 'URL', 'Role']);
		assert.ok(await isMarked(page, 'URL'), 'the URL is needed');
		await chooseOption(page, 'Source', 'Binary Field');
		assert.deepEqual(await rows(), ['Source', 'Input Binary Field', 'Role']);
		assert.deepEqual(await offeredOptions(page, 'Role'), ['By Position', 'First Frame', 'Last Frame']);
		await chooseOption(page, 'Model', 'beta-v3');
		assert.deepEqual(await rows(), ['Source', 'Input Binary Field']);
	});

	test('a change of the model keeps what was entered in fields that both models have', async () => {
		await open('video');
		await chooseOption(page, 'Model', ALPHA);
		await typeText(page, 'Prompt', 'A lighthouse');
		await typeOver(page, 'Duration (Seconds)', '8');
		await chooseOption(page, 'Aspect Ratio', 'Portrait 9:16');
		await chooseOption(page, 'Audio', 'On');
		const valuesOf = async (...labels: string[]) =>
			await Promise.all(labels.map(async (label) => await valueOf(page, label)));
		await chooseOption(page, 'Model', 'delta-2.6-flash');
		assert.deepEqual(await valuesOf('Prompt', 'Duration (Seconds)', 'Audio'), ['A lighthouse', '8', 'On']);
		await chooseOption(page, 'Model', ALPHA);
		assert.deepEqual(await valuesOf('Duration (Seconds)', 'Aspect Ratio'), ['8', 'Landscape 16:9']);
	});

	test('a tool asks for no file, and does not offer to wait across restarts', async () => {
		await openNew(page, 'imageGenerationTool');
		assert.deepEqual((await visibleFields(page)).slice(-2), ['Wait', 'Options']);
		assert.deepEqual(await offeredOptions(page, 'Wait'), ['Until Ready', 'In Another Workflow', "Don't Wait"]);
		assert.deepEqual(await noticesOf(page), []);
	});
});

describe('the size of a form', () => {
	for (const theme of ['light', 'dark'] as const)
		test(`a large screen shows an image form down to its Options, and a video form takes at most one and a half (${theme})`, async () => {
			const page = await takePage(theme);
			for (const kind of ['image', 'video'] as const) {
				await openNew(page, nodeOf[kind]);
				const models = goldenModels.filter((model) => model.kind === kind).map(({ id }) => id);
				for (const name of ['Other Model (by ID)', ...models]) {
					await chooseOption(page, 'Model', name);
					const { whole, seen, toOptions } = await heightsOf(page);
					if (kind === 'image') assert.ok(toOptions <= seen, `${name}: ${toOptions} of ${seen} px`);
					else assert.ok(whole <= 1.5 * seen, `${name}: ${whole} of ${seen} px`);
				}
				for (const size of [smallScreen, largeScreen]) {
					await resize(page, size);
					await screenshot(page, `form, ${kind}, ${theme}, ${size.width}`);
					const notices = await noticesOf(page);
					assert.deepEqual([notices.length, notices[0]?.lines], [1, 1], `one line about the cost: ${notices[0]?.text}`);
				}
				await closeNode(page);
			}
			await releasePage(page);
		});
});
