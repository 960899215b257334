/** The groups of `tools/mutation/groups.mjs`. Jest cannot load modules of this kind, so Node does. */
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

const PRINT = `import { allTargets, undecided } from './tools/mutation/groups.mjs';
const kinds = undecided.flatMap(({ files }) => files.map(({ source }) => source));
console.log(JSON.stringify({ targets: allTargets(), kinds }));`;

interface Target {
	file: string;
	tests: string[];
}

export function mutationGroups(): { targets: Target[]; kinds: RegExp[] } {
	const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', PRINT], {
		cwd: resolve(__dirname, '../..'),
		encoding: 'utf8',
	});
	const { targets, kinds } = JSON.parse(printed) as { targets: Target[]; kinds: string[] };
	return { targets, kinds: kinds.map((source) => new RegExp(source)) };
}
