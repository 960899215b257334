/**
 * `npm run count`: the sizes of the project, by rules that do not change.
 *
 * - Lines and files: tracked code files, with comments and empty lines. A page's words are what `wc -w` counts.
 * - A function is anything with a body; its lines are from its first to its last, without its docstring. One inside another counts
 *   for itself and for the outer one.
 * - A flag is a boolean parameter of an exported function or a public method: the caller writes a bare true or false.
 * - Imports against the layers are none: dependency-cruiser refuses them (`.dependency-cruiser.cjs`).
 * - `any` is the type, wherever it is written.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { projectDir } from './paths.mjs';
import { say } from './report/step.mjs';

const PRODUCT = ['core', 'nodes', 'credentials'];
const LONG = [40, 60];
const MANY_PARAMETERS = 4;

const read = (file: string) => readFileSync(join(projectDir, file), 'utf8');
const tracked = (...patterns: string[]) =>
	execFileSync('git', ['ls-files', '--', ...patterns], { cwd: projectDir, encoding: 'utf8' })
		.split('\n')
		.filter(Boolean);
const isCode = (file: string) => /\.(ts|mts|cts|mjs|cjs|js|sh)$/.test(file);

const linesOf = (text: string) => text.split('\n').length - 1;
const wordsOf = (text: string) => text.split(/\s+/).filter(Boolean).length;
const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

function sizeOf(...folders: string[]): string {
	const files = tracked(...folders).filter(isCode);
	return `${sum(files.map((file) => linesOf(read(file))))} lines in ${files.length} files`;
}

function words(files: string[]): string {
	return `${sum(files.map((file) => wordsOf(read(file))))} words in ${files.length} pages`;
}

/** Functions of the product that are longer, or take more, than a reader can hold. */
function countFunctions(files: string[]) {
	const found = { functions: 0, longerThan: LONG.map(() => 0), manyParameters: 0, flags: 0, any: 0 };
	for (const file of files) {
		const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true);
		const lineAt = (position: number) => source.getLineAndCharacterOfPosition(position).line;
		const visit = (node: ts.Node): void => {
			if (node.kind === ts.SyntaxKind.AnyKeyword) found.any += 1;
			if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
				found.functions += 1;
				const lines = lineAt(node.getEnd()) - lineAt(node.getStart()) + 1;
				LONG.forEach((limit, at) => {
					if (lines > limit) found.longerThan[at] = (found.longerThan[at] ?? 0) + 1;
				});
				if (node.parameters.length > MANY_PARAMETERS) found.manyParameters += 1;
				if (isPublic(node)) found.flags += node.parameters.filter(isFlag).length;
			}
			ts.forEachChild(node, visit);
		};
		visit(source);
	}
	return found;
}

const isPublic = (node: ts.Node) =>
	ts.canHaveModifiers(node) &&
	(ts.isMethodDeclaration(node)
		? !has(node, ts.SyntaxKind.PrivateKeyword)
		: has(ts.isArrowFunction(node) ? node.parent.parent.parent : node, ts.SyntaxKind.ExportKeyword));

const has = (node: ts.Node, kind: ts.SyntaxKind) =>
	ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some((modifier) => modifier.kind === kind);

const isFlag = ({ type, initializer }: ts.ParameterDeclaration) =>
	type?.kind === ts.SyntaxKind.BooleanKeyword ||
	initializer?.kind === ts.SyntaxKind.TrueKeyword ||
	initializer?.kind === ts.SyntaxKind.FalseKeyword;

/** @returns the exit code */
export default function count(): number {
	const product = tracked(...PRODUCT).filter(isCode);
	const { functions, longerThan, manyParameters, flags, any } = countFunctions(product);
	const pages = tracked('README.md', 'SECURITY.md', 'CHANGELOG.md', 'docs/*.md');
	const rows: Array<[what: string, figure: string | number]> = [
		['product (core, nodes, credentials)', sizeOf(...PRODUCT)],
		...PRODUCT.map((folder): [string, string] => [`  ${folder}`, sizeOf(folder)]),
		['tests', sizeOf('test')],
		['tools and bench', sizeOf('tools', 'bench')],
		['sandbox', sizeOf('sandbox')],
		['pages for users', words(pages.filter((file) => !/^docs\/(service|dev|evidence)\//.test(file)))],
		['pages for contributors', words(tracked('CONTRIBUTING.md', 'docs/dev/*.md', 'sandbox/*.md', 'test/*.md'))],
		['functions of the product', functions],
		...LONG.map((limit, at): [string, number] => [`  longer than ${limit} lines`, longerThan[at] ?? 0]),
		[`  with more than ${MANY_PARAMETERS} parameters`, manyParameters],
		['  flags', flags],
		['any', any],
	];
	for (const [what, figure] of rows) say(`${what.padEnd(40)} ${figure}`);
	return 0;
}
