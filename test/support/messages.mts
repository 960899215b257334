/** Finds every message that a user of the nodes can meet, by reading the source. What is only known at run time is "…". */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';

const PROJECT = resolve(__dirname, '../..');
const UNKNOWN = '…';

/** Properties that hold a message: of explanations, issues, hints and answers of the credential test. */
const MESSAGE_PROPERTIES = new Set(['message', 'notFound', 'permission', 'rejected']);

/** E.g. "Task … is complete, but the service gave no result URL", sorted, each once. What begins small is part of a description. */
export function messagesIn(folders: string[]): string[] {
	const messages = folders.flatMap((folder) =>
		readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
			.filter((name) => name.endsWith('.ts'))
			.flatMap((name) => messagesOfFile(join(PROJECT, folder, name))),
	);
	return [...new Set(messages)].filter((message) => /^[A-Z0-9…].*[a-z]/.test(message)).sort();
}

function messagesOfFile(path: string): string[] {
	const source = ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true);
	const found: string[] = [];
	const add = (expression: ts.Node | undefined) => {
		if (expression) found.push(...callsOfFunctionAround(expression).flatMap((call) => textsOf(expression, call)));
	};
	const visit = (node: ts.Node): void => {
		if (ts.isNewExpression(node) && node.expression.getText() === 'GatewayError') add(node.arguments?.[1]);
		if (ts.isPropertyAssignment(node) && MESSAGE_PROPERTIES.has(node.name.getText())) add(node.initializer);
		if (ts.isShorthandPropertyAssignment(node) && MESSAGE_PROPERTIES.has(node.name.text)) add(node.name);
		ts.forEachChild(node, visit);
	};
	visit(source);
	return found.map((text) => text.replace(/…(?: ?…)+/g, UNKNOWN).trim());
}

/** A function that only this file can call is looked at once for each call, with what is handed to it. */
function callsOfFunctionAround(expression: ts.Node): Array<ts.CallExpression | undefined> {
	const around = functionAround(expression);
	const calls: ts.CallExpression[] = [];
	const visit = (node: ts.Node): void => {
		if (ts.isCallExpression(node) && node.expression.getText() === around?.name?.text) calls.push(node);
		ts.forEachChild(node, visit);
	};
	const isExported = around?.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
	if (around?.name && !isExported) visit(around.getSourceFile());
	return calls.length > 0 ? calls : [undefined];
}

function functionAround(node: ts.Node): ts.FunctionDeclaration | undefined {
	return node.parent && (ts.isFunctionDeclaration(node.parent) ? node.parent : functionAround(node.parent));
}

/** All that an expression can become. */
function textsOf(expression: ts.Node | undefined, call?: ts.CallExpression): string[] {
	if (expression === undefined) return [UNKNOWN];
	if (ts.isStringLiteralLike(expression)) return [expression.text];
	if (ts.isConditionalExpression(expression)) return [expression.whenTrue, expression.whenFalse].flatMap((text) => textsOf(text, call));
	if (ts.isBinaryExpression(expression)) return [expression.left, expression.right].flatMap((text) => textsOf(text, call));
	if (ts.isTemplateExpression(expression)) {
		return expression.templateSpans.reduce(
			(texts, { expression: inner, literal }) =>
				texts.flatMap((text) => textsOf(inner, call).map((innerText) => `${text}${innerText}${literal.text}`)),
			[expression.head.text],
		);
	}
	return ts.isIdentifier(expression) ? textsOfName(expression, call) : [UNKNOWN];
}

/** A parameter is what the call hands over; a constant that is itself a text is that text. */
function textsOfName(name: ts.Identifier, call?: ts.CallExpression): string[] {
	const index = functionAround(name)?.parameters.findIndex((parameter) => parameter.name.getText() === name.text) ?? -1;
	if (index >= 0) return call ? textsOf(call.arguments[index]) : [UNKNOWN];
	let constant: ts.Expression | undefined;
	const visit = (node: ts.Node): void => {
		if (ts.isVariableDeclaration(node) && node.name.getText() === name.text) constant = node.initializer;
		ts.forEachChild(node, visit);
	};
	visit(name.getSourceFile());
	return constant && (ts.isStringLiteralLike(constant) || ts.isTemplateExpression(constant)) ? textsOf(constant) : [UNKNOWN];
}
