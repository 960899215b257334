import { asGatewayError, type GatewayError } from '../errors';
import { buyOnce, type BuyPorts, type Creation } from './buyOnce';
import type { JobControls } from './jobs';
import type { Purchase } from '../orders/order';
import { toNamedRun, type SubmitAgain } from '../orders/runs';
import { endBadly, isGivenUp, isReplacedByRetry } from '../orders/states';

/**
 * Buys a thing that is no task, and makes its output. Nothing of it is stored, so it cannot sleep. Throws the error that the
 * purchase has ended with.
 *
 * @param finish called when the thing exists. The answer is absent where an earlier try has created it
 */
export async function buyThing<Answer extends { id: string }, Output>(
	thing: Purchase,
	creation: Creation<Answer>,
	{ ports, controls }: { ports: BuyPorts; controls: JobControls },
	finish: (answer?: Answer) => Promise<Output> | Output,
): Promise<Output> {
	// It loses its request as soon as it is accepted.
	const { submitAgainFor } = thing.request ?? {};
	let answer: Answer | undefined;
	try {
		answer = await buyOnce(thing, creation, ports, controls);
		return await finish(answer);
	} catch (thrown) {
		// One that was just created is not what the form has named.
		throw endPurchase(thrown, thing, ports, answer === undefined ? { submitAgainFor } : {});
	}
}

interface Ending extends SubmitAgain {
	hints?: ReadonlySet<string>;
	/** Replaces an error where the purchase tells more about it than the answer. */
	explain?: (error: GatewayError) => GatewayError;
}

/** Ends a purchase with what was thrown, unless that is a stop. Returns the error to throw. */
export function endPurchase(
	thrown: unknown,
	order: Purchase,
	{ events, ledger }: Pick<BuyPorts, 'events' | 'ledger'>,
	{ hints, explain = (error) => error, ...named }: Ending = {},
): GatewayError {
	const error = asGatewayError(thrown);
	const { otherIds = [] } = order.wait ?? {};
	if (otherIds.length > 0) ledger.isCalled(order.item, otherIds);
	// A stop says nothing about the thing: another execution may go on with it.
	if (error.kind === 'stopped') return error;
	if (error.kind === 'taskFailed') events.finished(order);
	const explained = explain(error);
	if (isGivenUp(order, explained))
		return endBadly(order, explained.about(toNamedRun(named, ledger.givenUp(order.item))), hints);
	const ended = endBadly(order, explained, hints);
	if (isReplacedByRetry(order)) ledger.forget(order.item);
	return ended;
}
