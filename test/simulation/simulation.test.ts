import { play } from './support/play.mts';
import { regressions } from './support/regressions.mts';
import { simulate } from './support/simulate.mts';

/**
 * Never paid twice, nothing lost, nothing unfinished handed out, every wait ends: the real node in a model of n8n that
 * dies at any await, against the sandbox's own tasks and answers, in fake time. A seed decides everything.
 */
const LONGEST_MS = 100_000_000;

test.each(regressions)('$name', async ({ drawn }) => {
	expect((await play(drawn)).problems).toEqual([]);
});

test(
	'any execution keeps its promises, whatever fails and whenever n8n dies',
	async () => {
		expect(await simulate()).toBe('');
	},
	LONGEST_MS,
);
