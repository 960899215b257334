import { z } from 'zod';
import { LONGEST_MODELS } from '../account/spendingRun';
import { MOST_REQUESTS_PER_SECOND } from '../account/pace';

/** Far more than a run has: a wave is half a second long. */
export const MOST_WAVES = 1_000_000;

/** The most tasks of a run at once. */
export const MOST_CONCURRENT_TASKS = 10_000;

/** The run of a node, where its orders go on in another execution: the same for all of them. */
export const batchSchema = z.object({
	/** The name of the try that has handed it over: see `writeAheadLog.ts`. */
	name: z.string().max(200),
	/** Concurrent Tasks: the most places that its tasks may take at once. */
	places: z.number().int().min(1).max(MOST_CONCURRENT_TASKS),
	/** The most requests per second. */
	requestsPerSecond: z.number().min(1).max(MOST_REQUESTS_PER_SECOND),
	/** On Error is Stop Workflow: after an error nothing more is submitted. */
	stopsAtError: z.boolean(),
	/** The node's setting Retry On Fail, and the tries so far. */
	retry: z
		.object({
			tries: z.number().int().min(2).max(5),
			pauseMs: z.number().min(0).max(5000),
			tried: z.number().int().min(0),
		})
		.optional(),
	/** The number of waves so far: see `waveLog.ts`. */
	waves: z.number().int().min(0).max(MOST_WAVES),
	/** For Report Credits: see `core/account/runCredits.ts`. */
	credits: z
		.object({
			usedBefore: z.number().optional(),
			shared: z.boolean().optional(),
			models: z.string().max(LONGEST_MODELS).optional(),
		})
		.optional(),
	/** The number of the next orders that may have been sent before a crash, because n8n could not save it. */
	inDoubt: z.number().int().min(0).optional(),
	/** Another execution has worked on it and died: it may have begun waves of which the orders do not know. */
	isTakenOver: z.boolean().optional(),
	/** The outermost execution that waits for the run, where executions around it do not: see `parentExecutions.ts`. */
	outermost: z.string().max(100).optional(),
});

export type Batch = z.infer<typeof batchSchema>;
