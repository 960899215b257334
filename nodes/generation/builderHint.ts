/**
 * The text that n8n's AI workflow builder reads when it finds a node that generates (n8n 2.41; other versions read
 * nothing). People never see it. There is more in `builderHint` of operations and fields.
 */
export const generationHint =
	'Generate submits the task, waits until it has finished and returns the file, so do not add a Wait node, a status check or a polling loop. Pass all items to one node: they run in parallel, so do not use Loop Over Items. Use it only with wait set to inAnotherWorkflow, to start the other workflow once for each item: otherwise it starts once with all results. Each task that Generate creates usually costs money. To get the result of a task again, use Get Result with its task_id. As a tool of n8n Agents (not of an AI Agent node), it has no execution: no Purchase Key, no inAnotherWorkflow, at most 10 minutes of waiting; for longer tasks, set wait to dontWait and add a second tool with getResult.';

/**
 * Examples of Generate for the same builder, in the code that it writes. Without `displayOptions`: n8n shows an example with
 * them only in nodes that have a visible resource.
 */
export const generationExample = (kind: 'image' | 'video', model: string) => ({
	content: `<patterns>
<pattern title="One ${kind} for each input item, all in parallel: no loop, no waiting, no status check">
const generate = node({
  type: 'n8n-nodes-generation-gateway.${kind}Generation',
  version: 1,
  config: {
    name: 'Generate ${kind}',
    parameters: { operation: 'generate', model: '${model}', prompt: expr('{{ $json.prompt }}') }
  }
});
</pattern>
<pattern title="A tool of an AI agent, which writes the prompt and gets the url">
const ${kind}Tool = tool({
  type: 'n8n-nodes-generation-gateway.${kind}GenerationTool',
  version: 1,
  config: {
    name: 'Generate ${kind}',
    parameters: { operation: 'generate', model: '${model}', prompt: fromAi('prompt', 'What the ${kind} shows') }
  }
});
</pattern>
</patterns>`,
});
