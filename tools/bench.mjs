/** `npm run bench`: measures speed and memory and prints a table. `npm run bench -- schedule` runs the parts with that word in their names. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { installProject } from './install/project.mjs';
import { buildPackage } from './package/build.mjs';
import { devDir, projectBin } from './paths.mjs';
import { requireSuccess, run } from './processes/child.mjs';
import { main } from './processes/main.mjs';
import { say, step } from './report/step.mjs';
import { launchSandbox, untilSandboxReady } from './start/sandbox.mjs';

const rowsFile = join(devDir, 'bench-rows.jsonl');
const words = process.argv.slice(2);

/** @typedef {{ what: string, measured: string, goal: string }} Row */

await main(async () => {
	await installProject();
	mkdirSync(devDir, { recursive: true });
	rmSync(rowsFile, { force: true });
	const rows = [];
	if (isWanted('package')) {
		await step('Building the package', buildPackage);
		rows.push(await loadTime(), await packedSize());
	}
	if (['schedule', 'batch', 'memory'].some(isWanted)) rows.push(...(await engineRows()));
	say(['', '| What | Measured | Goal |', '|---|---|---|', ...rows.map(toLine), ''].join('\n'));
	say(`Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model.trim()}), ${new Date().toISOString().slice(0, 10)}`);
	return 0;
});

/** @param {string} part */
function isWanted(part) {
	return words.length === 0 || words.some((word) => part.includes(word));
}

/** @returns {Promise<Row[]>} what is measured inside n8n's engine */
async function engineRows() {
	const files = words.map((word) => `bench/[^/]*${word}[^/]*$`); // a folder above may have that word in its name
	const args = ['--expose-gc', projectBin('jest'), '--config', join('bench', 'jest.config.js'), '--runInBand', ...files];
	// In processes of their own: their memory and CPU time are not the node's.
	const logFile = (/** @type {string} */ name) => join(devDir, 'logs', `${name}.log`);
	const sandbox = await launchSandbox({ logFile: logFile('bench-sandbox') });
	const unlimited = await launchSandbox({ logFile: logFile('bench-sandbox-unlimited'), args: ['--requests-per-second', '0'] });
	try {
		await Promise.all([sandbox, unlimited].map(untilSandboxReady));
		const env = { ...process.env, BENCH_ROWS: rowsFile, BENCH_SANDBOX: sandbox.baseUrl, BENCH_SANDBOX_UNLIMITED: unlimited.baseUrl };
		requireSuccess('The measures in n8n’s engine', await run(process.execPath, args, { show: true, env }));
	} finally {
		await Promise.all([sandbox, unlimited].map(({ server }) => server.stop()));
	}
	return readFileSync(rowsFile, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
}

/** @returns {Promise<Row>} */
async function loadTime() {
	const times = [];
	for (let round = 0; round < 5; round++) {
		const result = await run(process.execPath, [join('bench', 'loadTime.cjs')]);
		requireSuccess('Loading the nodes', result);
		times.push(Number(result.stdout));
	}
	const median = times.sort((a, b) => a - b)[2] ?? NaN;
	return { what: 'Loading all nodes', measured: `${median.toFixed(0)} ms (median of 5)`, goal: 'at most 60 ms' };
}

/** @returns {Promise<Row>} */
async function packedSize() {
	const result = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts']);
	requireSuccess('npm pack', result);
	const [{ size, entryCount }] = JSON.parse(result.stdout.slice(result.stdout.indexOf('[')));
	return { what: 'Package', measured: `${(size / 1000).toFixed(0)} kB packed, ${entryCount} files`, goal: 'at most 150 kB' };
}

/** @param {Row} row */
function toLine({ what, measured, goal }) {
	return `| ${what} | ${measured} | ${goal} |`;
}
