import { deliberateBreakages } from '../support/deliberateBreakages.mts';
import { projectFileExists, readProjectFile } from '../support/sources.mts';

const breakages = deliberateBreakages();

test('CONTRIBUTING says how many breakages there are, and how many of them the simulation notices', () => {
	const { length } = breakages.filter(({ noticedBy }) => noticedBy === undefined);
	expect(readProjectFile('CONTRIBUTING.md')).toContain(`${breakages.length} ways`);
	expect(readProjectFile('CONTRIBUTING.md')).toContain(`it notices ${length} of them`);
});

test.each(breakages.filter(({ noticedBy }) => noticedBy !== undefined))(
	'the test that notices it is there: $promise',
	({ noticedBy = '', title = '' }) => {
		expect(projectFileExists(noticedBy)).toBe(true);
		expect(readProjectFile(noticedBy)).toContain(title);
	},
);

test.each(breakages)('the line that breaks "$promise" is in its file once', ({ file, find }) => {
	expect(readProjectFile(file).split(find)).toHaveLength(2);
});
