/** Adds up what passed and what failed, for the one line at the end of a test run. */
import { say } from './step.mjs';

export function createTally() {
	let passed = 0;
	let failed = 0;
	return {
		/**
		 * @param {number} passedTests
		 * @param {number} failedTests
		 */
		add(passedTests, failedTests) {
			passed += passedTests;
			failed += failedTests;
		},

		/** Prints the line and returns the exit code. A run in which nothing was tested has not passed. */
		finish() {
			say(`\n${passed} passed, ${failed} failed`);
			return failed === 0 && passed > 0 ? 0 : 1;
		},
	};
}
