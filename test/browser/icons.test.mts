/** The icons in both themes, wherever the editor shows them. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { packageType } from '../n8n/support/workflow.mts';
import { foundNode, searchNodes } from './support/creator.mts';
import { canvasNode, closeNode, openNode } from './support/form.mts';
import { openNodes, releasePage, screenshot, takePage } from './support/session.mts';

/** Node type, its name in the node creator, and the file of its icon. A trigger is listed together with its node. */
const icons: Array<[node: string, name: string | undefined, file: string]> = [
	['imageGeneration', 'Gateway Image', 'image'],
	['videoGeneration', 'Gateway Video', 'video'],
	['balance', 'Gateway Balance', 'balance'],
	['token', 'Gateway API Key Creator', 'token'],
	['avatar', 'Gateway Avatar', 'avatar'],
	['balanceTrigger', undefined, 'balance'],
	['avatarVerificationTrigger', 'Gateway Avatar Trigger', 'avatar'],
];

for (const [theme, end] of [
	['light', '.svg'],
	['dark', '.dark.svg'],
] as const) {
	describe(`icons in the ${theme} theme`, () => {
		let page: Page;
		before(async () => {
			page = await takePage(theme);
			await openNodes(
				page,
				icons.map(([node]) => ({ name: node, type: packageType(node), parameters: {} })),
			);
		});
		after(() => releasePage(page));

		/** That the icon is this file, and that the browser could read it as a picture. */
		async function assertIcon(place: Locator, file: string) {
			const icon = place.locator('img').first();
			await icon.waitFor();
			const { source, width } = await icon.evaluate(async (image) => {
				await image.decode().catch(() => {});
				return { source: image.src, width: image.naturalWidth };
			});
			assert.equal(source.split('/').pop(), `${file}${end}`);
			assert.ok(width > 0, `${source} is a picture`);
		}

		test(`each node has its icon of the ${theme} theme on the canvas`, async () => {
			for (const [node, , file] of icons) await assertIcon(canvasNode(page, node), file);
			await screenshot(page, `icons, canvas, ${theme}`);
		});

		test(`each node has its icon of the ${theme} theme in the panel of the open node`, async () => {
			for (const [node, , file] of icons) {
				await openNode(page, node);
				await assertIcon(page.getByTestId('node-title-container').locator('..'), file);
				await closeNode(page);
			}
		});

		test(`each node has its icon of the ${theme} theme in the node creator`, async () => {
			await searchNodes(page, 'gateway');
			for (const [, name, file] of icons) if (name) await assertIcon(foundNode(page, name), file);
			await screenshot(page, `icons, node creator, ${theme}`);
		});
	});
}
