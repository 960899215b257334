/** Docstrings say what a thing is or does, and stand before that thing. */
import { docstringsIn, docstringsOf } from '../support/sources.mts';

/** With these a riddle begins: "What the run has left" is of no use to whoever does not know yet what that is. */
const RIDDLE = /^(What|Where|Whether|How|So|Why)\b/;

const docstrings = ['core', 'nodes', 'credentials', 'sandbox', 'test', 'tools', 'bench'].flatMap(docstringsOf);

test('docstrings are found, on one line and on several', () => {
	expect(docstrings.length).toBeGreaterThan(900);
	const code =
		'/** One. */\n/**\n * Two,\n * and more.\n */\nconst two = 2;\n\t/** @typedef {string} T */\n/** Three. */';
	expect(docstringsIn('a.ts', code)).toEqual([
		{ place: 'a.ts:1', text: 'One.', isLost: true },
		{ place: 'a.ts:2', text: 'Two, and more.', isLost: false },
		{ place: 'a.ts:7', text: '@typedef {string} T', isLost: false },
		{ place: 'a.ts:8', text: 'Three.', isLost: false },
	]);
});

test('no docstring begins with What, Where, Whether, How, So or Why', () => {
	expect(docstrings.filter(({ text }) => RIDDLE.test(text)).map(({ place, text }) => `${place}: ${text}`)).toEqual([]);
});

test('no docstring stands before another one', () => {
	expect(docstrings.filter(({ isLost }) => isLost).map(({ place }) => place)).toEqual([]);
});
