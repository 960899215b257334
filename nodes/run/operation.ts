import type {
	IDisplayOptions,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
	INodePropertyOptions,
} from 'n8n-workflow';

/** One operation of a node: its entry in the dropdown, its part of the form, and what it does with all items. */
export interface Operation {
	option: INodePropertyOptions;
	properties: INodeProperties[];
	execute: (context: IExecuteFunctions) => Promise<INodeExecutionData[]>;
}

/** What several operations are about, in nodes that have many. */
export interface Resource {
	option: INodePropertyOptions;
	operations: readonly Operation[];
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

/** The form of a node: the operation dropdown, then each operation's own part. */
export function operationProperties(operations: readonly Operation[], first: string): INodeProperties[] {
	return [
		{ ...operationField, options: operations.map(({ option }) => option), default: first },
		...operations.flatMap(({ option, properties }) => showFor({ operation: [option.value] }, properties)),
	];
}

/** The form of a node with resources: the resource, the operations of it, then each operation's own part. */
export function resourceProperties(resources: readonly Resource[], first: string): INodeProperties[] {
	return [
		{ ...resourceField, options: resources.map(({ option }) => option), default: first },
		...resources.flatMap(({ option, operations }) =>
			showFor({ resource: [option.value] }, operationProperties(operations, String(operations[0].option.value))),
		),
	];
}

/** Shows properties under conditions; what they ask for themselves stays. */
function showFor(conditions: IDisplayOptions['show'], properties: INodeProperties[]): INodeProperties[] {
	return properties.map((property) => ({
		...property,
		displayOptions: {
			...property.displayOptions,
			show: { ...conditions, ...property.displayOptions?.show },
		},
	}));
}

export async function executeOperation(
	context: IExecuteFunctions,
	operations: readonly Operation[],
): Promise<INodeExecutionData[][]> {
	return [await chosen(context, 'operation', operations).execute(context)];
}

export async function executeResource(
	context: IExecuteFunctions,
	resources: readonly Resource[],
): Promise<INodeExecutionData[][]> {
	return await executeOperation(context, chosen(context, 'resource', resources).operations);
}

function chosen<T extends { option: INodePropertyOptions }>(context: IExecuteFunctions, name: string, choices: readonly T[]): T {
	const value = context.getNodeParameter(name, 0, choices[0].option.value);
	return choices.find(({ option }) => option.value === value) ?? choices[0];
}
