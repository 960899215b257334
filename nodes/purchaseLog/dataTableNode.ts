import type { IDataObject, IExecuteFunctions, IExecuteWorkflowInfo, INodeParameters } from 'n8n-workflow';
import { realClock } from '../connection/transport';

const TRIGGER = 'n8n-nodes-base.executeWorkflowTrigger';
const DATA_TABLE = 'n8n-nodes-base.dataTable';

/** The nodes of n8n that the log needs, as n8n shows them. */
export const NEEDED_NODES: Record<string, string> = {
	[TRIGGER]: 'Execute Workflow Trigger',
	[DATA_TABLE]: 'Data table',
};

/** The longest wait for one operation: a database that does not answer must not hold up a run forever. */
const MOST_MS = 30_000;

/**
 * Runs one operation of n8n's Data Table node in a sub-execution, because n8n opens its tables to its own nodes only.
 * Nothing of it is in the list of executions. Returns the JSON of the output items.
 */
export async function runDataTableNode(
	context: IExecuteFunctions,
	parameters: INodeParameters,
	rows: IDataObject[] = [{}],
): Promise<IDataObject[]> {
	const timeout = new AbortController();
	const late = realClock.sleep(MOST_MS, timeout.signal).then(() => {
		throw new Error(`n8n took more than ${MOST_MS / 1000} s`);
	});
	late.catch(() => {});
	try {
		const { data } = await Promise.race([run(context, parameters, rows), late]);
		return (data[0] ?? []).flatMap(({ json, error }) => {
			if (error !== undefined) throw error;
			return [json];
		});
	} finally {
		timeout.abort();
	}
}

/**
 * The same where the execution has been stopped or has run out of time: such a sub-execution has time of its own. Nobody
 * hears what comes of it.
 */
export async function writeInBackground(
	context: IExecuteFunctions,
	parameters: INodeParameters,
	rows: IDataObject[],
): Promise<void> {
	await run(context, parameters, rows, { doNotWaitToFinish: true });
}

async function run(
	context: IExecuteFunctions,
	parameters: INodeParameters,
	rows: IDataObject[],
	options: { doNotWaitToFinish?: boolean } = {},
) {
	const items = rows.map((json) => ({ json }));
	return await context.executeWorkflow({ code: subWorkflow(parameters) }, items, undefined, {
		...options,
		parentExecution: {
			executionId: context.getExecutionId(),
			workflowId: String(context.getWorkflow().id),
			shouldResume: false,
		},
	});
}

function subWorkflow(parameters: INodeParameters): IExecuteWorkflowInfo['code'] {
	const nodes = [
		{ name: 'Start', type: TRIGGER, typeVersion: 1.1, parameters: { inputSource: 'passthrough' } },
		{ name: 'Data Table', type: DATA_TABLE, typeVersion: 1.1, parameters },
	];
	return {
		id: '', // n8n takes the ID of the workflow that it is run for
		name: 'Purchase Log',
		active: false,
		isArchived: false,
		createdAt: new Date(0),
		updatedAt: new Date(0),
		activeVersionId: null,
		nodes: nodes.map((node, column) => ({
			...node,
			id: `00000000-0000-4000-8000-00000000010${column}`,
			position: [220 * column, 0],
		})),
		connections: { Start: { main: [[{ node: 'Data Table', type: 'main', index: 0 }]] } },
		settings: {
			executionOrder: 'v1',
			saveDataSuccessExecution: 'none',
			saveDataErrorExecution: 'none',
			saveManualExecutions: false,
			saveExecutionProgress: false,
			callerPolicy: 'workflowsFromSameOwner',
		},
	};
}
