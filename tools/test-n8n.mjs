/** `npm run test:n8n`: the package, packed as for npm, in a real n8n. `npm run test:n8n -- credential` runs the files with that word in their names. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { installN8n } from './install/n8n.mjs';
import { installProject } from './install/project.mjs';
import { buildPackage } from './package/build.mjs';
import { devDir, projectDir } from './paths.mjs';
import { run } from './processes/child.mjs';
import { main } from './processes/main.mjs';
import { say, step, ToolError } from './report/step.mjs';
import { createTally } from './report/tally.mjs';

const results = join(devDir, 'n8n-test-results.tap');

await main(async () => {
	await installProject();
	await installN8n();
	await step('Building the package', async ({ result }) => result((await buildPackage()) ? 'built' : 'unchanged'));

	const tally = createTally();
	tally.add(...(await runTests(testFiles(process.argv.slice(2)))));
	return tally.finish();
});

/** @param {string[]} words */
function testFiles(words) {
	const folder = join('test', 'n8n');
	const files = readdirSync(join(projectDir, folder))
		.filter((file) => file.endsWith('.test.mts') && words.every((word) => file.includes(word)))
		.map((file) => join(folder, file));
	if (files.length === 0) throw new ToolError(`There is no test file in ${folder} for "${words.join(' ')}".`);
	return files;
}

/**
 * One file after the other: each starts an n8n of its own, and two of them at once slow each other down.
 *
 * @param {string[]} files
 * @returns {Promise<[passed: number, failed: number]>}
 */
async function runTests(files) {
	mkdirSync(devDir, { recursive: true });
	rmSync(results, { force: true });
	const reporters = [
		['spec', 'stdout'],
		['tap', results],
	].flatMap(([reporter, destination]) => [`--test-reporter=${reporter}`, `--test-reporter-destination=${destination}`]);
	const args = ['--import', 'tsx', '--test', '--test-concurrency=1', ...reporters, ...files];
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
