/** The settings of the simulation: from the environment, so that a failing seed can be given again. */
import { stderr } from 'node:process';

export interface SimulationSettings {
	seed: number;
	/** At most, although there is time for more. */
	mostCases: number;
	/** Absent: as many as there is time for. */
	cases?: number;
	seconds: number;
	/** Whole days. */
	days: number;
}

/** The default: all who run the tests play the same cases. */
const FIRST = { seed: 2_141_671_077, cases: 4_500 };

/** Reads `SIMULATION_SEED`, `SIMULATION_CASES`, `SIMULATION_SECONDS` and `SIMULATION_DAYS`, and prints the seed. */
export function readSimulationSettings(): SimulationSettings {
	const {
		SIMULATION_SEED: seedText,
		SIMULATION_CASES: cases,
		SIMULATION_SECONDS: seconds,
		SIMULATION_DAYS: days,
	} = process.env;
	const seed = seedText ? Number(seedText) : FIRST.seed;
	say(`Simulation: SIMULATION_SEED=${seed}`);
	return {
		seed,
		mostCases: seedText || seconds ? Infinity : FIRST.cases,
		seconds: Number(seconds ?? 20),
		days: Number(days ?? 0),
		...(cases ? { cases: Number(cases) } : {}),
	};
}

export function say(line: string): void {
	stderr.write(`${line}\n`);
}
