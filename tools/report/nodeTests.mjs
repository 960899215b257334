/** Runs test files of node:test, shows what they print, and counts. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { devDir, projectDir } from '../paths.mjs';
import { run } from '../processes/child.mjs';
import { say, ToolError } from './step.mjs';

/**
 * The test files of a folder, or those with all the words in their names.
 *
 * @param {string} folder
 * @param {string[]} words
 */
export function testFiles(folder, words) {
	const files = readdirSync(join(projectDir, folder))
		.filter((file) => file.endsWith('.test.mts') && words.every((word) => file.includes(word)))
		.map((file) => join(folder, file));
	if (files.length === 0) throw new ToolError(`There is no test file in ${folder} for "${words.join(' ')}".`);
	return files;
}

/**
 * Each file starts an n8n of its own, and most of its time it waits.
 *
 * @param {string} folder
 * @param {string[]} words
 * @param {{ inOneProcess?: boolean, atOnce?: number }} [options] `inOneProcess` is for files that share what they start; `atOnce`: so many files run at the same time
 * @returns {Promise<[passed: number, failed: number]>}
 */
export async function runNodeTests(folder, words, { inOneProcess = false, atOnce = 1 } = {}) {
	const files = testFiles(folder, words);
	const results = join(devDir, `${basename(folder)}-test-results.tap`);
	mkdirSync(devDir, { recursive: true });
	rmSync(results, { force: true });
	const reporters = [
		['spec', 'stdout'],
		['tap', results],
	].flatMap(([reporter, destination]) => [`--test-reporter=${reporter}`, `--test-reporter-destination=${destination}`]);
	const args = ['--import', 'tsx', ...reporters, ...(inOneProcess ? importing(files) : ['--test', `--test-concurrency=${atOnce}`, ...files])];
	const { exitCode } = await run(process.execPath, args, { show: true });

	const tap = readFileSync(results, 'utf8');
	const [passed, failed, cancelled] = ['pass', 'fail', 'cancelled'].map((word) =>
		Number(new RegExp(`^# ${word} (\\d+)$`, 'm').exec(tap)?.[1] ?? 0),
	);
	if (exitCode !== 0 && failed + cancelled === 0) {
		say(`The test runner ended with exit code ${exitCode}.`);
		return [passed, 1];
	}
	return [passed, failed + cancelled];
}

/**
 * The last file is the program, the others are loaded before it.
 *
 * @param {string[]} files
 */
const importing = (files) => files.flatMap((file, index) => (index < files.length - 1 ? ['--import', `./${file}`] : [file]));
