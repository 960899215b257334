import { importsOf, type Import } from '../support/sources.mts';

const readable = ({ from, to }: Import) => `${from} → ${to}`;
const isIn =
	(...folders: string[]) =>
	({ to }: Import) =>
		folders.some((folder) => to === folder || to.startsWith(`${folder}/`));
const isOwn = isIn('core', 'nodes', 'credentials', 'sandbox', 'test', 'tools', 'bench', 'workflows', '..');

test.each(['core', 'nodes', 'sandbox'])('the imports of %s are seen at all', (folder) => {
	expect(importsOf(folder).length).toBeGreaterThan(10);
});

test('core needs neither n8n nor the nodes at run time', () => {
	const needed = importsOf('core').filter(({ typeOnly }) => !typeOnly);
	expect([...new Set(needed.filter((each) => !isOwn(each)).map(({ to }) => to))].sort()).toEqual(['p-limit', 'zod']);
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

/** From the ground up: a room of nodes/ may use those before its own line. */
const NODE_ROOMS = [['errors', 'models'], ['form', 'connection'], ['run'], ['generation'], ['durable']];

test('the rooms of nodes/ import downwards only', () => {
	const floorOf = (path: string) => {
		const floor = NODE_ROOMS.findIndex((rooms) => rooms.some((room) => path.startsWith(`nodes/${room}`)));
		return floor === -1 ? NODE_ROOMS.length : floor;
	};
	const roomOf = (path: string) => path.split('/').slice(0, 2).join('/');
	const upwards = importsOf('nodes').filter(
		({ from, to }) => to.startsWith('nodes/') && roomOf(from) !== roomOf(to) && floorOf(to) >= floorOf(from),
	);
	expect(upwards.map(readable)).toEqual([]);
});

/** The most files that one leads through, within its own room. */
const MOST_FLOORS: Record<string, number> = {
	'core/http': 4,
	'core/models': 4,
	'core/records': 4,
	// From the wait for one task down to what is known of such tasks.
	'core/polling': 5,
	// From many orders down to the record of one.
	'core/orders': 7,
	'core/avatars': 4,
	'nodes/errors': 4,
	'nodes/form': 4,
	'nodes/connection': 4,
	'nodes/run': 4,
	'nodes/generation': 4,
	'nodes/durable': 4,
};

test.each(Object.entries(MOST_FLOORS))(
	'no file of %s is reached through more than %i floors, and none imports itself',
	(room, most) => {
		const inside = importsOf(room)
			.filter(isIn(room))
			.map(({ from, to }) => ({ from: from.replace(/\.ts$/, ''), to }));
		const heightOf = (path: string, above: string[] = []): number => {
			if (above.includes(path)) return Infinity;
			const below = inside.filter(({ from }) => from === path).map(({ to }) => heightOf(to, [...above, path]));
			return 1 + Math.max(0, ...below);
		};
		expect(inside.map(({ from }) => from).filter((path) => heightOf(path) > most)).toEqual([]);
	},
);

test('what is installed with the package imports only what n8n brings along, and its own version', () => {
	const product = ['core', 'nodes', 'credentials'].flatMap((folder) => importsOf(folder));
	const packages = product.filter((each) => !isOwn(each) && !each.typeOnly).map(({ to }) => to);
	expect([...new Set(packages)].sort()).toEqual(['crypto', 'n8n-workflow', 'p-limit', 'package.json', 'zod']);
});
