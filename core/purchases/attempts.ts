import type { Order } from '../orders/order';

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
