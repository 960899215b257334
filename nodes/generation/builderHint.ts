/**
 * The text that n8n's AI workflow builder reads when it finds a node that generates (n8n 2.41; other versions read
 * nothing). People never see it. There is more in `builderHint` of operations and fields.
 */
export const generationHint =
	'Generate submits the task, waits until it has finished and returns the file, so do not add a Wait node, a status check or a polling loop. Pass all items to one node: they run in parallel, so do not use Loop Over Items. Each task that Generate creates usually costs money. To get the result of a task again, use Get Task or Wait for Task with its task_id.';
