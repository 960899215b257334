/**
 * The simulation (`test/simulation`) outside of Jest: `npm run test:simulation`. `-- breakages` breaks the product in
 * each way of `simulation/breakages.mjs`, in memory, and shows that it is noticed; `-- breakages ledger` takes those with
 * this word in their files or promises. `-- hunt 60` plays new seeds for 60 minutes, and writes what it finds to `.n8n-dev/simulation`.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import pLimit from 'p-limit';
import jestConfig from '../jest.config.js';
import { devDir, projectDir } from './paths.mjs';
import { attempt } from './processes/child.mjs';
import { finish, say, seconds, ToolError } from './report/step.mjs';
import { breakages } from './simulation/breakages.mjs';

const SUPPORT = join(projectDir, 'test', 'simulation', 'support');
const BREAKING = join(projectDir, 'tools', 'simulation', 'breakingTransformer.cjs');
const FOUND = join(devDir, 'simulation');
/** A breakage that is not noticed by so many cases counts as unnoticed. */
const MOST = { SIMULATION_CASES: '15000', SIMULATION_REGRESSIONS: 'yes', SIMULATION_SHRINKS: 'no' };
/** For the tests of one file. */
const TESTS_WITHIN_MS = 600_000;
/** New seeds are played in pieces. */
const PIECE_SECONDS = 300;
const LARGEST_SEED = 2 ** 31;

/** @param {string[]} args */
export default async function simulation([what, ...words]) {
	if (what === 'breakages') return await replay(words);
	if (what === 'hunt') return await hunt(Number(words[0] ?? 60));
	if (what !== undefined) throw new ToolError(`"${what}" is not known. Use breakages or hunt, or neither.`);
	const { exitCode } = await attempt('jest', ['--ci', 'test/simulation'], { show: true });
	return exitCode;
}

/**
 * Plays the cases in a process of its own.
 * @param {Record<string, string>} env
 */
async function play(env) {
	return await attempt(
		process.execPath,
		[
			...['--max-semi-space-size=64', '--single-threaded-gc', '--always-sparkplug'],
			...['--require', join(SUPPORT, 'register.cjs'), join(SUPPORT, 'main.mts')],
		],
		{ env },
	);
}

/** @param {string[]} words */
async function replay(words) {
	const chosen = breakages.filter(({ file, promise }) => words.every((word) => `${file} ${promise}`.includes(word)));
	if (chosen.length === 0) throw new ToolError(`No breakage has "${words.join(' ')}" in its file or promise.`);
	const inParallel = pLimit(availableParallelism());
	const results = await Promise.all([
		inParallel(isSound),
		...testFilesOf(chosen).map(async (file) => await inParallel(async () => await passes(file))),
		...chosen.map(async (each) => await inParallel(async () => await isExpected(each))),
	]);
	const passed = results.filter(Boolean).length;
	return finish(passed, results.length - passed);
}

/** Without a breakage the same cases must find nothing: otherwise each breakage would seem to be noticed there. */
async function isSound() {
	const { exitCode, output } = await play(MOST);
	say(exitCode === 0 ? '✓ the product as it is: nothing found' : `✗ the product as it is: ${output}`);
	return exitCode === 0;
}

/**
 * The files with the tests that notice what the simulation cannot.
 *
 * @param {typeof breakages} chosen
 */
function testFilesOf(chosen) {
	return [...new Set(chosen.flatMap(({ noticedBy }) => noticedBy ?? []))];
}

/**
 * The same for these tests.
 *
 * @param {string} testFile
 */
async function passes(testFile) {
	const { failed, passed } = await runTests(testFile, {});
	const isFine = failed === 0 && passed > 0;
	say(`${isFine ? '✓' : '✗'} ${testFile}, with the product as it is: ${passed} tests pass, ${failed} fail`);
	return isFine;
}

/** @param {typeof breakages[number]} breakage */
async function isExpected({ promise, file, find, becomes, unfound, noticedBy }) {
	const count = readFileSync(join(projectDir, file), 'utf8').split(find).length - 1;
	if (count !== 1) {
		say(`✗ ${file}: the text of "${promise}" is there ${count} times`);
		return false;
	}
	const startedAt = Date.now();
	const breakage = { SIMULATION_BREAKAGE: JSON.stringify({ file: join(projectDir, file), find, becomes }) };
	const { exitCode, output } = await play({ ...breakage, ...MOST });
	const [, found, problem] = /^(Case \d+|Regression ".*").*\n(.*)$/m.exec(output) ?? [];
	const took = seconds(Date.now() - startedAt);
	if (found !== undefined) say(`✓ ${promise}: ${found}, ${took}: ${problem}`);
	else if (exitCode !== 0) say(`✗ ${promise}: the simulation ended with ${exitCode}:\n${output}`);
	else if (noticedBy === undefined) say(`✗ ${promise}: not noticed, ${took}.`);
	if (found !== undefined || exitCode !== 0 || noticedBy === undefined)
		return found !== undefined && unfound === undefined;
	const { failed } = await runTests(noticedBy, breakage);
	say(`${failed > 0 ? '–' : '✗'} ${promise}: not noticed, ${took}. ${unfound} ${noticedBy}: ${failed} tests fail.`);
	return failed > 0;
}

/**
 * The numbers of tests of a file that fail and pass while the product is broken, or as it is.
 *
 * @param {string} testFile
 * @param {Record<string, string>} breakage empty: as it is
 */
async function runTests(testFile, breakage) {
	const [pattern] = Object.keys(jestConfig.transform ?? {});
	const config = { ...jestConfig, rootDir: projectDir, transform: { [pattern]: BREAKING } };
	const { output } = await attempt(
		'jest',
		['--ci', '--no-cache', '--runTestsByPath', testFile, '--config', JSON.stringify(config)],
		// A broken product may keep a test busy for ever.
		{ env: breakage, timeout: TESTS_WITHIN_MS },
	);
	const counts = /^Tests: .*$/m.exec(output)?.[0] ?? '';
	const count = (/** @type {RegExp} */ what) => Number(what.exec(counts)?.[1] ?? 0);
	return { failed: count(/(\d+) failed/), passed: count(/(\d+) passed/) };
}

/**
 * Each seed is a case: what is found is printed so that it can be repeated.
 * @param {number} minutes
 */
async function hunt(minutes) {
	rmSync(FOUND, { recursive: true, force: true });
	mkdirSync(FOUND, { recursive: true });
	const endsAt = Date.now() + minutes * 60_000;
	const counts = await Promise.all(Array.from({ length: availableParallelism() }, async () => await huntUntil(endsAt)));
	const failed = counts.reduce((sum, each) => sum + each.failed, 0);
	return finish(
		counts.reduce((sum, each) => sum + each.passed, 0),
		failed,
	);
}

/** @param {number} endsAt */
async function huntUntil(endsAt) {
	const count = { passed: 0, failed: 0 };
	do {
		const seed = String(Math.floor(Math.random() * LARGEST_SEED));
		const leftSeconds = Math.ceil((endsAt - Date.now()) / 1000);
		const lasts = String(Math.max(1, Math.min(PIECE_SECONDS, leftSeconds)));
		const { exitCode, output } = await play({ SIMULATION_SEED: seed, SIMULATION_SECONDS: lasts });
		if (exitCode === 0) count.passed++;
		else {
			count.failed++;
			writeFileSync(join(FOUND, `${seed}.txt`), output);
		}
		say(output);
	} while (Date.now() < endsAt);
	return count;
}
