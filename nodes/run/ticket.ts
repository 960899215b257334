import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';
import { MOST_REQUESTS_PER_SECOND } from '../../core/http/requestLimiter';
import { isPlainObject } from '../../core/json';
import { LONGEST_TIMEOUT_MINUTES } from '../form/options';

const unixMs = z.number().min(0);

/**
 * What another execution needs to know to wait for a task of this one and to deliver its result. It is stored in n8n's
 * database, and n8n's users can write it themselves: so it says nothing of where the service is or how it is
 * reached, and everything in it has bounds. Never the key, the prompt or bytes.
 */
export const ticketSchema = z.object({
	taskId: z.string().min(1).max(1000),
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
	looks: z
		.array(z.object({ atMs: z.number(), progress: z.number().optional() }))
		.max(12)
		.optional(),
	dueAtMs: unixMs.optional(),
	status: z.string().max(200).optional(),
	progress: z.number().optional(),
	requestsPerSecond: z.number().min(1).max(MOST_REQUESTS_PER_SECOND),
	/** How the result is wanted. */
	model: z.string().max(1000).optional(),
	downloadResult: z.boolean(),
	downloadLink: z.boolean(),
	outputField: z.string().max(200),
	fileName: z.string().max(300),
	simplify: z.boolean(),
	resultPath: z.string().max(1000),
	sent: z.array(z.string()).max(1000),
	urlExpected: z.boolean(),
	resultNeeded: z.boolean(),
	/** The fields of the input item, where they are to be passed on. */
	input: z.custom<IDataObject>(isPlainObject).optional(),
});

export type Ticket = z.infer<typeof ticketSchema>;
