import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import { gatewayError } from '../../core/errors';
import { isPlainObject, type JsonObject } from '../../core/json';
import { describe } from '../errors/advice';
import { LONGEST_ID } from '../form/fields';
import { toErrorFields } from '../run/runItems';
import { ticketSchema, type Ticket } from '../run/ticket';

/**
 * One item on its way through the sub-workflows. It always has an `error`, and nothing beside it but `message` and
 * `details`: if n8n ever hands it to the workflow as it is, because it died just then, it is loudly no result, and goes
 * to the error output. Hand Out makes the real output of it.
 */
export interface Row extends INodeExecutionData {
	json: { error: string; message: string; details: RowDetails };
}

type RowDetails = IDataObject & {
	task_id?: string;
	ticket?: Ticket & IDataObject;
	outcome?: IDataObject;
	hints?: string[];
};

const rowSchema = z
	.object({
		json: z.object({
			error: z.string(),
			message: z.string(),
			details: z
				.object({
					ticket: ticketSchema.optional(),
					outcome: z.record(z.unknown()).optional(),
					hints: z.array(z.string()).optional(),
				})
				.passthrough()
				.refine(({ ticket, outcome }) => (ticket === undefined) !== (outcome === undefined)),
		}),
	})
	.passthrough();

/** The rows that somebody, n8n or a person, has written; undefined where they are none. */
export function parseRows(value: unknown): Row[] | undefined {
	const parsed = z.array(rowSchema).min(1).safeParse(value);
	return parsed.success ? (parsed.data as unknown as Row[]) : undefined;
}

/**
 * The same where some of them have been damaged: one that cannot be read has ended, and says so. Undefined where there is
 * nothing like a row.
 */
export function salvageRows(items: INodeExecutionData[]): Row[] | undefined {
	return items.some(isLikeRow) ? items.map(salvageRow) : undefined;
}

export function salvageRow(item: INodeExecutionData): Row {
	const parsed = rowSchema.safeParse(item);
	if (parsed.success) return parsed.data as unknown as Row;
	const { ticket, task_id: known } = detailsOf(item);
	const id = [isPlainObject(ticket) ? ticket.taskId : undefined, known].find(isId);
	const task = id === undefined ? undefined : { taskId: id, elapsedMs: 0 };
	return finishedRow({
		json: toErrorFields(gatewayError('rowUnreadable', { id }), task, { operation: 'waitForTask' }),
	});
}

const isLikeRow = (item: INodeExecutionData) => 'ticket' in detailsOf(item) || 'outcome' in detailsOf(item);
const isId = (id: unknown): id is string => typeof id === 'string' && id !== '' && id.length <= LONGEST_ID;

function detailsOf({ json }: INodeExecutionData): JsonObject {
	return isPlainObject(json) && isPlainObject(json.details) ? json.details : {};
}

export function unfinishedRow(ticket: Ticket): Row {
	return toRow(ticket.taskId, { ticket: ticket as Ticket & IDataObject });
}

/** What came of an item: its output, or the fields of the error that it ended with. */
export function finishedRow(
	{ json, binary }: Pick<INodeExecutionData, 'json' | 'binary'>,
	hints: Iterable<string> = [],
): Row {
	const id = json.task_id === undefined ? undefined : String(json.task_id);
	const said = [...hints];
	return {
		...toRow(id, { outcome: json, ...(said.length > 0 ? { hints: said } : {}) }),
		...(binary ? { binary } : {}),
	};
}

function toRow(id: string | undefined, details: RowDetails): Row {
	const error = gatewayError('notHandedOut', { id });
	return {
		json: {
			error: error.message,
			message: describe(error, { way: 'runAgain' }),
			details: { ...(id === undefined ? {} : { task_id: id }), ...details },
		},
	};
}

export const ticketOf = ({ json }: Row): Ticket | undefined => json.details.ticket;

/** Of the node that waits for the task: what the advice depends on. */
export const operationOf = ({ isOurs }: Ticket): string => (isOurs ? 'generate' : 'waitForTask');

/** Without `error` it is a success. */
export function outcomeOf({ json }: Row): IDataObject {
	return isPlainObject(json.details.outcome) ? json.details.outcome : {};
}
