import pLimit from 'p-limit';
import type { IDataObject, IExecuteFunctions, INodeParameters } from 'n8n-workflow';
import { onAbort, untilAborted } from '../../core/abort';
import { tableTurns } from '../../core/processMemory';
import { inlineWorkflow, parentOf, type InlineWorkflow } from '../connection/subExecution';
import { realClock } from '../connection/transport';

const TRIGGER = 'n8n-nodes-base.executeWorkflowTrigger';
const DATA_TABLE = 'n8n-nodes-base.dataTable';

/** The nodes of n8n that the journal needs, as n8n shows them. */
export const NEEDED_NODES: Record<string, string> = {
	[TRIGGER]: 'Execute Workflow Trigger',
	[DATA_TABLE]: 'Data table',
};

/** The longest wait for one sub-execution that has begun: a database that does not answer must not hold up a run forever. */
const MOST_MS = 30_000;

/**
 * More sub-executions at once are no faster: n8n has one thread, and few connections to its database. What has come of requests does not
 * wait behind those of others that are to be sent: a crash would leave their items in doubt.
 */
const AT_ONCE = { requests: 6, outcomes: 2 };

/** n8n has not answered in time. It may have done the operation, or may still do it. */
export class TooSlowError extends Error {
	override readonly name = 'TooSlowError';
}

/**
 * Runs operations of n8n's Data Table node, one after the other, in one sub-execution, because n8n opens its tables to its own
 * nodes only. Nothing of it is in the list of executions.
 *
 * @param operations the parameters of each. The first one gets the rows; each further one runs once
 * @returns the JSON of the items of the last one
 */
export async function runDataTableNodes(
	context: IExecuteFunctions,
	operations: INodeParameters[],
	rows: IDataObject[] = [{}],
	about: keyof typeof AT_ONCE = 'requests',
): Promise<IDataObject[]> {
	const endTurn = await takeTurn(context, about);
	const timeout = new AbortController();
	const late = realClock.sleep(MOST_MS, timeout.signal).then(() => {
		throw new TooSlowError(`n8n took more than ${MOST_MS / 1000} s`);
	});
	late.catch(() => {});
	try {
		const { data } = await Promise.race([run(context, operations, rows), late]);
		return (data[0] ?? []).flatMap(({ json, error }) => {
			if (error !== undefined) throw error;
			// Without a row, n8n passes on an empty item.
			return Object.keys(json).length > 0 ? [json] : [];
		});
	} finally {
		timeout.abort();
		endTurn();
	}
}

/**
 * Resolves when the next sub-execution may begin, with what lets another one begin after it. A hundred that begin at once slow each
 * other down until none of them ends in time, and each is tried again.
 */
async function takeTurn(context: IExecuteFunctions, about: keyof typeof AT_ONCE): Promise<() => void> {
	const signal = context.getExecutionCancelSignal();
	const limit = tableTurns.get(about) ?? pLimit(AT_ONCE[about]);
	tableTurns.set(about, limit);
	const turn = new Promise<() => void>((begin) => void limit(async () => await new Promise<void>(begin)));
	const end = await untilAborted(turn, signal);
	if (end === undefined) {
		void turn.then((endUnused) => endUnused());
		throw new Error('the execution was stopped');
	}
	// n8n may never tell how a sub-execution of a stopped execution has ended.
	const forget = onAbort(signal, end);
	return () => {
		forget();
		end();
	};
}

/**
 * The same where the execution has been stopped or has run out of time: such a sub-execution has time of its own. The node never
 * learns what comes of it.
 */
export async function writeInBackground(
	context: IExecuteFunctions,
	operation: INodeParameters,
	rows: IDataObject[],
): Promise<void> {
	await run(context, [operation], rows, { doNotWaitToFinish: true });
}

async function run(
	context: IExecuteFunctions,
	operations: INodeParameters[],
	rows: IDataObject[],
	options: { doNotWaitToFinish?: boolean } = {},
) {
	const items = rows.map((json) => ({ json }));
	return await context.executeWorkflow({ code: subWorkflow(operations) }, items, undefined, {
		...options,
		parentExecution: parentOf(context, { shouldResume: false }),
	});
}

function subWorkflow(operations: INodeParameters[]): InlineWorkflow {
	const nodes = [
		{ name: 'Start', type: TRIGGER, typeVersion: 1.1, parameters: { inputSource: 'passthrough' } },
		...operations.map((parameters, index) => ({
			...{ name: nameOfNode(index), type: DATA_TABLE, typeVersion: 1.1, parameters },
			...(index > 0 && { executeOnce: true }),
			// Otherwise n8n would answer with the items of the node before where there is no row, or would not run the next one.
			alwaysOutputData: true,
		})),
	];
	const links = operations.map((_, index) => [
		nodes[index]?.name ?? '',
		{ main: [[{ node: nameOfNode(index), type: 'main' as const, index: 0 }]] },
	]);
	return inlineWorkflow({
		name: 'Gateway Purchases',
		nodes: nodes.map((node, column) => ({
			...node,
			id: `00000000-0000-4000-8000-00000000010${column}`,
			position: [220 * column, 0],
		})),
		connections: Object.fromEntries(links),
		settings: {
			executionOrder: 'v1',
			saveDataSuccessExecution: 'none',
			saveDataErrorExecution: 'none',
			saveManualExecutions: false,
			saveExecutionProgress: false,
			callerPolicy: 'workflowsFromSameOwner',
		},
	});
}

/** The name of an operation, for expressions in further operations. */
export const nameOfNode = (index: number) => (index === 0 ? 'Data Table' : `Data Table ${index + 1}`);
