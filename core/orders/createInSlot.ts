import type { Place, PlaceRequest, RunPlaces } from '../account/places';
import { asGatewayError } from '../errors';
import { limitOf } from '../http/retry';
import type { AttemptHooks } from '../http/types';
import { REPEAT_FOR_MS } from '../limits';
import { isAhead } from '../polling/startTimes';
import type { Order } from './order';
import type { SleepCoordinator } from './sleepCoordinator';

/**
 * An accepted task keeps its slot for so long until its wait begins, in another execution maybe. Milliseconds. Afterwards
 * the service refuses the task that is one too many, which costs nothing.
 */
const UNTIL_WAIT_BEGINS_MS = 60_000;

/** The slots of the account, and the execution that may sleep while an order waits for one. */
interface SlotPorts {
	slots?: RunPlaces;
	sleep?: SleepCoordinator;
}

type OrderInSlot = Pick<Order, 'thing' | 'then' | 'wait'>;

/** The milliseconds that an order may still wait for a slot. It counts from its first wish for one, in another execution maybe. */
export function timeLeftForSlot(order: OrderInSlot, slots?: RunPlaces): () => number {
	if (slots === undefined || order.thing !== 'task') return () => Infinity;
	const untilMs = wantedSinceMs(order, slots) + timeoutOf(order);
	return () => untilMs - slots.nowMs();
}

/**
 * Sends a creating request in a slot of the account, and again in the next one that becomes free, not before the pause that
 * the service asks for, as often as it answers 429: it has surely not accepted it. Throws `noFreePlace` after the order's timeout.
 */
export async function createInSlot<Answer extends { id: string }>(
	order: OrderInSlot,
	{ slots, sleep }: SlotPorts,
	tries: AttemptHooks,
	create: (tries: AttemptHooks) => Promise<Answer>,
): Promise<Answer> {
	if (slots === undefined || order.thing !== 'task') return await create(tries);
	const timeLeftMs = timeLeftForSlot(order, slots);
	const request: PlaceRequest = {
		sinceMs: wantedSinceMs(order, slots),
		timeoutMs: timeoutOf(order),
		signal: anyOf(tries.signal, sleep?.signal),
		onWait: () => {
			tries.putOff?.(Infinity);
			return sleep?.waitsForSlot(() => slots.isAlone(), timeLeftMs());
		},
	};
	for (;;) {
		const slot = await slots.take(request);
		try {
			const answer = await create(inSlot(tries, slot, () => slots.isBusy()));
			keep(slot, answer, order);
			return answer;
		} catch (thrown) {
			if (slot.taken.aborted) {
				tries.putOff?.(0);
				continue;
			}
			const error = asGatewayError(thrown);
			// Other words with a 429 may mean that it was accepted, or that no slot helps.
			const isSlotMissing = error.kind === 'rateLimited' && error.details.httpStatus === 429;
			const refusal = { limit: limitOf(error.details), askedMs: error.details.retryAfterMs };
			if (isSlotMissing && slot.refused(refusal)) continue;
			// The next one leaves at once: by then, it is known what the error means for it.
			tries.failed?.(error);
			slot.free();
			throw error;
		}
	}
}

const timeoutOf = ({ wait }: OrderInSlot) => wait?.timeoutMs ?? REPEAT_FOR_MS;

/** The first request for a slot, by the clock of the slots. Another process, or this one before a restart, may have noted it. */
function wantedSinceMs({ wait }: OrderInSlot, slots: RunPlaces): number {
	const [nowMs, wallMs] = [slots.nowMs(), slots.wallMs()];
	if (wait === undefined) return nowMs;
	if (wait.wantedAtMs === undefined || isAhead(wait.wantedAtMs, wallMs)) wait.wantedAtMs = wallMs;
	return nowMs - (wallMs - wait.wantedAtMs);
}

function inSlot({ signal, sending, ...tries }: AttemptHooks, slot: Place, givesWay: () => boolean): AttemptHooks {
	return {
		...tries,
		givesWay,
		signal: anyOf(signal, slot.taken),
		sending: async () => {
			slot.leaves();
			await sending?.();
		},
	};
}

function anyOf(...signals: Array<AbortSignal | undefined>): AbortSignal {
	return AbortSignal.any(signals.flatMap((signal) => signal ?? []));
}

function keep(slot: Place, { id }: { id: string }, { then }: OrderInSlot): void {
	// Nobody sees the end of a task that is not waited for.
	if (then === 'poll') slot.accepted(id, UNTIL_WAIT_BEGINS_MS);
	else slot.free();
}
