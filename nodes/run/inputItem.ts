import type { IExecuteFunctions, INode, INodeExecutionData, INodeProperties } from 'n8n-workflow';
import { asGatewayError, GatewayError } from '../../core/errors';
import { isPlainObject, type JsonObject } from '../../core/json';
import type { Job } from '../../core/engine/jobs';
import type { Order, Purchase } from '../../core/orders/order';
import { FieldReader, holdsExpression, OptionsReader } from '../form/fieldReader';
import { simplifyField } from '../form/fields';
import { optionsCollection } from '../form/options';

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

	/** Null when there is none. */
	read(name: string, itemIndex: number): unknown {
		if (this.same.has(name)) return this.same.get(name);
		const value: unknown = this.context.getNodeParameter(name, itemIndex, null);
		const { parameters } = this.node;
		if (name in parameters && !holdsExpression(parameters[name])) this.same.set(name, value);
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

const optionsField = optionsCollection([]);

/** The Options collection of one item: the fields that were added. */
class ItemOptions extends OptionsReader {
	constructor(item: Item, parameters: Parameters) {
		// Read as a whole and once, because each call evaluates every expression in it. Where one of them cannot be
		// resolved, the others can still be read by themselves.
		let added: JsonObject | undefined;
		const readAll = () => (added ??= item.collection(optionsField));
		const read = (name: string) => {
			try {
				return readAll()[name];
			} catch (thrown) {
				// It is no collection, so it has no options that could be read by themselves.
				if (thrown instanceof GatewayError) throw asGatewayError(thrown);
				return parameters.read(`options.${name}`, item.index);
			}
		};
		const { options: stored } = item.node.parameters;
		super(read, isPlainObject(stored) ? stored : {});
		this.readAll = readAll;
	}

	/** True unless Simplify was turned off. Nothing at all means the default, and this one is on. */
	get simplifies(): boolean {
		const value = this.value(simplifyField);
		return value === undefined || value === '' || this.flag(simplifyField);
	}

	/** True when an option was added, also when its expression gave nothing. */
	has({ name }: Pick<INodeProperties, 'name'>): boolean {
		return name in this.readAll();
	}

	private readonly readAll: () => JsonObject;
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
