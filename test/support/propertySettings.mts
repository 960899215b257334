/**
 * The settings of the property tests: from the environment, so that a failing seed can be given again. At a desk each run
 * plays a new seed; a pipeline of a change always the same one, as an old mistake must not fail a new change; the weekly
 * pipeline gives a new one.
 */
import { env, stderr } from 'node:process';

export interface PropertySettings {
	seed: number;
	/** Absent: as many as the test wants. */
	runs?: number;
	/** The path of the smallest example, as fast-check prints it. */
	path?: string;
}

const given = env.PROPERTY_SEED || (env.CI ? '1' : undefined);

/** For tests that hand it to fast-check themselves, which prints the seed when it fails. */
export const SAME_IN_PIPELINES = given === undefined ? {} : { seed: Number(given) };

/** Reads `PROPERTY_SEED`, `PROPERTY_RUNS` and `PROPERTY_PATH`, and prints the seed: a run that fails can be repeated. */
export function readPropertySettings(name: string): PropertySettings {
	const { PROPERTY_RUNS: runs, PROPERTY_PATH: path } = env;
	const { seed = Math.floor(Math.random() * 2 ** 31) } = SAME_IN_PIPELINES;
	stderr.write(`Property test ${name}: PROPERTY_SEED=${seed}\n`);
	return { seed, ...(runs ? { runs: Number(runs) } : {}), ...(path ? { path } : {}) };
}
