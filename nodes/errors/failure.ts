import type { ActionableCause, Failure, TimedCause } from 'n8n-workflow';
import { isTransient, type GatewayError, type GatewayErrorKind } from '../../core/errors';

/** Errors that pass by themselves. */
const TIMED: Partial<Record<GatewayErrorKind, TimedCause>> = {
	balance: 'quota-exhausted',
	rateLimited: 'rate-limited',
	unavailable: 'temporarily-unavailable',
	unreachable: 'temporarily-unavailable',
};

/** Errors that pass only when somebody changes something. */
const ACTIONABLE: Partial<Record<GatewayErrorKind, ActionableCause>> = {
	authentication: 'credential-invalid',
	badInput: 'configuration-invalid',
	notFound: 'configuration-invalid',
	ownMistake: 'node-defect',
	permission: 'configuration-invalid',
	rejected: 'configuration-invalid',
};

/**
 * The kind of failure in n8n's words, where n8n has one. From 2.41, n8n decides by it when it polls a trigger again;
 * older versions read no such thing.
 */
export function failureOf(error: GatewayError): Failure | undefined {
	const timed = TIMED[error.kind];
	if (timed !== undefined) return { cause: timed, retryAfterMs: error.details.retryAfterMs };
	const cause = ACTIONABLE[error.kind];
	// An answer that says no without a reason may be another one a moment later.
	return cause === undefined || isTransient(error) ? undefined : { cause };
}
