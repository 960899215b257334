/** Measures the memory that downloads take. Each run is in a process of its own, the sandbox too. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { report } from './rows.mts';

const ROUNDS = 3;
/** `BENCH_MEGABYTES=2000` measures a larger one. */
const LARGE = Number(process.env.BENCH_MEGABYTES ?? 300);

test.each([
	[1, LARGE],
	[10, 50],
	[50, 20],
	[200, 20],
])('%i x %i MB', async (files, megabytes) => {
	const rounds: Array<{ megabytes: number; seconds: number }> = [];
	for (let round = 0; round < ROUNDS; round++) {
		const args = [
			'--expose-gc',
			'--import',
			'tsx',
			join('bench', 'downloadBatch.mts'),
			String(files),
			String(megabytes),
		];
		rounds.push(JSON.parse((await promisify(execFile)(process.execPath, args)).stdout));
	}
	rounds.sort((a, b) => a.megabytes - b.megabytes);
	const median = rounds[(ROUNDS - 1) / 2];
	const what = files === 1 ? `Download of ${megabytes} MB` : `Downloads of ${files} × ${megabytes} MB`;
	report({
		what: `${what}, filesystem mode`,
		measured: `${median.megabytes.toFixed(0)} MB more resident memory, ${median.seconds.toFixed(1)} s (median of ${ROUNDS})`,
		goal: 'at most 60 MB',
	});
});
