import fc from 'fast-check';
import { quickCase } from './support/cases';
import { problemsOverHttp } from './support/overHttp.mts';
import { readPropertySettings } from './support/settings.mts';

/**
 * The same promises in n8n's own engine and over HTTP, with what real time allows: quick tasks, short pauses. The
 * runs wait more than they work, so some go on side by side; a failing case is printed as it was drawn.
 */
const { seed, runs } = readPropertySettings('engine');
const MANY_RUNS = 24;
const AT_ONCE = 6;

const cases = fc.sample(quickCase, { seed, numRuns: runs ?? MANY_RUNS });
const groups = Array.from({ length: AT_ONCE }, (_, group) => cases.filter((__, index) => index % AT_ONCE === group));

test('any batch in any weather, through the engine and over HTTP', async () => {
	const problems: unknown[] = [];
	const playAll = async (group: typeof cases) => {
		for (const drawn of group) {
			const found = await problemsOverHttp(drawn);
			if (found.length > 0) problems.push({ found, drawn: JSON.stringify(drawn) });
		}
	};
	await Promise.all(groups.map(playAll));
	expect(problems).toEqual([]);
}, 300_000);
