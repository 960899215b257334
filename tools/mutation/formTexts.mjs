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
const TEXT_TYPES = new Set(['StringLiteral', 'TemplateLiteral', 'BinaryExpression']);

const formTexts = {
	/** @param {{ isObjectProperty(): boolean, node: any }} path */
	shouldIgnore(path) {
		if (!path.isObjectProperty()) return undefined;
		const { key, value } = path.node;
		const name = key.name ?? key.value;
		const isText = TEXTS.has(name) && (TEXT_TYPES.has(value.type) || name === 'builderHint');
		return isText ? 'text for people' : undefined;
	},
};

export const strykerPlugins = [{ kind: 'Ignore', name: 'form-texts', value: formTexts }];
