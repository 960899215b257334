/** The simulation as a process of its own: Jest's sandbox would make it take twice as long. Ends with 1 when a case has failed. */
import { seeded } from '../../support/simulation';
import { drawCase, type Case } from './cases.mts';
import { play, playDay } from './play.mts';
import { regressions } from './regressions.mts';
import { readSimulationSettings, say } from './settings.mts';
import { shrink } from './shrink.mts';
import { Tally } from './tally.mts';

const {
	seed,
	mostCases,
	cases,
	visitingCases = 0,
	seconds,
	days,
	shrinks,
	playsRegressions,
} = readSimulationSettings();
const { stackTraceLimit } = Error;

const problemsOf = async (drawn: Case) => (await play(drawn)).problems;

/** A breakage that turns up once in ten thousand cases is noticed by the one that somebody has kept. */
async function playRegressions(): Promise<void> {
	for (const { name, drawn } of regressions) {
		const problems = await problemsOf(drawn);
		if (problems.length > 0) throw new Error(`Regression "${name}":\n${problems.join('\n')}`);
	}
}

async function playCases(): Promise<void> {
	const tally = new Tally();
	const goesOn = () => tally.cases < visitingCases || (tally.cases < mostCases && tally.seconds < seconds);
	for (let index = 0; cases === undefined ? goesOn() : index < cases; index++) {
		const drawn = drawCase(seeded(seed + index));
		const played = await play(drawn);
		tally.add(played, drawn);
		if (tally.cases === visitingCases) requireVisits(tally);
		if (played.problems.length === 0) continue;
		const smallest = shrinks ? await shrink(drawn, async (simpler) => (await problemsOf(simpler)).length > 0) : drawn;
		Error.stackTraceLimit = stackTraceLimit;
		const problems = await problemsOf(smallest);
		throw new Error(
			`Case ${index + 1}. SIMULATION_SEED=${seed + index} SIMULATION_CASES=1 repeats it:\n${problems.join('\n')}\n${JSON.stringify(smallest)}`,
		);
	}
	if (tally.cases > 0) say(`Cases: ${tally.toString()}`);
}

function requireVisits({ missed }: Tally): void {
	if (missed.length > 0)
		throw new Error(`${visitingCases} cases never visited: ${missed.join(', ')}. Draw it more often (cases.mts).`);
}

async function playDays(): Promise<void> {
	const tally = new Tally();
	for (let day = 0; day < days; day++) {
		const played = await playDay(seed + day);
		tally.add(played);
		if (played.problems.length > 0)
			throw new Error(`SIMULATION_SEED=${seed + day} SIMULATION_DAYS=1 repeats it:\n${played.problems.join('\n')}`);
	}
	if (tally.cases > 0) say(`Days: ${tally.toString()}`);
}

async function main(): Promise<void> {
	// Nobody reads the stack of an error that the product was made to meet.
	Error.stackTraceLimit = 0;
	if (playsRegressions) await playRegressions();
	await playCases();
	await playDays();
}

main().catch(({ message }: Error) => {
	say(message);
	process.exitCode = 1;
});
