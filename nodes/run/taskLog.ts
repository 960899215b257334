import type { IExecuteFunctions } from 'n8n-workflow';
import type { Purchase } from '../../core/orders/order';
import type { OrderEvents } from '../../core/engine/buyOnce';
import { printable } from '../../core/text';
import { sayUsed, type UsedCredits } from './hints';
import { sayWhere } from './whereItRuns';

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
