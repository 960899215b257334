/** The table of `tools/simulation/breakages.mjs`. Jest cannot load modules of this kind, so Node does. */
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

const PRINT = `import { breakages } from './tools/simulation/breakages.mjs';
process.stdout.write(JSON.stringify(breakages));`;

interface Breakage {
	promise: string;
	file: string;
	find: string;
	noticedBy?: string;
	title?: string;
}

export function deliberateBreakages(): Breakage[] {
	const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', PRINT], {
		cwd: resolve(__dirname, '../..'),
		encoding: 'utf8',
	});
	return JSON.parse(printed);
}
