import type { Place, PlaceRequest, RunPlaces } from '../account/places';
import { asGatewayError } from '../errors';
import { limitOf } from '../http/retry';
import type { AttemptHooks } from '../http/types';
import { REPEAT_FOR_MS } from '../limits';
import { isAhead } from '../polling/startTimes';
import type { Order } from './order';
import type { SleepCoordinator } from './sleepCoordinator';

/**
 * An accepted task keeps its place for so long until its wait begins, in another execution maybe. Milliseconds. Afterwards
 * the service refuses the task that is one too many, which costs nothing.
 */
const UNTIL_WAIT_BEGINS_MS = 60_000;

/** The places of the account, and the execution that may sleep while an order waits for one. */
interface PlacePorts {
	places?: RunPlaces;
	sleep?: SleepCoordinator;
}

type OrderInSlot = Pick<Order, 'thing' | 'then' | 'wait'>;

/** The milliseconds that an order may still wait for a place. It counts from its first wish for one, in another execution maybe. */
export function timeLeftForSlot(order: OrderInSlot, places?: RunPlaces): () => number {
	if (places === undefined || order.thing !== 'task') return () => Infinity;
	const untilMs = wantedSinceMs(order, places) + timeoutOf(order);
	return () => untilMs - places.nowMs();
}

/**
 * Sends a creating request in a place of the account, and again in the next one that becomes free, not before the pause that
 * the service asks for, as often as it answers 429: it has surely not accepted it. Throws `noFreePlace` after the order's timeout.
 */
export async function createInSlot<Answer extends { id: string }>(
	order: OrderInSlot,
	{ places, sleep }: PlacePorts,
	tries: AttemptHooks,
	create: (tries: AttemptHooks) => Promise<Answer>,
): Promise<Answer> {
	if (places === undefined || order.thing !== 'task') return await create(tries);
	const timeLeftMs = timeLeftForSlot(order, places);
	const request: PlaceRequest = {
		sinceMs: wantedSinceMs(order, places),
		timeoutMs: timeoutOf(order),
		signal: anyOf(tries.signal, sleep?.signal),
		onWait: () => {
			tries.putOff?.(Infinity);
			return sleep?.waitsForOther(order);
		},
	};
	for (;;) {
		const place = await places.take(request);
		try {
			const answer = await create(inPlace(tries, place, () => places.isBusy()));
			keep(place, answer, order);
			return answer;
		} catch (thrown) {
			if (place.taken.aborted) {
				tries.putOff?.(0);
				continue;
			}
			const error = asGatewayError(thrown);
			// Other words with a 429 may mean that it was accepted, or that no place helps.
			const isPlaceMissing = error.kind === 'rateLimited' && error.details.httpStatus === 429;
			const refusal = { limit: limitOf(error.details), askedMs: error.details.retryAfterMs };
			if (isPlaceMissing && place.refused(refusal)) continue;
			// The next one leaves at once: by then, it is known what the error means for it.
			tries.failed?.(error);
			place.free();
			throw error;
		}
	}
}

const timeoutOf = ({ wait }: OrderInSlot) => wait?.timeoutMs ?? REPEAT_FOR_MS;

/** The first request for a place, by the clock of the places. Another process, or this one before a restart, may have noted it. */
function wantedSinceMs({ wait }: OrderInSlot, places: RunPlaces): number {
	const [nowMs, wallMs] = [places.nowMs(), places.wallMs()];
	if (wait === undefined) return nowMs;
	if (wait.wantedAtMs === undefined || isAhead(wait.wantedAtMs, wallMs)) wait.wantedAtMs = wallMs;
	return nowMs - (wallMs - wait.wantedAtMs);
}

function inPlace({ signal, sending, ...tries }: AttemptHooks, place: Place, givesWay: () => boolean): AttemptHooks {
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

export function anyOf(...signals: Array<AbortSignal | undefined>): AbortSignal {
	return AbortSignal.any(signals.flatMap((signal) => signal ?? []));
}

function keep(place: Place, { id }: { id: string }, { then }: OrderInSlot): void {
	// Nobody sees the end of a task that is not waited for.
	if (then === 'poll') place.accepted(id, UNTIL_WAIT_BEGINS_MS);
	else place.free();
}
