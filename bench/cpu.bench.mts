/**
 * Measures our own CPU time for an item. The sandbox and the node run in processes of their own: Jest makes the node
 * slower than n8n does.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { report } from './rows.mts';

test('instant items', async () => {
	const args = ['--expose-gc', '--import', 'tsx', join('bench', 'instantItems.mts')];
	const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 100e6 });
	const { text, stream } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Record<
		'text' | 'stream',
		{ own: number[]; bare: number[] }
	>;
	const say = ({ own, bare }: { own: number[]; bare: number[] }) => {
		const [low, median, high] = own.map((ms) => ms.toFixed(2));
		return `${median} ms (half of the rounds: ${low} to ${high} ms), beside ${bare[1].toFixed(2)} ms`;
	};
	report({
		what: 'Tasks that finish immediately: CPU time of our own per item',
		measured: `${say(stream)} for the same requests read as streams, as the node reads them to bound their size; ${say(text)} for requests without a bound`,
		goal: 'at most 1.5 ms',
	});
});
