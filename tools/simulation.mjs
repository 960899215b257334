/**
 * The simulation (`test/simulation`) outside of Jest: `npm run test:simulation`. `-- breakages` breaks the product in
 * each way of `simulation/breakages.mjs`, in memory, and says what has noticed it; `-- breakages ledger` takes those with
 * this word in their files or promises, `-- breakages --tests` those for which a test is named, with nothing but that test, and
 * `-- breakages --maxWorkers=1` one after the other. `-- hunt 60` plays new seeds for 60 minutes, and writes what it finds to `.n8n-dev/simulation`.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pLimit from 'p-limit';
import jestConfig from '../jest.config.js';
import { devDir, projectDir } from './paths.mjs';
import { attempt } from './processes/child.mjs';
import { finish, say, seconds, ToolError } from './report/step.mjs';
import { breakages } from './simulation/breakages.mjs';

/**
 * @typedef {import('./simulation/breakages.mjs').Breakage} Breakage
 * @typedef {{ file: string, titles: string[], areAll?: boolean }} Tests those of a file with these words in their titles
 */

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

/** @param {string[]} args words, and the number of those that are replayed at once */
async function replay(args) {
	const { values, positionals: words } = parseArgs({
		args,
		allowPositionals: true,
		options: {
			maxWorkers: { type: 'string', default: String(availableParallelism()) },
			tests: { type: 'boolean', default: false },
		},
	});
	const tested = breakages.flatMap((each) => (each.noticedBy ? { ...each, unfound: undefined } : []));
	const chosen = (values.tests ? tested : breakages).filter(({ file, promise }) =>
		words.every((word) => `${file} ${promise}`.includes(word)),
	);
	if (chosen.length === 0) throw new ToolError(`No breakage has "${words.join(' ')}" in its file or promise.`);
	const inParallel = pLimit(Number(values.maxWorkers));
	const results = await Promise.all([
		...(chosen.some(isPlayed) ? [inParallel(isSound)] : []),
		...testsOf(chosen).map(async (tests) => await inParallel(async () => await pass(tests))),
		...chosen.map(async (each) => await inParallel(async () => await isExpected(each))),
	]);
	const passed = results.filter(Boolean).length;
	return finish(passed, results.length - passed);
}

/**
 * True where the simulation has to find it, or it is said why it cannot.
 *
 * @param {Breakage} breakage
 */
const isPlayed = ({ noticedBy, unfound }) => noticedBy === undefined || unfound !== undefined;

/** Without a breakage the same cases must find nothing: otherwise each breakage would seem to be noticed there. */
async function isSound() {
	const { exitCode, output } = await play(MOST);
	say(exitCode === 0 ? '✓ the product as it is: nothing found' : `✗ the product as it is: ${output}`);
	return exitCode === 0;
}

/**
 * The tests that notice what the simulation does not, by file.
 *
 * @param {Breakage[]} chosen
 * @returns {Tests[]}
 */
function testsOf(chosen) {
	const files = [...new Set(chosen.flatMap(({ noticedBy }) => noticedBy ?? []))];
	return files.map((file) => {
		const titles = chosen.filter(({ noticedBy }) => noticedBy === file).map(({ title }) => title);
		return { file, titles: titles.flatMap((title) => title ?? []), areAll: titles.includes(undefined) };
	});
}

/**
 * The same for these tests.
 *
 * @param {Tests} tests
 */
async function pass(tests) {
	const { failed, passed } = await runTests(tests, {});
	const areFine = failed === 0 && passed > 0;
	say(`${areFine ? '✓' : '✗'} ${tests.file}, with the product as it is: ${passed} tests pass, ${failed} fail`);
	return areFine;
}

/** @param {Breakage} breakage */
async function isExpected(breakage) {
	const { promise, file, find, becomes, unfound, noticedBy, title } = breakage;
	const count = readFileSync(join(projectDir, file), 'utf8').split(find).length - 1;
	if (count !== 1) {
		say(`✗ ${file}: the text of "${promise}" is there ${count} times`);
		return false;
	}
	const broken = { SIMULATION_BREAKAGE: JSON.stringify({ file: join(projectDir, file), find, becomes }) };
	if (isPlayed(breakage)) {
		const played = await isFoundInPlay(breakage, broken);
		if (played !== undefined) return played;
	}
	const { failed, first } = await runTests({ file: `${noticedBy}`, titles: title ? [title] : [] }, broken);
	say(
		failed > 0
			? `– ${promise}: ${noticedBy}, "${first}"${failed > 1 ? `, and ${failed - 1} more` : ''}`
			: `✗ ${promise}: ${[unfound, `no test in ${noticedBy}`, title && `with "${title}" in its title`].filter(Boolean).join(' ')} fails`,
	);
	return failed > 0;
}

/**
 * Plays the broken product. Undefined where that finds nothing, and other tests have to.
 *
 * @param {Breakage} breakage
 * @param {Record<string, string>} broken
 */
async function isFoundInPlay({ promise, unfound, noticedBy }, broken) {
	const startedAt = Date.now();
	const { exitCode, output } = await play({ ...broken, ...MOST });
	const [, found, problem] = /^(Case \d+|Regression ".*").*\n(.*)$/m.exec(output) ?? [];
	const took = seconds(Date.now() - startedAt);
	if (found !== undefined) say(`✓ ${promise}: ${found}, ${took}: ${problem}`);
	else if (exitCode !== 0) say(`✗ ${promise}: the simulation ended with ${exitCode}:\n${output}`);
	else if (noticedBy === undefined) say(`✗ ${promise}: not noticed, ${took}.`);
	else return undefined;
	return found !== undefined && unfound === undefined;
}

/**
 * The numbers of tests that fail and pass while the product is broken, or as it is, and the first that fails.
 *
 * @param {Tests} tests
 * @param {Record<string, string>} broken empty: as it is
 */
async function runTests({ file, titles, areAll = titles.length === 0 }, broken) {
	const [pattern] = Object.keys(jestConfig.transform ?? {});
	const config = { ...jestConfig, rootDir: projectDir, transform: { [pattern]: BREAKING } };
	const chosen = titles.map((title) => title.replace(/[^\w\s]/g, '\\$&')).join('|');
	const { output } = await attempt(
		'jest',
		[
			...['--ci', '--no-cache', '--runTestsByPath', file, '--config', JSON.stringify(config)],
			...(areAll ? [] : ['--testNamePattern', chosen]),
		],
		// A broken product may keep a test busy for ever.
		{ env: broken, timeout: TESTS_WITHIN_MS },
	);
	const counts = /^Tests: .*$/m.exec(output)?.[0] ?? '';
	const count = (/** @type {RegExp} */ what) => Number(what.exec(counts)?.[1] ?? 0);
	const [, first = ''] = /^ +● (.*›.*|(?!Console|Test suite).*)$/m.exec(output) ?? [];
	return { failed: count(/(\d+) failed/), passed: count(/(\d+) passed/), first };
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
