/** The lines of the progress, without n8n: what is said of tasks and of trouble, and when. */
import type { Order } from '../../core/orders/order';
import { refusalError } from '../../core/http/answers';
import type { HttpResponse } from '../../core/http/types';
import { HTML, json } from '../core/support';
import { Progress } from '../../nodes/run/progress';

beforeEach(() => jest.useFakeTimers({ now: 1_800_000_000_000 }));
afterEach(() => jest.useRealTimers());

const MINUTE_MS = 60_000;
const order = (state: Order['state'], task?: Partial<NonNullable<Order['task']>>, end?: object) =>
	({ state, ...(task && { task }), ...(end && { end }) }) as unknown as Order;
const accepted = (task: Partial<NonNullable<Order['task']>> = {}) => order('accepted', task);
const left =
	(aboutMs: number, fromMs = aboutMs, toMs = aboutMs) =>
	() => ({ aboutMs, fromMs, toMs });

/** Begins to tell; `pass` lets time pass and returns what was said meanwhile. */
function begin({ isWaiting = true } = {}) {
	const lines: string[] = [];
	const progress = new Progress({ console: (line) => lines.push(line), noun: isWaiting ? 'Image' : undefined });
	const over = new AbortController();
	const ended = progress.reportUntil(over.signal);
	const pass = async (ms: number) => {
		lines.length = 0;
		await jest.advanceTimersByTimeAsync(ms);
		return [...lines];
	};
	const end = async () => {
		over.abort();
		await ended;
	};
	return { progress, pass, end };
}

/** The first line about these orders. */
async function lineOf(orders: Order[], estimates: Array<ReturnType<typeof left> | undefined> = []) {
	const { progress, pass, end } = begin();
	progress.orders = orders;
	orders.forEach((each, index) => estimates[index] && progress.watch(each).begun(estimates[index]));
	const [line] = await pass(2_000);
	await end();
	return line;
}

test.each<[string, Order, string | undefined]>([
	['that is still to be sent', order('planned'), undefined],
	['whose request was sent', order('submitting'), 'The request was sent, and the service has not answered yet'],
	['that waits at the service', accepted({ status: 'queued' }), 'Image queued'],
	['that runs', accepted({ status: 'running' }), 'Image in progress'],
	['that has ended', order('ended', {}, { as: 'done' }), undefined],
])('the progress line of one task %s is %p', async (_, one, line) => {
	expect(await lineOf([one])).toBe(line);
});

test.each<[Order[], string | undefined]>([
	[[accepted(), order('planned')], '0 of 2 done, 1 running, 1 waiting'],
	[
		[accepted({ progress: 40 }), accepted({ progress: 5 }), accepted({ progress: 100 })],
		'0 of 3 done, 3 running at 5 to 100 %',
	],
	[
		[
			order('ended', {}, { as: 'done' }),
			order('ended', {}, { as: 'failed' }),
			order('planned'),
			order('submitting'),
			accepted(),
		],
		'1 of 5 done, 1 running, 2 waiting, 1 failed',
	],
])('the progress line of several tasks counts them by their states: %#', async (orders, line) => {
	expect(await lineOf(orders)).toBe(line);
});

test.each<[string, ReturnType<typeof left>, string]>([
	['about as long as it is', left(9 * MINUTE_MS), 'Image 50 %, about 9 min left'],
	['more than twice as long', left(6 * MINUTE_MS, 4 * MINUTE_MS, 9 * MINUTE_MS), 'Image 50 %, 4 min to 9 min left'],
	['still longer', left(0, 4 * MINUTE_MS, 41 * MINUTE_MS), 'Image 50 %'],
])('the time that is left: %s', async (_, estimate, line) => {
	expect(await lineOf([accepted({ progress: 50 })], [estimate])).toBe(line);
});

test.each<[HttpResponse, string]>([
	[json(503, {}), 'The service is not available at the moment (503), next try in 6 s'],
	[json(401, HTML), 'The answer did not come from the service itself (HTTP 401), next try in 6 s'],
])('of trouble, the status is said once', async (answer, line) => {
	const { progress, pass, end } = begin();
	progress.retrying(refusalError(answer), 8_000);
	expect(await pass(2_000)).toEqual([line]);
	await end();
});

test('a line comes every two seconds where there is something new, and every ten where only the estimate is', async () => {
	const { progress, pass, end } = begin();
	const one = accepted({ progress: 50 });
	progress.orders = [one];
	let aboutMs = 9 * MINUTE_MS;
	progress.watch(one).begun(() => left(aboutMs)());
	expect(await pass(1_999)).toEqual([]);
	expect(await pass(1)).toEqual(['Image 50 %, about 9 min left']);
	expect(await pass(20_000)).toEqual([]);
	aboutMs = 8 * MINUTE_MS;
	expect(await pass(2_000)).toEqual(['Image 50 %, about 8 min left']);
	aboutMs = 7 * MINUTE_MS;
	expect(await pass(8_000)).toEqual([]);
	expect(await pass(2_000)).toEqual(['Image 50 %, about 7 min left']);
	Object.assign(one.task as object, { progress: 51 });
	expect(await pass(2_000)).toEqual(['Image 51 %, about 7 min left']);
	await end();
	expect(await pass(20_000)).toEqual([]);
});
