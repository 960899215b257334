import { seeded } from '../support/simulation';
import { drawCase, type Case } from './support/cases.mts';
import { play, playDay } from './support/play.mts';
import { regressions } from './support/regressions.mts';
import { readSimulationSettings, say } from './support/settings.mts';
import { shrink } from './support/shrink.mts';
import { Tally } from './support/tally.mts';

/**
 * Never paid twice, nothing lost, nothing unfinished handed out, every wait ends: the real node in a model of n8n that
 * dies at any await, against the sandbox's own tasks and answers, in fake time. A seed decides everything.
 */
const { seed, cases, seconds, days } = readSimulationSettings();
const LONGEST_MS = 100_000_000;

const problemsOf = async (drawn: Case) => (await play(drawn)).problems;

test.each(regressions)('$name', async ({ drawn }) => {
	expect(await problemsOf(drawn)).toEqual([]);
});

test('any execution, whatever fails and whenever n8n dies', async () => {
	const tally = new Tally();
	for (let index = 0; cases === undefined ? tally.seconds < seconds : index < cases; index++) {
		const drawn = drawCase(seeded(seed + index));
		const played = await play(drawn);
		tally.add(played, drawn);
		if (played.problems.length === 0) continue;
		const smallest = await shrink(drawn, async (simpler) => (await problemsOf(simpler)).length > 0);
		throw new Error(`SIMULATION_SEED=${seed + index} SIMULATION_CASES=1 repeats it:\n${(await problemsOf(smallest)).join('\n')}\n${JSON.stringify(smallest)}`);
	}
	say(`Cases: ${tally.toString()}`);
}, LONGEST_MS);

if (days > 0) test('whole days of a thousand executions', async () => {
	const tally = new Tally();
	for (let day = 0; day < days; day++) {
		const played = await playDay(seed + day);
		tally.add(played);
		if (played.problems.length > 0) throw new Error(`SIMULATION_SEED=${seed + day} SIMULATION_DAYS=1 repeats it:\n${played.problems.join('\n')}`);
	}
	say(`Days: ${tally.toString()}`);
}, LONGEST_MS);
