import type { GatewayError } from '../errors';
import { refusesAccess } from '../errors/kinds';
import type { KeptWait } from './planner';

const GRACE_PERIOD_MS = 30_000;

/**
 * True for an answer that contradicts the acceptance of a task, and that may pass: the task is new (field notes), one server does
 * not know it yet, or a proxy refuses one request.
 *
 * @param isAccepted the task is known from an earlier answer: otherwise a refusal is told at once
 */
export const contradictsAcceptance = (error: GatewayError, isAccepted: boolean): boolean =>
	error.kind === 'notFound' || (isAccepted && refusesAccess(error));

/** For so long a wait goes on while all answers contradict the acceptance, also where it sleeps meanwhile. Milliseconds. */
export class GracePeriod {
	/** @param wallAheadMs Unix milliseconds minus those of the clock of the wait */
	constructor(
		private readonly kept: KeptWait,
		private readonly wallAheadMs: number,
	) {}

	/** Infinity where the last answer was another one. */
	get endsAtMs(): number {
		return (this.kept.contradictedSinceMs ?? Infinity) - this.wallAheadMs + GRACE_PERIOD_MS;
	}

	/** Starts it where it has not started, and where the clock was set back since. True until it is over. */
	covers(atMs: number): boolean {
		const { contradictedSinceMs = Infinity } = this.kept;
		this.kept.contradictedSinceMs = Math.min(contradictedSinceMs, atMs + this.wallAheadMs);
		return atMs < this.endsAtMs;
	}

	/** There was another answer. */
	reset(): void {
		delete this.kept.contradictedSinceMs;
	}
}
