import { linesOf } from '../support/sources.mts';

/** At the beginning of a line: a variable, an object of a class, or a collection that begins empty. */
const STORE = /^(?:export )?(?:let |const \w+[^=]*= (?:pLimit\(|new (?:\w+(?:<.*>)?\(\)|(?!Set|Map)\w)))/;

test('what outlives a run in the memory of n8n is in one file, which says how much it may become', () => {
	const stores = ['core', 'nodes', 'credentials'].flatMap(linesOf).filter(({ text }) => STORE.test(text));
	expect([...new Set(stores.map(({ path }) => path))]).toEqual(['core/processMemory.ts']);
	expect(stores.length).toBeGreaterThan(5);
});
