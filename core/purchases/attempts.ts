import type { Order } from '../orders/order';
import type { PurchaseState } from './purchaseRow';

/** The name of the attempt of an execution: its rows in the log are joined by it. */
export function nameAttempt(executionId: string, about: string): string {
	return `${executionId}-${about}`;
}

export function isAttemptOf(executionId: string, attempt: string): boolean {
	return attempt.startsWith(nameAttempt(executionId, ''));
}

/** The columns of an order's rows. */
export function purchaseOf({ request }: Order, attempt: string): NonNullable<Order['purchase']> {
	const { hash = '', keyHash } = request ?? {};
	return { attempt, hash, ...(keyHash === undefined ? {} : { keyHash }) };
}

/** The state of the last row of an attempt. Refused and unknown ones are noted when the request ends. */
export function endOf({ end, then, thing }: Order): PurchaseState | undefined {
	if (end?.as === 'done') {
		const hasEnded = thing !== 'task' || (then !== 'nothing' && end.output?.json.status === 'completed');
		return hasEnded ? 'completed' : undefined;
	}
	if (end?.as !== 'failed' || end.error?.kind !== 'taskFailed') return undefined;
	return end.error.details.permanent ? 'failed_permanently' : 'failed';
}
