/** `npm run bench`: measures speed and memory and prints a table. `npm run bench -- polling` runs the parts with that word in their names; `workers` and `durable` run only then. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { buildPackage } from '../tools/package/build.mjs';
import { largestPackageBytes } from '../tools/package/check.mjs';
import { packPackage } from '../tools/package/pack.mjs';
import { devDir, logsDir, projectDir } from '../tools/paths.mjs';
import { attempt, run } from '../tools/processes/child.mjs';
import { say, step, ToolError } from '../tools/report/step.mjs';
import { installDatabases } from '../tools/suite.mjs';
import { startSandbox } from '../tools/start/sandbox.mjs';

const rowsFile = join(devDir, 'bench-rows.jsonl');

/** @typedef {{ what: string, measured: string, goal: string }} Row */

/** @param {string[]} words */
export default async function bench(words) {
	const isNamed = (/** @type {string} */ part) => words.some((word) => part.includes(word));
	const isWanted = (/** @type {string} */ part) => words.length === 0 || isNamed(part);
	mkdirSync(devDir, { recursive: true });
	rmSync(rowsFile, { force: true });
	const rows = [];
	if (isWanted('package')) rows.push(await packedSize(), await loadTime());
	if (['cpu', 'memory'].some(isWanted)) await step('Building the package', () => buildPackage());
	if (isWanted('purchases')) rows.push(...(await (await import('./purchaseLog.mts')).purchaseLogRows()));
	if (isWanted('account')) rows.push(...(await (await import('./accountLimits.mts')).accountRows()));
	if (isNamed('workers')) {
		await installDatabases();
		rows.push(...(await (await import('./accountLimits.mts')).workerRows()));
	}
	if (words.length > 0) rows.push(...(await (await import('./durable/rows.mts')).durableRows(isNamed)));
	if (['polling', 'batch', 'cpu', 'scale', 'memory'].some(isWanted)) rows.push(...(await engineRows(words)));
	say(['', '| What | Measured | Goal |', '|---|---|---|', ...rows.map(toLine), ''].join('\n'));
	say(
		`Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model.trim()}), ${new Date().toISOString().slice(0, 10)}`,
	);
}

/**
 * Measurements inside n8n's engine.
 *
 * @param {string[]} words
 * @returns {Promise<Row[]>}
 */
async function engineRows(words) {
	const files = words.map((word) => `bench/[^/]*${word}[^/]*$`); // a folder above may have that word in its name
	const jest = join(projectDir, 'node_modules', 'jest', 'bin', 'jest.js');
	const args = ['--expose-gc', jest, '--config', join('bench', 'jest.config.js'), '--runInBand', ...files];
	// In processes of their own: their memory and CPU time are not the node's.
	const sandbox = await startSandbox(join(logsDir, 'bench-sandbox.log'));
	const unlimited = await startSandbox(join(logsDir, 'bench-sandbox-unlimited.log'), ['--requests-per-second', '0']);
	try {
		const env = { BENCH_ROWS: rowsFile, BENCH_SANDBOX: sandbox.baseUrl, BENCH_SANDBOX_UNLIMITED: unlimited.baseUrl };
		const { exitCode } = await attempt(process.execPath, args, { show: true, env });
		if (exitCode !== 0) throw new ToolError('The measures in n8n’s engine did not succeed.');
	} finally {
		await Promise.all([sandbox, unlimited].map(({ server }) => server.stop()));
	}
	return readFileSync(rowsFile, 'utf8')
		.trim()
		.split('\n')
		.map((line) => JSON.parse(line));
}

/** @returns {Promise<Row>} */
async function loadTime() {
	const times = [];
	for (let round = 0; round < 5; round++)
		times.push(Number(await run(process.execPath, [join('bench', 'loadTime.cjs')])));
	const median = times.sort((a, b) => a - b)[2] ?? NaN;
	return { what: 'Loading all nodes', measured: `${median.toFixed(0)} ms (median of 5)`, goal: 'at most 60 ms' };
}

/** @returns {Promise<Row>} */
async function packedSize() {
	const { bytes, files } = await step('Building the package', () => packPackage());
	return {
		what: 'Package',
		measured: `${(bytes / 1000).toFixed(0)} kB packed, ${files.length} files`,
		goal: `at most ${largestPackageBytes / 1000} kB`,
	};
}

/** @param {Row} row */
function toLine({ what, measured, goal }) {
	return `| ${what} | ${measured} | ${goal} |`;
}
