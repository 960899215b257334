/** One run of Stryker: the mutants of files that have the same tests, and these tests. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, loadavg, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Stryker } from '@stryker-mutator/core';
import { devDir } from '../paths.mjs';

export const WORKDIR = join(devDir, 'mutation');
/** Jest's message for a test that waits in vain. */
export const TEST_WAITED = /Exceeded timeout of/;
/**
 * In `core/` each test takes less than a second, because all that it waits for is faked: one that still runs after this
 * time waits in vain. Much shorter, and a busy machine would count as a test that notices.
 */
const TEST_TIMEOUT_MS = 5_000;
/** Others use n8n's engine and the sandbox, in real time. */
const ENGINE_TEST_TIMEOUT_MS = 20_000;
const jestConfig = createRequire(import.meta.url)('../../jest.config.js');
const plugin = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));

/** @typedef {Awaited<ReturnType<Stryker['runMutationTest']>>[number]} Mutant */

/**
 * @param {string[]} files
 * @param {string[]} tests
 * @returns {Promise<Mutant[]>}
 */
export async function measure(files, tests) {
	mkdirSync(WORKDIR, { recursive: true });
	const incrementalFile = join(WORKDIR, `${tests.join('+').replaceAll('/', '-')}.json`);
	keepKilled(incrementalFile);
	const testTimeout = tests.every((test) => test.startsWith('core/')) ? TEST_TIMEOUT_MS : ENGINE_TEST_TIMEOUT_MS;
	const options = {
		mutate: files,
		testRunner: 'kept',
		ignorers: ['form-texts'],
		plugins: [plugin('runner.mjs'), plugin('formTexts.mjs')],
		keptTests: {
			files: tests.map((test) => `test/${test}.test.ts`),
			config: {
				...jestConfig,
				// Several files are open at once, so each needs a context of its own.
				testEnvironment: 'node',
				runtime: undefined,
				roots: [...new Set(tests.map((test) => `<rootDir>/test/${dirname(test)}`))],
				// What tests write goes into Stryker's copy of the project, which it removes.
				globalSetup: undefined,
				globalTeardown: undefined,
				noStackTrace: true,
				testTimeout,
			},
		},
		warnings: { unknownOptions: false, slow: false },
		coverageAnalysis: 'perTest',
		incremental: true,
		incrementalFile,
		// Not in the project: `npm run lint` would check the changed code.
		tempDirName: join(tmpdir(), 'n8n-mutation'),
		reporters: ['dots'],
		ignorePatterns: [
			'**',
			...['core', 'nodes', 'credentials', 'icons', 'sandbox', 'test'].map((folder) => `!/${folder}/**`),
			'!/package.json',
			'!/tsconfig*.json',
		],
		disableTypeChecks: false,
		// On a busy machine, more processes would only wait for each other.
		concurrency: Math.max(1, Math.min(4, Math.floor(cpus().length - loadavg()[0]))),
		// For mutants that never come back from a loop; those that wait for ever are ended by Jest.
		timeoutMS: 4 * testTimeout,
		timeoutFactor: 4,
		dryRunTimeoutMinutes: 30,
		allowEmpty: true,
		logLevel: 'warn',
		checkers: [],
	};
	return await new Stryker(/** @type {never} */ (options)).runMutationTest();
}

/**
 * Keeps only sure results. Survivors are tried again, because Stryker sees new tests, but not for code that runs when a
 * file is loaded; late ones, too, unless they were caught in a loop, because the machine may have been busy.
 * @param {string} incrementalFile
 */
function keepKilled(incrementalFile) {
	if (!existsSync(incrementalFile)) return;
	const report = JSON.parse(readFileSync(incrementalFile, 'utf8'));
	const isSure = (/** @type {Mutant} */ { status, statusReason = '' }) =>
		(status === 'Killed' && !TEST_WAITED.test(statusReason)) ||
		(status === 'Timeout' && statusReason.startsWith('Hit limit'));
	for (const file of Object.values(report.files)) file.mutants = file.mutants.filter(isSure);
	writeFileSync(incrementalFile, JSON.stringify(report));
}
