import type { IExecuteFunctions, INode, INodeExecutionData, INodeProperties } from 'n8n-workflow';
import type { TaskReference } from '../../core/errors';
import type { JsonObject } from '../../core/json';
import type { JobControls } from '../../core/tasks/runTasks';
import { FieldReader } from '../form/fieldReader';
import type { Parameters } from '../form/parameters';

/** One input item: its form, its options, and the task that belongs to it. */
export class Item extends FieldReader {
	readonly options: ItemOptions;

	/** What was created or is asked for, as far as it is known by now: errors of other items name it, too. */
	task?: TaskReference;

	readonly context: IExecuteFunctions;

	readonly node: INode;

	/** @param parameters of all items */
	constructor(
		parameters: Parameters,
		readonly index: number,
		/** The item as it came in. */
		readonly input: INodeExecutionData,
	) {
		super(
			(name) => parameters.read(name, index),
			(name) => parameters.isExpression(name),
		);
		({ context: this.context, node: this.node } = parameters);
		this.options = new ItemOptions(parameters, index);
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
	constructor(parameters: Parameters, index: number) {
		// Read as a whole and once, because each call evaluates every expression in it. Where one of them cannot be
		// resolved, the others can still be read by themselves.
		let added: JsonObject | undefined;
		const readAll = () => (added ??= { ...(parameters.read('options', index) as object | null) });
		super((name) => {
			try {
				return readAll()[name];
			} catch {
				return parameters.read(`options.${name}`, index);
			}
		});
		this.readAll = readAll;
	}

	/** A switch that was not added is off, whatever it is when it arrives in the form. */
	override flag(option: INodeProperties): boolean {
		return super.flag({ ...option, default: false });
	}

	/** Whether an option was added, also when its expression gave nothing. */
	has({ name }: Pick<INodeProperties, 'name'>): boolean {
		return name in this.readAll();
	}

	private readonly readAll: () => JsonObject;
}

/** The work for one item. All items of a run are worked on at the same time. */
export type Job = (controls: JobControls) => Promise<JobOutput>;

export type JobOutput = Pick<INodeExecutionData, 'json' | 'binary'>;
