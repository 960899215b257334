/** The attempts to buy under one key, as their rows tell. */
import { CREATE_TIMEOUT_MS } from '../../core/limits';
import { KeyWatch } from '../../core/purchases/keyWatch';
import { fakeClock } from './support';

const NOW_MS = Date.parse('2026-11-24T12:00:00.000Z');
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const at = (agoMs: number) => ({ time: new Date(NOW_MS - agoMs).toISOString() });
const row = (changes: Record<string, unknown> = {}) => ({
	...{ id: 1, state: 'submitting', task_id: '', execution: '7', retry: false, item: 0 },
	...{ attempt: '7-a-0', request_hash: 'hash', ...at(0), ...changes },
});

function makeWatch() {
	const clock = fakeClock();
	clock.at = NOW_MS;
	const watch = new KeyWatch(clock);
	return { clock, read: (...rows: unknown[]) => watch.read(rows)?.map(({ is }) => is) };
}

test.each<[string, Record<string, unknown>, string[]]>([
	['has its ID has bought', { state: 'accepted', task_id: 't' }, ['bought']],
	['has ended well has bought', { state: 'completed', task_id: 't' }, ['bought']],
	['has failed for good has bought', { state: 'failed_permanently', task_id: 't' }, ['bought']],
	['was accepted, and lost its ID, is unclear', { state: 'accepted' }, ['unknown']],
	['has an unknown outcome is unclear, whatever else its row says', { state: 'unknown', task_id: 't' }, ['unknown']],
	['was written just now is under way', {}, ['underWay']],
	['was not accepted has bought nothing', { state: 'not_accepted' }, []],
	['has failed leaves the key free', { state: 'failed', task_id: 't' }, []],
	['is just younger than 30 days holds', { state: 'accepted', task_id: 't', ...at(30 * DAY_MS - 1) }, ['bought']],
	['is 30 days old holds no more', { state: 'accepted', task_id: 't', ...at(30 * DAY_MS) }, []],
	['is as old as clocks may differ is not under way any more', at(10 * MINUTE_MS), ['unknown']],
	['is just younger than that may be under way', at(10 * MINUTE_MS - 1), ['underWay']],
])('under a Purchase Key, an attempt that %s', (_, changes, expected) => {
	expect(makeWatch().read(row(changes))).toEqual(expected);
});

test('a request is under way for as long as the service may take, by our own clock, whatever the row says', () => {
	const { clock, read } = makeWatch();
	const rows = [row(at(-DAY_MS))];
	expect(read(...rows)).toEqual(['underWay']);
	clock.at += CREATE_TIMEOUT_MS + 9_999;
	expect(read(...rows)).toEqual(['underWay']);
	clock.at += 1;
	expect(read(...rows)).toEqual(['unknown']);
});

test('an attempt that has written its row again is under way anew', () => {
	const { clock, read } = makeWatch();
	read(row(at(-DAY_MS)));
	clock.at += CREATE_TIMEOUT_MS + 10_000;
	expect(read(row(at(-DAY_MS)), row({ id: 2, ...at(-DAY_MS) }))).toEqual(['underWay']);
});

test('an attempt whose last row is young holds, however old its first one is', () => {
	const rows = [row(at(31 * DAY_MS)), row({ id: 2, state: 'accepted', task_id: 't', ...at(DAY_MS) })];
	expect(makeWatch().read(...rows)).toEqual(['bought']);
});

test('a row that cannot be read may mean a purchase', () => {
	expect(makeWatch().read(row(), { ...row({ attempt: '7-a-1' }), state: 'bought' })).toBeUndefined();
});
