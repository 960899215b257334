import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import { GatewayError, gatewayError } from '../../core/errors';
import { SHORTEST_SLEEP_MS } from '../../core/tasks/sharedNap';
import { formError } from '../errors/formErrors';
import { toNodeError } from '../errors/toNodeError';
import { toErrorFields } from '../run/runItems';
import { checkTasks } from './checkTasks';
import { handOut } from './handOut';
import { isWanted, whileWanted } from './isWanted';
import { finishedRow, operationOf, parseRows, ticketOf, type Row } from './rows';
import { STEPS, waitForTasks, type OnError } from './subWorkflow';

/** So long may tasks be waited for in memory while the executions around are awake, too, and would die along. */
const FIRST_AWAKE_MS = 60_000;
/** Each of them is a death of n8n in the middle of a check: something is wrong with this n8n then. */
const MOST_ROUNDS = 50;

type Step = (context: IExecuteFunctions) => Promise<INodeExecutionData[]>;

/**
 * Runs the checks in an execution of their own, and again when that has died.
 *
 * @param firstAwakeMs so long may the first one wait in memory; with 0 it sleeps at once, and so does this execution
 */
const keepWaiting =
	(firstAwakeMs: number): Step =>
	async (context) => {
		const memory = context.getContext('flow') as { rounds?: number; slept?: boolean };
		const rows = parseRows(context.getInputData()) ?? requireRows(itemsOfStart(context));
		const { rounds = 0 } = memory;
		if (rounds >= MOST_ROUNDS || !(await isWanted(context))) return rows.map(givenUp);
		memory.rounds = rounds + 1;
		// In a later round the node is asleep, and this execution should be, too, before anything else happens.
		const input = { rows, awakeMs: rounds === 0 ? firstAwakeMs : 0 } as unknown as IDataObject;
		const checks = await context.executeWorkflow(
			{ code: waitForTasks(context.getNode()) },
			[{ json: input }],
			undefined,
			{
				parentExecution: {
					executionId: context.getExecutionId(),
					workflowId: String(context.getWorkflow().id),
					shouldResume: true,
				},
				returnLastRunOnly: true,
			},
		);
		memory.slept ||= Boolean(checks.waitTill);
		return checks.waitTill ? rows : (checks.data[0] ?? []);
	};

const checksInput = z.object({ rows: z.unknown(), awakeMs: z.number().min(0).max(FIRST_AWAKE_MS) });

/** Checks the tasks of its input until all have finished. What it puts out before it sleeps is what is left when it dies. */
const checkUntilFinished: Step = async (context) => {
	const memory = context.getContext('node') as { rows?: unknown };
	const { rows: given, awakeMs } = checksInput.catch({ awakeMs: 0 }).parse(context.getInputData()[0]?.json);
	const isFirst = memory.rows === undefined;
	const before = requireRows(memory.rows ?? given);
	if (!(await isWanted(context))) return before.map(givenUp);
	const check = async (signal: AbortSignal) =>
		await checkTasks(context, before, { awakeUntilMs: isFirst ? Date.now() + awakeMs : Infinity, signal });
	const { rows, wakeAtMs } =
		isFirst && awakeMs === 0
			? { rows: before, wakeAtMs: Date.now() + SHORTEST_SLEEP_MS }
			: await whileWanted(context, check);
	if (rows.every((row) => ticketOf(row) === undefined)) {
		delete memory.rows;
		return rows;
	}
	if (wakeAtMs === undefined || !(await isWanted(context))) return rows.map(givenUp);
	memory.rows = rows;
	await context.putExecutionToWait(new Date(wakeAtMs));
	return rows;
};

/** The output of the node, or its error, once all have finished; until then the rows. A node that is still awake makes it itself. */
const finish =
	(onError: OnError): Step =>
	async (context) => {
		const input = context.getInputData();
		const rows = parseRows(input);
		// A dead execution may leave anything.
		if (rows === undefined) return requireRows(itemsOfStart(context));
		const { slept } = context.getContext('flow');
		return slept === true && rows.every((row) => ticketOf(row) === undefined)
			? handOut(context, rows, onError, context.getExecutionId())
			: input;
	};

/** What the node would have put out, for the workflow that is to be started. */
const results: Step = async (context) =>
	await Promise.resolve(handOut(context, requireRows(context.getInputData()), 'continueRegularOutput'));

/** All tasks, as they were handed over. */
function itemsOfStart(context: IExecuteFunctions): INodeExecutionData[] {
	const { $ } = context.getWorkflowDataProxy(0) as unknown as {
		$: (node: string) => { all: () => INodeExecutionData[] };
	};
	return $('Start').all();
}

function requireRows(value: unknown): Row[] {
	const rows = parseRows(value);
	if (rows === undefined) throw formError('notForWorkflows', {});
	return rows;
}

function givenUp(row: Row): Row {
	const ticket = ticketOf(row);
	if (ticket === undefined) return row;
	const task = {
		taskId: ticket.taskId,
		status: ticket.status,
		progress: ticket.progress,
		elapsedMs: Date.now() - ticket.startedAtMs,
	};
	return finishedRow({
		json: {
			...ticket.input,
			...toErrorFields(gatewayError('waitingEnded', { id: ticket.taskId }), task, { operation: operationOf(ticket) }),
		},
	});
}

const withNodeErrors =
	(step: Step): Step =>
	async (context) => {
		try {
			return await step(context);
		} catch (thrown) {
			throw thrown instanceof GatewayError ? toNodeError(thrown, { node: context.getNode(), itemIndex: 0 }) : thrown;
		}
	};

/** What the hidden operations do, by their values. */
export const steps = new Map<string, Step>(
	[
		[STEPS.keepWaiting, keepWaiting(FIRST_AWAKE_MS)] as const,
		[STEPS.keepWaitingAsleep, keepWaiting(0)] as const,
		[STEPS.checkTasks, checkUntilFinished] as const,
		[STEPS.results, results] as const,
		...(Object.entries(STEPS.handOut) as Array<[OnError, string]>).map(
			([onError, value]) => [value, finish(onError)] as const,
		),
	].map(([value, step]) => [value, withNodeErrors(step)]),
);
