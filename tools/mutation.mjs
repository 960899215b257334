/**
 * Mutation testing with Stryker: `npm run test:mutation`. It changes the code in thousands of ways, one at a time, and
 * every change must turn a test red. `-- ledger retry` runs the files with one of these words in their paths; `-- write`
 * puts the scores into CONTRIBUTING.md; `-- anew` forgets what earlier runs have found.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Stryker } from '@stryker-mutator/core';
import { withSection } from './docs/section.mts';
import { equivalent } from './mutation/equivalent.mjs';
import { groups } from './mutation/groups.mjs';
import { devDir, projectDir } from './paths.mjs';
import { finish, say } from './report/step.mjs';

/** Over all files, in percent. In the purchase path every mutant counts. */
const GOAL = 95;
/**
 * What these tests wait for is faked, so each takes less than a second: one that still runs after this time waits for what
 * never comes. Much shorter, and a busy machine would be counted as a test that notices.
 */
const TEST_TIMEOUT_MS = 5_000;
const ENVIRONMENT = join(projectDir, 'tools/mutation/environment.cjs');
const WORKDIR = join(devDir, 'mutation');
const switches = ['write', 'anew'];
const jestConfig = createRequire(import.meta.url)('../jest.config.js');

/** @typedef {Awaited<ReturnType<Stryker['runMutationTest']>>[number]} Mutant */
/** @typedef {{ file: string, isPurchase: boolean, killed: number, late: number, named: number, survivors: Mutant[], stale: string[] }} Score */

/** @param {string[]} args */
export default async function mutation(args) {
	const words = args.filter((arg) => !switches.includes(arg));
	if (args.includes('anew')) rmSync(WORKDIR, { recursive: true, force: true });
	mkdirSync(WORKDIR, { recursive: true });
	/** @type {Score[]} */
	const scores = [];
	for (const group of groups) {
		const files = group.files.filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
		for (const file of files) {
			say(`\n${file}, with ${group.tests.join(', ')}`);
			const score = toScore(file, group.isPurchase ?? false, await mutate(file, group.tests));
			scores.push(score);
			show(score);
		}
	}
	say(`\n${toTable(scores)}`);
	if (args.includes('write') && words.length === 0) {
		const page = join(projectDir, 'CONTRIBUTING.md');
		writeFileSync(page, withSection(readFileSync(page, 'utf8'), 'mutation', toTable(scores)));
	}
	const failures = scores.filter(({ isPurchase, survivors, stale }) => stale.length > 0 || (isPurchase && survivors.length > 0)).length;
	const passed = scores.reduce((sum, { killed, late }) => sum + killed + late, 0);
	return finish(passed, failures + (percent(scores) >= GOAL ? 0 : 1));
}

/**
 * @param {string} file
 * @param {string[]} tests
 * @returns {Promise<Mutant[]>}
 */
async function mutate(file, tests) {
	const incrementalFile = join(WORKDIR, `${file.replaceAll('/', '-')}.json`);
	keepKilled(incrementalFile);
	return await new Stryker({
		mutate: [file],
		testRunner: 'jest',
		plugins: [fileURLToPath(import.meta.resolve('@stryker-mutator/jest-runner'))],
		jest: {
			projectType: 'custom',
			config: { ...jestConfig, testEnvironment: ENVIRONMENT, testTimeout: TEST_TIMEOUT_MS, testMatch: tests.map((test) => `<rootDir>/test/${test}.test.ts`) },
			enableFindRelatedTests: false,
		},
		coverageAnalysis: 'perTest',
		incremental: true,
		incrementalFile,
		// Not in the project: `npm run lint` would check the changed code.
		tempDirName: join(tmpdir(), 'n8n-mutation'),
		reporters: ['dots'],
		ignorePatterns: ['/.n8n-dev', '/dist', '/bench', '/docs'],
		disableTypeChecks: false,
		concurrency: 1,
		// For mutants that never come back from a loop; those that wait for ever are ended by Jest.
		timeoutMS: 4 * TEST_TIMEOUT_MS,
		timeoutFactor: 4,
		dryRunTimeoutMinutes: 30,
		allowEmpty: true,
		logLevel: /** @type {never} */ ('warn'),
		checkers: [],
	}).runMutationTest();
}

/**
 * What survived is tried again: Stryker sees new tests, but not for code that runs when a file is loaded.
 * @param {string} incrementalFile
 */
function keepKilled(incrementalFile) {
	if (!existsSync(incrementalFile)) return;
	const report = JSON.parse(readFileSync(incrementalFile, 'utf8'));
	for (const file of Object.values(report.files)) file.mutants = file.mutants.filter((/** @type {Mutant} */ { status }) => status === 'Killed' || status === 'Timeout');
	writeFileSync(incrementalFile, JSON.stringify(report));
}

/**
 * @param {string} file
 * @param {boolean} isPurchase
 * @param {Mutant[]} mutants
 * @returns {Score}
 */
function toScore(file, isPurchase, mutants) {
	const lines = readFileSync(join(projectDir, file), 'utf8').split('\n');
	const alive = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
	const unnamed = [...alive];
	const stale = [];
	// Each entry stands for one mutant: another one that looks alike is a survivor.
	for (const { line, becomes } of equivalent[file] ?? []) {
		const found = unnamed.findIndex(({ location, replacement }) => lines[location.start.line - 1]?.trim() === line && replacement === becomes);
		if (found < 0) stale.push(`${line} → ${becomes}`);
		else unnamed.splice(found, 1);
	}
	return {
		file,
		isPurchase,
		killed: mutants.filter(({ status }) => status === 'Killed' || status === 'RuntimeError').length,
		late: mutants.filter(({ status }) => status === 'Timeout').length,
		named: alive.length - unnamed.length,
		survivors: unnamed,
		stale,
	};
}

/** @param {Score} score */
function show({ file, survivors, stale }) {
	const lines = readFileSync(join(projectDir, file), 'utf8').split('\n');
	for (const { location, replacement, status, mutatorName } of survivors) {
		say(`${file}:${location.start.line}:${location.start.column} ${status}, ${mutatorName}\n    ${lines[location.start.line - 1].trim()}\n    → ${replacement}`);
	}
	for (const entry of stale) say(`${file}: named as equivalent, but killed or gone:\n    ${entry}`);
}

/** @param {Score[]} scores */
function percent(scores) {
	const [detected, alive] = [scores.reduce((sum, { killed, late }) => sum + killed + late, 0), scores.reduce((sum, { survivors }) => sum + survivors.length, 0)];
	return (100 * detected) / Math.max(1, detected + alive);
}

/** @param {Score[]} scores */
function toTable(scores) {
	const row = (/** @type {string} */ name, /** @type {Score[]} */ of) => {
		const sum = (/** @type {(score: Score) => number} */ figure) => of.reduce((total, score) => total + figure(score), 0);
		return `| ${name} | ${percent(of).toFixed(1)} % | ${sum(({ killed }) => killed)} | ${sum(({ late }) => late)} | ${sum(({ survivors }) => survivors.length)} | ${sum(({ named }) => named)} |`;
	};
	return [
		'| File | Score | Killed | Timed out | Survived | Equivalent |',
		'|---|---|---|---|---|---|',
		...scores.map((score) => row(`\`${score.file}\`${score.isPurchase ? ' (purchase path)' : ''}`, [score])),
		row('All', scores),
	].join('\n');
}
