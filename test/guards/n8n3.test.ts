import { filesOf, readProjectFile } from '../support/sources.mts';

/** All that n8n 3 removes and a workflow could use: see docs/versions.md. */
const REMOVED_TYPES = /nodes-base\.(function|functionItem|itemLists|aiTransform)$|langchain\.code$/;

interface Workflow {
	settings?: { callerPolicy?: string };
	nodes: Array<{ type: string; typeVersion: number; parameters?: object; alwaysOutputData?: boolean }>;
}

const examples = filesOf('workflows').filter((file) => file.endsWith('.json'));

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
