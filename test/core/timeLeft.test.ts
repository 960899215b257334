/**
 * The estimate of the time that is left, checked as weather forecasts are: of its intervals of 80 %, as many hold. Seeds,
 * shapes and spreads of these runs are others than those by which its constants were chosen.
 */
import { SurvivalTable } from '../../core/polling/survivalTable';
import { PollSchedule } from '../../core/polling/planner';
import { AUTOMATIC, mean, seeded, simulateTask, slowing, steps, type Shape } from '../support/simulation';

/** Written after the constants were chosen. */
const SHAPES: Shape[] = [
	(share) => 100 * share,
	(share) => Math.floor(97 * share),
	steps(25),
	steps(2),
	slowing(3),
	slowing(1.3),
	(share) => 100 * (3 * share ** 2 - 2 * share ** 3),
	(share) => (share < 0.3 ? undefined : 100 * share),
	() => 0,
	() => undefined,
];

const random = seeded(4_711);
const gauss = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
/** Durations of one kind of task around a usual one. */
const SPREADS: Array<(usualMs: number) => number> = [
	(usualMs) => usualMs * (0.95 + 0.1 * random()),
	(usualMs) => usualMs * (0.6 + 0.8 * random()),
	(usualMs) => usualMs * Math.exp(0.3 * gauss()),
	(usualMs) => usualMs * (random() < 0.5 ? 1 : 1.8) * (0.85 + 0.3 * random()),
];

/** The share of the estimates of one task that hold, one at each poll; undefined if it ends before the first. */
function shareHeld(shape: Shape, draw: () => number, seenBefore: number): number | undefined {
	const table = new SurvivalTable();
	for (let seen = 0; seen < seenBefore; seen++) simulateTask(draw(), shape, table);
	const schedule = new PollSchedule(AUTOMATIC, { table, random, ageAtStartMs: 0 });
	const durationMs = draw();
	const held: number[] = [];
	for (;;) {
		const atMs = schedule.nextPollAtMs(0);
		if (atMs >= durationMs) break;
		const progress = shape(atMs / durationMs);
		schedule.polled({ atMs, progress: progress === undefined ? undefined : Math.floor(progress) });
		const { fromMs, toMs } = schedule.timeLeft(atMs);
		const leftMs = durationMs - atMs;
		held.push(fromMs <= leftMs && leftMs <= toMs ? 1 : 0);
	}
	return held.length === 0 ? undefined : mean(held);
}

test.each([0, 2, 6])('after %i tasks of a kind, 75 to 85 of 100 estimates of the time left hold', (seenBefore) => {
	const held = SHAPES.flatMap((shape) =>
		SPREADS.flatMap((spread) =>
			Array.from({ length: 6 }, () => {
				const usualMs = 3_000 * 600 ** random();
				return shareHeld(shape, () => spread(usualMs), seenBefore);
			}),
		),
	);
	const percent = 100 * mean(held.filter((share) => share !== undefined));
	expect(percent).toBeGreaterThan(75);
	expect(percent).toBeLessThan(85);
});
