/** `npm run bench`: measures and prints a table. `npm run bench -- polling` runs the parts with that word in their names. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { devDir } from '../tools/paths.mjs';
import { attempt } from '../tools/processes/child.mjs';
import { say, ToolError } from '../tools/report/step.mjs';

/** @typedef {{ what: string, measured: string, goal: string }} Row */

/** @param {string[]} words */
export default async function bench(words) {
	const isWanted = (/** @type {string} */ part) => words.length === 0 || words.some((word) => part.includes(word));
	const rows = [];
	if (isWanted('purchases')) rows.push(...(await (await import('./purchaseLog.mts')).purchaseLogRows()));
	if (isWanted('account')) rows.push(...(await (await import('./accountLimits.mts')).accountRows()));
	if (isWanted('polling')) rows.push(...(await pollingRows()));
	say(['', '| What | Measured | Goal |', '|---|---|---|', ...rows.map(toLine), ''].join('\n'));
	say(
		`Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model.trim()}), ${new Date().toISOString().slice(0, 10)}`,
	);
}

/**
 * In Jest, which loads TypeScript as it loads the tests.
 *
 * @returns {Promise<Row[]>}
 */
async function pollingRows() {
	const file = join(devDir, 'bench-rows.jsonl');
	mkdirSync(devDir, { recursive: true });
	rmSync(file, { force: true });
	const args = ['--config', join('bench', 'jest.config.js'), '--runInBand'];
	const { exitCode } = await attempt('jest', args, { show: true, env: { BENCH_ROWS: file } });
	if (exitCode !== 0) throw new ToolError('The measures of the polling did not succeed.');
	return readFileSync(file, 'utf8')
		.trim()
		.split('\n')
		.map((line) => JSON.parse(line));
}

/** @param {Row} row */
function toLine({ what, measured, goal }) {
	return `| ${what} | ${measured} | ${goal} |`;
}
