import type { Place, RunPlaces } from '../account/runPlaces';
import { asGatewayError } from '../errors';
import type { Tries } from '../http/types';
import { REPEAT_FOR_MS } from '../limits';
import type { Order } from './order';
import type { Bought } from './product';
import type { SleepCoordinator } from './sleepCoordinator';

/**
 * An accepted task keeps its place for so long until its wait begins, in another execution maybe. Milliseconds. Afterwards
 * the service refuses the task that is one too many, which costs nothing.
 */
const UNTIL_WAIT_BEGINS_MS = 60_000;

/**
 * Sends a creating request in a place of the account, and once more in the next one that becomes free where the service
 * answers 429: it has surely not accepted it. Throws `noFreePlace` after the order's timeout.
 */
export async function createInPlace<Answer extends { id: string }>(
	order: Pick<Order, 'thing' | 'then' | 'wait'>,
	{ places, sleep }: { places?: RunPlaces; sleep?: SleepCoordinator },
	tries: Tries,
	create: (tries: Tries) => Promise<Answer | Bought>,
): Promise<Answer | Bought> {
	if (places === undefined || order.thing !== 'task') return await create(tries);
	const wish = {
		sinceMs: places.nowMs(),
		timeoutMs: order.wait?.timeoutMs ?? REPEAT_FOR_MS,
		signal: anyOf(tries.signal, sleep?.signal),
		onWait: () => {
			tries.putOff?.(Infinity);
			goOn = sleep?.waitsForPlace(() => places.isAlone());
		},
	};
	let goOn: (() => void) | undefined;
	for (;;) {
		const place = await places.take(wish).finally(() => goOn?.());
		try {
			const answer = await create(inPlace(tries, place, () => places.isBusy()));
			keep(place, answer, order);
			return answer;
		} catch (thrown) {
			if (place.taken.aborted && tries.signal?.aborted !== true) {
				tries.putOff?.(0);
				continue;
			}
			const error = asGatewayError(thrown);
			if (error.details.httpStatus !== 429) place.free();
			else if (place.refused(error.details.retryAfterMs)) continue;
			throw error;
		}
	}
}

function inPlace({ signal, sending, ...tries }: Tries, place: Place, givesWay: () => boolean): Tries {
	return {
		...tries,
		givesWay,
		signal: anyOf(signal, place.taken),
		sending: async () => {
			place.leaves();
			await sending?.();
		},
	};
}

function anyOf(...signals: Array<AbortSignal | undefined>): AbortSignal {
	return AbortSignal.any(signals.flatMap((signal) => signal ?? []));
}

function keep(place: Place, answer: { id: string } | Bought, { then }: Pick<Order, 'then'>): void {
	// Nobody sees the end of a task that is not waited for.
	if ('boughtAtMs' in answer || then !== 'poll') place.free();
	else place.accepted(answer.id, UNTIL_WAIT_BEGINS_MS);
}
