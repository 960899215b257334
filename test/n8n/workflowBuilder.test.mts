/** The nodes as the AI workflow builder of n8n reads them: n8n's own search and type definitions, over all nodes of an n8n. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { installN8n } from '../../tools/install/n8n.mjs';
import { joinN8n, type Joined } from './support/shared.mts';
import { packageType } from './support/workflow.mts';

interface NodeType {
	name: string;
	properties: Array<{ type: string }>;
}

/** The parts of n8n that its builder uses. */
interface Builder {
	NodeTypeParser: new (types: NodeType[]) => { searchNodeTypes: (query: string) => Array<{ id: string }> };
	searchCodeBuilderNodes: (parser: unknown, queries: string[]) => { results: string };
	generateNodeTypeFile: (type: NodeType) => string;
	parseWorkflowCode: (code: string) => {
		nodes: Array<{ name: string; type: string; parameters: Record<string, unknown> }>;
		connections: Record<string, Record<string, unknown>>;
	};
}

let instance: Joined;
let builder: Builder;
let types: NodeType[];
let parser: InstanceType<Builder['NodeTypeParser']>;
before(async () => {
	instance = await joinN8n();
	const fromN8n = createRequire(join((await installN8n()).modules, 'n8n', 'package.json'));
	builder = { ...fromN8n('@n8n/ai-utilities/node-catalog'), ...fromN8n('@n8n/workflow-sdk') };
	types = await instance.rest.request('GET', '/types/nodes.json');
	parser = new builder.NodeTypeParser(types);
});
after(async () => await instance?.close());

const found = (query: string) => parser.searchNodeTypes(query).map(({ id }) => id);
const typeOf = (name: string) => {
	const type = types.find((candidate) => candidate.name === packageType(name));
	assert.ok(type, name);
	return type;
};

for (const [query, name] of [
	['picture', 'imageGeneration'],
	['generation gateway', 'imageGeneration'],
	['digital human', 'avatar'],
	['credits', 'balance'],
	['low balance', 'balanceTrigger'],
	['text to video', 'videoGeneration'],
	['talking head', 'videoGeneration'],
	['quota', 'token'],
] as const)
	test(`the search for "${query}" finds ${name}`, () => {
		assert.ok(found(query).includes(packageType(name)), found(query).join(', '));
	});

test('every node has a hint for the search, which shows it, and related nodes that this n8n has', () => {
	const ours = types.filter(({ name }) => name.startsWith(packageType('')));
	assert.ok(ours.length >= 7);
	for (const { name, builderHint } of ours as Array<NodeType & { builderHint?: Hint }>) {
		assert.ok(builderHint?.searchHint, name);
		for (const { nodeType } of builderHint.relatedNodes ?? [])
			assert.ok(
				types.some((type) => type.name === nodeType),
				`${name}: ${nodeType}`,
			);
	}
	const { results } = builder.searchCodeBuilderNodes(parser, ['generate video']);
	for (const words of ['imageGeneration: "Makes the first frame', '@builderHint Makes one task for each input item'])
		assert.ok(results.includes(words), results);
});

interface Hint {
	searchHint?: string;
	relatedNodes?: Array<{ nodeType: string }>;
}

/** As n8n does it for nodes that it has no definition of on disk. */
const definitionOf = (name: string) => {
	const type = typeOf(name);
	return builder.generateNodeTypeFile({
		...type,
		properties: type.properties.filter((field) => field.type !== 'hidden'),
	});
};

for (const kind of ['image', 'video'])
	test(`the definition of the ${kind} node has examples, which the builder can run`, () => {
		const comment = definitionOf(`${kind}Generation`).replace(/^ \* ?/gm, '');
		const code = [...comment.matchAll(/<pattern title="[^"]+">\n([\s\S]*?)<\/pattern>/g)].map(([, inside]) => inside);
		assert.equal(code.length, 2);
		const { nodes, connections } = builder.parseWorkflowCode(`
${code.join('\n').replace(`Generate ${kind}`, 'All')}
const agent = node({ type: '@n8n/n8n-nodes-langchain.agent', version: 3, config: { name: 'Agent', parameters: {}, subnodes: { tools: [${kind}Tool] } } });
const start = trigger({ type: 'n8n-nodes-base.manualTrigger', version: 1, config: { name: 'Start' } });
export default workflow('id', 'Name').add(start).to(generate).to(agent);`);
		const [node, tool] = ['All', `Generate ${kind}`].map((name) => nodes.find((made) => made.name === name));
		assert.equal(node?.type, packageType(`${kind}Generation`));
		assert.equal(node.parameters.prompt, '={{ $json.prompt }}');
		assert.equal(tool?.type, packageType(`${kind}GenerationTool`));
		assert.match(String(tool.parameters.prompt), /\$fromAI\('prompt', 'What the/);
		assert.ok(connections[`Generate ${kind}`]?.ai_tool);
		for (const { type } of [node, tool]) assert.ok(typeOf(type.replace(packageType(''), '')), `${type} is in this n8n`);
	});
