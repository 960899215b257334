import type { IExecuteFunctions, INodeExecutionData, INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { forOperation } from './fields';

/** One operation of a node: its entry in the dropdown, its part of the form, and what it does with all items. */
export interface Operation {
	option: INodePropertyOptions;
	properties: INodeProperties[];
	execute: (context: IExecuteFunctions) => Promise<INodeExecutionData[]>;
}

/** The form of a node: the operation dropdown, then each operation's own part. */
export function operationProperties(operations: readonly Operation[]): INodeProperties[] {
	return [
		{
			displayName: 'Operation',
			name: 'operation',
			type: 'options',
			noDataExpression: true,
			options: operations.map(({ option }) => option),
			default: 'generate',
		},
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
