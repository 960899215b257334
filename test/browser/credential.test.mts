/** The form of the credential, as people fill it in. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { openPath } from '../../tools/browser/editor.mjs';
import { credentialType } from '../../tools/n8n/examples.mjs';
import { sandboxKey } from '../n8n/support/instance.mts';
import { n8n, releasePage, screenshot, takePage } from './support/session.mts';

const typed = {
	imageStatusPath: '/tasks/image/{task_id}',
	imageUploadField: 'image',
	imageUploadPath: '/files',
	videoStatusPath: '/tasks/video/{task_id}',
};

describe('credential', () => {
	let page: Page;
	let id: string;
	before(async () => {
		page = await takePage();
		const { rest, sandbox, n8n: editor } = await n8n();
		const data = { baseUrl: sandbox.baseUrl, apiKey: sandboxKey };
		({ id } = await rest.request('POST', '/rest/credentials', { name: 'Form', type: credentialType, data }));
		await openPath(page, editor.url, `/home/credentials/${id}`);
		await input('baseUrl').waitFor();
	});
	after(() => releasePage(page));

	const input = (name: string) => page.getByTestId(`parameter-input-${name}`).locator('input');
	const turnOn = async (name: string) =>
		await page.getByTestId(`parameter-input-${name}`).locator('.el-switch').click();
	const save = async () => {
		const saved = page.waitForResponse(
			(response) => response.request().method() === 'PATCH' && response.url().includes('/rest/credentials/'),
		);
		await page.getByRole('button', { name: 'Save', exact: true }).click();
		assert.ok((await saved).ok());
	};

	test('a key that works passes n8n’s test', async () => {
		await page.getByText('Connection tested successfully').waitFor();
	});

	test('custom paths can be entered, and are kept', async () => {
		const fields = page.locator('[data-test-id^="parameter-input-"]:has(.el-switch)');
		assert.equal(await fields.count(), 1, 'only Advanced is shown');
		await turnOn('advanced');
		assert.equal(await input('imageStatusPath').count(), 0, 'hidden until asked for');
		await screenshot(page, 'credential with Advanced');
		await turnOn('customPaths');
		for (const [name, path] of Object.entries(typed)) await input(name).fill(path);
		await screenshot(page, 'credential with custom paths');
		await save();

		const { rest } = await n8n();
		const { data } = await rest.request('GET', `/rest/credentials/${id}?includeData=true`);
		assert.deepEqual(
			{ ...data, apiKey: undefined, ...typed },
			{ ...data, apiKey: undefined },
			'what was typed is what is stored',
		);
		assert.deepEqual([data.advanced, data.customPaths], [true, true]);
	});

	test('a key that does not work is told in plain words', async () => {
		await input('apiKey').fill('sk-wrong');
		await save();
		await page.getByText('More details').click();
		await page.getByText('The service did not accept the API key').waitFor();
		await screenshot(page, 'credential with a wrong key');
	});
});
