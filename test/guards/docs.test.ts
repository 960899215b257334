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

test('tables replace what stands between the markers, and nothing else', () => {
	const page = 'Before\n<!-- image-models:start -->\nold\n<!-- image-models:end -->\nAfter\n';
	const renewed = withBlocks(page);
	expect(renewed).toMatch(/^Before\n<!-- image-models:start -->\n\n### `gamma-image-2`/);
	expect(renewed).toMatch(/\n<!-- image-models:end -->\nAfter\n$/);
	expect(renewed).not.toContain('old');
	expect(withBlocks(renewed)).toBe(renewed);
});

test.each(['<!-- image-models:start -->', '<!-- image-models:end --><!-- image-models:start -->'])(
	'a page with half a pair is refused: "%s"',
	(page) => {
		expect(() => withBlocks(page)).toThrow(/image-models:start/);
	},
);

test('the README shows every example workflow, with its picture', () => {
	const readme = readProjectFile('README.md');
	const names = filesOf('workflows').map((path) => path.slice('workflows/'.length, -'.json'.length));
	expect(names.length).toBeGreaterThan(7);
	for (const name of names) {
		expect(readme).toContain(`(workflows/${name}.json)`);
		expect(readme).toContain(`(docs/images/${name}.png)`);
	}
});

test('llms.txt has one line for each page', () => {
	const lines = readProjectFile('docs/llms.txt').split('\n');
	const listed = lines.flatMap((line) => [...line.matchAll(/^- \[[^\]]+\]\(([^)]+)\): .+$/g)].map(([, path]) => path));
	const pages = ['docs', 'docs/nodes', 'docs/service']
		.flatMap(filesOf)
		.filter((path) => path.endsWith('.md'))
		.map((path) => path.slice('docs/'.length));
	const others = ['README', 'CHANGELOG', 'CONTRIBUTING', 'SECURITY', 'sandbox/README'].map((name) => `../${name}.md`);
	expect([...listed].sort()).toEqual([...pages, ...others].sort());
});

test('the README needs at most 1,200 words before its first reference', () => {
	const [newcomers, reference] = readProjectFile('README.md').split('\n## Nodes\n');
	expect(reference).toBeDefined();
	expect(newcomers.split(/\s+/).length).toBeLessThanOrEqual(1_200);
});
