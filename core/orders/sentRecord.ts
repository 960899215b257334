import type { Order } from './order';

/** Orders of which a record tells that a dead execution has sent requests. */
export interface SentOrders {
	/** Those of which nobody knows what came of it, with the time of that in Unix milliseconds. */
	inDoubt: ReadonlyMap<Order, number>;
	/** False where the record may not tell of all. */
	areAll: boolean;
}

/** A record of the requests of a dead execution beside the names of its waves: the purchase log. */
export interface SentRecord {
	/**
	 * Lets orders go on with what they have created. Undefined where the record cannot be read. To be called when the dead
	 * execution, which may still be alive, can begin no wave any more.
	 */
	recover: (orders: readonly Order[]) => Promise<SentOrders | undefined>;
	/** Withdraws what it tells of orders that were surely not sent: it would block their Purchase Keys. */
	withdrawUnsent: (orders: readonly Order[]) => void;
	/** Notes how orders have ended. */
	end: (orders: readonly Order[]) => Promise<void>;
}
