import { z } from 'zod';
import { creditsNote } from '../account/runCredits';
import { unixMs } from '../clock';

/** The most tasks of a run at once. */
export const MOST_CONCURRENT_TASKS = 10_000;

/** Retry On Fail of the node, which n8n does not apply to an execution that has slept. */
const retrySchema = z.object({
	tries: z.number().int().min(2).max(5),
	pauseMs: z.number().min(0).max(5000),
	/** The tries so far. */
	tried: z.number().int().min(0),
	/** n8n runs a node that continues on error again only if its first item has failed. */
	onlyIfFirstFails: z.boolean(),
});

/** The run whose journal the executions go on with that it was handed to. */
const runSchema = z.object({
	/** The names of workflow and node, as the rows show them. */
	workflow: z.string().max(2000),
	node: z.string().max(2000),
	nodeId: z.string().max(200),
	/** n8n's time of the first try, in Unix milliseconds: a sub-execution has another one. */
	establishedAtMs: z.union([z.number(), z.string().max(100)]),
	runIndex: z.number().int().min(0),
	/** The execution of the first try. */
	first: z.string().max(2000),
	/** The execution of the node that has handed it over: a retry, or the same. */
	by: z.string().max(100),
	/** The number of the next row. */
	nextNumber: z.number().int().min(0),
	/** The execution of the node has sent a request, and has left its mark. */
	isMarked: z.boolean(),
	/** Its lease, where it has written one: as long as that is there, the table was not cleared. */
	lease: z.string().max(2000).optional(),
	/** As `ignored` of a claim, of the execution of the node. Of more, none: a hand-over that cannot be read would be worse. */
	ignored: z.array(z.string().max(2000)).max(20).optional().catch(undefined),
	/** The ID of the table with its rows. */
	table: z.string().max(200).optional(),
	/** The entries of the ledger about orders that are still to be submitted, by item: a retry has those of the tries before. */
	ledger: z.record(z.string().max(20), z.unknown()).optional().catch(undefined),
});

/** The claim of a poller, which its supervisor has made before it has started it. */
const claimSchema = z.object({
	/** The name of its lease. */
	lease: z.string().max(2000),
	/** Names of leases that n8n may still write: their inserts were given up. */
	ignored: z.array(z.string().max(2000)).max(20).optional(),
	/** The lease before it, which has to be there when the rows are read. */
	after: z.string().max(2000).optional(),
	/** The reason why the lease is not in the table: without it, nothing may be submitted. */
	error: z.string().max(2000).optional(),
	/** The reason why rows do not tell all that was sent, for messages. */
	gap: z.string().max(2000).optional(),
});

export type PollerClaim = z.infer<typeof claimSchema>;

/** The facts about a run whose orders go on in another execution: the same for all of them. */
export const handOverSchema = z.object({
	/** Concurrent Tasks. */
	concurrency: z.number().int().min(1).max(MOST_CONCURRENT_TASKS),
	/** On Error is Stop Workflow: after an error nothing more is submitted. */
	stopsAtError: z.boolean(),
	retry: retrySchema.optional(),
	/** A poller that begins later looks at each task once, and submits nothing. */
	deadlineMs: unixMs,
	/** Absent where nothing can be bought. */
	run: runSchema.optional(),
	claim: claimSchema.optional(),
	/** For Report Credits. */
	credits: creditsNote.optional(),
	/** The outermost execution that waits for the run, where executions around it do not: see `parentExecutions.ts`. */
	outermost: z.string().max(100).optional(),
});

export type HandOver = z.infer<typeof handOverSchema>;
