/**
 * Links within the repository. `remark-validate-links` was tried and knows no anchors in HTML, which each code in the page
 * of errors has.
 */
import { docPages, projectFileExists, readProjectFile } from '../support/sources.mts';

const pages = [
	'README.md',
	'CHANGELOG.md',
	'CONTRIBUTING.md',
	'SECURITY.md',
	'sandbox/README.md',
	'test/README.md',
	'.github/verification.md',
	...docPages(),
];

/** Without code, in which brackets mean something else. */
const proseOf = (path: string) =>
	readProjectFile(path)
		.replace(/^```.*?^```$/gms, '')
		.replace(/`[^`\n]*`/g, 'code');

/** The targets of links and pictures that lead to a place in this repository. */
function internalLinksOf(path: string): string[] {
	const prose = proseOf(path);
	const markdown = [...prose.matchAll(/\]\(([^()\s]+)\)/g)];
	const html = [...prose.matchAll(/\b(?:href|src)="([^"]+)"/g)];
	return [...markdown, ...html].map(([, target]) => target).filter((target) => !/^[a-z]+:/i.test(target));
}

/** Those of headings as GitHub makes them, in small letters, without punctuation, with a number behind what is there twice; and those that are written. */
function anchorsOf(path: string): string[] {
	const text = readProjectFile(path).replace(/^```.*?^```$/gms, '');
	const seen = new Map<string, number>();
	const written = [...text.matchAll(/<a id="([^"]+)"><\/a>/g)].map(([, id]) => id);
	const ofHeadings = [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => {
		const name = heading
			.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
			.toLowerCase()
			.replace(/[^\p{L}\p{N}\s_-]/gu, '')
			.trim()
			.replace(/\s/g, '-');
		const times = seen.get(name) ?? 0;
		seen.set(name, times + 1);
		return times === 0 ? name : `${name}-${times}`;
	});
	return [...ofHeadings, ...written];
}

/** Like a path in a browser: relative to the folder of the page. */
function resolvePath(page: string, target: string): string {
	const parts: string[] = page.split('/').slice(0, -1);
	for (const part of target.split('/')) {
		if (part === '..') parts.pop();
		else if (part !== '.' && part !== '') parts.push(part);
	}
	return parts.join('/');
}

function isBroken(page: string, link: string): boolean {
	const [target, anchor] = link.split('#');
	const path = target === '' ? page : resolvePath(page, decodeURIComponent(target));
	if (!projectFileExists(path)) return true;
	return anchor !== undefined && !anchorsOf(path).includes(anchor);
}

test('links are found', () => {
	expect(internalLinksOf('README.md')).toEqual(
		expect.arrayContaining(['docs/reference/errors.md', '#try-it-without-an-account']),
	);
	expect(anchorsOf('docs/reference/errors.md')).toEqual(expect.arrayContaining(['codes', 'outcome_unknown']));
	expect(isBroken('docs/help.md', '../README.md#first-picture')).toBe(false);
	expect(isBroken('docs/help.md', 'README.md')).toBe(true);
	expect(isBroken('docs/help.md', '../README.md#no-such-heading')).toBe(true);
});

test.each(pages)('every internal link of %s leads somewhere', (page) => {
	expect(internalLinksOf(page).filter((link) => isBroken(page, link))).toEqual([]);
});
