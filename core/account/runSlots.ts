import type { Limit } from '../http/retry';

/** A request for a slot of the account, and how long it waits. */
export interface SlotRequest {
	/** The longest time until it ends, in milliseconds. */
	timeoutMs: number;
	/** The time of the first such request, by the clock of the slots. */
	sinceMs: number;
	signal?: AbortSignal;
	/** Called when there is none at once. What it returns is called as soon as the wait is over. */
	onWait?: () => (() => void) | undefined;
}

/** An answer of 429. */
export interface SlotRefusal {
	/** The limit that was reached, where the service says which. */
	limit?: Limit;
	/** The pause that the service asks for. */
	askedMs?: number;
}

/** The slot of a task that is about to be submitted. */
export interface Slot {
	/** Aborts when the account turns out to have fewer slots, before the request has left. */
	readonly taken: AbortSignal;
	/** The request leaves: the slot is not taken away any more. */
	leaves(): void;
	/** The service has accepted the task. The slot stays taken for so long, or until its wait begins. */
	accepted(taskId: string, forMs: number): void;
	/** Nothing was accepted. */
	free(): void;
	/**
	 * The service has answered 429. Returns true where tasks of this process run: then the request can be sent again in
	 * another slot, which is free when one of them has ended, and when the pause is over.
	 */
	refused(answer?: SlotRefusal): boolean;
}

/** The slots of an account, as one run sees them. */
export interface RunSlots {
	/** True while tasks of the account run that this process waits for. */
	isBusy(): boolean;
	/** True while all tasks that this process waits for are those of this run: nobody else makes room for it. */
	isAlone(): boolean;
	nowMs(): number;
	/** The clock of the computer, which other processes have, too. Unix milliseconds. */
	wallMs(): number;
	/** Resolves when a task may be submitted. Rejects when that takes too long, or when the signal aborts. */
	take(request: SlotRequest): Promise<Slot>;
	/** Notes that a task runs and is waited for. Call what it returns when it does not any more, with the time for which it goes on unseen. */
	occupy(taskId: string): (goesOnForMs?: number) => void;
}
