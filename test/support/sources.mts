/** Reads the project's own source, and what n8n's lint rules say about descriptions. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { inspect } from 'node:util';
import type { ICredentialType, INodeType } from 'n8n-workflow';
import ts from 'typescript';

const PROJECT = resolve(__dirname, '../..');

/** Every line of the TypeScript below a folder. Paths are relative to the project. */
export function linesOf(folder: string): Array<{ path: string; text: string }> {
	return readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
		.filter((name) => /\.m?ts$/.test(name))
		.flatMap((name) => {
			const path = join(folder, name);
			const lines = readFileSync(join(PROJECT, path), 'utf8').split('\n');
			return lines.map((text) => ({ path, text }));
		});
}

/** Every text of the product's code that is a whole sentence, such as the advice of an error. What is put into it is «…». */
export function sentencesInCode(): string[] {
	const paths = new Set(['core', 'nodes', 'credentials'].flatMap(linesOf).map(({ path }) => path));
	const sentences: string[] = [];
	const visit = (node: ts.Node): void => {
		if (ts.isStringLiteralLike(node)) sentences.push(node.text);
		if (ts.isTemplateExpression(node))
			sentences.push(node.head.text + node.templateSpans.map(({ literal }) => `«…»${literal.text}`).join(''));
		node.forEachChild(visit);
	};
	for (const path of paths) visit(ts.createSourceFile(path, readProjectFile(path), ts.ScriptTarget.Latest));
	return sentences.filter((text) => /^[A-Z«].* .*\.$/s.test(text));
}

export interface Loaded<T> {
	/** Of the source, relative to the project. */
	path: string;
	className: string;
	instance: T;
}

/** The nodes and the credentials that package.json gives to n8n. */
export async function loadPackage(): Promise<{
	nodes: Array<Loaded<INodeType>>;
	credentials: Array<Loaded<ICredentialType>>;
}> {
	const { n8n } = JSON.parse(readProjectFile('package.json')) as { n8n: Record<'nodes' | 'credentials', string[]> };
	return {
		nodes: await Promise.all(n8n.nodes.map(async (file) => await load<INodeType>(file))),
		credentials: await Promise.all(n8n.credentials.map(async (file) => await load<ICredentialType>(file))),
	};
}

async function load<T>(file: string): Promise<Loaded<T>> {
	const path = file.replace(/^dist\//, '').replace(/\.js$/, '.ts');
	const classes = (await import(join(PROJECT, path))) as Record<string, new () => T>;
	const className = /([^/]+?)\.(node|credentials)\.ts$/.exec(path)?.[1] ?? '';
	return { path, className, instance: new classes[className]() };
}

/** Files named `*.node.ts` and `*.credentials.ts`, relative to the project. */
export function declaredFiles(): string[] {
	return ['nodes', 'credentials'].flatMap((folder) =>
		readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
			.filter((name) => /\.(node|credentials)\.ts$/.test(name))
			.map((name) => join(folder, name)),
	);
}

/** Relative to the project, in order. */
export function filesOf(folder: string): string[] {
	return readdirSync(join(PROJECT, folder))
		.sort()
		.map((name) => join(folder, name));
}

/** The pages below `docs`, and llms.txt. Relative to the project, in order. */
export function docPages(): string[] {
	return readdirSync(join(PROJECT, 'docs'), { recursive: true, encoding: 'utf8' })
		.filter((name) => /\.(md|txt)$/.test(name))
		.sort()
		.map((name) => join('docs', name));
}

export function readProjectFile(path: string): string {
	return readFileSync(join(PROJECT, path), 'utf8');
}

/** A file or a folder, relative to the project. */
export const projectFileExists = (path: string): boolean => existsSync(join(PROJECT, path));

export interface Printed {
	/** The path that the rules are told. */
	path: string;
	source: string;
}

/** A value with everything that was generated in it, as the source of a class that n8n's rules understand. */
export function printAsClass(
	path: string,
	className: string,
	implemented: string,
	members: Record<string, unknown>,
): Printed {
	const print = (value: unknown) =>
		inspect(value, { depth: Infinity, maxArrayLength: Infinity, maxStringLength: Infinity, breakLength: 120 });
	const lines = Object.entries(members).map(([name, value]) => `\t${name} = ${print(value)};\n`);
	// A constant of n8n has become its value; the rules ask for the constant.
	const body = lines.join('').replace(/\b((?:in|out)puts): \[ 'main' \]/g, '$1: [NodeConnectionTypes.Main]');
	const names = [...(body.includes('NodeConnectionTypes') ? ['NodeConnectionTypes'] : []), `type ${implemented}`];
	const imports = `import { ${names.join(', ')} } from 'n8n-workflow';\n\n`;
	return { path, source: `${imports}export class ${className} implements ${implemented} {\n${body}}\n` };
}

/**
 * The messages of the project's own lint rules. In a process of its own: ESLint cannot load its configuration inside of
 * Jest.
 */
export function lint(printed: Printed[]): string[] {
	const program = `
		import { readFileSync } from 'node:fs';
		import { ESLint } from 'eslint';
		const eslint = new ESLint();
		const printed = JSON.parse(readFileSync(0, 'utf8'));
		const found = [];
		for (const { path, source } of printed) {
			for (const { messages } of await eslint.lintText(source, { filePath: path })) {
				const lines = source.split('\\n');
				found.push(...messages.map(({ ruleId, message, line }) => path + ': ' + ruleId + ': ' + message + ': ' + (lines[line - 1] ?? '').trim()));
			}
		}
		console.log(JSON.stringify(found));`;
	const output = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
		cwd: PROJECT,
		// More than an argument may hold.
		input: JSON.stringify(printed),
		// With Jest's `test` the rules take every file for one of their own tests.
		env: { ...process.env, NODE_ENV: 'production' },
		encoding: 'utf8',
	});
	return JSON.parse(output) as string[];
}
