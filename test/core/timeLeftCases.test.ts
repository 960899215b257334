/** The estimate of the time that is left, case by case. */
import { afterPoll, beliefFrom, NOT_POLLED, type PollState } from '../../core/polling/planner';
import { SurvivalTable } from '../../core/polling/survivalTable';
import { timeLeft } from '../../core/polling/timeLeft';

function tableOf(learned: number): SurvivalTable {
	const table = new SurvivalTable();
	for (let task = 0; task < learned; task++) table.begin().finished(60_000 + 1_000 * task);
	return table;
}

test('the time left counts from now or from the last poll, whichever is later', () => {
	const table = tableOf(2);
	const polled = afterPoll(NOT_POLLED, { atMs: 40_000 });
	const expected = timeLeft(polled, table, 40_000);
	expect(timeLeft(NOT_POLLED, table, 40_000)).toEqual(expected);
	expect(timeLeft(polled, table, 30_000)).toEqual(expected);
	expect(timeLeft(NOT_POLLED, table, 30_000)).not.toEqual(expected);
});

test.each([
	[0, 84],
	[1, 88],
	[5, 88],
	[6, 84],
])('after %i tasks, the belief that a task ends between the bounds of the time left is %i %', (learned, percent) => {
	const table = tableOf(learned);
	const nowMs = 20_000;
	const { fromMs, toMs } = timeLeft(NOT_POLLED, table, nowMs);
	const massOf = (startMs: number, endMs: number) =>
		beliefFrom(nowMs, NOT_POLLED.belief.windows, table).reduce(
			(sum, piece) => sum + piece.density * Math.max(0, Math.min(piece.toMs, endMs) - Math.max(piece.fromMs, startMs)),
			0,
		);
	expect((100 * massOf(nowMs + fromMs, nowMs + toMs)) / massOf(nowMs, Infinity)).toBeCloseTo(percent, 6);
});

test('the time left of a task that cannot end has no bound', () => {
	const impossible: PollState = {
		...NOT_POLLED,
		belief: { ...NOT_POLLED.belief, windows: [{ fromMs: 0, toMs: 1_000, weight: 1 }] },
	};
	expect(timeLeft(impossible, tableOf(1), 20_000)).toEqual({ aboutMs: Infinity, fromMs: Infinity, toMs: Infinity });
});
