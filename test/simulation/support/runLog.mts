import type { IN8nHttpFullResponse } from 'n8n-workflow';
import type { Case } from './cases.mts';
import type { Time } from './time.mts';

/** The whole batch holds back no longer, whatever one answer asks for. */
const LONGEST_HOLD_MS = 60_000;
/** A request and its answer that cross. */
const ON_ITS_WAY_MS = 1;

/**
 * The limit by which a run is judged. Where a name has to be written again, the turn of its request has gone by: then it leaves
 * closer to the next one. A machine that has stood still does at once what it had planned meanwhile.
 */
export const paceOf = ({ requestsPerSecond, failingRecords, crashes }: Case) =>
	failingRecords.length > 0 || crashes.some(({ silentMs }) => silentMs !== undefined) ? Infinity : requestsPerSecond;

/** One run of a node, as what it sends is judged: what n8n calls a try. */
export class RunLog {
	/** Nothing may leave any more. */
	hasEnded = false;

	/** The execution whose node it is. Empty for one that a node has started. */
	execution = '';

	/** It belongs to a retry of an execution that a node has started. */
	buysNothing = false;

	/** The times of the last requests, at most as many as may leave in a second. */
	private readonly leftAtMs: number[] = [];

	private refusedAtMs = Infinity;

	private heldUntilMs = 0;

	constructor(
		private readonly time: Time,
		private readonly requestsPerSecond: number,
		private readonly signal: AbortSignal,
		private readonly violations: string[],
		/** Another try may come after this time, and knows nothing of earlier pauses, where one log is for all tries. */
		private readonly refusedForMs = Infinity,
	) {}

	sends(method: string, url: string): void {
		const {
			leftAtMs,
			requestsPerSecond,
			violations,
			time: { nowMs },
		} = this;
		this.fetches(`${method} ${url}`);
		if (method === 'POST' && this.buysNothing)
			violations.push('a POST left in a retry of an execution that a node has started');
		if (method === 'POST' && nowMs >= this.refusedAtMs && nowMs < this.refusedAtMs + this.refusedForMs)
			violations.push('a POST left after the key or the balance was refused');
		if (nowMs < this.heldUntilMs)
			violations.push(
				`${method} ${url} left ${this.heldUntilMs - nowMs} ms before the end of the pause that a 429 has asked for`,
			);
		leftAtMs.push(nowMs);
		if (leftAtMs.length > requestsPerSecond && nowMs - (leftAtMs.shift() ?? 0) < 1000)
			violations.push(`more than ${requestsPerSecond} requests left within a second`);
	}

	fetches(what: string): void {
		if (this.signal.aborted) this.violations.push(`${what} left after the stop`);
		else if (this.hasEnded) this.violations.push(`${what} left after the end of the run`);
	}

	/** The account buys nothing more. */
	isRefused(): void {
		this.refusedAtMs = this.time.nowMs;
	}

	hears(
		{ status, headers, text }: { status: number; headers: Record<string, string>; text: string },
		{ nowMs }: Time,
		/** True where tasks of the account run: a creating request then waits for the end of one, and others go on. */
		isBusy: boolean,
	): IN8nHttpFullResponse {
		const seconds = Number(headers['retry-after'] ?? NaN);
		if (status === 429 && !isBusy && seconds > 0 && this.refusedForMs === Infinity)
			this.heldUntilMs = Math.max(this.heldUntilMs, nowMs + Math.min(LONGEST_HOLD_MS, seconds * 1000) - ON_ITS_WAY_MS);
		return { statusCode: status, headers, body: text as never };
	}
}
