/** The simulation as a process of its own: Jest's sandbox would make it take twice as long. Ends with 1 when a case has failed. */
import { seeded } from '../../support/simulation';
import { drawCase, type Case } from './cases.mts';
import { play } from './play.mts';
import { regressions } from './regressions.mts';
import { readSimulationSettings, say } from './settings.mts';
import { shrink } from './shrink.mts';
import { Tally } from './tally.mts';

/** A moment of milliseconds, which thousands of cases may not meet: a longer run does. */
const SELDOM = 'a stop between look and mark of a poller';

const { seed, cases, seconds, visitsAll, shrinks, playsRegressions } = readSimulationSettings();
const { stackTraceLimit } = Error;

const problemsOf = async (drawn: Case) => (await play(drawn)).problems;

/** They come first: what failed once is not left to chance. */
async function playRegressions(): Promise<void> {
	for (const { name, drawn } of regressions) {
		const problems = await problemsOf(drawn);
		if (problems.length > 0) throw new Error(`Regression "${name}":\n${problems.join('\n')}`);
	}
	say(`Regressions: ${regressions.length}`);
}

async function playCases(): Promise<void> {
	const tally = new Tally();
	while (tally.cases < cases && tally.seconds < seconds) {
		const ofCase = seed + tally.cases;
		const drawn = drawCase(seeded(ofCase));
		const played = await play(drawn);
		tally.add(played);
		if (played.problems.length === 0) continue;
		const smallest = shrinks ? await shrink(drawn, async (simpler) => (await problemsOf(simpler)).length > 0) : drawn;
		Error.stackTraceLimit = stackTraceLimit;
		const problems = await problemsOf(smallest);
		throw new Error(
			`Case ${tally.cases}. SIMULATION_SEED=${ofCase} SIMULATION_CASES=1 repeats it:\n${problems.join('\n')}\n${JSON.stringify(smallest)}`,
		);
	}
	if (tally.cases > 0) say(`Cases: ${tally.toString()}`);
	const missed = tally.missed.filter((situation) => situation !== SELDOM);
	if (visitsAll && missed.length > 0)
		throw new Error(`${cases} cases never visited: ${missed.join(', ')}. Draw it more often (cases.mts).`);
}

async function main(): Promise<void> {
	// Nobody reads the stack of an error that the product was made to meet.
	Error.stackTraceLimit = 0;
	if (playsRegressions) await playRegressions();
	await playCases();
}

main().catch(({ message }: Error) => {
	say(message);
	process.exitCode = 1;
});
