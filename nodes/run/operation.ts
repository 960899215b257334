import type {
	IDisplayOptions,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';
import type { Ports } from '../../core/engine/advance';
import type { CreatedThing } from '../../core/errors/things';
import type { Order } from '../../core/orders/order';
import type { ChoiceField } from '../form/fieldReader';
import type { Waiting } from '../form/fields';
import { toProperty } from '../../core/models/model';
import type { Unfinished } from './hints';
import type { Item, Work } from './inputItem';
import type { Background, Run } from './nodeRun';
import type { Worked } from './toItem';

/** One operation of a node: its entry in the dropdown, its part of the form, and the work that it makes of one item. */
export interface Operation {
	option: INodePropertyOptions;
	properties: INodeProperties[];
	/** The field of `properties` that says how to wait. Absent where it does not ask. */
	wait?: ChoiceField<Waiting>;
	/** Items that are worked on at the same time, where the form does not ask. */
	concurrency?: number;
	/** The kind of thing that may not have finished when the run ends: a hint then says how to continue. */
	waitsFor?: Unfinished;
	/** Its options have Reuse While Building: see `building.ts`. */
	canReuse?: boolean;
	/** Tasks are bought, in other executions maybe. */
	canBuy?: boolean;
	/** The kind of thing that its items describe: errors name it by its ID. */
	describes?: CreatedThing;
	/** The prompt in the form of an item, for the error of a form that cannot be used. */
	promptOf?: (item: Item) => string | undefined;
	/** Reads and checks the form of one item, and returns its work. Sends nothing. */
	prepare: (item: Item, run: Run) => Work | Promise<Work>;
	/** Makes the output of a task. Absent where its work is no order. */
	deliver?: (run: Run) => Ports['deliver'];
}

/** Waiting that survives restarts, and the hidden operation of a value. */
export interface Durable {
	stepOf: (operation: string) => ((context: IExecuteFunctions) => Promise<INodeExecutionData[][]>) | undefined;
	/** The reason why the node has to wait in memory, as a hint; undefined where it need not. */
	obstacle: (context: IExecuteFunctions) => Promise<string | undefined>;
	/** The workflow to start with the results, checked. Throws a `badInput` error. */
	readBackground: (context: IExecuteFunctions) => Promise<Background>;
	/** Finds the execution that an earlier try has handed the orders to, before a crash. */
	findHandedOver: (run: Run, orders: Order[]) => Promise<void>;
	/** Hands the orders of the run to another execution, and returns the output until then; undefined where n8n does not run it. */
	handOver: (run: Run, worked: Worked[]) => Promise<INodeExecutionData[] | undefined>;
}

/** A dropdown has at least one entry. */
export type Choices<T> = readonly [T, ...T[]];

/** The subject of several operations, in nodes that have many. */
export interface Resource {
	option: INodePropertyOptions;
	operations: Choices<Operation>;
}

/** Its options and its default are those of the node. */
const operationField: INodeProperties = {
	displayName: 'Operation',
	name: 'operation',
	type: 'options',
	noDataExpression: true,
	options: [],
	default: '',
};

const resourceField: INodeProperties = {
	displayName: 'Resource',
	name: 'resource',
	type: 'options',
	noDataExpression: true,
	options: [],
	default: '',
};

/**
 * The form of a node that is about one thing: the operation dropdown, then each operation's own part. The resource is
 * hidden: n8n names new nodes, and describes tools, by the operation of a resource.
 *
 * @param first the operation of a new node
 */
export function operationProperties({ option: resource, operations }: Resource, first: string): INodeProperties[] {
	return [
		{ ...resourceField, type: 'hidden', options: [resource], default: resource.value },
		...showFor({ resource: [resource.value] }, [operationDropdown(operations, first)]),
		...operationParts(operations),
	];
}

function operationDropdown(operations: Choices<Operation>, first: string): INodeProperties {
	return { ...operationField, options: operations.map(({ option }) => option), default: first };
}

function operationParts(operations: Choices<Operation>): INodeProperties[] {
	return operations.flatMap(({ option, properties }) => showFor({ operation: [option.value] }, properties));
}

/** For the canvas: the operation by its name, as an n8n expression. */
export function operationSubtitle(operations: readonly Operation[]): string {
	return `(${JSON.stringify(namesOf(operations))})[$parameter["operation"]]`;
}

/** The same with the resource: "Asset: Upload". */
export function resourceSubtitle(resources: readonly Resource[]): string {
	const names = resources.flatMap(({ option, operations }) =>
		Object.entries(namesOf(operations)).map(([value, name]) => [`${option.value}.${value}`, `${option.name}: ${name}`]),
	);
	return `(${JSON.stringify(Object.fromEntries(names))})[$parameter["resource"] + "." + $parameter["operation"]]`;
}

function namesOf(operations: readonly Operation[]): Record<string, string> {
	return Object.fromEntries(operations.map(({ option }) => [option.value, option.name]));
}

/** The form of a node with resources: the resource, the operations of it, then each operation's own part. */
export function resourceProperties(resources: Choices<Resource>, first: string): INodeProperties[] {
	return [
		{ ...resourceField, options: resources.map(({ option }) => option), default: first },
		...resources.flatMap(({ option, operations }) =>
			showFor({ resource: [option.value] }, [
				operationDropdown(operations, String(operations[0].option.value)),
				...operationParts(operations),
			]),
		),
	];
}

/**
 * Shows properties under conditions; what they ask for themselves stays. The order of the keys counts: while a choice is
 * an expression, n8n shows the field as soon as it meets that choice, and asks no further.
 */
function showFor(conditions: IDisplayOptions['show'], properties: INodeProperties[]): INodeProperties[] {
	return properties.map(toProperty).map((property) => ({
		...property,
		displayOptions: {
			...property.displayOptions,
			show: { ...conditions, ...property.displayOptions?.show },
		},
	}));
}
