/** For Stryker: leaves out the texts of forms, messages and advice. Guards read them; no code decides by them. */

/** Keys whose values are for people. */
const TEXTS = new Set([
	'displayName',
	'description',
	'hint',
	'placeholder',
	'action',
	'subtitle',
	'summary',
	'docNote',
	'builderHint',
	'multipleValueButtonText',
	'message',
	'advice',
]);
/** Objects that make a text of values in each property. */
const TEXT_TABLES = new Set(['HINTS']);
/** Those that a function may make of what is known. */
const MADE_TEXTS = new Set(['message', 'advice']);
const TEXT_TYPES = new Set(['StringLiteral', 'TemplateLiteral', 'BinaryExpression']);

const formTexts = {
	/** @param {{ isObjectProperty(): boolean, findParent?: any, parentPath: any, node: any }} path */
	shouldIgnore(path) {
		if (path.node.type === 'Program') measureCasts(path);
		if (TEXT_TYPES.has(path.node.type) && !decides(path.node) && isMadeByFunction(path)) return 'text for people';
		if (!path.isObjectProperty()) return undefined;
		const { key, value } = path.node;
		const name = key.name ?? key.value;
		const isText = (TEXTS.has(name) || isChoice(path, name)) && (TEXT_TYPES.has(value.type) || name === 'builderHint');
		return isText || isInTable(path) ? 'text for people' : undefined;
	},
};

/**
 * True for a text whose parts depend on something: what Stryker ignores, it ignores with all that is in it.
 *
 * @param {{ expressions?: Array<{ type: string }> }} node
 */
function decides({ expressions = [] }) {
	return expressions.some(({ type }) => type === 'ConditionalExpression' || type === 'LogicalExpression');
}

/**
 * True in a function that makes a message or advice. Only the words are left out: what it decides by is changed.
 *
 * @param {{ findParent?: any, parentPath: any }} path
 */
function isMadeByFunction(path) {
	const isText = (/** @type {any} */ { node }) =>
		node.type === 'ObjectProperty' && MADE_TEXTS.has(node.key.name) && node.value.type === 'ArrowFunctionExpression';
	// Not what it compares with.
	return path.parentPath.node.type !== 'BinaryExpression' && path.findParent(isText) !== null;
}

/**
 * True for the name of a choice, which stands beside its value.
 *
 * @param {{ parentPath: any }} path
 * @param {string} name
 */
function isChoice({ parentPath }, name) {
	return name === 'name' && parentPath.node.properties.some((/** @type {any} */ { key }) => key?.name === 'value');
}

/**
 * Stryker takes `x as T` for a type, and changes nothing in it. As `x satisfies T` it is code, and means the same here:
 * types are stripped before the tests run.
 *
 * @param {any} program
 */
function measureCasts(program) {
	program.traverse({
		TSAsExpression(/** @type {{ node: any }} */ { node }) {
			const isConst = node.typeAnnotation.typeName?.name === 'const';
			if (!isConst) node.type = 'TSSatisfiesExpression';
		},
	});
}

/** @param {{ parentPath: any }} path */
function isInTable({ parentPath }) {
	return TEXT_TABLES.has(parentPath.parent.id?.name);
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'form-texts', value: formTexts }];
