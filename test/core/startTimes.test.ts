/** Times at which something began, as other clocks have noted them. */
import { isAhead, plausibleStartMs } from '../../core/polling/startTimes';

const NOW_MS = 1_800_000_000_000;
const DAY_MS = 86_400_000;

test.each([
	[-1, false],
	[0, false],
	[1_000, false],
	[1_001, true],
])('a time %d ms from now is ahead: %p', (ms, expected) => {
	expect(isAhead(NOW_MS + ms, NOW_MS)).toBe(expected);
});

test.each<[string, number | undefined, number]>([
	['a minute ago', NOW_MS - 60_000, NOW_MS - 60_000],
	['a millisecond less than a day ago', NOW_MS - DAY_MS + 1, NOW_MS - DAY_MS + 1],
	['a day ago, which is not believed', NOW_MS - DAY_MS, NOW_MS],
	['in a minute, which is not believed', NOW_MS + 60_000, NOW_MS],
	['nobody says when', undefined, NOW_MS],
])('a task has begun %s', (_, createdAtMs, expected) => {
	expect(plausibleStartMs(createdAtMs, NOW_MS)).toBe(expected);
});
