/** Bytes that all executions of a process hold together. */
import { ByteBudget } from '../../core/byteBudget';
import { pause } from '../support/nodes.mts';

/** Grows a holding, and tells whether it still waits. */
function growing(budget: ByteBudget) {
	const holding = budget.begin();
	const state = { isWaiting: false };
	const grow = (bytes: number, signal?: AbortSignal) => {
		state.isWaiting = true;
		void holding.grow(bytes, signal).then(() => (state.isWaiting = false));
	};
	return { holding, state, grow };
}

const settled = async () => await pause(0);

test('who would exceed the budget waits until another one lets go of its bytes; the oldest never waits', async () => {
	const budget = new ByteBudget(100);
	const [oldest, other, third] = [growing(budget), growing(budget), growing(budget)];
	oldest.grow(60);
	other.grow(40);
	third.grow(10);
	await settled();
	expect([oldest, other, third].map(({ state }) => state.isWaiting)).toEqual([false, false, true]);
	oldest.grow(160);
	await settled();
	expect(oldest.state.isWaiting).toBe(false);
	oldest.holding.letGo();
	await settled();
	expect(third.state.isWaiting).toBe(false);
	// The next one is the oldest now, whatever it has waited for.
	other.grow(200);
	await settled();
	expect(other.state.isWaiting).toBe(false);
});

test('one that lets go while it is stopped holds nothing', async () => {
	const budget = new ByteBudget(100);
	const [oldest, stopped, next] = [growing(budget), growing(budget), growing(budget)];
	oldest.grow(60);
	await settled();
	const stop = new AbortController();
	stopped.grow(45, stop.signal);
	await settled();
	stop.abort();
	stopped.holding.letGo();
	await settled();
	next.grow(40);
	await settled();
	expect(next.state.isWaiting).toBe(false);
});

test('bytes are let go of once, and a stop ends the waiting', async () => {
	const budget = new ByteBudget(100);
	const [oldest, other] = [growing(budget), growing(budget)];
	oldest.grow(100);
	const stop = new AbortController();
	other.grow(10, stop.signal);
	await settled();
	expect(other.state.isWaiting).toBe(true);
	stop.abort();
	await settled();
	expect(other.state.isWaiting).toBe(false);
	for (const { holding } of [oldest, oldest, other]) holding.letGo();
	const [first, second] = [growing(budget), growing(budget)];
	first.grow(60);
	second.grow(41);
	await settled();
	expect([first.state.isWaiting, second.state.isWaiting]).toEqual([false, true]);
});
