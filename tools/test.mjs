/** `npm test`: lint, type checks, dead code, build, package, n8n's scanner, and all tests that need no running n8n. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { buildPackage } from './package/build.mjs';
import { checkPackage } from './package/check.mjs';
import { devDir } from './paths.mjs';
import { attempt, run } from './processes/child.mjs';
import { finish, say, step, ToolError } from './report/step.mjs';

const jestResults = join(devDir, 'jest-results.json');

/** @type {Record<string, () => Promise<unknown>>} a check throws what it has found */
const checks = {
	'Format (npm run format)': () => run('prettier', ['--check', '--cache', '.']),
	'Lint, strict, no warnings': lint,
	'Types of product and tests': () => run('tsc', ['--noEmit', '-p', 'tsconfig.test.json']),
	'Types of tools': () => run('tsc', ['-p', 'tools']),
	'Imports go one way': () =>
		run('depcruise', ['--config', '.dependency-cruiser.cjs', 'core', 'nodes', 'credentials', 'sandbox']),
	'No dead files, exports or dependencies': () => run('knip', ['--cache']),
	Build: buildPackage,
	'Content of the package': checkPackage,
	'n8n’s scanner': () => run('npm', ['run', 'scan']),
};

export default async function test() {
	// Side by side: the checks keep the processor busy, and most tests wait for a task.
	const testing = runJest();
	let [passed, failed] = [0, 0];
	for (const [title, check] of Object.entries(checks)) {
		try {
			await step(title, check);
			passed++;
		} catch (error) {
			say(`\n${error instanceof Error ? error.message : error}\n`);
			failed++;
		}
	}
	const { output, ...tests } = await step('Tests, started alongside the checks', () => testing);
	say(`\n${output}`);
	return finish(passed + tests.passed, failed + tests.failed);
}

/** `n8n-node lint` ends with 0 when there are only warnings. */
async function lint() {
	const { exitCode, output } = await attempt('n8n-node', ['lint']);
	const text = stripVTControlCharacters(output).trim();
	if (exitCode !== 0 || /✖ \d+ problem/.test(text)) throw new ToolError(text);
}

async function runJest() {
	mkdirSync(devDir, { recursive: true });
	rmSync(jestResults, { force: true });
	const { output } = await attempt('jest', ['--ci', '--json', `--outputFile=${jestResults}`]);
	try {
		const results = JSON.parse(readFileSync(jestResults, 'utf8'));
		// Jest says so, and goes on.
		const leaks = /failed to exit gracefully|did not exit one second after/.test(stripVTControlCharacters(output))
			? 1
			: 0;
		// A test file that could not even be loaded has no tests to count.
		return {
			output,
			passed: results.numPassedTests,
			failed: results.numFailedTests + results.numRuntimeErrorTestSuites + leaks,
		};
	} catch {
		return { output: `${output}\nJest ended without results.`, passed: 0, failed: 1 };
	}
}
