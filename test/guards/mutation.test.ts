import { mutationGroups } from '../support/mutationGroups.mts';
import { linesOf, projectFileExists } from '../support/sources.mts';

const { targets, kinds } = mutationGroups();
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
