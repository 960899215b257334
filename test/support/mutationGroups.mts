/** The groups of `tools/mutation/groups.mjs`. Jest cannot load modules of this kind, so Node does. */
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

const PRINT = `import { allTargets, undecided } from './tools/mutation/groups.mjs';
import { toTable } from './tools/mutation/table.mjs';
const kinds = undecided.flatMap(({ files }) => files.map(({ source }) => source));
console.log(JSON.stringify({ targets: allTargets(), kinds, table: toTable(allTargets()) }));`;

interface Target {
	file: string;
	tests: string[];
	isStrict: boolean;
}

/** `table`: as CONTRIBUTING shows the results. */
export function mutationGroups(): { targets: Target[]; kinds: RegExp[]; table: string } {
	const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', PRINT], {
		cwd: resolve(__dirname, '../..'),
		encoding: 'utf8',
	});
	const { targets, kinds, table } = JSON.parse(printed) as { targets: Target[]; kinds: string[]; table: string };
	return { targets, table, kinds: kinds.map((source) => new RegExp(source)) };
}
