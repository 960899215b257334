import { steady, type Clock } from '../clock';

/** A wave is over after this time, whatever is still to be submitted: what was accepted is to be saved soon. */
const WAVE_MS = 500;
/** A longer pause before a request ends the wave: the rest is submitted elsewhere. */
const LONGEST_PAUSE_MS = 250;

/**
 * The first submissions of a run whose orders go on in another execution. The wave is over when as many are in flight as may be, or
 * nothing is left to submit, after half a second, or when a request has to wait, whichever comes first. Requests under way
 * are never cut off.
 */
export class FirstWave {
	private readonly over = new AbortController();

	private readonly clock: Clock;

	private inFlight = 0;

	private hasBegun = false;

	/**
	 * @param left how many orders there are
	 * @param concurrency how many of them are in flight at once
	 */
	constructor(
		clock: Clock,
		private left: number,
		private readonly concurrency: number,
	) {
		this.clock = steady(clock);
	}

	/** Aborts when the wave is over. */
	get signal(): AbortSignal {
		return this.over.signal;
	}

	/** Notes that a request is about to be sent, or that an order that was accepted before waits for the others. */
	begin(): void {
		if (this.hasBegun) return;
		this.hasBegun = true;
		void this.clock.sleep(WAVE_MS, this.signal).then(() => this.end());
	}

	/** Notes that a request is sent again after a pause. */
	putOff(pauseMs: number): void {
		if (pauseMs > LONGEST_PAUSE_MS) this.end();
	}

	/** An order that was accepted stays in flight until the wave is over. */
	async accepted(): Promise<void> {
		this.inFlight++;
		this.begin();
		this.ended();
		if (this.inFlight >= this.concurrency) this.end();
		if (!this.signal.aborted)
			await new Promise<void>((resolve) => this.signal.addEventListener('abort', () => resolve(), { once: true }));
	}

	/** Notes that nothing is left to submit of one order. */
	ended(): void {
		this.left--;
		if (this.left <= 0) this.end();
	}

	private end(): void {
		this.over.abort();
	}
}
