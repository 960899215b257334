/** A change of the model: what is still in the form, as the description of Model says. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { packageType } from '../n8n/support/workflow.mts';
import { chooseOption, openNode, typeOver, typeText, valueOf, visibleFields } from './support/form.mts';
import { openNodes, releasePage, takePage } from './support/session.mts';

const alpha = 'alpha-video-1-5-pro';
const entered = {
	Prompt: 'A lighthouse',
	'Duration (Seconds)': '8',
	'Aspect Ratio': 'Portrait 9:16',
	Resolution: '1080p',
	Audio: 'On',
};

describe('a change of the model', () => {
	let page: Page;
	before(async () => {
		page = await takePage();
	});
	after(() => releasePage(page));

	async function shown(): Promise<Record<string, string>> {
		const labels = (await visibleFields(page)).filter((label) => label in entered);
		return Object.fromEntries(await Promise.all(labels.map(async (label) => [label, await valueOf(page, label)])));
	}

	const change = async (model: string) => await chooseOption(page, 'Model', model);

	test('a change of the model keeps what was entered in fields that both models have', async () => {
		await openNodes(page, [{ name: 'Generate', type: packageType('videoGeneration') }]);
		await openNode(page, 'Generate');
		await typeText(page, 'Prompt', entered.Prompt);
		await typeOver(page, 'Duration (Seconds)', entered['Duration (Seconds)']);
		for (const label of ['Aspect Ratio', 'Resolution', 'Audio'] as const)
			await chooseOption(page, label, entered[label]);
		assert.deepEqual(await shown(), entered);
		await change('delta-2.6-flash');
		const { 'Aspect Ratio': _notInDelta, ...common } = entered;
		assert.deepEqual(await shown(), common);
		await change(alpha);
		assert.deepEqual(await shown(), { ...common, 'Aspect Ratio': 'Landscape 16:9' });
	});

	test('a change of the model by way of Other Model clears the prompt, as that choice says', async () => {
		await openNodes(page, [{ name: 'Generate', type: packageType('videoGeneration') }]);
		await openNode(page, 'Generate');
		await typeText(page, 'Prompt', entered.Prompt);
		await change('Other Model (by ID)');
		assert.deepEqual(await shown(), {});
		await change(alpha);
		assert.equal((await shown()).Prompt, '');
	});

	test('a change of the model leaves each model its own defaults where nothing was entered', async () => {
		await openNodes(page, [{ name: 'Generate', type: packageType('videoGeneration') }]);
		await openNode(page, 'Generate');
		const defaults = await shown();
		await change('delta-2.6-flash');
		assert.deepEqual(await shown(), {
			Prompt: '',
			'Duration (Seconds)': '',
			Resolution: '',
			Audio: 'Service Default',
		});
		await change(alpha);
		assert.deepEqual(await shown(), defaults);
	});
});
