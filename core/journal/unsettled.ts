import { untilAborted } from '../abort';
import type { Clock } from '../clock';
import { MAY_BE_UNDER_WAY_MS } from '../limits';
import type { OrderLedger } from '../orders/ledger';
import type { Purchase } from '../orders/order';
import { lastOf, lastOfAttempts, meaningOf, purchaseOf, runOf, toEntry } from './replay';
import type { AttemptRow } from './row';

/** The pauses between two readings of what may get an outcome. */
const READ_AGAIN_MS = { first: 1_000, longest: 15_000 };

/**
 * The orders whose rows do not tell the outcome of a request, and may still do so: the execution that has sent it may be alive. They
 * are told, or submitted again, when that is over: otherwise a person would be told of a doubt that is none a second later.
 */
export class UnsettledOrders {
	private readonly rows = new Map<Purchase, AttemptRow>();

	/** The clock of the database, as far as it is ahead of the own one. */
	private databaseAheadMs = 0;

	/** The times at which attempts without an outcome were seen first: where the clocks are wrong, the wait would last for hours otherwise. */
	private readonly seenAtMs = new Map<string, number>();

	/** @param clock without jumps */
	constructor(
		private readonly ledger: OrderLedger,
		private readonly clock: Clock,
	) {}

	/** Notes the time of the database, as a row has it that was just written. Unix milliseconds. */
	nowInDatabaseMs(atMs: number): void {
		this.databaseAheadMs = atMs - this.clock.now();
	}

	/** Adds those of the orders in doubt whose rows are young enough. */
	add(inDoubt: ReadonlyMap<Purchase, AttemptRow>): void {
		for (const [order, row] of inDoubt) if (this.mayGetOutcome(row)) this.rows.set(order, row);
	}

	has(order: Purchase): boolean {
		return this.rows.has(order);
	}

	/**
	 * Reads again until all of them have an outcome, or cannot get one any more.
	 *
	 * @param readAttempts as the execution has to take them that took over: see `asTakenOver`
	 */
	async settle(readAttempts: () => Promise<AttemptRow[]>, signal?: AbortSignal): Promise<void> {
		let pauseMs = READ_AGAIN_MS.first;
		for (;;) {
			const rows = await untilAborted(
				readAttempts().catch(() => undefined),
				signal,
			);
			const last = rows && lastOfAttempts(rows);
			for (const [order, row] of this.rows) {
				const now = last?.get(row.attempt) ?? row;
				if (now.state === 'submitting' && this.mayGetOutcome(now)) continue;
				this.rows.delete(order);
				this.settleOne(order, now, [...(last?.values() ?? [])]);
			}
			if (this.rows.size === 0 || signal?.aborted) return;
			await this.clock.sleep(pauseMs, signal);
			pauseMs = Math.min(READ_AGAIN_MS.longest, pauseMs * 2);
		}
	}

	/**
	 * Gives the ledger the outcome of an attempt.
	 *
	 * @param all the last rows of all attempts of the run
	 */
	private settleOne(order: Purchase, row: AttemptRow, all: readonly AttemptRow[]): void {
		const { ledger } = this;
		let outcome: AttemptRow | undefined = row;
		if (meaningOf(row) === 'free') {
			ledger.forget(order.item);
			// It was sent in the place of one before, which is in doubt still.
			const same = all.filter((each) => each.item === row.item && each.request_hash === row.request_hash);
			outcome = lastOf(same, order);
			if (outcome === undefined) return;
		}
		const isOther = outcome.request_hash !== order.request?.hash;
		if (meaningOf(outcome) === 'created' && outcome.task_id !== '') {
			// The task of another request is no result of this one.
			if (isOther) return ledger.lost(order.item, { ...toEntry(outcome), run: runOf(outcome) });
			ledger.accepted(order.item, toEntry(outcome));
			order.purchase = purchaseOf(order, outcome.attempt);
		} else if (outcome !== row) {
			ledger.lost(order.item, { ...toEntry(outcome), run: runOf(outcome), taskId: undefined });
			// An execution that was silent for long has sent it in the place of the one before, and may be about to take it back.
			if (this.mayGetOutcome(outcome)) this.rows.set(order, outcome);
		}
	}

	/** True where the outcome of an attempt may still be written. */
	private mayGetOutcome({ state, createdAt, attempt }: AttemptRow): boolean {
		if (state !== 'submitting') return false;
		const nowMs = this.clock.now();
		const seenAtMs = this.seenAtMs.get(attempt) ?? nowMs;
		this.seenAtMs.set(attempt, seenAtMs);
		return nowMs + this.databaseAheadMs - createdAt < MAY_BE_UNDER_WAY_MS && nowMs - seenAtMs < MAY_BE_UNDER_WAY_MS;
	}
}
