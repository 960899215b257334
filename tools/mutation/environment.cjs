/** Ends a test file with its first failure: the mutant is killed, and what else would wait for it in vain need not. */
const { createRequire } = require('node:module');
// It comes with Jest.
const { TestEnvironment } = createRequire(require.resolve('jest'))('jest-environment-node');

module.exports = class extends TestEnvironment {
	hasFailed = false;

	/** @param {{ name: string, test?: { mode?: string | null } }} event */
	handleTestEvent({ name, test }) {
		if (name === 'test_fn_failure' || name === 'hook_failure') this.hasFailed = true;
		if (name === 'test_start' && test !== undefined && this.hasFailed) test.mode = 'skip';
	}
};
