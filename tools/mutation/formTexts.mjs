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

const formTexts = {
	/** @param {{ isObjectProperty(): boolean, findParent?: any, parentPath: any, node: any }} path */
	shouldIgnore(path) {
		if (path.node.type === 'Program') measureCasts(path);
		if (isText(path.node) && isMadeByFunction(path)) return 'text for people';
		if (!path.isObjectProperty()) return undefined;
		const { key, value } = path.node;
		const name = key.name ?? key.value;
		const isForPeople = (TEXTS.has(name) || isChoice(path, name)) && (isText(value) || name === 'builderHint');
		return isForPeople || isInTable(path) ? 'text for people' : undefined;
	},
};

/**
 * True for words, also in pieces. False where a piece depends on something: what Stryker ignores, it ignores with all that
 * is in it. A comparison is no text.
 *
 * @param {any} node
 * @returns {boolean}
 */
function isText(node) {
	const isWords =
		node.type === 'StringLiteral' ||
		node.type === 'TemplateLiteral' ||
		(node.type === 'BinaryExpression' && node.operator === '+' && (isText(node.left) || isText(node.right)));
	return isWords && !decides(node);
}

/**
 * True where something in it chooses or compares.
 *
 * @param {any} node
 * @returns {boolean}
 */
function decides(node) {
	if (node === null || typeof node !== 'object') return false;
	const { type, operator } = node;
	const isChoosing = type === 'ConditionalExpression' || type === 'LogicalExpression';
	return isChoosing || (type === 'BinaryExpression' && operator !== '+') || Object.values(node).some(decides);
}

/**
 * True in a function that makes a message or advice. Only the words are left out: what it decides by is changed.
 *
 * @param {{ findParent?: any, parentPath: any }} path
 */
function isMadeByFunction(path) {
	const makesText = (/** @type {any} */ { node }) =>
		node.type === 'ObjectProperty' && MADE_TEXTS.has(node.key.name) && node.value.type === 'ArrowFunctionExpression';
	const { node: parent } = path.parentPath;
	// Not what it compares with.
	const isCompared = parent.type === 'BinaryExpression' && parent.operator !== '+';
	return !isCompared && path.findParent(makesText) !== null;
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
