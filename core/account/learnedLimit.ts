import type { Clock } from '../clock';

/** The pause before one more task is tried than the service has taken last; it doubles each time that it takes none. */
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** After a task was taken where none was expected, the next one is tried so soon. */
const NEXT_PAUSE_MS = 100;

/**
 * The number of tasks that an account can run at once, as far as it is known: as many as ran when the service answered 429.
 * More are tried from time to time, because it can change.
 */
export class LearnedLimit {
	/** Infinity where nothing was learned. */
	tasks = Infinity;

	/** The time from which one more can be tried. */
	probeAtMs = 0;

	private pauseMs = SHORTEST_PAUSE_MS;

	private step = 1;

	/** @param clock without jumps */
	constructor(private readonly clock: Clock) {}

	/** Notes that this number of tasks runs: they have fitted. */
	fitted(running: number): void {
		this.tasks = Math.max(this.tasks, running);
	}

	/** A try of one more has fitted, so some more may. */
	grow(): void {
		this.tasks += this.step;
		this.step *= 2;
		this.pauseMs = SHORTEST_PAUSE_MS;
		this.probeAtMs = this.clock.now() + NEXT_PAUSE_MS;
	}

	/** The service has refused one while so many ran. It may ask for a pause. */
	refused(running: number, askedMs: number): void {
		this.tasks = running;
		this.step = 1;
		this.probeAtMs = this.clock.now() + Math.min(LONGEST_PAUSE_MS, Math.max(this.pauseMs, askedMs));
	}

	/** A try of one more was refused: the next one comes later. Call it before `refused`. */
	probeRefused(): void {
		this.pauseMs = Math.min(LONGEST_PAUSE_MS, this.pauseMs * 2);
	}
}
