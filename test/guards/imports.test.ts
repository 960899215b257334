/** The rest of the rules about imports is in `.dependency-cruiser.cjs`, which cannot count floors. */
import { importsOf, type Import } from '../support/sources.mts';

const isIn =
	(folder: string) =>
	({ to }: Import) =>
		to.startsWith(`${folder}/`);

/** The most files that one leads through, within its own room. */
const MOST_FLOORS: Record<string, number> = {
	'core/http': 4,
	// From the values of a form over the check of the body to a field.
	'core/models': 5,
	// From the search for a result over its missing parts, and a record, down to a value.
	'core/records': 5,
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
