/** The rows that an account may have written and not sent: few at any moment, because each is in doubt after a crash. */
import { RowBudget, type RowPermit, type RowRequest } from '../../core/account/rowBudget';
import type { GatewayError } from '../../core/errors';
import { flushPromises, sharedClock } from './support';

function makeBudget(pace: { turnInMs?: number; spacingMs?: number } = {}) {
	const clock = sharedClock();
	const budget = new RowBudget(clock);
	const given: RowPermit[] = [];
	const own = { turnInMs: 0, spacingMs: 10, ...pace };
	const takeFor = async (request: RowRequest, ofRun = own) => {
		const permit = await budget.take(ofRun, request);
		given.push(permit);
		return permit;
	};
	const take = async (signal?: AbortSignal, ofRun = own, onWait?: () => () => void) =>
		await takeFor({ signal, onWait }, ofRun);
	return { clock, take, takeFor, given, pace: own };
}

describe('rows that are written and not sent', () => {
	test.each([
		[10, 50],
		[100, 5],
		[1_000, 1],
	])('with %i ms between two requests there are %i: they leave within half a second', async (spacingMs, most) => {
		const { take, given } = makeBudget({ spacingMs });
		for (let count = 0; count < 200; count++) void take();
		await flushPromises();
		expect(given).toHaveLength(most);
	});

	test.each<[string, (permit: RowPermit) => void, number]>([
		['leaves', (permit) => permit.leaves(), 2],
		['is withdrawn', (permit) => permit.end(), 2],
		['has its answer, which is to be written', (permit) => (permit.leaves(), permit.answered()), 1],
		['has its answer in the table', (permit) => (permit.leaves(), permit.answered(), permit.end()), 2],
		['ends twice', (permit) => (permit.end(), permit.end()), 2],
	])('another one may be written when one %s', async (_, happens, count) => {
		const { take, given, clock } = makeBudget({ spacingMs: 1_000 });
		void take();
		void take();
		await flushPromises();
		expect(given).toHaveLength(1);
		happens(given[0] as RowPermit);
		await clock.runUntil(clock.at + 100);
		expect(given).toHaveLength(count);
	});

	test('while as many as may be are under way, the next one waits for them, and looks again seldom', async () => {
		const { take, given, clock } = makeBudget({ spacingMs: 10 });
		const slept = jest.spyOn(clock, 'sleep');
		for (let count = 0; count < 51; count++) void take();
		await clock.runUntil(clock.at + 10_000);
		expect([given.length, slept.mock.calls.length]).toEqual([50, 1]);
		given[0]?.end();
		await clock.runUntil(clock.at + 100);
		expect(given).toHaveLength(51);
	});

	test('none is written while its turn is more than half a second away', async () => {
		const { take, pace, clock } = makeBudget();
		const beganMs = clock.at;
		const overMs = beganMs + 20_000;
		Object.defineProperty(pace, 'turnInMs', { get: () => Math.max(0, overMs - clock.at) });
		await clock.run(take());
		expect(clock.at - beganMs).toBe(19_500);
	});

	test('the runs take turns: a short one does not wait for the rows of a long one, nor for one whose turn is far', async () => {
		const { take, clock } = makeBudget({ spacingMs: 100 });
		const beganMs = clock.at;
		const send = async (turnInMs: number, pace = { turnInMs, spacingMs: 100 }) =>
			await take(undefined, pace).then(async (permit) => {
				await clock.sleep(100);
				permit.end();
				return clock.at - beganMs;
			});
		void send(60_000);
		const long = { turnInMs: 0, spacingMs: 100 };
		for (let count = 0; count < 1_000; count++) void send(0, long);
		expect(await clock.run(send(0))).toBeLessThan(1_000);
	});

	test('a turn has ten rows, which are written together', async () => {
		const { take, given, clock } = makeBudget();
		for (let count = 0; count < 50; count++) void take();
		await flushPromises();
		const order: string[] = [];
		const runs = { a: { turnInMs: 0, spacingMs: 10 }, b: { turnInMs: 0, spacingMs: 10 } };
		for (let count = 0; count < 25; count++)
			for (const [name, pace] of Object.entries(runs)) void take(undefined, pace).then(() => order.push(name));
		for (const permit of [...given]) permit.leaves();
		await clock.run(clock.sleep(1));
		expect(order.join('')).toMatch(/^a{10}b{10}a{10}b{10}a{5}b{5}$/);
	});

	test.each(['before it waits', 'while it waits'])('a stop %s lets an order go at once', async (when) => {
		const { take, clock } = makeBudget({ turnInMs: 60_000 });
		const stop = new AbortController();
		if (when === 'before it waits') stop.abort();
		else void clock.sleep(100).then(() => stop.abort());
		await clock.run(take(stop.signal));
		expect(clock.at).toBeLessThan(1_000_200);
	});
});

