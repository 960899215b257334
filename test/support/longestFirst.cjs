const Sequencer = require('@jest/test-sequencer').default;

/** Files that take longest, although they are small, because they wait: with nothing else to go by, Jest begins with the largest. */
const LONGEST = [
	...['purchaseLog', 'durability', 'generate', 'refusals', 'simulation', 'hostileFiles', 'aroundIt', 'downloads'],
	...['surviveRestarts', 'runCredits', 'progress', 'hostile', 'bounds', 'agreement', 'avatar', 'crash', 'results'],
];

/** As Jest's own, but what takes long begins first in a new checkout, too. */
module.exports = class LongestFirst extends Sequencer {
	sort(tests) {
		const isLong = ({ path, duration }) =>
			duration === undefined && LONGEST.some((name) => path.endsWith(`/${name}.test.ts`));
		const sorted = super.sort(tests);
		return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
	}
};
