/**
 * What can go wrong between this package and the service, as past facts. Every error says what happened in
 * `message` and how to go on in `description`; the service's own words are quoted in the description only.
 * Nothing here may ever hold the API key: errors are built from parsed answers, never from requests.
 */
export type GatewayErrorKind =
	| 'badInput' // known before anything was sent
	| 'authentication' // 401
	| 'balance' // 402
	| 'permission' // 403
	| 'notFound' // 404
	| 'rejected' // any other 4xx: the request itself is not acceptable
	| 'contentPolicy' // the same request will be refused again
	| 'rateLimited' // 429 for longer than we repeat
	| 'unavailable' // the service or a proxy in front of it is in trouble
	| 'unreachable' // no connection
	| 'unexpectedAnswer' // an answer that is not this service's
	| 'outcomeUnknown' // a creating request may or may not have been accepted
	| 'taskFailed'
	| 'taskTimedOut'
	| 'noResult' // completed, but without a result URL
	| 'download'
	| 'notSubmitted' // held back because of what happened to another item
	| 'stopped';

/** What is known of a task when something goes wrong with it: enough to continue from there. */
export interface TaskReference {
	taskId: string;
	/** The last status word seen; `queued` right after acceptance (contract 3.1). */
	status: string;
	progress?: number;
	/** Milliseconds since the task was accepted, or since waiting for it began. */
	elapsedMs: number;
	urls?: string[];
}

export interface GatewayErrorDetails {
	description?: string;
	httpStatus?: number;
	/** The service's own words, untranslated. */
	serviceMessage?: string;
	/** The service's error code, such as `content_policy_violation`. */
	serviceCode?: string;
	task?: TaskReference;
	/** True when the same request would meet the same end: a retry must not create the task anew. */
	permanent?: boolean;
	/** The label of the form field that is at fault. */
	field?: string;
	/** How long the service asks to be left alone, in milliseconds. */
	retryAfterMs?: number;
}

export class GatewayError extends Error {
	readonly kind: GatewayErrorKind;

	readonly details: GatewayErrorDetails;

	constructor(kind: GatewayErrorKind, message: string, details: GatewayErrorDetails = {}) {
		super(message);
		this.name = 'GatewayError';
		this.kind = kind;
		this.details = details;
	}

	get task(): TaskReference | undefined {
		return this.details.task;
	}

	get description(): string | undefined {
		return this.details.description;
	}

	/** The same error, naming the task that it happened to. */
	withTask(task: TaskReference): GatewayError {
		const known = this.message.includes(task.taskId);
		const message = known ? this.message : `${this.message} (task ${task.taskId})`;
		return new GatewayError(this.kind, message, { ...this.details, task });
	}
}

/** True for an answer after which the account cannot buy anything more: submitting goes on in vain. */
export function endsSubmitting(error: GatewayError): boolean {
	return (
		error.kind === 'authentication' || error.kind === 'balance' || error.kind === 'permission'
	);
}

export function stoppedError(task?: TaskReference): GatewayError {
	return new GatewayError('stopped', 'The execution was stopped', { task });
}

/** What goes wrong with this task names it, so that nobody has to look for its ID. A stop is not about the task. */
export async function namingTask<T>(task: TaskReference, work: Promise<T>): Promise<T> {
	try {
		return await work;
	} catch (thrown) {
		const error = asGatewayError(thrown);
		throw error.kind === 'stopped' ? error : error.withTask(task);
	}
}

/** Anything that was thrown, as a GatewayError: what is not ours is quoted, never passed on as an object. */
export function asGatewayError(thrown: unknown): GatewayError {
	if (thrown instanceof GatewayError) return thrown;
	const words = thrown instanceof Error ? thrown.message : String(thrown);
	return new GatewayError('unavailable', 'The request could not be completed', {
		description: `What was reported: ${words}`,
	});
}
