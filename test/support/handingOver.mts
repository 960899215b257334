/** The nodes where they hand orders over, and the steps that take them: what n8n would run as sub-executions is only noted. */
import type { ExecuteWorkflowData, IDataObject, INodeExecutionData, IRunExecutionData } from 'n8n-workflow';
import { DataTables, type Execute } from './dataTables.mts';
import { start } from './engine.mts';
import { toOptions, type RunOptions, type Sandbox } from './nodes.mts';

export type Tail<T extends unknown[]> = T extends [unknown, ...infer Rest] ? Rest : never;

/** n8n's data tables, with the rows of all runs of a test file. */
const tables = new DataTables();

/**
 * Starts a node with the purchase log on, without which nothing is handed over.
 *
 * @param others plays the sub-executions, but for those of the log
 */
export function startHandingOver(sandbox: Sandbox, parameters: IDataObject, options: RunOptions, others: Execute) {
	const credential = { purchaseLog: true, ...options.credential };
	const started = start(toOptions('image', sandbox, parameters, { ...options, credential }));
	started.additionalData.executeWorkflow = tables.besides(others);
	return started;
}

/**
 * @param options.stored the data that n8n has of other executions, by their IDs
 * @param options.asleep the output of the sub-executions that fall asleep
 * @param options.failure the error with which they end before that
 */
export async function runHandingOver(
	sandbox: Sandbox,
	parameters: IDataObject,
	items: INodeExecutionData[],
	options: RunOptions & {
		stored?: Record<string, object>;
		asleep?: ExecuteWorkflowData['data'];
		failure?: object;
	} = {},
) {
	const handed: INodeExecutionData[][] = [];
	const others: Execute = async (_, __, { inputData = [] }) => {
		if (inputData.length > 0) handed.push(inputData);
		if (options.failure !== undefined) throw Object.assign(new Error(), options.failure);
		return await Promise.resolve({ executionId: '7', data: options.asleep ?? [null], waitTill: new Date(4e12) });
	};
	const { promise, additionalData } = startHandingOver(sandbox, parameters, { ...options, items }, others);
	additionalData.getRunExecutionData = async (id) =>
		await Promise.resolve(options.stored?.[id] as IRunExecutionData | undefined);
	const { data } = await promise;
	const task = data.resultData.runData.Node?.at(-1);
	return {
		handed,
		items: task?.data?.main?.[0] ?? [],
		/** Of all outputs. */
		outputs: task?.data?.main,
		error: task?.error,
		contextData: data.executionData?.contextData as Record<string, IDataObject> | undefined,
	};
}
