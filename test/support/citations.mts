/** Finds where the code cites the pages of docs/service, or a document that nobody but its author has. */
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { projectFileExists, readProjectFile } from './sources.mts';

const PROJECT = resolve(__dirname, '../..');
const CONTRACT = 'docs/service/contract.md';
const FIELD_NOTES = 'docs/service/field-notes.md';

export interface Citation {
	/** File and line of the comment. */
	place: string;
	document: 'contract' | 'field notes' | 'none of ours';
	/** A number or a heading; absent where the whole document is meant. */
	section?: string;
	step?: number;
	/** As it is written there. */
	words: string;
}

interface Passage {
	text: string;
	place: string;
	/** True where numbers in brackets, and numbers alone, are sections, too. */
	isComment: boolean;
}

/** All code and all pages, wherever they are moved to. */
export function citingFiles(folder = '.'): string[] {
	return readdirSync(join(PROJECT, folder), { withFileTypes: true }).flatMap((entry) => {
		const path = join(folder, entry.name);
		if (entry.isDirectory()) return /^(\..*|node_modules|dist|coverage)$/.test(entry.name) ? [] : citingFiles(path);
		return /\.([mc]?[jt]s|md)$/.test(entry.name) ? [path] : [];
	});
}

export function citationsIn(path: string, text: string): Citation[] {
	return passagesOf(path, text).flatMap((passage) => citationsOf(passage, path));
}

export function isInRepository({ document, section, step }: Citation): boolean {
	if (document === 'none of ours') return false;
	const page = document === 'contract' ? CONTRACT : FIELD_NOTES;
	if (!projectFileExists(page)) return false;
	if (section === undefined) return true;
	const steps = sectionsOf(readProjectFile(page)).get(section);
	return steps !== undefined && (step === undefined || steps.includes(step));
}

