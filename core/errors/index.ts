import { REASONS, entryOf, toCode, type DataOf, type ErrorReason, type Reason } from './catalogue';
import { passesByItself, type GatewayErrorKind } from './kinds';
import type { NamedRun } from './catalogueEntry';

export type { GatewayErrorKind } from './kinds';
export type { CreatedThing } from './things';

/** A task that something happened to, with all that is needed to continue from there. */
export interface TaskReference {
	taskId: string;
	/** The last status word seen; `queued` right after acceptance (contract 3.1); absent when none was seen. */
	status?: string;
	progress?: number;
	/** Milliseconds since the task was accepted, or since waiting for it began. */
	elapsedMs: number;
	urls?: string[];
}

export interface GatewayErrorDetails {
	reason?: ErrorReason;
	/** The more exact reason, where the service's own words tell it. */
	serviceReason?: ErrorReason;
	/** Other things that are wrong with the same request. */
	others?: GatewayError[];
	httpStatus?: number;
	/** The service's own words, untranslated. They are quoted below the message, never in it. */
	serviceMessage?: string;
	/** A short view of an answer that has no words. */
	serviceAnswer?: string;
	/** The service's error code, such as `content_policy_violation`. */
	serviceCode?: string;
	task?: TaskReference;
	/** True when the same request would meet the same end: a retry must not create the task again. */
	permanent?: boolean;
	/** The pause that the service asks for, in milliseconds. */
	retryAfterMs?: number;
	/** Present where a creating request was surely not accepted, and another try is worth it. Gone when the error is thrown on. */
	again?: {
		/** No connection could be made, or n8n was too slow: it is tried a few times. */
		isConnection?: boolean;
		/** It was not sent, because its turn comes so much later than it could wait. */
		lateByMs?: number;
	};
	/** The value that was thrown before. Never an error of an HTTP client: those carry the request, and with it the API key. */
	cause?: unknown;
}

/** Anything that stops an item. Nothing here may ever hold the API key: it is built from parsed answers, never from requests. */
export class GatewayError extends Error {
	constructor(
		readonly kind: GatewayErrorKind,
		message: string,
		readonly details: GatewayErrorDetails = {},
	) {
		super(message, { cause: details.cause });
		this.name = 'GatewayError';
	}

	get task(): TaskReference | undefined {
		return this.details.task;
	}

	/** The same error with facts for the advice that are known later: the time of the request, the run that has sent it. */
	about(more: { atMs?: number } & NamedRun): GatewayError {
		const { reason } = this.details;
		if (reason === undefined) return this;
		return new GatewayError(this.kind, this.message, {
			...this.details,
			reason: { ...reason, data: { ...(reason.data as object), ...more } } as ErrorReason,
		});
	}

	/** The same error, naming the task that it happened to. */
	withTask(task: TaskReference): GatewayError {
		const message = this.message.includes(task.taskId) ? this.message : `${this.message} (task ${task.taskId})`;
		return new GatewayError(this.kind, message, { ...this.details, task: { ...task } });
	}
}

/** The error for one of the reasons. */
export function gatewayError<R extends Reason>(
	reason: R,
	data: DataOf<R>,
	details: GatewayErrorDetails = {},
): GatewayError {
	const { kind = 'badInput', message, permanent } = REASONS[reason];
	return new GatewayError(kind, typeof message === 'string' ? message : message(data as never), {
		...details,
		permanent: details.permanent ?? permanent,
		reason: { name: reason, data } as ErrorReason,
	});
}

/**
 * The error of a value in a form or a credential.
 *
 * @param message begins with the label of the field
 * @param advice what to enter in its place
 */
export const invalidInput = (message: string, advice: string, details?: GatewayErrorDetails): GatewayError =>
	gatewayError('invalidInput', { message, advice }, details);

/** The name by which workflows tell errors apart. It never comes from the service. */
export function codeOf({ kind, details }: GatewayError): string {
	return toCode(details.reason?.name ?? kind);
}

/** True where others with the same scope, such as the model, would meet the same end. */
export function endsScope({ kind, details }: GatewayError): boolean {
	return kind === 'permission' || entryOf(details.reason?.name)?.ofScope === true;
}

export function stoppedError(task?: TaskReference): GatewayError {
	return gatewayError('executionStopped', {}, { task: task && { ...task } });
}

/** Adds the task to whatever error the work ends with, so that no person has to search for its ID. A stop is not about the task. */
export async function namingTask<T>(task: TaskReference, work: Promise<T>): Promise<T> {
	try {
		return await work;
	} catch (thrown) {
		const error = asGatewayError(thrown);
		throw error.kind === 'stopped' ? error : error.withTask(task);
	}
}

/** Anything that was thrown, as a GatewayError: what is none is a mistake of our own. */
export function asGatewayError(thrown: unknown): GatewayError {
	if (thrown instanceof GatewayError) return thrown;
	const words = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
	return gatewayError('packageBug', { words }, { cause: thrown });
}

/** True where a read that ended so may end otherwise a moment later. */
export function isTransient(error: GatewayError): boolean {
	if (passesByItself(error)) return true;
	// Without a status, nothing below is true.
	const status = error.details.httpStatus ?? NaN;
	// A 200 that is no record, or that says no without saying why, may be followed by a good one.
	const unclear = error.kind === 'unexpectedAnswer' || (error.kind === 'rejected' && !error.details.permanent);
	return isTransientStatus(status) || (status < 300 && unclear);
}

/** True where a read (which costs nothing and changes nothing) may get a better answer later. */
export function isTransientStatus(status: number): boolean {
	return status === 408 || status === 429 || status >= 500 || (status >= 300 && status < 400);
}
