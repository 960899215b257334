/** The settings of the property tests: from the environment, so that a failing seed can be given again. */
import { stderr } from 'node:process';

export interface PropertySettings {
	seed: number;
	/** Absent: as many as the test wants. */
	runs?: number;
	/** The path of the smallest example, as fast-check prints it. */
	path?: string;
}

/** For tests whose cases are random elsewhere: a pipeline plays the same ones each time, as an old mistake must not fail a new change. */
export const SAME_IN_PIPELINES = process.env.CI ? { seed: 1 } : {};

/** Reads `PROPERTY_SEED`, `PROPERTY_RUNS` and `PROPERTY_PATH`, and prints the seed: a run that fails can be repeated. */
export function readPropertySettings(name: string): PropertySettings {
	const { PROPERTY_SEED: seedText, PROPERTY_RUNS: runs, PROPERTY_PATH: path } = process.env;
	const { seed = Math.floor(Math.random() * 2 ** 31) } = seedText ? { seed: Number(seedText) } : SAME_IN_PIPELINES;
	stderr.write(`Property test ${name}: PROPERTY_SEED=${seed}\n`);
	return { seed, ...(runs ? { runs: Number(runs) } : {}), ...(path ? { path } : {}) };
}
