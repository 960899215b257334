import type { CreatedThing, GatewayError, TaskReference } from '../errors';

/** The part of a record that counts for waiting, whatever kind of thing is waited for. */
export interface PollStatus {
	state: 'pending' | 'done' | 'failed';
	/** The status word, for messages. */
	status: string;
	/** 0 to 100. */
	progress?: number;
	/** The model, where the caller does not know it: how long a task takes depends on it. */
	model?: string;
	/** The time of creation, by the service's own clock. Unix milliseconds. */
	createdAtMs?: number;
	/** The service asks for a pause before the next poll. */
	retryAfterMs?: number;
}

/** Something to wait for. */
export interface PollTarget<R> {
	thing: CreatedThing;
	/** Named in every error. The wait keeps status, progress and time up to date. */
	task: TaskReference;
	/** One poll; throws a GatewayError otherwise. */
	fetch: () => Promise<R>;
	statusOf(record: R): PollStatus;
	/** The error of a failed record. */
	toFailure(record: R): GatewayError;
	/**
	 * Says what the error of a poll means for this kind of thing: `passing` to go on, an error to end the wait with.
	 * Undefined: the general rule decides.
	 */
	classifyError?: (error: GatewayError, poll: PollTimes) => 'passing' | GatewayError | undefined;
}

/** Milliseconds, by the clock of the wait. */
export interface PollTimes {
	atMs: number;
	/** The first poll of this wait. */
	firstAtMs: number;
}
