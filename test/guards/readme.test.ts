import { withModelTables } from '../../tools/docs/modelTables.mts';
import { readProjectFile } from '../support/sources.mts';

test('the model tables of the README are fresh (npm run docs)', () => {
	const readme = readProjectFile('README.md');
	expect(readme).toBe(withModelTables(readme));
});

test('tables replace what stands between the markers, and nothing else', () => {
	const readme = 'Before\n<!-- models:start -->\nold\n<!-- models:end -->\nAfter\n';
	const renewed = withModelTables(readme);
	expect(renewed).toMatch(/^Before\n<!-- models:start -->\n\n#### `gamma-image-2`/);
	expect(renewed).toMatch(/\n<!-- models:end -->\nAfter\n$/);
	expect(renewed).not.toContain('old');
	expect(withModelTables(renewed)).toBe(renewed);
});

test.each(['', '<!-- models:start -->', '<!-- models:end --><!-- models:start -->'])('a README without both markers is refused: "%s"', (readme) => {
	expect(() => withModelTables(readme)).toThrow(/models:start/);
});
