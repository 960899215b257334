import type { IExecuteFunctions, INodeExecutionData, INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { forOperation } from './fields';

/** One operation of a node: its entry in the dropdown, its part of the form, and what it does with all items. */
export interface Operation {
	option: INodePropertyOptions;
	properties: INodeProperties[];
	execute: (context: IExecuteFunctions) => Promise<INodeExecutionData[]>;
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

/** The form of a node: the operation dropdown, then each operation's own part. */
export function operationProperties(operations: readonly Operation[], first: string): INodeProperties[] {
	return [
		{ ...operationField, options: operations.map(({ option }) => option), default: first },
		...operations.flatMap(({ option, properties }) => forOperation(String(option.value), properties)),
	];
}

export async function executeOperation(
	context: IExecuteFunctions,
	operations: readonly Operation[],
): Promise<INodeExecutionData[][]> {
	const chosen = context.getNodeParameter('operation', 0, operations[0].option.value);
	const operation = operations.find(({ option }) => option.value === chosen) ?? operations[0];
	return [await operation.execute(context)];
}
