import type { GatewayError } from '../errors';
import { refusesAccess } from '../errors/kinds';

const GRACE_PERIOD_MS = 30_000;

/**
 * True for an answer that contradicts the acceptance of a task, and that may pass: the task is new (field notes), one server does
 * not know it yet, or a proxy refuses one request.
 *
 * @param isAccepted the task is known from an earlier answer: otherwise a refusal is told at once
 */
export const contradictsAcceptance = (error: GatewayError, isAccepted: boolean): boolean =>
	error.kind === 'notFound' || (isAccepted && refusesAccess(error));

/** For so long a wait goes on while all answers contradict the acceptance. Milliseconds. */
export class GracePeriod {
	/** The first such answer; Infinity where the last answer was another one. */
	private startedAtMs = Infinity;

	get endsAtMs(): number {
		return this.startedAtMs + GRACE_PERIOD_MS;
	}

	/** Starts it where it has not started. True until it is over. */
	covers(atMs: number): boolean {
		this.startedAtMs = Math.min(this.startedAtMs, atMs);
		return atMs < this.endsAtMs;
	}

	/** There was another answer. */
	reset(): void {
		this.startedAtMs = Infinity;
	}
}
