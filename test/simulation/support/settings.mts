/** The settings of the simulation: from the environment, so that a failing seed can be given again. */
import { env, stderr } from 'node:process';

export interface SimulationSettings {
	seed: number;
	/** At most. */
	cases: number;
	/** No case begins later. */
	seconds: number;
	/** These cases are known to visit every rare situation: one that does not shows that the model has changed. */
	visitsAll: boolean;
	/** False: it is enough to know that a case fails. */
	shrinks: boolean;
	/** The cases that have failed once come first. */
	playsRegressions: boolean;
}

/** All who run the tests play the same cases: half a minute of processor time. The scheduled pipeline plays new ones. */
const FIRST = { seed: 3001, cases: 2400 };

/** Reads `SIMULATION_SEED`, `SIMULATION_CASES` and `SIMULATION_SECONDS`, and prints the seed. The replay of breakages sets `SIMULATION_SHRINKS` and `SIMULATION_REGRESSIONS`. */
export function readSimulationSettings(): SimulationSettings {
	const { SIMULATION_SEED: seedText, SIMULATION_CASES: cases, SIMULATION_SECONDS: seconds } = env;
	const isUsual = !seedText && !cases && !seconds;
	const seed = seedText ? Number(seedText) : FIRST.seed;
	say(`Simulation: SIMULATION_SEED=${seed}`);
	return {
		seed,
		cases: cases ? Number(cases) : seconds ? Infinity : FIRST.cases,
		seconds: Number(seconds ?? Infinity),
		visitsAll: isUsual,
		shrinks: env.SIMULATION_SHRINKS !== 'no',
		playsRegressions: isUsual || env.SIMULATION_REGRESSIONS === 'yes',
	};
}

export function say(line: string): void {
	stderr.write(`${line}\n`);
}
