import type { IExecuteFunctions, INode, INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { getPath, isPlainObject, type JsonObject } from '../../core/json';
import type { Job } from '../../core/engine/jobs';
import type { Order, Purchase } from '../../core/orders/order';
import { FieldReader, holdsExpression, OptionsReader } from '../form/fieldReader';
import { simplifyField } from '../form/fields';

/**
 * The parameters of a node for its items. n8n takes its time for each of them, so one without an expression, which is
 * the same for all items, is read once. What is read is never changed.
 */
export class Parameters {
	private readonly same = new Map<string, unknown>();

	/** @param node n8n copies it each time it is asked for it */
	constructor(
		readonly context: IExecuteFunctions,
		readonly node: INode,
	) {}

	/**
	 * Null when there is none.
	 *
	 * @param path of the parameter, e.g. `prompt` or `options.fileName`
	 */
	read(path: string, itemIndex: number): unknown {
		if (this.same.has(path)) return this.same.get(path);
		const value: unknown = this.context.getNodeParameter(path, itemIndex, null);
		if (!holdsExpression(getPath(this.node.parameters, path))) this.same.set(path, value);
		return value;
	}
}

/** The form of one input item. */
export class Item extends FieldReader {
	readonly options: ItemOptions;

	readonly context: IExecuteFunctions;

	readonly node: INode;

	/** @param parameters of all items */
	constructor(
		parameters: Parameters,
		readonly index: number,
		/** The input item. */
		readonly input: INodeExecutionData,
	) {
		super((name) => parameters.read(name, index), parameters.node.parameters);
		({ context: this.context, node: this.node } = parameters);
		this.options = new ItemOptions(this, parameters);
	}
}

/** The Options collection of one item: the fields that were added. */
class ItemOptions extends OptionsReader {
	private readonly added: JsonObject;

	constructor({ index, node }: Item, parameters: Parameters) {
		const { options } = node.parameters;
		const added = isPlainObject(options) ? options : {};
		super((name) => parameters.read(`options.${name}`, index), added);
		this.added = added;
	}

	/** True unless Simplify was turned off. Nothing at all means the default, and this one is on. */
	get simplifies(): boolean {
		const value = this.value(simplifyField);
		return value === undefined || value === '' || this.flag(simplifyField);
	}

	/** True when an option was added, also when its expression gave nothing. */
	has({ name }: Pick<INodeProperties, 'name'>): boolean {
		return name in this.added;
	}
}

/** Work that is a function, and ends with the execution: it reads or uploads, or buys a thing that is no task (`buy.ts`). */
export interface DirectWork extends Job<JobOutput> {
	/** The thing that it buys, or that exists already. */
	about?: Purchase;
	/** The input item, where the work passes it on: its fields and files stay with an error of it, too. */
	passedOn?: INodeExecutionData;
}

/** The work that an operation makes of the form of one item: the order of a task, which can be stored, or a function. */
export type Work = Order | DirectWork;

export function isOrder(work: object): work is Order {
	return 'state' in work;
}

export type JobOutput = Pick<INodeExecutionData, 'json' | 'binary'>;
