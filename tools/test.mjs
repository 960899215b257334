/** `npm test`: lint, type checks, build, package, n8n's scanner, and all tests that need no running n8n. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { installProject } from './install/project.mjs';
import { installScanner } from './install/scanner.mjs';
import { buildPackage } from './package/build.mjs';
import { devDir, projectBin } from './paths.mjs';
import { requireSuccess, run } from './processes/child.mjs';
import { main } from './processes/main.mjs';
import { say, step, ToolError } from './report/step.mjs';
import { createTally } from './report/tally.mjs';

const jestResults = join(devDir, 'jest-results.json');

/** @type {Array<{ title: string, check: () => Promise<unknown> }>} a check throws what it has found */
const checks = [
	{ title: 'Lint, strict, no warnings', check: lint },
	{ title: 'Types of product and tests', check: () => pass(projectBin('tsc'), ['--noEmit', '-p', 'tsconfig.test.json']) },
	{ title: 'Types of tools', check: () => pass(projectBin('tsc'), ['-p', 'tools']) },
	{ title: 'Build', check: buildPackage },
	{ title: 'Content and size of the package', check: () => pass(process.execPath, ['tools/check-package.mjs']) },
	{ title: 'n8n’s scanner', check: () => pass(process.execPath, ['tools/scan.mjs']) },
];

await main(async () => {
	const tally = createTally();
	await installProject();
	await installScanner();

	for (const { title, check } of checks) {
		try {
			await step(title, check);
			tally.add(1, 0);
		} catch (error) {
			say(`\n${error instanceof Error ? error.message : error}\n`);
			tally.add(0, 1);
		}
	}
	tally.add(...(await runJest()));
	return tally.finish();
});

/**
 * @param {string} program
 * @param {string[]} args
 */
async function pass(program, args) {
	requireSuccess([basename(program), ...args].join(' '), await run(program, args));
}

/** `n8n-node lint` ends with 0 when there are only warnings. */
async function lint() {
	const { exitCode, stdout, stderr } = await run(projectBin('n8n-node'), ['lint']);
	const output = stripVTControlCharacters(`${stdout}${stderr}`).trim();
	if (exitCode !== 0 || /✖ \d+ problem/.test(output)) throw new ToolError(output);
}

/** @returns {Promise<[passed: number, failed: number]>} */
async function runJest() {
	mkdirSync(devDir, { recursive: true });
	rmSync(jestResults, { force: true });
	await run(projectBin('jest'), ['--ci', '--json', `--outputFile=${jestResults}`], { show: true });
	try {
		const results = JSON.parse(readFileSync(jestResults, 'utf8'));
		// A test file that could not even be loaded has no tests to count.
		return [results.numPassedTests, results.numFailedTests + results.numRuntimeErrorTestSuites];
	} catch {
		say('Jest ended without results.');
		return [0, 1];
	}
}
