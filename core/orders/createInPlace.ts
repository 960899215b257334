import type { Place, PlaceRequest, RunPlaces } from '../account/runPlaces';
import { asGatewayError } from '../errors';
import type { Tries } from '../http/types';
import { REPEAT_FOR_MS } from '../limits';
import type { Order } from './order';
import type { Bought, PurchaseSteps } from './product';
import type { SleepCoordinator } from './sleepCoordinator';

/**
 * An accepted task keeps its place for so long until its wait begins, in another execution maybe. Milliseconds. Afterwards
 * the service refuses the task that is one too many, which costs nothing.
 */
const UNTIL_WAIT_BEGINS_MS = 60_000;

/** The creating request of an order, and what is recorded around it. */
interface Creation<Answer> {
	create: (tries: Tries) => Promise<Answer>;
	record?: (steps: PurchaseSteps<Answer>) => Promise<Answer | Bought>;
}

/** The places of the account, and the execution that may sleep while an order waits for one. */
interface PlacePorts {
	places?: RunPlaces;
	sleep?: SleepCoordinator;
}

type PlacedOrder = Pick<Order, 'thing' | 'then' | 'wait'>;

/**
 * Sends a creating request in a place of the account, and once more in the next one that becomes free where the service
 * answers 429: it has surely not accepted it. What is recorded before the request takes no place: it is written when one is
 * near. Throws `noFreePlace` after the order's timeout.
 */
export async function createInPlace<Answer extends { id: string }>(
	order: PlacedOrder,
	{ places, sleep }: PlacePorts,
	tries: Tries,
	{ create, record = async (steps) => await steps.create() }: Creation<Answer>,
): Promise<Answer | Bought> {
	const { signal } = tries;
	if (places === undefined || order.thing !== 'task')
		return await record({
			ready: async () => {},
			create: async () => await create(tries),
			timeLeftMs: () => Infinity,
			signal,
		});
	let goOn: (() => void) | undefined;
	const nowMs = places.nowMs();
	const placeRequest: PlaceRequest = {
		sinceMs: order.wait === undefined ? nowMs : (order.wait.wantedAtMs ??= nowMs),
		timeoutMs: order.wait?.timeoutMs ?? REPEAT_FOR_MS,
		signal: anyOf(signal, sleep?.signal),
		onWait: () => {
			tries.putOff?.(Infinity);
			goOn = sleep?.waitsForPlace(() => places.isAlone(), timeLeftMs());
		},
	};
	const timeLeftMs = () => placeRequest.sinceMs + placeRequest.timeoutMs - places.nowMs();
	let leave: (() => void) | undefined;
	const take = async () => {
		const place = await places.take(placeRequest).finally(() => goOn?.());
		leave?.();
		leave = undefined;
		return place;
	};
	try {
		return await record({
			ready: async () => {
				leave ??= await places.ready(placeRequest).finally(() => goOn?.());
			},
			create: async () => await createOnceTaken(order, places, tries, { create, take }),
			timeLeftMs,
			signal,
		});
	} finally {
		leave?.();
	}
}

async function createOnceTaken<Answer extends { id: string }>(
	order: PlacedOrder,
	places: RunPlaces,
	tries: Tries,
	{ create, take }: Pick<Creation<Answer>, 'create'> & { take: () => Promise<Place> },
): Promise<Answer> {
	for (;;) {
		const place = await take();
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
			if (isPlaceMissing && place.refused(error.details.retryAfterMs)) continue;
			// The next one leaves at once: by then, it is known what the error means for it.
			tries.failed?.(error);
			if (!isPlaceMissing) place.free();
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

function keep(place: Place, { id }: { id: string }, { then }: PlacedOrder): void {
	// Nobody sees the end of a task that is not waited for.
	if (then === 'poll') place.accepted(id, UNTIL_WAIT_BEGINS_MS);
	else place.free();
}
