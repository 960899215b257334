import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** Young objects have room to die young, and what runs once is compiled quickly, too. One core: what collects the garbage is counted with the rest. */
const NODE_OPTIONS = ['--max-semi-space-size=64', '--single-threaded-gc', '--always-sparkplug'];

/** Runs the simulation in plain Node (`main.mts`). Resolves with what it says when something was wrong. */
export async function simulate(): Promise<string> {
	const process = spawn(
		globalThis.process.execPath,
		[...NODE_OPTIONS, '--require', join(__dirname, 'register.cjs'), join(__dirname, 'main.mts')],
		{ stdio: ['ignore', 'inherit', 'pipe'] },
	);
	let said = '';
	process.stderr.on('data', (text: Buffer) => {
		globalThis.process.stderr.write(text);
		said += String(text);
	});
	return await new Promise((resolve, reject) => {
		process.on('error', reject);
		process.on('close', (code, signal) =>
			resolve(code === 0 ? '' : said || `The simulation ended with ${signal ?? code}`),
		);
	});
}
