import {
	CHAT_TRIGGER_NODE_TYPE,
	FORM_NODE_TYPE,
	FORM_TRIGGER_NODE_TYPE,
	RESPOND_TO_WEBHOOK_NODE_TYPE,
	WAIT_NODE_TYPE,
	type IExecuteFunctions,
	type NodeTypeAndVersion,
} from 'n8n-workflow';

/**
 * The name of the node whose caller waits for what this workflow answers, such as the webhook that started it. n8n
 * answers, or closes the stream, as soon as an execution sleeps; before a Respond to Webhook node only in queue mode,
 * which cannot be seen from here. Nor can the caller of another workflow that calls this one.
 */
export function answerAwaited(context: IExecuteFunctions): string | undefined {
	// The caller has had an answer long ago.
	if (context.getMode() === 'retry') return undefined;
	const { $ } = context.getWorkflowDataProxy(0) as unknown as { $: (node: string) => { isExecuted: boolean } };
	const hasRun = ({ name, disabled }: NodeTypeAndVersion) => !disabled && $(name).isExecuted;
	const all = { includeNodeParameters: true };
	const isAwaited = (node: NodeTypeAndVersion) => {
		const mode = responseModeOf(node);
		const following = context.getChildNodes(node.name, all);
		if (node.type === FORM_TRIGGER_NODE_TYPE && following.some(isFormPage)) return false;
		if (mode === 'responseNode' && following.some((next) => next.type === RESPOND_TO_WEBHOOK_NODE_TYPE && hasRun(next)))
			return false;
		return mode !== 'onReceived';
	};
	return context.getParentNodes(context.getNode().name, all).find((node) => hasRun(node) && isAwaited(node))?.name;
}

/** A chat always waits: n8n cancels a sleeping execution when its chat is closed. */
function responseModeOf({ type, parameters }: NodeTypeAndVersion): unknown {
	if (type !== CHAT_TRIGGER_NODE_TYPE) return parameters?.responseMode ?? 'onReceived';
	return (parameters?.options as { responseMode?: string } | undefined)?.responseMode;
}

/** The browser waits for such a page by asking n8n again and again, however long the execution sleeps. */
function isFormPage({ type, disabled, parameters }: NodeTypeAndVersion): boolean {
	return !disabled && (type === FORM_NODE_TYPE || (type === WAIT_NODE_TYPE && parameters?.resume === 'form'));
}
