import { setFlagsFromString } from 'node:v8';
import { separateMemories } from './memories.mts';
import { FakeAbortController, FakeSignal } from './signals.mts';

/**
 * Time that passes as fast as the code runs. Everything that can happen next is a step in one list: a timer of the
 * product, an answer on its way, a row that is being written. One step is taken at a time, and what follows from it
 * goes on until it waits for another step. So a run is decided by its seed alone.
 *
 * Each step belongs to a process of n8n, or to the world around. A process that has died takes none of its steps: what
 * waits for them never goes on, as after kill -9.
 */
export interface Owner {
	alive: boolean;
	/** Its machine stands still: the steps that it takes when it goes on. */
	held?: Step[];
}

/** The service, the user, the database: they never die. */
export const WORLD: Owner = { alive: true };

interface Step {
	atMs: number;
	/** Steps of the same moment are taken in the order in which they came. */
	order: number;
	owner: Owner;
	run: (() => void) | undefined;
}

const START_MS = Date.UTC(2026, 0, 1);
/** The code that goes on after one step reads the clock 200 times at most. */
const MOST_READINGS = 100_000;
/** Node fires a longer timer after a millisecond. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

const nextTurn = setImmediate;
// What follows from a step goes on until it waits for another. Node offers no more than a turn of its event loop for that,
// which takes a tenth of the time.
setFlagsFromString('--allow-natives-syntax');
// eslint-disable-next-line @typescript-eslint/no-implied-eval
const runMicrotasks = new Function('%PerformMicrotaskCheckpoint()') as () => void;

export class Time {
	nowMs = START_MS;

	/** The time by which the computer's clock is behind. */
	setBackMs = 0;

	/** Whose step is being taken: what it begins belongs to the same. */
	owner: Owner = WORLD;

	/** Called before a step of a process: it may die of it. */
	beforeStep: (owner: Owner) => void = () => {};

	private readonly heap: Step[] = [];

	private steps = 0;

	/** Of the clock, since the last step. */
	private readings = 0;

	constructor(readonly random: () => number) {}

	/** By the computer's clock. */
	get clockMs(): number {
		return this.nowMs - this.setBackMs;
	}

	get elapsedMs(): number {
		return this.nowMs - START_MS;
	}

	/** Something that happens later. Returns what takes it back. */
	after(delayMs: number, run: () => void, owner = this.owner): () => void {
		const step: Step = { atMs: this.nowMs + Math.max(0, delayMs), order: this.steps++, owner, run };
		push(this.heap, step);
		return () => (step.run = undefined);
	}

	/** The machine of a process stands still for so long. Its clock goes on. */
	silence(owner: Owner, forMs: number): void {
		owner.held = [];
		const goOn = () => {
			const { held = [] } = owner;
			delete owner.held;
			for (const step of held) push(this.heap, Object.assign(step, { atMs: this.nowMs, order: this.steps++ }));
		};
		this.after(forMs, goOn, WORLD);
	}

	/** An await of this process. */
	async pass(delayMs: number): Promise<void> {
		await new Promise<void>((resolve) => this.after(delayMs, resolve));
	}

	/**
	 * Takes steps until none are left, or until this moment. Rejects when there is no end to the steps, or to what follows from
	 * one: something goes round in circles.
	 */
	async run(untilMs: number, mostSteps: number): Promise<void> {
		const restore = this.install();
		let taken = 0;
		try {
			// Microtasks cannot be run from within one.
			await new Promise<void>((ended, failed) => {
				nextTurn(() => {
					try {
						for (;;) {
							const step = pop(this.heap);
							if (step === undefined || step.atMs > untilMs) return ended();
							if (step.run === undefined || !step.owner.alive || isHeld(step)) continue;
							this.nowMs = Math.max(this.nowMs, step.atMs);
							this.owner = step.owner;
							if (step.owner !== WORLD) this.beforeStep(step.owner);
							if (!step.owner.alive || isHeld(step)) continue;
							if (++taken > mostSteps)
								throw new Error(`No end after ${mostSteps} steps, ${this.elapsedMs / 1000} s after the beginning`);
							this.readings = 0;
							// A stop may have taken it back.
							step.run?.();
							runMicrotasks();
							if (this.readings > MOST_READINGS)
								throw new Error(`No end of what follows from a step, ${this.elapsedMs / 1000} s after the beginning`);
						}
					} catch (thrown) {
						failed(thrown);
					}
				});
			});
		} finally {
			restore();
		}
	}

	/** A loop that waits for nothing reads the clock again and again: it ends with an error, so that the case can end. */
	private readAs(ms: number): number {
		if (++this.readings > MOST_READINGS)
			throw new Error('The clock was read again and again, and nothing was waited for');
		return ms;
	}

	/** The product takes the time and its chances from here. */
	private install(): () => void {
		const { setTimeout, clearTimeout, AbortController, AbortSignal } = globalThis;
		separateMemories(() => this.owner);
		const realNow = Date.now;
		const realElapsed = performance.now.bind(performance);
		const realRandom = Math.random;
		const timeout = (delayMs: number) => {
			const signal = new FakeSignal();
			this.after(delayMs, () => signal.abort());
			return signal;
		};
		// Not assigned right away: V8 takes such a function for one that lives long, and keeps the case until a full collection.
		const now = () => this.readAs(this.clockMs);
		const elapsed = () => this.readAs(this.nowMs);
		Date.now = now;
		performance.now = elapsed;
		Math.random = this.random;
		const setFakeTimeout = (run: () => void, delayMs = 1) =>
			this.after(delayMs >= 1 && delayMs <= LONGEST_TIMER_MS ? delayMs : 1, run);
		Object.assign(globalThis, {
			setTimeout: setFakeTimeout,
			clearTimeout: (takeBack?: () => void) => takeBack?.(),
			AbortController: FakeAbortController,
			AbortSignal: { timeout, any: FakeSignal.any },
		});
		return () => {
			Object.assign(globalThis, { setTimeout, clearTimeout, AbortController, AbortSignal });
			Date.now = realNow;
			performance.now = realElapsed;
			Math.random = realRandom;
		};
	}
}

/** True for a step that its process takes later. */
function isHeld(step: Step): boolean {
	const { held } = step.owner;
	if (held !== undefined) held.push(step);
	return held !== undefined;
}

function isBefore(one: Step, other: Step): boolean {
	return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);
}

function push(heap: Step[], step: Step): void {
	let at = heap.push(step) - 1;
	while (at > 0) {
		const parent = (at - 1) >> 1;
		if (!isBefore(step, heap[parent])) break;
		heap[at] = heap[parent];
		at = parent;
	}
	heap[at] = step;
}

function pop(heap: Step[]): Step | undefined {
	const first = heap[0];
	const last = heap.pop();
	if (last === undefined || heap.length === 0) return first;
	let at = 0;
	for (;;) {
		let child = 2 * at + 1;
		if (child >= heap.length) break;
		if (child + 1 < heap.length && isBefore(heap[child + 1], heap[child])) child++;
		if (!isBefore(heap[child], last)) break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
	return first;
}
