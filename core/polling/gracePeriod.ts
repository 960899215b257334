import { isTransient, type GatewayError } from '../errors';
import type { Poll } from './planner';

/** The time for which refusals are ridden out of a task that nothing was seen of: it may be new. Milliseconds. */
export const NEW_TASK_GRACE_MS = 30_000;
/** The same once its status was seen: a share of its age within these bounds. */
const SEEN_TASK_GRACE_MS = [120_000, 600_000] as const;
const SEEN_TASK_GRACE_OF_AGE = 0.25;

/** The same answer ends a wait after this time, and so many polls. */
const SAME_ANSWER_MS = 180_000;
const SAME_ANSWER_POLLS = 5;

/** Characters of what tells one answer from another. */
export const MAX_SIGNATURE_LENGTH = 300;

/**
 * The meaning of the error of a poll for the wait:
 *
 * - `passes`: the service, or what is in front of it, cannot answer now. It ends with the deadline only.
 * - `refusal`: an answer of the service that contradicts the acceptance of the task. It may be new, one server may not know it
 *   yet, or another part of the service refuses one request.
 * - `same`: an answer that cannot get better, such as a redirect or a page. It passes only where another one comes.
 * - `final`: it does not pass.
 */
export type Trouble = 'passes' | 'refusal' | 'same' | 'final';

/** Statuses of a task that is there, and just being changed. */
const OF_A_TASK_THAT_IS_THERE = new Set([409, 410, 423, 425]);

/** @param isAccepted the task is known from an earlier answer: otherwise a refusal is told at once */
export function troubleOf(error: GatewayError, isAccepted: boolean): Trouble {
	const { httpStatus } = error.details;
	if (isTransient(error))
		return httpStatus !== undefined && httpStatus < 400 && MAY_STAY.has(error.kind) ? 'same' : 'passes';
	if (error.kind === 'notFound') return 'refusal';
	if (httpStatus === undefined) return 'final';
	return isAccepted || OF_A_TASK_THAT_IS_THERE.has(httpStatus) ? 'refusal' : 'final';
}

const MAY_STAY = new Set<GatewayError['kind']>(['unavailable', 'unexpectedAnswer', 'rejected']);

/** The part of a wait that its later parts go by, after a sleep of the execution. */
export interface KeptWait {
	/** The latest polls. Times count from the acceptance. */
	polls?: Poll[];
	/** The service has asked for a pause until then. Unix milliseconds. */
	notBeforeMs?: number;
	/** All answers since then contradict the acceptance. Unix milliseconds. */
	contradictedSinceMs?: number;
	/** The wait goes on for so long since then. */
	graceMs?: number;
	/** The same answer, which cannot get better, has come since then. Unix milliseconds. */
	sameAnswer?: { sinceMs: number; polls: number; words: string };
}

/** Answers that a wait rides out for a while, also where it sleeps meanwhile. Milliseconds. */
export class GracePeriod {
	/** @param wallAheadMs Unix milliseconds minus those of the clock of the wait */
	constructor(
		private readonly kept: KeptWait,
		private readonly wallAheadMs: number,
	) {}

	/** Infinity where the last answer was another one. */
	get endsAtMs(): number {
		const { contradictedSinceMs = Infinity, graceMs = NEW_TASK_GRACE_MS, sameAnswer } = this.kept;
		const hasEnough = sameAnswer !== undefined && sameAnswer.polls >= SAME_ANSWER_POLLS - 1;
		const sameUntilMs = hasEnough ? sameAnswer.sinceMs + SAME_ANSWER_MS : Infinity;
		return Math.min(contradictedSinceMs + graceMs, sameUntilMs) - this.wallAheadMs;
	}

	/** Starts it where it has not started, and where the clock was set back since. True until it is over. */
	covers(error: GatewayError, trouble: Trouble, atMs: number, ageMs: number): boolean {
		const { kept } = this;
		const nowMs = atMs + this.wallAheadMs;
		if (trouble === 'refusal') {
			delete kept.sameAnswer;
			if (kept.contradictedSinceMs === undefined) kept.graceMs = this.graceMs(ageMs);
			kept.contradictedSinceMs = Math.min(kept.contradictedSinceMs ?? Infinity, nowMs);
			return atMs < this.endsAtMs;
		}
		const words = signatureOf(error);
		const before = kept.sameAnswer?.words === words ? kept.sameAnswer : { sinceMs: nowMs, polls: 0, words };
		this.reset();
		kept.sameAnswer = { ...before, sinceMs: Math.min(before.sinceMs, nowMs), polls: before.polls + 1 };
		return kept.sameAnswer.polls < SAME_ANSWER_POLLS || atMs < this.endsAtMs;
	}

	/** There was another answer. */
	reset(): void {
		delete this.kept.contradictedSinceMs;
		delete this.kept.graceMs;
		delete this.kept.sameAnswer;
	}

	private graceMs(ageMs: number): number {
		const [shortestMs, longestMs] = SEEN_TASK_GRACE_MS;
		if (!this.kept.polls?.some(({ failed }) => !failed)) return NEW_TASK_GRACE_MS;
		return Math.min(longestMs, Math.max(shortestMs, ageMs * SEEN_TASK_GRACE_OF_AGE));
	}
}

/** The answer in short, without what differs each time: numbers, times, IDs of requests. */
function signatureOf({
	details: { httpStatus, reason, serviceCode, serviceMessage, serviceAnswer },
}: GatewayError): string {
	const said = [
		httpStatus,
		reason?.name,
		serviceCode,
		(serviceMessage ?? serviceAnswer)?.slice(0, MAX_SIGNATURE_LENGTH),
	];
	return said
		.join(' ')
		.replace(/[\w-]*\d[\w-]*|[\w-]{20,}/g, '#')
		.slice(0, MAX_SIGNATURE_LENGTH);
}
