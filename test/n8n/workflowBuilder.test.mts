/** The nodes as the AI workflow builder of n8n reads them: n8n's own search and type definitions, over all nodes of an n8n. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { installN8n } from '../../tools/install/n8n.mjs';
import { startInstance, type Instance } from './support/instance.mts';
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

let instance: Instance;
let builder: Builder;
let types: NodeType[];
let parser: InstanceType<Builder['NodeTypeParser']>;
before(async () => {
	instance = await startInstance({ editor: true });
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

describe('the search finds the node', () => {
	for (const [query, name] of [
		['generate image', 'imageGeneration'],
		['image generation', 'imageGeneration'],
		['picture', 'imageGeneration'],
		['generation gateway', 'imageGeneration'],
		['avatar', 'avatar'],
		['digital human', 'avatar'],
		['balance', 'balance'],
		['credits', 'balance'],
		['low balance', 'balanceTrigger'],
		['generate video', 'videoGeneration'],
		['text to video', 'videoGeneration'],
		['ai video', 'videoGeneration'],
		['talking head', 'videoGeneration'],
		['quota', 'token'],
	])
		test(`the search for "${query}" finds ${name}`, () => {
			assert.ok(found(query).includes(packageType(name)), found(query).join(', '));
		});
});

describe('what the search says of a node', () => {
	for (const [query, ...words] of [
		[
			'generate image',
			'@builderHint Generate submits',
			'@relatedNodes',
			'videoGeneration: "Turns an image into a video',
		],
		['generate video', 'imageGeneration: "Makes the first frame', '@builderHint Makes one task for each input item'],
		['avatar', '@builderHint Makes people for videos', 'videoGeneration: "Makes the video'],
		['balance', '@builderHint Reads the credits', 'balanceTrigger: "Starts a workflow'],
		['quota', '@builderHint Creates a key with a budget', 'imageGeneration: "Spends the budget'],
		['low balance', '@builderHint Checks the balance itself'],
		['identity verification', '@builderHint Starts when a real person'],
	])
		test(`the search for "${query}" says what the node is for`, () => {
			const { results } = builder.searchCodeBuilderNodes(parser, [query]);
			for (const word of words) assert.ok(results.includes(word), `${word}\n${results}`);
		});

	test('every node has a hint, and related nodes that this n8n has', () => {
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
	});
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
