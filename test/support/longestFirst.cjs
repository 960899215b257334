const Sequencer = require('@jest/test-sequencer').default;

/** Files that take longest, although they are small: with nothing else to go by, Jest begins with the largest. */
const LONGEST = ['simulation', 'agreement', 'progress', 'bounds', 'hostileFiles', 'downloads', 'aroundIt', 'timeLeft'];

/** As Jest's own, but what takes long begins first in a new checkout, too. */
module.exports = class LongestFirst extends Sequencer {
	sort(tests) {
		const isLong = ({ path, duration }) =>
			duration === undefined && LONGEST.some((name) => path.endsWith(`/${name}.test.ts`));
		const sorted = super.sort(tests);
		return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
	}
};
