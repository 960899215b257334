import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import { GatewayError, gatewayError } from '../../core/errors';
import { SHORTEST_SLEEP_MS } from '../../core/tasks/sharedNap';
import { formError } from '../errors/formErrors';
import { toNodeError } from '../errors/toNodeError';
import { toErrorFields } from '../run/runItems';
import { checkTasks } from './checkTasks';
import { handOut } from './handOut';
import { Audience, whileWanted } from './audience';
import { finishedRow, operationOf, parseRows, salvageRow, salvageRows, ticketOf, type Row } from './rows';
import { untilStopped } from './stops';
import { STEPS, waitForTasks, type OnError } from './subWorkflow';

/** So long may tasks be waited for in memory while the executions around are awake, too, and would die along. */
const FIRST_AWAKE_MS = 60_000;
/** Each of them is a death of n8n in the middle of a check: something is wrong with this n8n then. */
const MOST_ROUNDS = 50;
/** Whatever a stored time says: waking up for nothing costs little. */
const LONGEST_SLEEP_MS = 86_400_000;

type Step = (context: IExecuteFunctions) => Promise<INodeExecutionData[]>;

/** What somebody else has written into it counts as too many. */
const roundsSchema = z.number().int().min(0).default(0).catch(MOST_ROUNDS);

/**
 * Runs the checks in an execution of their own, and again when that has died.
 *
 * @param firstAwakeMs so long may the first one wait in memory; with 0 it sleeps at once, and so does this execution
 */
const keepWaiting =
	(firstAwakeMs: number): Step =>
	async (context) => {
		const memory = context.getContext('flow') as { rounds?: unknown; slept?: boolean; audience?: unknown };
		const rounds = roundsSchema.parse(memory.rounds);
		// Before anything else: whatever happens below, n8n goes round again.
		memory.rounds = rounds + 1;
		const rows = parseRows(context.getInputData()) ?? rowsOfStart(context, rounds > 0);
		if (rows.every((row) => ticketOf(row) === undefined)) return rows;
		const isOver = rounds >= MOST_ROUNDS || (rounds > 0 && (await new Audience(context, memory).isGone()));
		if (isOver) return rows.map(givenUp);
		// In a later round the node is asleep, and this execution should be, too, before anything else happens.
		const input = { rows, awakeMs: rounds === 0 ? firstAwakeMs : 0 } as unknown as IDataObject;
		const checks = await untilStopped(
			context,
			async () =>
				await context.executeWorkflow({ code: waitForTasks(context.getNode()) }, [{ json: input }], undefined, {
					parentExecution: {
						executionId: context.getExecutionId(),
						workflowId: String(context.getWorkflow().id),
						shouldResume: true,
					},
					returnLastRunOnly: true,
				}),
		);
		memory.slept ||= Boolean(checks.waitTill);
		return checks.waitTill ? rows : (checks.data[0] ?? []);
	};

const checksInput = z.object({ rows: z.unknown(), awakeMs: z.number().min(0).max(FIRST_AWAKE_MS) });

/** Checks the tasks of its input until all have finished. What it puts out before it sleeps is what is left when it dies. */
const checkUntilFinished: Step = async (context) => {
	const memory = context.getContext('node') as { rows?: unknown; audience?: unknown };
	const { rows: given, awakeMs } = checksInput.catch({ awakeMs: 0 }).parse(context.getInputData()[0]?.json);
	const isFirst = memory.rows === undefined;
	const before = requireRows(memory.rows ?? given);
	const audience = new Audience(context, memory);
	if (!isFirst && (await audience.isGone())) return before.map(givenUp);
	const check = async (signal: AbortSignal) =>
		await checkTasks(context, before, { awakeUntilMs: isFirst ? Date.now() + awakeMs : Infinity, signal });
	const { done, isOver } =
		isFirst && awakeMs === 0
			? { done: { rows: before, wakeAtMs: Date.now() + SHORTEST_SLEEP_MS }, isOver: false }
			: await whileWanted(context, audience, check);
	const { rows, wakeAtMs } = done;
	if (rows.every((row) => ticketOf(row) === undefined)) {
		delete memory.rows;
		return rows;
	}
	if (isOver || wakeAtMs === undefined || (await audience.isGone())) return rows.map(givenUp);
	memory.rows = rows;
	await context.putExecutionToWait(new Date(Math.min(wakeAtMs, Date.now() + LONGEST_SLEEP_MS)));
	return rows;
};

/** The output of the node, or its error, once all have finished; until then the rows. A node that is still awake makes it itself. */
const finish =
	(onError: OnError): Step =>
	async (context) => {
		const { slept } = context.getContext('flow');
		const input = context.getInputData();
		const own = parseRows(input);
		// A dead execution may leave anything.
		const rows = own ?? rowsOfStart(context);
		if (slept === true && rows.every((row) => ticketOf(row) === undefined))
			return await Promise.resolve(handOut(context, rows, onError, context.getExecutionId()));
		// The very items that came in: n8n stores them once then.
		return own ? input : rows;
	};

/** What the node would have put out, for the workflow that is to be started. */
const results: Step = async (context) =>
	await Promise.resolve(handOut(context, requireRows(context.getInputData()), 'continueRegularOutput'));

/**
 * All tasks, as they were handed over.
 *
 * @param isForced also where they are nothing like that: it goes round, and has to end
 */
function rowsOfStart(context: IExecuteFunctions, isForced = false): Row[] {
	const { $ } = context.getWorkflowDataProxy(0) as unknown as {
		$: (node: string) => { all: () => INodeExecutionData[] };
	};
	let items = context.getInputData();
	try {
		items = $('Start').all();
	} catch {
		// There is no such node: then this is no sub-workflow of ours.
	}
	const rows = salvageRows(items) ?? (isForced ? atLeastOne(items).map(salvageRow) : undefined);
	if (rows === undefined) throw formError('notForWorkflows', {});
	return rows;
}

/** No items would not end it. */
const atLeastOne = (items: INodeExecutionData[]) => (items.length > 0 ? items : [{ json: {} }]);

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
