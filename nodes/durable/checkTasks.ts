import type { IExecuteFunctions } from 'n8n-workflow';
import { asGatewayError, gatewayError, type TaskReference } from '../../core/errors';
import { runTasks, type JobControls, type TaskJob } from '../../core/tasks/runTasks';
import { SharedNap, type Span } from '../../core/tasks/sharedNap';
import { createClient } from '../connection/createClient';
import { realClock } from '../connection/transport';
import { Parameters } from '../form/parameters';
import { waitAndDeliver } from '../generation/deliver';
import { LONGEST_STATUS, type Ticket } from '../run/ticket';
import { Item } from '../run/item';
import { toErrorFields } from '../run/runItems';
import { finishedRow, operationOf, ticketOf, unfinishedRow, type Row } from './rows';

/** The latest checks: what the plan needs. */
const LOOKS_KEPT = 12;

export interface Checked {
	rows: Row[];
	/** When somebody has to check again, in Unix milliseconds; undefined when everything has finished. */
	wakeAtMs?: number;
}

interface CheckOptions {
	/** Waiting in memory ends here at the latest. Unix milliseconds. */
	awakeUntilMs: number;
	/** Aborts when nobody wants the results any more. */
	signal?: AbortSignal;
}

/** Waits in memory until every task has finished, or has nothing near. Each finished one is delivered at once, files included. */
export async function checkTasks(
	context: IExecuteFunctions,
	rows: Row[],
	{ awakeUntilMs, signal }: CheckOptions,
): Promise<Checked> {
	const tickets = rows.flatMap((row) => ticketOf(row) ?? []);
	const [first] = tickets;
	if (first === undefined) return { rows };
	const parameters = new Parameters(context, context.getNode());
	const nap = new SharedNap(realClock, tickets.length, awakeUntilMs);
	const client = await createClient(context, { requestsPerSecond: first.requestsPerSecond, signal });

	const checkOne = async (ticket: Ticket, index: number, controls: JobControls): Promise<Row> => {
		const {
			taskId,
			kind,
			acceptedAtMs,
			startedAtMs,
			timeoutMs,
			plan,
			onTimeout,
			looks = [],
			input = {},
			isOurs,
			sent,
			...delivery
		} = ticket;
		const task: TaskReference = {
			taskId,
			status: ticket.status,
			progress: ticket.progress,
			elapsedMs: Date.now() - startedAtMs,
		};
		const hints = new Set<string>();
		const span: Span = {
			startedAtMs: acceptedAtMs ?? startedAtMs,
			deadlineMs: startedAtMs + timeoutMs,
			isFixed: plan.kind === 'fixed',
			dueAtMs: ticket.dueAtMs,
		};
		try {
			const { json, binary } = await waitAndDeliver(
				client,
				task,
				{ ...delivery, kind, hints, sent: new Set(sent), item: new Item(parameters, index, { json: {} }) },
				{ ...controls, signal: AbortSignal.any([controls.signal, nap.signal]) },
				{ plan, startedAtMs, acceptedAtMs, timeoutMs, onTimeout, looks, clock: nap.clockOf(span) },
			);
			return finishedRow({ json: { ...input, ...json }, binary }, hints);
		} catch (thrown) {
			const error = asGatewayError(thrown);
			if (error.kind === 'stopped') {
				// Without a beginning, the times of these checks would not fit those of the next ones.
				const kept = acceptedAtMs === undefined ? [] : looks.slice(-LOOKS_KEPT);
				return unfinishedRow({
					...ticket,
					status: task.status?.slice(0, LONGEST_STATUS),
					progress: task.progress,
					looks: kept,
					dueAtMs: span.dueAtMs,
				});
			}
			const known =
				error.kind === 'notFound' && isOurs
					? gatewayError('createdTaskNotFound', { id: taskId, mediaKind: kind }, error.details)
					: error;
			return finishedRow(
				{ json: { ...input, ...toErrorFields(known, known.task ?? task, { operation: operationOf(ticket) }) } },
				hints,
			);
		}
	};

	const next = [...rows];
	const jobs = rows.flatMap((row, index): Array<TaskJob<void>> => {
		const ticket = ticketOf(row);
		if (ticket === undefined) return [];
		return [
			{
				run: async (controls) => {
					next[index] = await checkOne(ticket, index, controls);
					nap.finished();
				},
			},
		];
	});
	await runTasks(jobs, { concurrency: jobs.length, continueOnError: true, signal });
	return { rows: next, wakeAtMs: nap.until };
}
