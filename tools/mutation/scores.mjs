/** The result of each file, in `scores.json`, with a hash of all it depends on: of what has changed, it is out of date. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectDir } from '../paths.mjs';
import { equivalent } from './equivalent.mjs';
import { TEST_WAITED } from './measure.mjs';

const SCORES = join(projectDir, 'tools/mutation/scores.json');

/** @typedef {import('./groups.mjs').Target} Target */
/** @typedef {import('./measure.mjs').Mutant} Mutant */
/** @typedef {{ killed: number, late: number, named: number, survived: number }} Counts */
/** @typedef {Counts & { seconds: number, measuredOn: string, hash: string }} Score */

/** @type {Record<string, Score>} */
const scores = read();

/** @returns {Record<string, Score>} */
function read() {
	return existsSync(SCORES) ? JSON.parse(readFileSync(SCORES, 'utf8')) : {};
}

/**
 * @param {Target} target
 * @returns {Score | undefined}
 */
export function known({ file }) {
	return scores[file];
}

/**
 * Their results no longer hold, so that a run that was stopped goes on where it was. The times stay, for the estimate.
 *
 * @param {Target[]} targets
 */
export function forget(targets) {
	for (const { file } of targets) if (scores[file] !== undefined) scores[file].hash = '';
	write();
}

/** @param {Target} target */
export function isKnown(target) {
	return known(target)?.hash === hashOf(target);
}

/**
 * @param {Target} target
 * @param {Omit<Score, 'measuredOn'>} score
 */
export function keep(target, score) {
	// Another run may have written results meanwhile.
	Object.assign(scores, read());
	scores[target.file] = { ...score, measuredOn: new Date().toISOString().slice(0, 10) };
	write();
}

function write() {
	const sorted = Object.fromEntries(Object.entries(scores).sort(([one], [other]) => (one < other ? -1 : 1)));
	writeFileSync(SCORES, `${JSON.stringify(sorted, null, '\t')}\n`);
}

/**
 * Of the file, its tests and the names of its equivalent mutants.
 *
 * @param {Target} target
 */
export function hashOf({ file, tests }) {
	const hash = createHash('sha256').update(JSON.stringify(equivalent[file] ?? []));
	for (const path of [file, ...tests.map((test) => `test/${test}.test.ts`)])
		hash.update(readFileSync(join(projectDir, path)));
	return hash.digest('hex').slice(0, 16);
}

/**
 * @param {Target} target
 * @param {Mutant[]} mutants
 * @returns {{ score: Counts, alive: Mutant[], unknown: string[] }} with the survivors that have no name, and the names that have no survivor
 */
export function toScore({ file }, mutants) {
	const lines = readFileSync(join(projectDir, file), 'utf8').split('\n');
	const named = equivalent[file] ?? [];
	// One that ended the process twice is no proof.
	const alive = mutants.filter(({ status }) => /^(Survived|NoCoverage|RuntimeError)$/.test(status));
	const unknown = [];
	// Each entry stands for one mutant: another one that looks alike is a survivor.
	for (const { line, becomes } of named) {
		const found = alive.findIndex(
			({ location, replacement }) => lines[location.start.line - 1]?.trim() === line && replacement === becomes,
		);
		if (found < 0) unknown.push(`${line} → ${becomes}`);
		else alive.splice(found, 1);
	}
	const isLate = (/** @type {Mutant} */ { status, statusReason = '' }) =>
		status === 'Timeout' || (status === 'Killed' && TEST_WAITED.test(statusReason));
	const late = mutants.filter(isLate).length;
	const killed = mutants.filter((mutant) => mutant.status === 'Killed' && !isLate(mutant)).length;
	return { score: { killed, late, named: named.length - unknown.length, survived: alive.length }, alive, unknown };
}

/** @param {Counts[]} of */
export function percent(of) {
	const detected = of.reduce((sum, { killed, late }) => sum + killed + late, 0);
	return (100 * detected) / Math.max(1, detected + of.reduce((sum, { survived }) => sum + survived, 0));
}

/** @param {Target[]} open those that are still to be measured: as long as last time, or as others of their size */
export function timeLeft(open) {
	const files = Object.keys(scores).filter((file) => existsSync(join(projectDir, file)));
	const size = sizeOf(files.map((file) => ({ file })));
	const secondsPerByte = files.reduce((sum, file) => sum + scores[file].seconds, 0) / Math.max(1, size);
	const seconds = open.reduce(
		(sum, target) => sum + (scores[target.file]?.seconds ?? secondsPerByte * sizeOf([target])),
		0,
	);
	return `${open.length} files to go: about ${Math.ceil(seconds / 60)} minutes`;
}

/** @param {Pick<Target, 'file'>[]} of */
export function sizeOf(of) {
	return of.reduce((sum, { file }) => sum + readFileSync(join(projectDir, file)).length, 0);
}
