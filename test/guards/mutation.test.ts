import { mutationGroups } from '../support/mutationGroups.mts';
import { linesOf, projectFileExists, readProjectFile } from '../support/sources.mts';

const { targets, kinds, table } = mutationGroups();
const mutated = targets.map(({ file }) => file);

test('each file of core/ and nodes/ is in one group of mutation testing, or is named as one that decides nothing', () => {
	const all = [...new Set(['core', 'nodes'].flatMap((folder) => linesOf(folder)).map(({ path }) => path))];
	const places = (path: string) =>
		mutated.filter((file) => file === path).length + kinds.filter((kind) => kind.test(path)).length;
	expect(all.length).toBeGreaterThan(200);
	expect(all.filter((path) => places(path) !== 1)).toEqual([]);
	expect(mutated.filter((file) => !all.includes(file))).toEqual([]);
	expect(kinds.filter((kind) => !all.some((path) => kind.test(path)))).toEqual([]);
});

test('the tests that mutation testing names are there', () => {
	const named = targets.flatMap(({ tests }) => tests);
	expect(named.filter((name) => !projectFileExists(`test/${name}.test.ts`))).toEqual([]);
});

test('no mutant has survived in what buys, waits, stores or delivers, and all files have been measured', () => {
	const scores = JSON.parse(readProjectFile('tools/mutation/scores.json')) as Record<string, { survived: number }>;
	expect(mutated.filter((file) => scores[file] === undefined)).toEqual([]);
	const strict = targets.filter(({ isStrict }) => isStrict).map(({ file }) => file);
	expect(strict.length).toBeGreaterThan(100);
	expect(strict.filter((file) => scores[file]?.survived !== 0)).toEqual([]);
});

test('CONTRIBUTING shows the results as they are', () => {
	// A file that is changed keeps its result until it is measured again: the table says so where it is written.
	const results = (text: string) =>
		text.split('\n').map((line) => line.split(' | ').filter((_, column) => column !== 2));
	const shown = /<!-- mutation:start -->\n\n([^]*?)\n\n<!-- mutation:end -->/.exec(readProjectFile('CONTRIBUTING.md'));
	expect(results(shown?.[1] ?? '')).toEqual(results(table));
});
