import { deliberateBreakages } from '../support/deliberateBreakages.mts';
import { projectFileExists, readProjectFile } from '../support/sources.mts';

const breakages = deliberateBreakages();

test('CONTRIBUTING says how many breakages there are, and how many of them the simulation notices', () => {
	const others = breakages.filter(({ unfound }) => unfound !== undefined).length;
	expect(readProjectFile('CONTRIBUTING.md')).toContain(
		`it noticed ${breakages.length - others} of the ${breakages.length}; for each of the other ${others}, `,
	);
});

test.each(breakages.filter(({ unfound }) => unfound !== undefined))(
	'what the simulation cannot notice, other tests do: $promise',
	({ noticedBy }) => {
		expect(projectFileExists(noticedBy ?? '')).toBe(true);
	},
);

test.each(breakages)('the line that breaks "$promise" is in its file once', ({ file, find }) => {
	expect(readProjectFile(file).split(find)).toHaveLength(2);
});
