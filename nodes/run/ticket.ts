import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';
import { MOST_REQUESTS_PER_SECOND } from '../../core/http/requestLimiter';
import { isPlainObject } from '../../core/json';
import { LONGEST_ID } from '../form/fields';
import { LONGEST_TIMEOUT_MINUTES, outputFieldOption, resultPathOption } from '../form/options';

/** Characters. */
export const LONGEST_STATUS = 200;
/** The last time that can be told. */
const LAST_MS = 8.64e15;
/** URLs of a request. What is uploaded for it adds a few. */
export const MOST_SENT = 1_000;

const unixMs = z.number().min(0).max(LAST_MS);

/**
 * What another execution needs to know to wait for a task of this one and to deliver its result. It is stored in n8n's
 * database, and n8n's users can write it themselves: so it says nothing of where the service is or how it is
 * reached, and everything in it has bounds, which are those of the form: it is checked when it is written, before anything
 * is sent. Never the key, the prompt or bytes.
 */
export const ticketSchema = z.object({
	taskId: z.string().min(1).max(LONGEST_ID),
	kind: z.enum(['image', 'video']),
	/** Created by Generate: then an ID that the service does not know is not a wrong one. */
	isOurs: z.boolean(),
	/** How the wait stands, for the next check and for messages. */
	acceptedAtMs: unixMs.optional(),
	startedAtMs: unixMs,
	timeoutMs: z
		.number()
		.min(0)
		.max(LONGEST_TIMEOUT_MINUTES * 60_000),
	onTimeout: z.enum(['error', 'return']),
	plan: z.discriminatedUnion('kind', [
		z.object({ kind: z.literal('automatic') }),
		z.object({ kind: z.literal('fixed'), intervalMs: z.number().min(1000) }),
	]),
	// What the service has said of it since is no reason to give it up.
	looks: z
		.array(z.object({ atMs: z.number(), progress: z.number().optional() }))
		.max(12)
		.optional()
		.catch(undefined),
	dueAtMs: unixMs.optional().catch(undefined),
	status: z.string().max(LONGEST_STATUS).optional().catch(undefined),
	progress: z.number().optional().catch(undefined),
	requestsPerSecond: z.number().min(1).max(MOST_REQUESTS_PER_SECOND),
	/** How the result is wanted. */
	model: z.string().max(LONGEST_ID).optional(),
	downloadResult: z.boolean(),
	downloadLink: z.boolean(),
	outputField: z.string().max(outputFieldOption.maxLength),
	fileName: z.string().max(300),
	simplify: z.boolean(),
	resultPath: z.string().max(resultPathOption.maxLength),
	sent: z.array(z.string()).max(2 * MOST_SENT),
	urlExpected: z.boolean(),
	resultNeeded: z.boolean(),
	/** The fields of the input item, where they are to be passed on. */
	input: z.custom<IDataObject>(isPlainObject).optional(),
});

export type Ticket = z.infer<typeof ticketSchema>;

/** What is wrong with it, in words; undefined where it can be read again. */
export function wrongWith(ticket: Ticket): string | undefined {
	const [issue] = ticketSchema.safeParse(ticket).error?.issues ?? [];
	return issue && `${issue.path.join('.')}: ${issue.message}`;
}
