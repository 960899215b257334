/** Draws for the cases. */
import type { Crash } from './cases.mts';
import type { Moment } from './moments.mts';

/** Draws from numbers in [0, 1). */
export class Draw {
	constructor(private readonly random: () => number) {}

	upTo(most: number): number {
		return Math.floor(this.random() * (most + 1));
	}

	oneIn(times: number): boolean {
		return this.random() * times < 1;
	}

	from<T>(...values: T[]): T {
		return values[Math.floor(this.random() * values.length)];
	}

	list<T>(length: number, draw: () => T): T[] {
		return Array.from({ length }, draw);
	}
}

export const ANYWHERE: Moment[] = ['while n8n saves', 'between POST and answer'];
export const WITH_ROWS: Moment[] = ['between row and look', 'between look and mark'];

export const OF_POLLERS: Moment[] = [
	...(['while parking', 'while parking', 'between the lease of a poller and its start'] as const),
	...(['before a poller is woken', 'between POST and answer of a poller', 'while orders of a poller wait'] as const),
	...(['between row and look of a poller', 'between look and mark of a poller'] as const),
];

export function drawCrash(draw: Draw, moments: Moment[]): Crash {
	return {
		afterSteps: Math.floor(2 ** (1 + (8 * draw.upTo(1000)) / 1000)),
		...(draw.oneIn(3) ? { during: draw.from(...moments) } : {}),
		downMs: draw.from(1000, 20_000, 100_000),
	};
}
