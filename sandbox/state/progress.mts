import type { ProgressShape } from '../faults/directives.mts';

const CURVES: Record<ProgressShape, (fraction: number) => number> = {
	linear: (fraction) => 100 * fraction,
	/** Half of the progress is shown after a fifth of the time. */
	fast: (fraction) => 100 * (1 - (1 - fraction) ** 3),
	steps: (fraction) => 25 * Math.floor(4 * fraction),
	stuck: () => 0,
	jump: (fraction) => (fraction < 0.1 ? 0 : 99),
	missing: (fraction) => 100 * fraction,
	string: (fraction) => 100 * fraction,
	percent: (fraction) => 100 * fraction,
};

/**
 * The progress that a status read shows at a fraction of the task's time: an integer from 0 to 99
 * while it runs and 100 at the end (contract section 2.3), or in another form that a directive orders.
 */
export function progressAt(shape: ProgressShape, fraction: number): number | string | undefined {
	const value = fraction >= 1 ? 100 : Math.min(99, Math.floor(CURVES[shape](fraction)));
	switch (shape) {
		case 'missing':
			return undefined;
		case 'string':
			return String(value);
		case 'percent':
			return `${value}%`;
		default:
			return value;
	}
}
