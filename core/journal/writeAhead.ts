import type { GatewayError } from '../errors';
import type { Purchase } from '../orders/order';
import type { SubmitAgain } from '../orders/runs';
import type { KeyClaims } from './purchaseKey';
import type { AttemptState } from './row';

/** The part of an order that says whether it may be submitted. */
export interface Submission extends Pick<Purchase, 'thing'> {
	request?: SubmitAgain;
}

/** The outcome of a request. A pause of 0: it is sent again as soon as the account has a place. */
export type RequestOutcome = Partial<{ taskId: string; error: GatewayError; pauseMs: number }>;

/** Writes down what is about to be bought, for a retry after a crash, and lets no other execution buy it, too. */
export interface WriteAhead {
	/** Called before files of an order are uploaded. Throws where it may not be submitted. */
	beforeUploads: (order: Submission) => Promise<void>;
	/**
	 * Resolves when the creating request of an order may be sent: what has to be written down is. Throws where an earlier try, or
	 * another execution, may have created the thing.
	 */
	begin: (order: Purchase, signal?: AbortSignal) => Promise<void>;
	/** The longest time between `begin` and the turn of the request. Absent: any. Milliseconds. */
	turnWithinMs?: number;
	/** The request leaves. */
	leaves?: (order: Purchase) => void;
	/** Notes what came of a request, when the ledger knows it. Called once after each `begin`, also where that has thrown. */
	note: (order: Purchase, state: AttemptState, outcome: RequestOutcome) => void;
	/** True where a person has named what a dead try has left. Absent where there is no such try. */
	isOverruled?: (order: Submission) => Promise<boolean>;
	/** The Purchase Keys of the run. Absent where it can have none. */
	keys?: KeyClaims;
}
