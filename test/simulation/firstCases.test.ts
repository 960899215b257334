/**
 * The same promises as in `simulation.test.ts`, in a hundred other executions: these are played in the process of the test,
 * where mutation testing has changed the code.
 */
import { seeded } from '../support/simulation';
import { drawCase } from './support/cases.mts';
import { play } from './support/play.mts';

const TENS = Array.from({ length: 10 }, (_, ten) => 10 * ten);

test.each(TENS)('any execution, whatever fails and whenever n8n dies: seeds from %d on', async (first) => {
	for (let seed = first; seed < first + 10; seed++)
		expect([seed, (await play(drawCase(seeded(seed)))).problems]).toEqual([seed, []]);
});
