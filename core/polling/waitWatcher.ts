import type { GatewayError } from '../errors';
import type { TimeLeft } from './timeLeft';

/** Gets to know how a wait goes while it lasts, to tell the user. */
export interface WaitWatcher {
	/** The polls of a task begin. The function estimates, at any time, how long it still takes. */
	begun(timeLeft: () => TimeLeft): void;
	/** A poll got no answer. */
	retrying(error: GatewayError, waitMs: number): void;
}
