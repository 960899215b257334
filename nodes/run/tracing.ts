import type { IExecuteFunctions, ITaskMetadata } from 'n8n-workflow';
import { isToolCall } from './whereItRuns';
import type { Purchase } from '../../core/orders/order';
import { toSeconds } from './toItem';

/** The most IDs in one attribute: n8n stores them with the execution. */
const MOST_VALUES = 20;

/** An ID of a task or a model. An expression may give anything else, such as a prompt, which does not belong here. */
const ID = /^[\w.:/+=~-]{1,100}$/;

/**
 * Sets attributes of the node's OpenTelemetry span, which n8n exports as `n8n.node.custom.gateway.…`: its tasks, and
 * what they took. Neither prompt nor key.
 *
 * @param requestsSent to the service
 */
export function trace(context: IExecuteFunctions, orders: readonly Purchase[], requestsSent: number): void {
	// It has no span of its own: this would end up at the agent's.
	if (isToolCall(context)) return;
	const waitedMs = orders.reduce((longest, { task }) => Math.max(longest, task?.elapsedMs ?? 0), 0);
	const [ids, models] = [orders.map(({ task }) => task?.taskId), orders.map(({ model }) => model)];
	const tracing: ITaskMetadata['tracing'] = {
		...list('gateway.ids', ids),
		...list('gateway.models', models),
		// If another execution waits, its own nodes report it.
		...(waitedMs > 0 ? { 'gateway.waited_seconds': toSeconds(waitedMs) } : {}),
		'gateway.requests': requestsSent,
	};
	try {
		context.setMetadata?.({ tracing });
	} catch {
		// best effort: what was bought matters, not how it is traced
	}
}

/** Lists each value once: the first ones, and the number of the others. */
function list(name: string, values: Array<string | undefined>): Record<string, string> {
	const ids = [...new Set(values)].filter((value) => value !== undefined && ID.test(value));
	if (ids.length === 0) return {};
	const more = ids.length - MOST_VALUES;
	return { [name]: `${ids.slice(0, MOST_VALUES).join(', ')}${more > 0 ? ` and ${more} more` : ''}` };
}
