/** The settings of the simulation: from the environment, so that a failing seed can be given again. */
import { stderr } from 'node:process';

export interface SimulationSettings {
	seed: number;
	/** At most, although there is time for more. */
	mostCases: number;
	/** After so many, every rare situation has occurred. Absent: other cases than usual are played. */
	visitingCases?: number;
	/** Absent: as many as there is time for. */
	cases?: number;
	seconds: number;
	/** Whole days. */
	days: number;
	/** False: it is enough to know that a case fails. */
	shrinks: boolean;
	/** True: the cases that have failed once come first. */
	playsRegressions: boolean;
}

/**
 * The default: all who run the tests play the same cases. The first ones are played however long they take, and must visit
 * every rare situation.
 */
const FIRST = { seed: 2_141_671_077, cases: 4_500, visitingCases: 900 };

/** Reads `SIMULATION_SEED`, `SIMULATION_CASES`, `SIMULATION_SECONDS` and `SIMULATION_DAYS`, and prints the
 * seed. Those of the replay of breakages are `SIMULATION_SHRINKS` and `SIMULATION_REGRESSIONS`. */
export function readSimulationSettings(): SimulationSettings {
	const {
		SIMULATION_SEED: seedText,
		SIMULATION_CASES: cases,
		SIMULATION_SECONDS: seconds,
		SIMULATION_DAYS: days,
		SIMULATION_SHRINKS: shrinks,
		SIMULATION_REGRESSIONS: regressions,
	} = process.env;
	const seed = seedText ? Number(seedText) : FIRST.seed;
	say(`Simulation: SIMULATION_SEED=${seed}`);
	return {
		seed,
		mostCases: seedText || seconds ? Infinity : FIRST.cases,
		seconds: Number(seconds ?? 10),
		days: Number(days ?? 0),
		shrinks: shrinks !== 'no',
		playsRegressions: regressions === 'yes',
		...(seedText || seconds || cases ? {} : { visitingCases: FIRST.visitingCases }),
		...(cases ? { cases: Number(cases) } : {}),
	};
}

export function say(line: string): void {
	stderr.write(`${line}\n`);
}
