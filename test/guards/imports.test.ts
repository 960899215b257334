import { importsOf, type Import } from '../support/sources.mts';

const readable = ({ from, to }: Import) => `${from} → ${to}`;
const isIn = (...folders: string[]) => ({ to }: Import) => folders.some((folder) => to === folder || to.startsWith(`${folder}/`));
const isOwn = isIn('core', 'nodes', 'credentials', 'sandbox', 'test', 'tools', 'bench', 'workflows', '..');

test.each(['core', 'nodes', 'sandbox'])('the imports of %s are seen at all', (folder) => {
	expect(importsOf(folder).length).toBeGreaterThan(10);
});

test('core needs neither n8n nor the nodes at run time', () => {
	const needed = importsOf('core').filter(({ typeOnly }) => !typeOnly);
	expect([...new Set(needed.filter((each) => !isOwn(each)).map(({ to }) => to))]).toEqual(['zod']);
});

test.each([
	{ folder: 'core', may: ['core'] },
	{ folder: 'nodes', may: ['core', 'nodes'] },
	{ folder: 'credentials', may: ['core'] },
	{ folder: 'sandbox', may: ['sandbox'] },
])('$folder imports from $may only, types included', ({ folder, may }) => {
	const others = importsOf(folder).filter((each) => isOwn(each) && !isIn(...may)(each));
	expect(others.map(readable)).toEqual([]);
});

test('what is installed with the package imports only what n8n brings along', () => {
	const product = ['core', 'nodes', 'credentials'].flatMap((folder) => importsOf(folder));
	const packages = product.filter((each) => !isOwn(each) && !each.typeOnly).map(({ to }) => to);
	expect([...new Set(packages)].sort()).toEqual(['crypto', 'n8n-workflow', 'zod']);
});
