/** Times at which something began, in Unix milliseconds, as other clocks have noted them. */

/** The most that a time may lie ahead of the clock: less comes from rounding. */
const AHEAD_MS = 1_000;
/** A task that claims to be older is not believed: services keep results for about a day. */
const LONGEST_AGE_MS = 86_400_000;

/** True for a time that has not come yet: another computer has noted it, or the clock was set back since. */
export function isAhead(atMs: number, nowMs: number): boolean {
	return atMs > nowMs + AHEAD_MS;
}

/** The creation of a task. The clock of the service may be off, so it is believed within reason only. */
export function plausibleStartMs(createdAtMs: number | undefined, nowMs: number): number {
	const ageMs = nowMs - (createdAtMs ?? nowMs);
	return ageMs > 0 && ageMs < LONGEST_AGE_MS ? nowMs - ageMs : nowMs;
}
