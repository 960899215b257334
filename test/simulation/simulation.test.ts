import { simulate } from './support/simulate.mts';

/**
 * Never paid twice, nothing lost, nothing unfinished handed out, every wait ends: the real node in a model of n8n that
 * dies at any await, against the sandbox's own tasks and answers, in fake time. A seed decides everything. What must
 * hold is in support/judge.mts, cases that have failed once are in support/regressions.mts.
 */
const LONGEST_MS = 100_000_000;

test(
	'any execution keeps its promises, whatever fails and whenever n8n dies, and so does what has failed once',
	async () => {
		expect(await simulate()).toBe('');
	},
	LONGEST_MS,
);
