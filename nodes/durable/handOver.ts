import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { onAbort } from '../../core/abort';
import { realClock } from '../connection/transport';
import { HINTS } from '../run/hints';
import type { Run } from '../run/run';
import { readBackground, startInBackground } from './background';
import { checkTasks } from './checkTasks';
import { handOut, onErrorOf } from './handOut';
import { obstacle } from './obstacle';
import { finishedRow, outcomeOf, parseRows, unfinishedRow, type Row } from './rows';
import { steps } from './steps';
import { untilStopped } from './stops';
import { waitAndHandOut } from './subWorkflow';

/** Where a node waits, and which hidden operations help it. */
export const durable = { steps, obstacle, readBackground, handOver };

/** Hands the tasks of the run to a sub-execution. Returns the output, if all have finished soon; otherwise the execution sleeps. */
async function handOver(
	context: IExecuteFunctions,
	run: Run,
	output: INodeExecutionData[],
): Promise<INodeExecutionData[]> {
	if (run.background) return await startInBackground(context, run, output, run.background);
	const rows = output.map((item, index): Row => {
		const ticket = run.tickets?.get(index);
		return ticket === undefined ? finishedRow(item) : unfinishedRow(ticket);
	});
	const stopped = stopOf(context);
	try {
		const ended = await Promise.race([stopped.promise, waitInSubExecution(context, run, rows)]);
		if (ended === undefined) {
			run.log.stopped();
			return [];
		}
		if ('asleep' in ended) {
			run.hints.add(HINTS.asleep({ id: ended.asleep }));
			// n8n would take it for the outcome of a try.
			return context.getNode().retryOnFail
				? rows.map(({ json: { error, ...rest } }) => ({ json: { ...rest, asleep: error } }))
				: rows;
		}
		for (const { json } of ended.rows) {
			for (const hint of json.details.hints ?? []) run.hints.add(hint);
			if (json.details.task_id !== undefined) run.log.finished(json.details.task_id);
		}
		const items = handOut(context, ended.rows, onErrorOf(context), ended.keptIn);
		if (ended.rows.every((row) => outcomeOf(row).error === undefined)) run.ledger.clearRun();
		return items;
	} finally {
		stopped.forget();
	}
}

type Ended = { asleep: string } | { rows: Row[]; keptIn?: string };

async function waitInSubExecution(context: IExecuteFunctions, run: Run, rows: Row[]): Promise<Ended> {
	const node = context.getNode();
	try {
		const startWaiting = async () =>
			await context.executeWorkflow({ code: waitAndHandOut(node, onErrorOf(context)) }, rows, undefined, {
				parentExecution: {
					executionId: context.getExecutionId(),
					workflowId: String(context.getWorkflow().id),
					shouldResume: true,
				},
				returnLastRunOnly: true,
			});
		const { executionId, waitTill, data } = await untilStopped(context, startWaiting);
		if (waitTill) return { asleep: executionId };
		const ended = parseRows(data[0]);
		if (ended?.length !== rows.length) throw new Error('it gave no results');
		return { rows: ended, keptIn: executionId };
	} catch (thrown) {
		if (context.getExecutionCancelSignal()?.aborted) return { rows };
		// The tasks are paid for: whatever n8n does not allow, their results are wanted.
		const why = thrown instanceof Error ? thrown.message : String(thrown);
		context.logger.warn(
			`Generation Gateway: n8n did not run the sub-execution (${why}), node "${node.name}" waits in memory, execution ${context.getExecutionId()}`,
		);
		run.hints.add(HINTS.awakeRefused({ words: why }));
		return { rows: await waitInMemory(context, rows) };
	}
}

async function waitInMemory(context: IExecuteFunctions, rows: Row[]): Promise<Row[]> {
	const signal = context.getExecutionCancelSignal();
	for (;;) {
		const checked = await checkTasks(context, rows, { awakeUntilMs: Infinity, signal });
		if (checked.wakeAtMs === undefined || signal?.aborted) return checked.rows;
		await realClock.sleep(checked.wakeAtMs - Date.now(), signal);
		rows = checked.rows;
	}
}

/** Resolves when the user stops the execution: n8n does not end what it waits for. */
function stopOf(context: IExecuteFunctions): { promise: Promise<undefined>; forget: () => void } {
	let forget = () => {};
	const promise = new Promise<undefined>(
		(resolve) => (forget = onAbort(context.getExecutionCancelSignal(), () => resolve(undefined))),
	);
	return { promise, forget };
}
