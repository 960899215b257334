import type { Order } from '../orders/order';
import { accept, isOpen, reopen } from '../orders/states';
import { isAttemptOf, purchaseOf } from './attempts';
import { lastOfAttempts, meaningOf } from './earlierTries';
import type { ParsedRow, StoredRow } from './purchaseRow';

/** As many failed tasks of an order are stored. */
const MOST_EARLIER_TASKS = 5;

/**
 * The requests that were sent for orders after their node had handed them over, as the rows of the executions tell that have
 * worked on them. What the node itself has sent is in the orders.
 */
export class SentRequests {
	/** The last states of the requests of each item, in the sequence in which they were sent, but for those that were not accepted. */
	private readonly requests = new Map<number, StoredRow[]>();

	private readonly attempts: ReadonlySet<string>;

	/** Those that have rows here, whatever came of them. */
	private readonly items: ReadonlySet<number>;

	private constructor(
		rows: StoredRow[],
		private readonly nodeExecutionId: string,
	) {
		const last = lastOfAttempts(rows);
		this.attempts = new Set(last.keys());
		this.items = new Set(rows.filter(({ attempt }) => !this.isOfNode(attempt)).map(({ item }) => item));
		for (const row of last.values()) {
			if (row.state === 'not_accepted' || this.isOfNode(row.attempt)) continue;
			this.requests.set(row.item, [...(this.requests.get(row.item) ?? []), row]);
		}
	}

	/**
	 * Undefined where a row cannot be read: it may be one of them.
	 *
	 * @param rows all of the run, those of its retries included
	 */
	static read(rows: readonly ParsedRow[], nodeExecutionId: string): SentRequests | undefined {
		if (!rows.every((row) => row !== undefined)) return undefined;
		return new SentRequests(
			rows.filter(({ execution }) => execution === nodeExecutionId),
			nodeExecutionId,
		);
	}

	/**
	 * True where the rows tell of every request, if any was sent that the orders do not know of: there are some, and none is missing of
	 * what the node itself has sent before. A table that somebody has removed or renamed meanwhile does not have those, nor does
	 * one of which old rows were removed.
	 */
	areAll(orders: readonly Order[]): boolean {
		const attempts = orders.flatMap(({ purchase }) => purchase?.attempt ?? []);
		const before = attempts.filter((attempt) => this.isOfNode(attempt));
		const areThere = before.length > 0 && before.every((attempt) => this.attempts.has(attempt));
		const mayTell = (order: Order) => isOpen(order) || this.unknownTo(order).length > 0;
		return areThere && orders.some((order) => this.items.has(order.item) && mayTell(order));
	}

	/**
	 * Lets an order go on with what its last request has created, also one that Retry On Fail has submitted again meanwhile.
	 * Returns the row of a request that may have been accepted, where its ID is not known.
	 */
	recover(order: Order): StoredRow | undefined {
		const sent = this.unknownTo(order);
		const row = sent.at(-1);
		if (row === undefined || !(isOpen(order) || reopen(order))) return undefined;
		const { request, earlierTaskIds = [], batch } = order;
		if (meaningOf(row) === 'unknown' || row.task_id === '' || row.request_hash !== request?.hash) {
			if (row.state === 'submitting') order.purchase = purchaseOf(order, row.attempt);
			return row;
		}
		const failed = sent.slice(0, -1).flatMap(({ task_id: id }) => id || []);
		if (failed.length > 0) order.earlierTaskIds = [...earlierTaskIds, ...failed].slice(-MOST_EARLIER_TASKS);
		if (batch?.retry !== undefined)
			batch.retry.tried = Math.max(batch.retry.tried, earlierTaskIds.length + sent.length);
		order.purchase = purchaseOf(order, row.attempt);
		accept(order, { taskId: row.task_id, status: 'in_progress', elapsedMs: 0 }, Date.parse(row.time));
		return undefined;
	}

	/** The requests of its item that the order does not know of: none of those up to its own one. */
	private unknownTo(order: Order): StoredRow[] {
		const { item, task, purchase, earlierTaskIds } = order;
		const requests = this.requests.get(item) ?? [];
		const isOwn = ({ attempt, task_id: id }: StoredRow) =>
			attempt === purchase?.attempt && !isOpen(order) && (id === '' || task !== undefined);
		const isKnown = ({ task_id: id }: StoredRow) => id === task?.taskId || earlierTaskIds?.includes(id);
		return requests.slice(requests.findIndex(isOwn) + 1).filter((row) => !isKnown(row));
	}

	private isOfNode(attempt: string): boolean {
		return isAttemptOf(this.nodeExecutionId, attempt);
	}
}
