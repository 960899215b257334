const Sequencer = require('@jest/test-sequencer').default;

/** Files that keep the processor busy for long: they begin first, because the others wait most of their time. */
const BUSY = ['simulation/simulation', 'nodes/agreement'];

/** Files that take long although they are small: Jest knows no durations, or those of a part of their tests. */
const LONG = [
	...['purchaseLog', 'durability', 'generate', 'refusals', 'hostileFiles', 'aroundIt', 'downloads'],
	...['acrossRestarts', 'runCredits', 'progress', 'hostile', 'avatar', 'crash', 'results', 'stop', 'eventLoop'],
].map((name) => `nodes/${name}`);

/** As Jest's own, but for these. */
module.exports = class LongestFirst extends Sequencer {
	sort(tests) {
		const isIn =
			(names) =>
			({ path }) =>
				names.some((name) => path.endsWith(`/${name}.test.ts`));
		const rank = (test) => (isIn(BUSY)(test) ? 0 : isIn(LONG)(test) ? 1 : 2);
		return [...super.sort(tests)].sort((one, other) => rank(one) - rank(other));
	}
};
