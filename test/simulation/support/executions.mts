/** n8n's executions, in its memory and in its database. */
import type { IDataObject } from 'n8n-workflow';
import type { Case } from './cases.mts';
import type { SubExecution } from './subExecutions.mts';
import type { Owner } from './time.mts';

/** One life of a process of n8n. */
export interface Process extends Owner {
	/** The name of its part of the memory, so that this does not outlive it. */
	name: string;
	diedAtMs?: number;
	/** Its machine began to stand still. */
	silentAtMs?: number;
	/** n8n has taken it for dead while its machine stood still: it goes on beside what n8n has put in its place. */
	isTakenForDead?: true;
}

/** The state of an execution, in the database or in memory. */
export interface State {
	/** The next round of the loop. */
	round: number;
	/** The number of runs of the node, one that n8n has invented after a crash included. */
	runs: number;
	isFirstRunMadeUp: boolean;
	/** The node's context. */
	store: IDataObject;
	/** An error of a sub-execution is stored and thrown again. */
	resumeError?: string;
}

/** The executions that belong to one start of the workflow. */
export interface Origin {
	drawn: Case;
	name: string;
	/** The beginning of the names of its items: with a Purchase Key, all executions share it. */
	family: string;
	/** n8n has it from its beginning on, and every retry has the same. */
	establishedAtMs: number;
	/** The names of the items of each round. */
	names: string[][];
	retriesLeft: number;
	/** Aborts when the user stops it. */
	stop: AbortController;
	/** The same, for the process that it is awake in: a dead one hears nothing. */
	stopHere: AbortController;
	/** After the beginning of the simulation. */
	stoppedAtMs?: number;
	/** The number of times that it, or a retry of it, has died, or was taken for dead. */
	crashes: number;
	/** The number of times that its machine has stood still. */
	silences: number;
	/** The number of times that the execution behind it, which passes its results on, has died while it was awake. */
	handOverCrashes: number;
	/** The times at which an execution that submits and polls for it has died. */
	pollerDeathsAtMs: number[];
	/** The time at which a person has stopped one of these first. */
	pollerStoppedAtMs?: number;
	/** n8n has failed to save such an execution while it went on. */
	lostSavings: number;
	/** Times at which n8n has thrown away what it had saved of such an execution, or of the one behind it. */
	thrownAway: number;
	/** The times that a person has stopped an execution that a node has started. */
	subStops: number;
	executions: Execution[];
}

export interface Execution {
	origin: Origin;
	id: string;
	/** 0: the first, 1: its first retry. */
	number: number;
	mode: 'trigger' | 'retry';
	/** A retry: the end of what it repeats. */
	repeats?: Execution['status'];
	/** The number of places by which the items have moved since the first execution. */
	moved: number;
	status: 'running' | 'waiting' | 'success' | 'error' | 'crashed' | 'canceled' | 'lost';
	process: Process;
	saved: State;
	live: State;
	/** After the beginning of the simulation, with what its time passes. */
	startedAtMs: number;
	/** n8n's own log of events says that the node has begun. */
	hasBegun: boolean;
	/** The value of Submit Again for Run by then. */
	submitAgainFor?: string;
	wasHandedOn: boolean;
	/** It has put itself to sleep, with the sub-execution that it waits for. */
	sleepsFor?: SubExecution;
}

/** The names of the items of a round, in the sequence in which the execution has them. */
export function namesIn({ origin, moved }: Pick<Execution, 'origin' | 'moved'>, round: number): string[] {
	const names = origin.names[round] ?? [];
	return names.map((_, index) => names[(index + moved) % names.length] as string);
}
