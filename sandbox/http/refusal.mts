/**
 * The refusals of the service: one error type, and the four bodies in which gateways were seen to put it (field notes,
 * Errors).
 */

export const ERROR_SHAPES = ['success_false', 'object', 'string', 'message'] as const;
export type ErrorShape = (typeof ERROR_SHAPES)[number];

/** Thrown by any rule of the sandbox; the pipeline turns it into an answer. */
export class Refusal extends Error {
	constructor(
		readonly status: number,
		message: string,
		/** A word for programs, such as `invalid_request`; absent where the contract shows the whole body. */
		readonly code?: string,
		readonly headers: Record<string, string> = {},
	) {
		super(message);
		this.name = 'Refusal';
	}
}

/** 400: the request breaks a rule of the contract. */
export function invalidRequest(message: string): Refusal {
	return new Refusal(400, message, 'invalid_request');
}

/**
 * Body of a refusal. The default is contract section 7: `success: false` and a `message` string; the
 * others were seen (field notes, Errors).
 */
export function errorBody(
	status: number,
	message: string,
	code: string | undefined,
	shape: ErrorShape = 'success_false',
): Record<string, unknown> {
	switch (shape) {
		case 'object':
			return { error: { code: status, message, type: code ?? typeOf(status) } };
		case 'string':
			return { error: message };
		case 'message':
			return { message };
		case 'success_false':
			return code === undefined ? { success: false, message } : { success: false, message, code };
	}
}

/** Words for a status: those that were seen (field notes, Errors), and others in the same manner. */
const KNOWN: Record<number, { code: string; message: string; type?: string }> = {
	400: { code: 'invalid_request', message: 'The request is invalid' },
	401: { code: 'unauthorized', message: 'Authentication failed', type: 'authentication_error' },
	402: { code: 'insufficient_quota', message: 'The balance does not cover this request' },
	403: { code: 'forbidden', message: 'This key is not allowed to do that' },
	404: { code: 'task_not_found', message: 'Task not found' },
	408: { code: 'request_timeout', message: 'The request took too long' },
	422: { code: 'content_policy_violation', message: 'The prompt violates the content policy' },
	429: { code: 'rate_limit_exceeded', message: 'Too many requests' },
	500: { code: 'internal_error', message: 'Internal error' },
	502: { code: 'bad_gateway', message: 'Bad gateway' },
	503: { code: 'service_unavailable', message: 'The service is overloaded' },
	504: { code: 'gateway_timeout', message: 'Gateway timeout' },
};

export function wordsFor(status: number): { code: string; message: string } {
	return KNOWN[status] ?? { code: `status_${status}`, message: `Status ${status}` };
}

function typeOf(status: number): string {
	return KNOWN[status]?.type ?? wordsFor(status).code;
}
