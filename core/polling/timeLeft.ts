import { beliefFrom, NOT_POLLED, type PollState } from './planner';
import type { SurvivalTable } from './survivalTable';

/** The time that a task probably still takes, in milliseconds. */
export interface TimeLeft {
	/** As likely more as less. */
	aboutMs: number;
	/** Of 100 tasks, 80 end between these. */
	fromMs: number;
	toMs: number;
}

/**
 * The share of the belief that lies before the interval, and behind it. A tenth each would be right if the belief were:
 * it is a little too sure of itself, and more so when few tasks have taught it.
 */
const OUTSIDE = 0.08;
const OUTSIDE_AFTER_FEW = 0.06;
const FEW = 5;

/** The belief about the end of a task, as an estimate of the time that is left. */
export function timeLeft({ belief, answeredAtMs }: PollState, table: SurvivalTable, ageMs: number): TimeLeft {
	const nowMs = Math.max(answeredAtMs, ageMs);
	const pieces = beliefFrom(nowMs, belief.windows, table);
	const whole = pieces.reduce((sum, { fromMs, toMs, density }) => sum + density * (toMs - fromMs), 0);
	const leftAt = (share: number) => {
		let before = share * whole;
		for (const { fromMs, toMs, density } of pieces) {
			const mass = density * (toMs - fromMs);
			if (mass > 0 && mass >= before) return fromMs + (before / mass) * (toMs - fromMs) - nowMs;
			before -= mass;
		}
		return Infinity;
	};
	const outside = table.learned > 0 && table.learned <= FEW ? OUTSIDE_AFTER_FEW : OUTSIDE;
	return { aboutMs: leftAt(0.5), fromMs: leftAt(outside), toMs: leftAt(1 - outside) };
}

/** Milliseconds that a task of this kind usually takes; undefined until one has been seen to end. */
export function usualMs(table: SurvivalTable): number | undefined {
	return table.learned === 0 ? undefined : timeLeft(NOT_POLLED, table, 0).aboutMs;
}
