/**
 * Mutation testing with Stryker: `npm run test:mutation`. It changes the code in thousands of ways, one at a time, and
 * every change must turn a test red. `-- ledger retry` runs the files with one of these words in their paths; `-- write`
 * puts the scores into CONTRIBUTING.md; `-- fresh` forgets the results of earlier runs.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
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
 * Each test takes less than a second, because all that it waits for is faked: one that still runs after this time waits
 * in vain. Much shorter, and a busy machine would count as a test that notices.
 */
const TEST_TIMEOUT_MS = 5_000;
/** Jest's message for such a test. */
const TEST_WAITED = /Exceeded timeout of/;
const ENVIRONMENT = join(projectDir, 'tools/mutation/environment.cjs');
const WORKDIR = join(devDir, 'mutation');
const switches = ['write', 'fresh'];
const jestConfig = createRequire(import.meta.url)('../jest.config.js');

/** @typedef {Awaited<ReturnType<Stryker['runMutationTest']>>[number]} Mutant */
/** @typedef {{ file: string, isPurchase: boolean, killed: number, late: number, named: number, survived: number }} Score */

/** @param {string[]} args */
export default async function mutation(args) {
	const words = args.filter((arg) => !switches.includes(arg));
	if (args.includes('fresh')) rmSync(WORKDIR, { recursive: true, force: true });
	mkdirSync(WORKDIR, { recursive: true });
	/** @type {Score[]} */
	const scores = [];
	let stale = 0;
	for (const { files: all, tests, isPurchase = false } of groups) {
		const files = all.filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
		if (files.length === 0) continue;
		say(`\n${files.join(', ')}, with ${tests.join(', ')}`);
		const mutants = await mutate(files, tests);
		for (const file of files) {
			const { alive, unknown, score } = toScore(
				file,
				isPurchase,
				mutants.filter(({ fileName }) => relative(projectDir, fileName) === file),
			);
			show(file, alive, unknown);
			stale += unknown.length;
			scores.push(score);
		}
	}
	say(`\n${toTable(scores)}`);
	const known = remember(scores);
	if (args.includes('write')) {
		const page = join(projectDir, 'CONTRIBUTING.md');
		writeFileSync(page, withSection(readFileSync(page, 'utf8'), 'mutation', toTable(known)));
	}
	const failures = scores.filter(({ isPurchase, survived }) => isPurchase && survived > 0).length;
	const passed = scores.reduce((sum, { killed, late }) => sum + killed + late, 0);
	return finish(passed, failures + stale + (percent(scores) >= GOAL ? 0 : 1));
}

/**
 * @param {string[]} files
 * @param {string[]} tests
 * @returns {Promise<Mutant[]>}
 */
