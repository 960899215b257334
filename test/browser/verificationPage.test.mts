/** The sandbox's page for the person, clicked in a browser: what reaches the callback URL. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { startSandbox, type Sandbox } from '../../sandbox/index.mts';
import { browser, screenshot } from './support/session.mts';

/** Contract section 3.3. */
const linkLifeMs = 120_000;
const tasks = '/v1/videos/alpha-video-2-0/real-avatar/verify-tasks';

describe('verification page', () => {
	let sandbox: Sandbox;
	let callbacks: Server;
	let callbackUrl: string;
	/** Paths with their queries, as they arrived. */
	let received: string[] = [];
	let page: Page;
	/** The time by which the sandbox's clock is ahead. */
	let aheadMs = 0;

	before(async () => {
		sandbox = await startSandbox({ now: () => Date.now() + aheadMs });
		callbacks = createServer((request, response) => {
			if (request.url?.startsWith('/callback')) received.push(request.url);
			response.setHeader('content-type', 'text/html').end('<!doctype html><title>Back</title>');
		});
		await new Promise<void>((resolve) => callbacks.listen(0, '127.0.0.1', resolve));
		callbackUrl = `http://127.0.0.1:${(callbacks.address() as AddressInfo).port}/callback`;
	});
	after(async () => {
		callbacks?.closeAllConnections();
		callbacks?.close();
		await sandbox?.close();
	});
	beforeEach(async () => {
		received = [];
		aheadMs = 0;
		page = await (await browser()).newPage({ colorScheme: 'light' });
	});
	afterEach(() => page.close());

	async function ask(path: string, body?: Record<string, unknown>): Promise<Record<string, string>> {
		const response = await fetch(`${sandbox.baseUrl}${path}`, {
			method: body ? 'POST' : 'GET',
			headers: { authorization: `Bearer ${sandbox.apiKey}`, 'content-type': 'application/json' },
			body: body && JSON.stringify(body),
		});
		const answer = (await response.json()) as { data?: Record<string, string> } & Record<string, string>;
		return answer.data ?? answer;
	}

	/** A verification with the link and the vendor token. */
	async function create(url: string, directives = '') {
		const { task_id: taskId } = await ask(tasks, { callback_url: url, ...(directives && { sandbox: directives }) });
		const { h5_link: link, vendor_token: vendorToken } = await ask(`${tasks}/${taskId}`);
		return { taskId, link, vendorToken };
	}

	const resultOf = async ({ taskId, vendorToken }: { taskId: string; vendorToken: string }) =>
		await ask(`${tasks.replace('verify-tasks', 'verify-results')}?task_id=${taskId}&vendor_token=${vendorToken}`);

	for (const [button, code, status] of [
		['Pass', '10000', 'verified'],
		['Fail', '20001', 'failed'],
	] as const) {
		for (const [service, directives, separator] of [
			['a good service', '', '&'],
			['a naive service', 'callback=naive', '?'],
		] as const) {
			test(`${button} leads to a callback URL that has a query already, with ${separator} from ${service}`, async () => {
				const verification = await create(`${callbackUrl}?signature=a%2Bb`, directives);
				await page.goto(verification.link);
				await screenshot(page, 'verification page');
				await page.getByRole('button', { name: button }).click();
				await page.waitForURL(`${callbackUrl}**`);

				assert.deepEqual(received, [
					`/callback?signature=a%2Bb${separator}resultCode=${code}&vendorToken=${verification.vendorToken}`,
				]);
				const result = await resultOf(verification);
				assert.equal(result.verify_status, status);
				assert.equal(result.result_code, code);
				assert.equal(result.group_id !== undefined, button === 'Pass');
			});
		}
	}

	test('a callback URL without a query gets one', async () => {
		const { link, vendorToken } = await create(callbackUrl);
		await page.goto(link);
		await page.getByRole('button', { name: 'Pass' }).click();
		await page.waitForURL(`${callbackUrl}**`);
		assert.deepEqual(received, [`/callback?resultCode=10000&vendorToken=${vendorToken}`]);
	});

	test('a link that has expired says so, and offers no button', async () => {
		const verification = await create(callbackUrl);
		aheadMs = linkLifeMs;
		const answer = await page.goto(verification.link);
		await screenshot(page, 'verification page, expired');
		assert.equal(answer?.status(), 410);
		assert.match(await page.locator('main').innerText(), /Link expired\s+This link was valid for 120 seconds/);
		assert.equal(await page.getByRole('button').count(), 0);
		assert.equal((await resultOf(verification)).verify_status, 'expired');
	});

	test('a link that expires while the person looks at it no longer counts', async () => {
		const verification = await create(callbackUrl);
		await page.goto(verification.link);
		aheadMs = linkLifeMs;
		await page.getByRole('button', { name: 'Pass' }).click();
		await page.getByRole('heading', { name: 'Link expired' }).waitFor();
		assert.deepEqual(received, []);
		assert.equal((await resultOf(verification)).verify_status, 'expired');
	});

	test('a link that was used says so', async () => {
		const { link } = await create(callbackUrl);
		await page.goto(link);
		await page.getByRole('button', { name: 'Pass' }).click();
		await page.waitForURL(`${callbackUrl}**`);
		await page.goto(link);
		await page.getByRole('heading', { name: 'Done' }).waitFor();
		assert.equal(await page.getByRole('button').count(), 0);
	});
});
