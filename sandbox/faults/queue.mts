import { answerAt, parseAnswers, type FaultAction, type PlannedAnswer } from './answers.mts';

/** Faults that wait for the next matching requests; added by a test or through the control endpoint. */

export const FAULT_POINTS = ['create', 'status', 'upload', 'balance', 'file', 'token', 'avatar'] as const;
export type FaultPoint = (typeof FAULT_POINTS)[number];

export interface Fault {
	on: FaultPoint | 'any' | FaultPoint[];
	/** All that are given must hold. `path` is a part of the request's path. */
	match?: { taskId?: string; promptIncludes?: string; path?: string };
	/**
	 * The number of matching requests that it hits (of a list of answers: the number of its rounds); default 1, -1 for
	 * all.
	 */
	times?: number;
	/** The number of matching requests that pass before it hits; default 0. */
	skip?: number;
	/** The action, or its short form such as `"504!after"` (a list runs in order). */
	do: FaultAction | string;
}

/** The properties that a fault can be matched with. */
export interface FaultTarget {
	point: FaultPoint;
	path: string;
	taskId?: string;
	prompt?: string;
}

interface Waiting {
	fault: Fault;
	skip: number;
	sequence: PlannedAnswer[];
	used: number;
}

export class FaultQueue {
	private waiting: Waiting[] = [];

	/** Throws an Error that says what is wrong with a short form. */
	add(fault: Fault): void {
		const sequence = typeof fault.do === 'string' ? parseAnswers(fault.do) : [{ action: fault.do, times: 1 }];
		this.waiting.push({ fault, skip: fault.skip ?? 0, sequence, used: 0 });
	}

	clear(): void {
		this.waiting = [];
	}

	/** Faults that have not hit as often as they may. */
	get pending(): number {
		return this.waiting.length;
	}

	/** The first waiting fault that matches; it is used up by one. Faults that still skip count the request. */
	take(target: FaultTarget): FaultAction | undefined {
		for (const entry of this.waiting) {
			if (!matches(entry.fault, target)) continue;
			if (entry.skip > 0) {
				entry.skip -= 1;
				continue;
			}
			const onceThrough = entry.sequence.reduce((sum, { times }) => sum + times, 0);
			const use = onceThrough === Infinity ? entry.used : entry.used % onceThrough;
			entry.used += 1;
			if (entry.used >= onceThrough * rounds(entry.fault.times)) {
				this.waiting = this.waiting.filter((other) => other !== entry);
			}
			return answerAt(entry.sequence, use);
		}
		return undefined;
	}
}

/** A problem with a fault that came as JSON, in words; undefined when it can be added. */
export function problemWithFault(fault: unknown): string | undefined {
	if (typeof fault !== 'object' || fault === null || !('on' in fault) || !('do' in fault)) {
		return 'a fault is {on, do, match?, times?, skip?}';
	}
	const points: unknown[] = Array.isArray(fault.on) ? fault.on : [fault.on];
	const known: unknown[] = [...FAULT_POINTS, 'any'];
	const unknown = points.find((point) => !known.includes(point));
	if (unknown !== undefined) return `on: "${String(unknown)}" is not one of ${known.join(', ')}`;
	if (typeof fault.do === 'string') {
		try {
			parseAnswers(fault.do);
		} catch (reason) {
			return reason instanceof Error ? reason.message : String(reason);
		}
	} else if (typeof fault.do !== 'object' || fault.do === null) {
		return 'do: an action object or a short form such as "503:2"';
	}
	return undefined;
}

function rounds(times: number | undefined): number {
	return times === undefined ? 1 : times < 0 ? Infinity : times;
}

function matches({ on, match }: Fault, target: FaultTarget): boolean {
	if (on !== 'any' && !(Array.isArray(on) ? on : [on]).includes(target.point)) return false;
	if (match?.taskId !== undefined && match.taskId !== target.taskId) return false;
	if (match?.path !== undefined && !target.path.includes(match.path)) return false;
	return match?.promptIncludes === undefined || (target.prompt ?? '').includes(match.promptIncludes);
}
