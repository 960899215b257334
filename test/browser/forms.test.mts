/** The forms as people see them: which fields there are, which are marked, and what depends on what. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { packageType } from '../n8n/support/workflow.mts';
import { expectedForms, expectedOptions } from './support/expectedForms.mts';
import {
	addRow,
	chooseOption,
	closeNode,
	isMarked,
	linesOfTooltip,
	noticesOf,
	offeredFields,
	offeredOptions,
	openNode,
	typeOver,
	valueOf,
	visibleFields,
} from './support/form.mts';
import { openNodes, releasePage, screenshot, takePage } from './support/session.mts';

const generate = (name: string) => ({ name, type: packageType(name), parameters: {} });
const formName = ({ node, title }: { node: string; title: string }) => `${node}, ${title}`;

describe('forms', () => {
	let page: Page;
	before(async () => {
		page = await takePage('light', { height: 1300 });
		const forms = expectedForms.map((form) => ({
			name: formName(form),
			type: packageType(form.node),
			parameters: form.parameters ?? {},
		}));
		await openNodes(page, [...forms, generate('imageGeneration'), generate('videoGeneration')]);
	});
	afterEach(() => closeNode(page));
	after(() => releasePage(page));

	for (const form of expectedForms) {
		test(`the form of ${formName(form)} has exactly the expected fields`, async () => {
			await openNode(page, formName(form));
			for (const [field, option] of form.choices) await chooseOption(page, field, option);
			await screenshot(page, formName(form));

			assert.deepEqual(await visibleFields(page), form.fields);
			const marked = [];
			for (const field of form.fields) if (await isMarked(page, field)) marked.push(field);
			assert.deepEqual(marked, form.marked ?? [], 'marked as needed');
			for (const [collection, entries] of Object.entries(form.offered ?? {})) {
				assert.deepEqual(await offeredFields(page, collection), entries, collection);
			}
		});
	}

	for (const { node, choices, label, options, chosen } of expectedOptions) {
		test(`${node} offers the expected options of ${label} at ${choices.flat().join(' ')}`, async () => {
			await openNode(page, node);
			for (const [field, option] of choices) await chooseOption(page, field, option);
			assert.equal(await valueOf(page, label), chosen);
			assert.deepEqual(await offeredOptions(page, label), options);
		});
	}

	test('an image is a URL or a binary field, with a role where the model has roles', async () => {
		await openNode(page, 'videoGeneration');
		const rows = async () => {
			const fields = await visibleFields(page);
			const after = fields.findIndex((field) => ['Audio', 'When Done'].includes(field));
			return fields.slice(fields.indexOf('Images') + 1, after);
		};
		await addRow(page, 'Images');
		assert.deepEqual(await rows(), ['Source', 'URL', 'Role']);
		assert.ok(await isMarked(page, 'URL'), 'the URL is needed');
		await chooseOption(page, 'Source', 'Binary Field');
		assert.deepEqual(await rows(), ['Source', 'Input Binary Field', 'Role']);
		assert.deepEqual(await offeredOptions(page, 'Role'), ['By Position', 'First Frame', 'Last Frame']);
		await screenshot(page, 'videoGeneration, an image');
		await chooseOption(page, 'Model', 'beta-v3');
		assert.deepEqual(await rows(), ['Source', 'Input Binary Field']);
	});

	test('a change of the model keeps the values that both models have', async () => {
		await openNode(page, formName({ node: 'videoGeneration', title: 'alpha-video-1-5-pro' }));
		await typeOver(page, 'Duration (Seconds)', '8');
		await chooseOption(page, 'Aspect Ratio', 'Portrait 9:16');
		await chooseOption(page, 'Audio', 'On');
		const kept = async (labels: string[]) => await Promise.all(labels.map(async (label) => await valueOf(page, label)));
		await chooseOption(page, 'Model', 'beta-v3-omni');
		assert.deepEqual(await kept(['Duration (Seconds)', 'Aspect Ratio', 'Audio']), ['8', 'Portrait 9:16', 'On']);
		await chooseOption(page, 'Model', 'delta-2.6-flash');
		assert.deepEqual(await kept(['Duration (Seconds)', 'Audio']), ['8', 'On']);
		await chooseOption(page, 'Model', 'alpha-video-1-5-pro');
		await screenshot(page, 'videoGeneration, models changed');
		assert.deepEqual(await kept(['Duration (Seconds)', 'Audio']), ['8', 'On']);
	});

	test('notices take two lines at most, those about a stop and about Debug in editor take one each, and tooltips take three', async () => {
		for (const [node, title, most] of [
			['videoGeneration', 'alpha-video-1-5-pro', 1],
			['videoGeneration', 'Custom Model, which starts a workflow', 2],
			['balance', 'Get User Balance', 2],
			['balanceTrigger', 'trigger', 2],
			['avatarVerificationTrigger', 'trigger', 2],
			['avatar', 'Verification Create', 2],
			['token', 'Create', 2],
		] as const) {
			await openNode(page, formName({ node, title }));
			const notices = await noticesOf(page);
			for (const { text, lines } of notices) assert.ok(lines <= most, `${lines} lines: ${text}`);
			if (title === 'alpha-video-1-5-pro')
				assert.deepEqual(
					notices.map(({ text }) => text),
					[
						'Stop does not stop the task or its cost. ID: console (F12)',
						'Debug in editor buys again. Retry continues the tasks',
					],
				);
			await closeNode(page);
		}
		await openNode(page, formName({ node: 'avatar', title: 'Verification Create' }));
		assert.ok((await linesOfTooltip(page, 'Callback URL')) <= 3);
		await screenshot(page, 'avatar, tooltip');
	});

	test('a wrong number stays as it was typed, for the node to refuse', async () => {
		await openNode(page, formName({ node: 'videoGeneration', title: 'alpha-video-1-5-pro' }));
		for (const typed of ['13', '15', '99', '1', '0', '-5', '4.5']) {
			await typeOver(page, 'Duration (Seconds)', typed);
			assert.equal(await valueOf(page, 'Duration (Seconds)'), typed);
		}
	});
});
