import { blockNames, withBlocks } from '../../tools/docs/blocks.mts';
import { filesOf, readProjectFile } from '../support/sources.mts';

const pages = filesOf('docs/nodes').map((path) => ({ path, text: readProjectFile(path) }));

test.each(pages)('the tables of $path are fresh (npm run docs)', ({ text }) => {
	expect(text).toBe(withBlocks(text));
});

test('every table has its place', () => {
	const text = pages.map((page) => page.text).join('\n');
	expect(blockNames.filter((name) => !text.includes(`<!-- ${name}:start -->`))).toEqual([]);
});

test('the README shows every example workflow, with its picture', () => {
	const readme = readProjectFile('README.md');
	const names = filesOf('workflows').map((path) => path.slice('workflows/'.length, -'.json'.length));
	expect(names.length).toBeGreaterThan(7);
	for (const name of names) {
		expect(readme).toContain(`(workflows/${name}.json)`);
		expect(readme).toContain(`(docs/images/${name}.png)`);
	}
});
