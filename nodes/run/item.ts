import type { IExecuteFunctions, INode, INodeExecutionData, INodeProperties } from 'n8n-workflow';
import type { TaskReference } from '../../core/errors';
import type { JsonObject } from '../../core/json';
import type { JobControls } from '../../core/tasks/runTasks';
import { FieldReader } from '../form/fieldReader';

/** One input item: its form, its options, and the task that belongs to it. */
export class Item extends FieldReader {
	readonly options: ItemOptions;

	/** What was created or is asked for, as far as it is known by now: errors of other items name it, too. */
	task?: TaskReference;

	constructor(
		readonly context: IExecuteFunctions,
		readonly index: number,
		/** The item as it came in. */
		readonly input: INodeExecutionData,
		/** Of all items: n8n copies it each time it is asked for it. */
		readonly node: INode,
	) {
		super(
			(name) => context.getNodeParameter(name, index, null),
			(name) => String(node.parameters[name]).startsWith('='),
		);
		this.options = new ItemOptions(context, index);
	}

	/** Whether `task` was created for this item, by this try or an earlier one. */
	isAccepted = false;

	/** The model of `task`, as soon as it is known. */
	model?: string;

	/** What a key may be limited to, e.g. "the model beta-v3": a 403 holds back only items of the same scope. */
	scope?: string;

	/** From here on it is about this task. */
	concerns(taskId: string, status?: string): TaskReference {
		this.task = { taskId, status, elapsedMs: 0 };
		return this.task;
	}

	/** The service has accepted it: no error may lose it. */
	accepted(taskId: string, status: string): void {
		this.concerns(taskId, status);
		this.isAccepted = true;
	}
}

/** The Options collection of one item: the fields that were added. */
class ItemOptions extends FieldReader {
	constructor(context: IExecuteFunctions, index: number) {
		// Read as a whole and once, because each call evaluates every expression in it. Where one of them cannot be
		// resolved, the others can still be read by themselves.
		let added: JsonObject | undefined;
		const readAll = () => (added ??= { ...(context.getNodeParameter('options', index, {}) as object) });
		super((name) => {
			try {
				return readAll()[name];
			} catch {
				return context.getNodeParameter(`options.${name}`, index, null);
			}
		});
		this.has = ({ name }) => name in readAll();
	}

	/** A switch that was not added is off, whatever it is when it arrives in the form. */
	override flag(option: INodeProperties): boolean {
		return super.flag({ ...option, default: false });
	}

	/** Whether an option was added, also when its expression gave nothing. */
	readonly has: (field: Pick<INodeProperties, 'name'>) => boolean;
}

/** The work for one item. All items of a run are worked on at the same time. */
export type Job = (controls: JobControls) => Promise<JobOutput>;

export type JobOutput = Pick<INodeExecutionData, 'json' | 'binary'>;
