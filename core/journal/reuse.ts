import { gatewayError } from '../errors';
import type { OrderLedger } from '../orders/ledger';
import type { Order } from '../orders/order';
import { accept } from '../orders/states';
import { MAY_BE_UNDER_WAY_MS } from '../limits';
import { lastOfAttempts } from './replay';
import { isAttempt, isRunOfNode, parseRow, roundOf, type AttemptRow, type RunIdentity } from './row';

/** A purchase is reused for so long. */
export const REUSED_FOR_MS = 24 * 60 * 60 * 1000;

/** The run whose orders get tasks of earlier executions. */
export interface ReusingRun {
	node: Pick<RunIdentity, 'workflowId' | 'nodeId'>;
	/** The ID of the credential: another account does not know the tasks. */
	account: string;
	executionId: string;
	runIndex: number;
	/** Tasks that other rounds of this execution have reused: each is the result of one item. */
	taken: ReadonlySet<string>;
	nowMs: number;
}

/** The purchases of a node, by the hash of their requests, the newest first. */
export interface Purchases {
	/** Those that may be reused. */
	there: Map<string, AttemptRow[]>;
	/** Those of which it is not known whether they were accepted. */
	inDoubt: Map<string, AttemptRow[]>;
}

/**
 * Finds the purchases of the node in these rows that have given an ID, or may have, and are not known to have failed. Those of the
 * execution itself do not count: a loop that asks for the same thing twice wants two. Throws where another execution may be buying one
 * of them.
 *
 * @param values all rows of the requests
 */
export async function purchasesIn(
	values: readonly unknown[],
	{ node, account, executionId, taken, nowMs }: ReusingRun,
	breakIfDue: () => Promise<void>,
): Promise<Purchases> {
	const rows: AttemptRow[] = [];
	for (const value of values) {
		await breakIfDue();
		const row = parseRow(value);
		if (row !== undefined && isAttempt(row) && isRunOfNode(row.run, node) && row.account === account) rows.push(row);
	}
	const purchases: Purchases = { there: new Map(), inDoubt: new Map() };
	for (const row of [...lastOfAttempts(rows).values()].sort((one, other) => other.id - one.id)) {
		const { state, task_id: id, createdAt, execution, request_hash: hash } = row;
		// What the execution has handed over is bought by another one.
		if (execution === executionId || row.first === executionId || taken.has(id)) continue;
		// One that was stopped may still get its answer.
		if (state === 'submitting' && Math.abs(nowMs - createdAt) < MAY_BE_UNDER_WAY_MS)
			throw gatewayError('answerMayCome', { execution });
		if (nowMs - createdAt >= REUSED_FOR_MS) continue;
		const isInDoubt = state === 'submitting' || state === 'unknown';
		const found = isInDoubt ? purchases.inDoubt : state === 'accepted' && id !== '' ? purchases.there : undefined;
		found?.set(hash, [...(found.get(hash) ?? []), row]);
	}
	return purchases;
}

/**
 * Gives each order a purchase of its request: that of its item in the same round of a loop, or else the newest. Throws where one that is
 * left may have been bought: it would be bought twice without a word.
 */
export function assignPurchases(
	orders: readonly Order[],
	{ there, inDoubt }: Purchases,
	{ runIndex }: Pick<ReusingRun, 'runIndex'>,
): Map<Order, AttemptRow> {
	const assigned = new Map<Order, AttemptRow>();
	const assign = (fits: (row: AttemptRow, order: Order) => boolean) => {
		for (const order of orders) {
			if (assigned.has(order)) continue;
			const left = there.get(order.request?.hash ?? '') ?? [];
			const index = left.findIndex((row) => fits(row, order));
			const [row] = index < 0 ? [] : left.splice(index, 1);
			if (row !== undefined) assigned.set(order, row);
		}
	};
	assign((row, { item }) => row.item === item && roundOf(row.run) === runIndex);
	assign(() => true);
	for (const order of orders) {
		const [doubt] = assigned.has(order) ? [] : (inDoubt.get(order.request?.hash ?? '') ?? []);
		if (doubt === undefined) continue;
		const { execution, createdAt } = doubt;
		throw gatewayError('reuseUnclear', { execution, time: new Date(createdAt).toISOString() });
	}
	return assigned;
}

/** Lets an order go on with the task of a purchase. The ledger knows it: a retry would buy it otherwise. */
export function reusePurchase(order: Order, row: AttemptRow, ledger: OrderLedger): void {
	const { task_id: taskId, request_hash: hash, key_hash: keyHash, attempt, createdAt: acceptedAtMs, run, first } = row;
	const boughtIn = { run, first };
	ledger.accepted(order.item, { taskId, hash, attempt, acceptedAtMs, boughtIn });
	order.purchase = { attempt, hash, boughtIn, ...(keyHash === '' ? {} : { keyHash }) };
	order.reused = true;
	accept(order, { taskId, status: 'in_progress', elapsedMs: 0 }, acceptedAtMs);
}
