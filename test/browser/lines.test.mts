/** Notices and help texts are short: two and three lines, in every node, on small and large screens, light and dark. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { packageType } from '../n8n/support/workflow.mts';
import { closeNode, linesOfTexts, noticesOf, openNode } from './support/form.mts';
import type { Theme } from '../../tools/browser/editor.mjs';
import {
	largeScreen,
	n8n,
	openNodes,
	releasePage,
	resize,
	screenshot,
	smallScreen,
	takePage,
} from './support/session.mts';

/** Forms that have notices, one for each: their parameters show all notices of the package. */
const forms = [
	{ name: 'Generate image', node: 'imageGeneration' },
	{ name: 'Generate video', node: 'videoGeneration' },
	{ name: 'Start a workflow', node: 'videoGeneration', parameters: { whenDone: 'startWorkflow' } },
	{ name: 'Balance', node: 'balance', parameters: { operation: 'getUserBalance' } },
	{ name: 'Balance Trigger', node: 'balanceTrigger' },
	{ name: 'Avatar Trigger', node: 'avatarVerificationTrigger' },
	{ name: 'Verification', node: 'avatar', parameters: { resource: 'verification', operation: 'create' } },
	{ name: 'API Key', node: 'token' },
];

interface Property {
	name?: string;
	displayName?: string;
	description?: string;
	type?: string;
	values?: Property[];
	options?: Property[];
}

/** All fields of a form, those of collections and of rows included. */
function* fieldsOf(properties: Property[]): Generator<Property> {
	for (const property of properties) {
		// n8n's own field of triggers that poll.
		if (property.name === 'pollTimes') continue;
		if (property.type !== undefined) yield property;
		yield* fieldsOf([...(property.values ?? []), ...(property.options ?? [])]);
	}
}

async function packageFields(): Promise<Property[]> {
	const { rest } = await n8n();
	const read = async (path: string) =>
		(await rest.request('GET', path)) as Array<{ name: string; properties: Property[] }>;
	const [nodes, credentials] = await Promise.all([read('/types/nodes.json'), read('/types/credentials.json')]);
	const ours = [
		...nodes.filter(({ name }) => name.startsWith(packageType(''))),
		...credentials.filter(({ name }) => name === 'generationGatewayApi'),
	];
	return ours.flatMap(({ properties }) => [...fieldsOf(properties)]);
}

const textOf = (html = '') => html.replace(/<[^>]+>/g, '').trim();

for (const theme of ['light', 'dark'] as Theme[]) {
	describe(`texts in the ${theme} theme`, () => {
		let page: Page;
		let fields: Property[];
		before(async () => {
			fields = await packageFields();
			page = await takePage(theme);
			await openNodes(
				page,
				forms.map(({ node, ...form }) => ({ ...form, type: packageType(node) })),
			);
		});
		after(() => releasePage(page));

		/** On a small and a large screen. */
		async function onScreens(check: (screen: string) => Promise<void>) {
			for (const size of [smallScreen, largeScreen]) {
				await resize(page, size);
				await check(`${theme}, ${size.width}`);
			}
		}

		test(`every notice of every node takes two lines at most on small and large screens, in the ${theme} theme`, async () => {
			const seen = new Set<string>();
			for (const { name } of forms) {
				await openNode(page, name);
				await onScreens(async (screen) => {
					for (const { text, lines } of await noticesOf(page)) {
						seen.add(text.trim());
						assert.ok(lines >= 1 && lines <= 2, `${screen}: ${lines} lines: ${text}`);
					}
					await screenshot(page, `notices, ${name}, ${screen}`);
				});
				await closeNode(page);
			}
			const all = new Set(fields.filter(({ type }) => type === 'notice').map(({ displayName }) => textOf(displayName)));
			assert.deepEqual([...seen].sort(), [...all].sort());
		});

		test(`every help text of every field takes three lines at most on small and large screens, in the ${theme} theme`, async () => {
			const texts = [
				...new Set(fields.flatMap(({ type, description }) => (type === 'notice' ? [] : (description ?? [])))),
			];
			assert.ok(texts.length > 60, String(texts.length));
			await onScreens(async (screen) => {
				await openNode(page, 'Generate video');
				const lines = await linesOfTexts(page, 'Download Result', texts);
				await screenshot(page, `help text, ${screen}`);
				await closeNode(page);
				const long = texts.flatMap((text, index) => (Number(lines[index]) <= 3 ? [] : [`${lines[index]}: ${text}`]));
				assert.deepEqual(long, [], screen);
			});
		});
	});
}