describe('an account that is full', () => {
	/** All ask and are refused, as often as they may. Returns the times at which rows were written, in seconds. */
	async function askForever(orders: number, untilS: number, askedMs = 0) {
		const { take, clock } = makeBudget();
		const beganMs = clock.at;
		const atS: number[] = [];
		const ends: unknown[] = [];
		const ask = async (): Promise<void> => {
			const permit = await take();
			atS.push((clock.at - beganMs) / 1000);
			permit.leaves();
			await clock.sleep(100);
			permit.refused(askedMs);
			permit.answered();
			permit.end();
			await ask();
		};
		for (let order = 0; order < orders; order++) void ask().catch((error: unknown) => ends.push(error));
		await clock.runUntil(beganMs + untilS * 1000);
		return { atS, ends };
	}

	test('after the first answers, one order asks again, after growing pauses; the others wait', async () => {
		const { atS } = await askForever(40, 130);
		expect(atS.filter((s) => s < 0.1)).toHaveLength(40);
		const later = atS.filter((s) => s >= 0.1);
		const pauses = later.map((s, index) => Math.round(s - (index === 0 ? 0.1 : (later[index - 1] as number) + 0.1)));
		expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60].slice(0, pauses.length));
		expect(pauses.length).toBeGreaterThanOrEqual(6);
	});

	test.each([
		['is kept', 40, [0, 40, 80, 120]],
		['lasts a minute at most: it may be about one model only', 86_400, [0, 60, 120]],
	])('a pause that the service asks for %s', async (_, askedS, expected) => {
		const { atS } = await askForever(1, 130, askedS * 1_000);
		expect(atS.map(Math.round)).toEqual(expected);
	});

	test('the runs take turns with each request: one whose model is never taken does not keep the others from asking', async () => {
		const { take, clock } = makeBudget();
		const beganMs = clock.at;
		const askForMs = async (untilMs: number): Promise<void> => {
			const permit = await take();
			permit.refused(0);
			permit.end();
			if (clock.at < untilMs) await askForMs(untilMs);
		};
		for (let order = 0; order < 20; order++) void askForMs(beganMs + 900_000).catch(() => {});
		await clock.runUntil(beganMs + 2_000);
		await clock.run(take(undefined, { turnInMs: 0, spacingMs: 10 }));
		// The pauses before it are those of 2 and 4 s.
		expect(clock.at - beganMs).toBeLessThan(8_000);
	});

	test('in one run, too: the orders of a model that is never taken let those of another one ask', async () => {
		const { takeFor, clock } = makeBudget();
		const beganMs = clock.at;
		const ask = async (): Promise<void> => {
			const permit = await takeFor({ scope: 'refused' });
			permit.refused(0);
			permit.end();
			await ask();
		};
		for (let order = 0; order < 20; order++) void ask().catch(() => {});
		await clock.runUntil(beganMs + 100_000);
		const waitedMs = clock.at;
		const other = await clock.run(takeFor({ scope: 'other' }));
		// The next one that asks, after the longest pause.
		expect(clock.at - waitedMs).toBeLessThanOrEqual(61_000);
		other.served();
		other.end();
	});

	test.each([
		[50, 32],
		[170, 32],
		[200, 1],
	])('%i s later, the next pauses begin with %i s', async (afterS, pauseS) => {
		const { take, clock } = makeBudget();
		const ask = async () => {
			const permit = await take();
			permit.refused(0);
			permit.end();
		};
		for (let count = 0; count < 5; count++) await clock.run(ask());
		await clock.run(clock.sleep(afterS * 1_000));
		await clock.run(ask());
		const beganMs = clock.at;
		await clock.run(ask());
		expect(clock.at - beganMs).toBe(pauseS * 1_000);
	});

	test('an order is told after two minutes, in an error of its own', async () => {
		const { ends } = await askForever(4, 119);
		expect(ends).toEqual([]);
		const later = (await askForever(4, 400)).ends as GatewayError[];
		expect(later.map(({ message }) => message)).toEqual(
			Array(3).fill(
				expect.stringMatching(/: it has accepted none from this account for 2 min, so this item was not sent$/),
			),
		);
		expect(new Set(later).size).toBe(3);
	});

	test('an order is told when it begins to wait for the account, and when it does not any more', async () => {
		const { take, pace, clock } = makeBudget({ spacingMs: 1_000 });
		const told: string[] = [];
		const wait = async (name: string, signal?: AbortSignal) =>
			await take(signal, pace, () => {
				told.push(`${name} waits`);
				return () => told.push(`${name} goes on`);
			});
		const since = () => told.splice(0);
		const first = await clock.run(wait('a'));
		const stop = new AbortController();
		const [second, third, stopped] = [wait('b'), wait('c'), wait('d', stop.signal)];
		await clock.runUntil(clock.at + 100);
		expect(since()).toEqual([]);
		first.refused(0);
		first.end();
		expect(since()).toEqual(['b waits', 'c waits', 'd waits']);
		stop.abort();
		expect(since()).toEqual(['d goes on']);
		(await stopped).end();
		void wait('e').catch(() => {});
		const asking = await clock.run(second);
		expect(since()).toEqual(['e waits', 'b goes on']);
		// From now on, they only wait for their turns.
		asking.served();
		expect(since()).toEqual(['c goes on', 'e goes on']);
		asking.end();
		(await clock.run(third)).refused(0);
		expect(since()).toEqual(['e waits']);
	});

	test.each<[string, (permit: RowPermit) => void, number]>([
		['is accepted', (permit) => permit.served(), 4],
		['gets no answer: the next one asks', (permit) => permit.end(), 2],
		['is still under way', () => {}, 1],
	])('the one that asks %s', async (_, happens, count) => {
		const { take, given, clock } = makeBudget();
		const first = await clock.run(take());
		first.refused(0);
		first.end();
		for (let order = 0; order < 4; order++) void take();
		await clock.runUntil(clock.at + 5_000);
		expect(given).toHaveLength(2);
		// The end of one that has asked before changes nothing.
		first.end();
		happens(given[1] as RowPermit);
		await clock.runUntil(clock.at + 10);
		expect(given).toHaveLength(count + 1);
	});
});
