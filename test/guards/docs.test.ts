/** The pages are fresh, short, and in plain words. */
import { blockNames, withBlocks } from '../../tools/docs/blocks.mts';
import { describePages } from '../../tools/docs/pages.mts';
import { docPages, filesOf, readProjectFile } from '../support/sources.mts';

const pages = docPages().map((path) => ({ path, text: readProjectFile(path) }));

test.each(pages)('what $path has of the code is fresh (npm run docs)', ({ path, text }) => {
	expect(text).toBe(path === 'docs/llms.txt' ? describePages() : withBlocks(text));
});

test('every generated block has its place', () => {
	const text = pages.map((page) => page.text).join('\n');
	expect(blockNames.filter((name) => !text.includes(`<!-- ${name}:start -->`))).toEqual([]);
});

const SPECIFICATION = /^docs\/(service|evidence|dev)\//;
const forUsers = ['README.md', 'SECURITY.md', 'CHANGELOG.md', ...docPages()]
	.filter((path) => path.endsWith('.md') && !SPECIFICATION.test(path))
	.map((path) => ({ path, text: readProjectFile(path) }));

const wordsOf = (text: string) => text.split(/\s+/).filter(Boolean).length;
/** Without what is written from the code, and without code. */
const byHand = (text: string) =>
	text.replace(/<!-- (\S+):start -->[^]*<!-- \1:end -->/g, '').replace(/^ *```.*?^ *```$/gms, '');

/** So that a newcomer finds the one page for a question: see the table of contents in the README. */
test('pages for users are short: the README has at most 900 words, others 1,100, all together 18,000', () => {
	const words = forUsers.map(({ path, text }) => ({ path, words: wordsOf(byHand(text)) }));
	expect(words.filter(({ path, words: count }) => count > (path === 'README.md' ? 900 : 1_100))).toEqual([]);
	expect(forUsers.reduce((sum, { text }) => sum + wordsOf(text), 0)).toBeLessThanOrEqual(18_000);
});

test.each(forUsers)('no cell of a table in $path has more than 35 words', ({ text }) => {
	const cells = byHand(text)
		.split('\n')
		.filter((line) => line.startsWith('|'))
		.flatMap((line) => line.split('|'));
	expect(cells.filter((cell) => wordsOf(cell) > 35)).toEqual([]);
});

/** German in English words, words of the code, and words that refer to a line above. */
const PRIVATE = [
	...['behind it', 'as above', 'at once', 'anew', 'all the same', 'also if', 'also where', 'also after'],
	...['wave', 'in-flight', 'take-over', 'held back', 'gives way', 'put off'],
];

test.each(forUsers)('$path has no private words', ({ text }) => {
	const words = byHand(text).toLowerCase();
	expect(PRIVATE.filter((word) => new RegExp(`\\b${word}\\b`).test(words))).toEqual([]);
});

test('the cookbook shows every workflow', () => {
	const page = readProjectFile('docs/guides/cookbook.md');
	const names = filesOf('workflows').map((path) => path.slice('workflows/'.length, -'.json'.length));
	expect(names.length).toBeGreaterThan(7);
	for (const name of names) expect(page).toContain(`(../../workflows/${name}.json)`);
});