async function mutate(files, tests) {
	const incrementalFile = join(WORKDIR, `${files[0].replaceAll('/', '-')}.json`);
	keepKilled(incrementalFile);
	return await new Stryker({
		mutate: files,
		testRunner: 'jest',
		plugins: [fileURLToPath(import.meta.resolve('@stryker-mutator/jest-runner'))],
		jest: {
			projectType: 'custom',
			config: {
				...jestConfig,
				// Each mutant is a run of Jest, so all that these tests do not need is left out.
				roots: [...new Set(tests.map((test) => `<rootDir>/test/${dirname(test)}`))],
				testMatch: tests.map((test) => `<rootDir>/test/${test}.test.ts`),
				setupFiles: [],
				globalSetup: undefined,
				globalTeardown: undefined,
				noStackTrace: true,
				testEnvironment: ENVIRONMENT,
				testTimeout: TEST_TIMEOUT_MS,
			},
			enableFindRelatedTests: false,
		},
		coverageAnalysis: 'perTest',
		incremental: true,
		incrementalFile,
		// Not in the project: `npm run lint` would check the changed code.
		tempDirName: join(tmpdir(), 'n8n-mutation'),
		reporters: ['dots'],
		ignorePatterns: [
			'**',
			'!/core/**',
			'!/nodes/**',
			'!/test/core/**',
			'!/test/nodes/**',
			'!/tools/mutation/**',
			'!/package.json',
			'!/tsconfig*.json',
		],
		disableTypeChecks: false,
		concurrency: 1,
		// For mutants that never come back from a loop; those that wait for ever are ended by Jest.
		timeoutMS: 12 * TEST_TIMEOUT_MS,
		timeoutFactor: 4,
		dryRunTimeoutMinutes: 30,
		allowEmpty: true,
		logLevel: /** @type {never} */ ('warn'),
		checkers: [],
	}).runMutationTest();
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

/**
 * @param {string} file
 * @param {boolean} isPurchase
 * @param {Mutant[]} mutants
 * @returns {{ score: Score, alive: Mutant[], unknown: string[] }} with the survivors that have no name, and the names that have no survivor
 */
function toScore(file, isPurchase, mutants) {
	const lines = linesOf(file);
	const named = equivalent[file] ?? [];
	const alive = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
	const unknown = [];
	// Each entry stands for one mutant: another one that looks alike is a survivor.
	for (const { line, becomes } of named) {
		const found = alive.findIndex(
			({ location, replacement }) => lines[location.start.line - 1]?.trim() === line && replacement === becomes,
		);
		if (found < 0) unknown.push(`${line} → ${becomes}`);
		else alive.splice(found, 1);
	}
	const isLate = (/** @type {Mutant} */ { status, statusReason = '' }) =>
		status === 'Timeout' || (status === 'Killed' && TEST_WAITED.test(statusReason));
	const late = mutants.filter(isLate).length;
	const killed = mutants.filter(
		(mutant) => (mutant.status === 'Killed' || mutant.status === 'RuntimeError') && !isLate(mutant),
	).length;
	return {
		score: { file, isPurchase, killed, late, named: named.length - unknown.length, survived: alive.length },
		alive,
		unknown,
	};
}

/**
 * @param {string} file
 * @param {Mutant[]} alive
 * @param {string[]} unknown
 */
function show(file, alive, unknown) {
	const lines = linesOf(file);
	for (const { location, replacement, status, mutatorName } of alive) {
		say(
			`${file}:${location.start.line}:${location.start.column} ${status}, ${mutatorName}\n    ${lines[location.start.line - 1].trim()}\n    → ${replacement}`,
		);
	}
	for (const entry of unknown) say(`${file}: named as equivalent, but killed or gone:\n    ${entry}`);
}

/** @param {string} file */
function linesOf(file) {
	return readFileSync(join(projectDir, file), 'utf8').split('\n');
}

/**
 * A run may be of some files only.
 * @param {Score[]} scores
 * @returns {Score[]} with those of earlier runs
 */
function remember(scores) {
	const path = join(WORKDIR, 'scores.json');
	/** @type {Score[]} */
	const earlier = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : [];
	const all = groups.flatMap(({ files }) =>
		files.map((name) => [...scores, ...earlier].find(({ file }) => file === name)),
	);
	const known = all.filter((score) => score !== undefined);
	writeFileSync(path, JSON.stringify(known));
	return known;
}

/** @param {Score[]} scores */
function percent(scores) {
	const detected = scores.reduce((sum, { killed, late }) => sum + killed + late, 0);
	return (100 * detected) / Math.max(1, detected + scores.reduce((sum, { survived }) => sum + survived, 0));
}

/** @param {Score[]} scores */
function toTable(scores) {
	const row = (/** @type {string} */ name, /** @type {Score[]} */ of) => {
		const sum = (/** @type {(score: Score) => number} */ figure) =>
			of.reduce((total, score) => total + figure(score), 0);
		return `| ${name} | ${percent(of).toFixed(1)} % | ${sum(({ killed }) => killed)} | ${sum(({ late }) => late)} | ${sum(({ survived }) => survived)} | ${sum(({ named }) => named)} |`;
	};
	return [
		'| File | Score | Killed | Timed out | Survived | Equivalent |',
		'|---|---|---|---|---|---|',
		...scores.map((score) => row(`\`${score.file}\`${score.isPurchase ? ' (purchase path)' : ''}`, [score])),
		row('All', scores),
	].join('\n');
}