/** Each section, by its number or else its heading, with the numbers in the first column of its tables. */
function sectionsOf(page: string): Map<string, number[]> {
	const sections = new Map<string, number[]>();
	for (const part of page.split(/^#{2,} /m).slice(1)) {
		const [heading] = part.split('\n');
		const name = /^\d+(\.\d+)*/.exec(heading)?.[0] ?? heading.trim();
		sections.set(
			name,
			[...part.matchAll(/^\| (\d+) \|/gm)].map(([, step]) => Number(step)),
		);
	}
	return sections;
}

function passagesOf(path: string, text: string): Passage[] {
	if (path.endsWith('.md'))
		return text.split('\n').map((line, index) => ({ text: line, place: `${path}:${index + 1}`, isComment: false }));
	const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
	const passage = (at: number, words: string, isComment: boolean): Passage => {
		return { text: words, place: `${path}:${source.getLineAndCharacterOfPosition(at).line + 1}`, isComment };
	};
	const comments = commentsOf(source).map(({ pos, end }) => passage(pos, wordsOf(text.slice(pos, end)), true));
	return [...comments, ...namesIn(source).map(({ at, words }) => passage(at, words, false))];
}

/** Comments on lines of their own that follow each other are one. */
function commentsOf(source: ts.SourceFile): ts.TextRange[] {
	const { text } = source;
	const found = new Map<number, ts.TextRange>();
	const visit = (node: ts.Node): void => {
		if (ts.isJSDoc(node)) return;
		const children = node.getChildren(source);
		children.forEach(visit);
		if (children.length > 0) return;
		const ranges = [
			...(ts.getLeadingCommentRanges(text, node.pos) ?? []),
			...(ts.getTrailingCommentRanges(text, node.end) ?? []),
		];
		for (const { pos, end } of ranges) found.set(pos, { pos, end });
	};
	visit(source);
	const joined: ts.TextRange[] = [];
	for (const range of [...found.values()].sort((a, b) => a.pos - b.pos)) {
		const last = joined.at(-1);
		const continues =
			last &&
			text.startsWith('//', range.pos) &&
			text.startsWith('//', last.pos) &&
			/^[ \t]*\r?\n[ \t]*$/.test(text.slice(last.end, range.pos));
		if (continues) joined[joined.length - 1] = { pos: last.pos, end: range.end };
		else joined.push(range);
	}
	return joined;
}

/** Without the signs of the comment, on one line. */
function wordsOf(comment: string): string {
	return comment
		.replace(/^\/\*+|\*+\/$/g, '')
		.replace(/^[ \t]*(\*|\/\/)/gm, '')
		.replace(/\s+/g, ' ')
		.trim();
}

/** The names of tests, and the section that a model names. */
function namesIn(source: ts.SourceFile): Array<{ at: number; words: string }> {
	const found: Array<{ at: number; words: string }> = [];
	const visit = (node: ts.Node): void => {
		if (ts.isCallExpression(node) && /^(test|describe|it)\b/.test(node.expression.getText(source))) {
			const [name] = node.arguments;
			if (name && (ts.isStringLiteralLike(name) || ts.isTemplateExpression(name)))
				found.push({ at: name.pos, words: name.getText(source) });
		}
		if (
			ts.isPropertyAssignment(node) &&
			node.name.getText(source) === 'contract' &&
			ts.isStringLiteralLike(node.initializer)
		) {
			found.push({ at: node.initializer.pos, words: `contract ${node.initializer.text}` });
		}
		ts.forEachChild(node, visit);
	};
	visit(source);
	return found;
}

/** The words that lead to a list of sections. Only the contract has numbered ones. */
const LEADS = [
	/\bcontract(?:['’]s)?\s*[:,]?\s*\(?\s*(?=\d|sections? \d|§)/gi,
	/(?<!RFC \d+,? )(?:\bsections? (?=\d)|(?=§))/gi,
];
/** In comments: "(4.6, step 1)", "4.6, step 1", "4.6" as the whole comment. Versions and amounts are not meant. */
const COMMENT_LEADS = [
	/\((?=\d(\.\d){1,2}(\)|[,;:] | and | to ))/g,
	/(?<![\w.])(?=\d(\.\d){1,2},? steps? \d)/g,
	/^(?=\d(\.\d){1,2}(:|\.?$))/g,
];

const SECTION = /(?:sections? |§ ?)?(\d+(?:\.\d+)*)\b/y;
const STEPS = /,? (?:step (\d+)|steps (\d+(?:(?:, ?| and | to )\d+\b(?!\.\d))*))/y;
const SEPARATOR = /(?:, and |, | and | or | to )(?=\d|section|§)/y;

/** Documents by their usual names; an address, or the issue of a named repository, can be opened by everybody. */
const ELSEWHERE = [
	/\b(?:specification|spec|brief|guide|facts|notes?|issue|ticket|PR|pull request|requirement|decision|chapter|milestone) (?:section |§ ?)?#?\d+(?:\.\d+)*/gi,
	/(?:\(|\b(?:the|our|see|per|from) )design\b(?: \d+(?:\.\d+)*)?|\bdesign \d+(?:\.\d+)*/gi,
	/(?<![\w/&])#\d+\b/g,
	/\b(?:gateway-contract|n8n-facts)\b(?!\.md)/gi,
];

function citationsOf({ text, place, isComment }: Passage, path: string): Citation[] {
	const found: Citation[] = [];
	let rest = text;
	// What was read is read once: "contract section 4.6" is not "section 4.6", too.
	const take = (from: number, to: number): string => {
		const words = rest.slice(from, to);
		rest = rest.slice(0, from) + ' '.repeat(to - from) + rest.slice(to);
		return words;
	};
	const isPage = path.endsWith('.md');
	if (!isPage) {
		for (const pattern of ELSEWHERE) {
			for (const { index, 0: words } of text.matchAll(pattern))
				found.push({ place, document: 'none of ours', words: take(index, index + words.length) });
		}
		for (const { index, 0: words } of text.matchAll(/(?<![\w./:-])[\w./-]*\w\.md\b/g)) {
			const isThere = [words, join(path, '..', words)].some(projectFileExists);
			if (!isThere) found.push({ place, document: 'none of ours', words: take(index, index + words.length) });
		}
	}
	for (const { index, 0: words } of text.matchAll(/\bfield notes\b/gi)) {
		const section = notesSectionAt(text.slice(index + words.length));
		found.push({
			place,
			document: 'field notes',
			...(section && { section }),
			words: section ? `${words}, ${section}` : words,
		});
	}
	const leads = [...LEADS.slice(0, isPage ? 1 : 2), ...(isComment ? COMMENT_LEADS : [])];
	for (const lead of leads) {
		for (const { index, 0: words } of [...rest.matchAll(lead)]) {
			const { end, cited } = readSections(rest, index + words.length);
			if (cited.length === 0) continue;
			const written = take(index, end);
			found.push(...cited.map((each) => ({ place, document: 'contract' as const, ...each, words: written })));
		}
	}
	return found;
}

/** After a comma, a heading: up to the bracket or, in a sentence, what begins like one of the headings. */
function notesSectionAt(text: string): string | undefined {
	const named = /^, ([A-Z][^).;:"]*)|^, ([^).;]*)\)/.exec(text);
	if (!named) return undefined;
	const words = (named[1] ?? named[2]).trim();
	const headings = projectFileExists(FIELD_NOTES) ? [...sectionsOf(readProjectFile(FIELD_NOTES)).keys()] : [];
	return (
		headings.find(
			(heading) => words === heading || (words.startsWith(heading) && /^\W/.test(words.slice(heading.length))),
		) ?? words
	);
}

/** "4.4, 4.5", "4.6 step 4, 4.7 step 2", "4.6, steps 1 to 3", "4.6, step 3, and 6". */
function readSections(text: string, start: number): { end: number; cited: Array<{ section: string; step?: number }> } {
	let end = start;
	const read = (pattern: RegExp): RegExpExecArray | null => {
		pattern.lastIndex = end;
		const match = pattern.exec(text);
		if (match) end = pattern.lastIndex;
		return match;
	};
	const cited: Array<{ section: string; step?: number }> = [];
	let endOfList = start;
	do {
		const section = read(SECTION)?.[1];
		if (section === undefined) break;
		const steps = read(STEPS);
		if (steps) cited.push(...stepsIn(steps[1] ?? steps[2]).map((step) => ({ section, step })));
		else cited.push({ section });
		endOfList = end;
	} while (read(SEPARATOR));
	return { end: endOfList, cited };
}

/** "1, 2", "1 and 2", "1 to 3". */
function stepsIn(list: string): number[] {
	const numbers = list.split(/\D+/).map(Number);
	const [from, to] = numbers;
	return list.includes(' to ') ? Array.from({ length: to - from + 1 }, (_, index) => from + index) : numbers;
}
