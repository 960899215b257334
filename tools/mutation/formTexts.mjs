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
const TEXT_TYPES = new Set(['StringLiteral', 'TemplateLiteral', 'BinaryExpression']);

const formTexts = {
	/** @param {{ isObjectProperty(): boolean, parentPath: any, node: any }} path */
	shouldIgnore(path) {
		if (!path.isObjectProperty()) return undefined;
		const { key, value } = path.node;
		const name = key.name ?? key.value;
		const isText = TEXTS.has(name) && (TEXT_TYPES.has(value.type) || name === 'builderHint');
		return isText || isInTable(path) ? 'text for people' : undefined;
	},
};

/** @param {{ parentPath: any }} path */
function isInTable({ parentPath }) {
	return TEXT_TABLES.has(parentPath.parent.id?.name);
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'form-texts', value: formTexts }];
