import { filesOf, linesOf, readProjectFile } from '../support/sources.mts';

/** All that n8n 3 removes and a workflow could use, as docs/n8n-3.md lists it. */
const REMOVED_TYPES = /nodes-base\.(function|functionItem|itemLists|aiTransform)$|langchain\.code$/;

interface Workflow {
	settings?: { callerPolicy?: string };
	nodes: Array<{ type: string; typeVersion: number; parameters?: object; alwaysOutputData?: boolean }>;
}

const examples = filesOf('workflows').filter((file) => file.endsWith('.json'));

describe('the example workflows use nothing that n8n 3 removes', () => {
	test('there are example workflows', () => expect(examples.length).toBeGreaterThan(10));

	test.each(examples)('%s uses nothing that n8n 3 removes', (file) => {
		const { nodes, settings } = JSON.parse(readProjectFile(file)) as Workflow;
		expect(settings?.callerPolicy).not.toBe('any');
		for (const { type, typeVersion, parameters, alwaysOutputData } of nodes) {
			expect(type).not.toMatch(REMOVED_TYPES);
			expect(alwaysOutputData).not.toBe(true);
			if (type.endsWith('.executeWorkflow')) expect(parameters).not.toMatchObject({ mode: 'each' });
			if (type.endsWith('.agent')) expect(typeVersion).toBeGreaterThanOrEqual(2);
		}
		expect(JSON.stringify(nodes)).not.toMatch(/\$getPairedItem|\$evaluateExpression/);
	});
});

test('no page sends anyone to Import from URL, except the one that says that it goes away', () => {
	const pages = ['README.md', ...filesOf('docs')].filter((page) => page.endsWith('.md') && page !== 'docs/n8n-3.md');
	expect(pages.filter((page) => /import from url/i.test(readProjectFile(page)))).toEqual([]);
});

test('no node has a color of its own, which n8n 3 calls otherwise', () => {
	const colors = linesOf('nodes').filter(({ text }) => /\bcolor: '|iconColor/.test(text));
	expect(colors).toEqual([]);
});

test('the sub-workflow of the nodes is called once for all items', () => {
	const modes = linesOf('nodes/durable').filter(({ text }) => /mode: 'each'/.test(text));
	expect(modes).toEqual([]);
	expect(linesOf('nodes/durable').some(({ text }) => text.includes('executeWorkflow'))).toBe(true);
});

test('the workflows that the nodes start can be called by those of their owner only', () => {
	const policies = linesOf('nodes').filter(({ text }) => text.includes('callerPolicy'));
	expect(policies.length).toBeGreaterThan(0);
	for (const { text } of policies) expect(text).toContain("'workflowsFromSameOwner'");
});
