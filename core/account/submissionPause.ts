import type { Clock } from '../clock';

/** The pause after a limit of requests, where the service names none; it doubles each time that the next one is refused, too. */
const SHORTEST_PAUSE_MS = 1_000;
/** No pause holds back the submissions of an account for longer, whatever the service asks for. */
const LONGEST_PAUSE_MS = 60_000;

/** The pause of all submissions of an account after one was refused because of a limit of requests. */
export class SubmissionPause {
	/** Nothing is submitted before. */
	untilMs = 0;

	private nextMs = SHORTEST_PAUSE_MS;

	/** @param clock without jumps */
	constructor(private readonly clock: Clock) {}

	begin(askedMs?: number): void {
		// Answers to requests that left before it say the same once more.
		if (this.isOn && askedMs === undefined) return;
		const pauseMs = Math.min(LONGEST_PAUSE_MS, askedMs ?? this.nextMs);
		this.nextMs = Math.min(LONGEST_PAUSE_MS, this.nextMs * 2);
		this.untilMs = Math.max(this.untilMs, this.clock.now() + pauseMs);
	}

	/** The service has accepted one again. */
	accepted(): void {
		this.nextMs = SHORTEST_PAUSE_MS;
	}

	get isOn(): boolean {
		return this.clock.now() < this.untilMs;
	}
}
