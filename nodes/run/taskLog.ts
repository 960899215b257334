/** The places that have the IDs of a run beside its output: n8n's log, the execution's custom data, the console of the browser, and its trace. */
import type { IExecuteFunctions, ITaskMetadata } from 'n8n-workflow';
import type { Purchase } from '../../core/orders/order';
import type { OrderEvents } from '../../core/engine/buyOnce';
import { printable } from '../../core/text';
import { sayUsed, type UsedCredits } from './hints';
import { toSeconds } from './toItem';
import { isToolCall, sayWhere } from './whereItRuns';

/** The longest value of custom data. n8n keeps 512 characters, but logs an error for each value of more than 255. */
const MOST_CHARACTERS = 255;

/** The longest key of custom data. */
const LONGEST_KEY = 50;

interface CustomData {
	set: (key: string, value: string) => void;
	get: (key: string) => unknown;
}

/** The keys to try. Older versions of n8n take ASCII only, and ignore other keys without a word. */
function keysFor(nodeName: string): string[] {
	const inAscii = nodeName.replace(/[^\p{ASCII}]/gu, (sign) => (sign.codePointAt(0) ?? 0).toString(16));
	return [toKey(nodeName), toKey(inAscii)];
}

function toKey(name: string): string {
	let key = 'gateway_tasks_';
	// A character may take two places, and half of it is none.
	for (const sign of name.replace(/[^\p{L}\p{N}\p{M}_]+/gu, '_')) {
		if (key.length + sign.length > LONGEST_KEY) break;
		key += sign;
	}
	return key;
}

/**
 * Writes down every accepted task at once, because n8n keeps nothing of a node that was stopped or killed. n8n's
 * log is the complete record; one key of the execution's custom data shows what fits, the unfinished tasks first.
 */
export class TaskLog implements OrderEvents {
	private readonly nodeName: string;

	private readonly running = new Set<string>();

	private readonly ended = new Set<string>();

	/** The custom data as they were written last. */
	private published = '';

	private customData: CustomData | undefined;

	constructor(private readonly context: IExecuteFunctions) {
		this.nodeName = context.getNode().name;
		try {
			const { $execution } = context.getWorkflowDataProxy(0) as unknown as {
				$execution: { customData?: CustomData };
			};
			this.customData = $execution.customData;
		} catch {
			// best effort: the log is complete without it
		}
	}

	/** Logs an accepted order; the model is in brackets. */
	accepted({ thing, item: itemIndex, model, task }: Purchase): void {
		const id = task?.taskId ?? '';
		const late = this.context.getExecutionCancelSignal()?.aborted ? ' after the execution was stopped' : '';
		const accepted = `${printable(model === undefined ? id : `${id} (${model})`)} was accepted${late}`;
		this.context.logger.info(`Generation Gateway: ${thing} ${accepted}, ${sayWhere(this.context, itemIndex)}`);
		this.writeToConsole(`${thing.charAt(0).toUpperCase()}${thing.slice(1)} ${accepted}, item ${itemIndex}`);
		if (thing === 'task') this.isRunning(id);
	}

	/** Logs the words of the service about an order with an unknown outcome: its ID may be in there. */
	unclear({ thing, item: itemIndex }: Purchase, said: string): void {
		this.context.logger.warn(
			`Generation Gateway: the service may or may not have accepted this ${thing}, ${sayWhere(this.context, itemIndex)}. It answered: ${printable(said)}`,
		);
	}

	/** Writes to the browser's console in a manual execution: people without n8n's log can see it after a stop. */
	writeToConsole(text: string): void {
		try {
			this.context.sendMessageToUI(printable(text));
		} catch {
			// best effort: the log is complete without it
		}
	}

	/** Logs what the account has used during the run. */
	creditsUsed(used: UsedCredits): void {
		this.context.logger.info(`Generation Gateway: ${sayUsed(used)}, ${sayWhere(this.context)}`);
		this.writeToConsole(sayUsed(used));
	}

	/** Notes a task of an earlier try: it is in the log already, but may still be running. */
	continued({ thing, task }: Purchase): void {
		if (thing === 'task' && task !== undefined) this.isRunning(task.taskId);
	}

	private isRunning(taskId: string): void {
		this.running.add(taskId);
		this.publish();
	}

	finished({ task }: Purchase): void {
		if (task !== undefined && this.running.delete(task.taskId)) this.ended.add(task.taskId);
	}

	/** Logs, after a stop by the user, all tasks that are still running at the service. */
	stopped(): void {
		this.publish();
		if (this.running.size === 0) return;
		this.context.logger.warn(
			`Generation Gateway: the execution was stopped, still running at the service: ${[...this.running].map(printable).join(', ')}`,
		);
		this.writeToConsole(
			`The execution was stopped. Still running at the service: ${[...this.running].join(', ')}. To get a result, create a new workflow: a trigger, and after it Get Result with its task ID.`,
		);
	}

	publish(): void {
		const packed = this.pack();
		if (packed === this.published) return;
		this.published = packed;
		for (const key of keysFor(this.nodeName)) {
			try {
				this.customData?.set(key, packed);
				if (this.customData?.get(key) === packed) return;
			} catch {
				// best effort: the log is complete without it
			}
		}
	}

	private pack(): string {
		let packed = '';
		for (const taskIds of [this.running, this.ended]) {
			for (const taskId of taskIds) {
				const next = packed === '' ? taskId : `${packed} ${taskId}`;
				if (next.length > MOST_CHARACTERS) return packed;
				packed = next;
			}
		}
		return packed;
	}
}

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
