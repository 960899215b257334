/**
 * The tests that run against a real n8n: `npm run test:n8n`, `test:browser`, `test:queue`, `test:crash`,
 * `test:soak` and `test:versions`.
 * `npm run test:n8n -- credential` runs the files with that word in their names.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { installChromium } from './browser/launch.mjs';
import { ensureDebianPackages } from './install/debian.mjs';
import { installN8n, n8nVersions } from './install/n8n.mjs';
import { publishedPackage } from './package/pack.mjs';
import { devDir, projectDir } from './paths.mjs';
import { attempt } from './processes/child.mjs';
import { findInitdb } from './queue/postgres.mjs';
import { findRedis } from './queue/redis.mjs';
import { finish, say, step, ToolError } from './report/step.mjs';

/**
 * Each file is a process, and most of its time it waits: `atOnce` of them run at the same time. Node begins them in the order of their names.
 * Files `inOneProcess` share what they start; others `shareN8n`, as far as they join it. Those `onSchedule` run where a word
 * names them. `switches` match words that the tests know, and no parts of names.
 *
 * @type {Record<string, { needs: Array<(files: string[]) => Promise<unknown>>, atOnce?: number, inOneProcess?: boolean, shareN8n?: boolean, onSchedule?: RegExp, switches?: RegExp }>}
 */
const suites = {
	n8n: {
		needs: [() => installN8n()],
		atOnce: 4,
		shareN8n: true,
	},
	browser: { needs: [() => installN8n(), installChromium], inOneProcess: true },
	queue: { needs: [() => installN8n(), installDatabases], atOnce: 2 },
	crash: {
		needs: [() => installN8n(), installDatabases],
		atOnce: 3,
		onSchedule: /sigterm|random/,
		switches: /^(write|\d+)$/,
	},
	// It lasts as long as it is told to: no limit for a file.
	soak: { needs: [() => installN8n(), installDatabases], inOneProcess: true, switches: /^\d+$/ },
	versions: { needs: [installVersions], atOnce: 4 },
};

/** A file that takes longer hangs. Not for those in one process. */
const FILE_WITHIN_MS = 2_400_000;

const SWITCHES = 'GENERATION_GATEWAY_TEST_SWITCHES';

/**
 * For the tests: whether it was given on the command line.
 * @param {string} name
 */
export const isSwitchedOn = (name) => switchedOn().includes(name);

/** For the tests: the number that was given on the command line. */
export const numberGiven = () =>
	switchedOn()
		.filter((word) => /^\d+$/.test(word))
		.map(Number)[0];

const switchedOn = () => (process.env[SWITCHES] ?? '').split(' ');

/** @param {string[]} files each has the version in its name */
async function installVersions(files) {
	await Promise.all(
		n8nVersions.filter((version) => files.some((file) => file.includes(version))).map((version) => installN8n(version)),
	);
}

async function installDatabases() {
	await ensureDebianPackages('The queue mode of n8n', { 'redis-server': findRedis, postgresql: findInitdb });
}

/** @param {string[]} args the suite, and words that the names of its files must have */
export default async function suite([name, ...args]) {
	const { needs, atOnce = 1, inOneProcess = false, shareN8n = false } = suites[name];
	const { onSchedule = /^$/, switches = /^$/ } = suites[name];
	const words = args.filter((word) => !switches.test(word));
	const files = readdirSync(join(projectDir, 'test', name))
		.filter((file) => file.endsWith('.test.mts') && words.every((word) => file.includes(word)))
		.filter((file) => words.length > 0 || !onSchedule.test(file))
		.map((file) => join('test', name, file));
	if (files.length === 0) throw new ToolError(`There is no test file in test/${name} for "${words.join(' ')}".`);
	for (const install of needs) await install(files);
	await step('Building and packing the package', publishedPackage);

	const shared = shareN8n && files.some(joins) ? await step('Starting n8n', startSharedN8n) : undefined;
	const results = join(devDir, `${name}-test-results.tap`);
	mkdirSync(devDir, { recursive: true });
	rmSync(results, { force: true });
	const reporters = { spec: 'stdout', tap: results };
	const { exitCode } = await attempt(
		process.execPath,
		[
			...['--import', 'tsx'],
			...Object.entries(reporters).flatMap(([reporter, to]) => [
				`--test-reporter=${reporter}`,
				`--test-reporter-destination=${to}`,
			]),
			...(inOneProcess
				? inTurn(files)
				: ['--test', `--test-concurrency=${atOnce}`, `--test-timeout=${FILE_WITHIN_MS}`, ...files]),
		],
		{ show: true, env: { [SWITCHES]: args.filter((word) => switches.test(word)).join(' '), ...shared?.env } },
	);
	await shared?.close();

	const tap = readFileSync(results, 'utf8');
	const count = (/** @type {string} */ word) => Number(new RegExp(`^# ${word} (\\d+)$`, 'm').exec(tap)?.[1] ?? 0);
	const failed = count('fail') + count('cancelled');
	const skipped = count('skipped');
	if (skipped > 0) say(`\nNot run here: ${skipped}. Their names, and the commands that run them, are above.`);
	if (exitCode !== 0 && failed === 0) say(`The test runner ended with exit code ${exitCode}.`);
	return finish(count('pass'), exitCode !== 0 && failed === 0 ? 1 : failed);
}

/** @param {string} file */
const joins = (file) => readFileSync(join(projectDir, file), 'utf8').includes('joinN8n(');

async function startSharedN8n() {
	const { startSharedN8n: start } = await import('../test/n8n/support/shared.mts');
	return await start();
}

/**
 * The last file is the program, the others are loaded before it.
 * @param {string[]} files
 */
const inTurn = (files) => [...files.slice(0, -1).flatMap((file) => ['--import', `./${file}`]), ...files.slice(-1)];
