/**
 * Mutation testing with Stryker: `npm run test:mutation`. It changes the code in thousands of ways, one at a time, and
 * every change must turn a test red. The result of each file is kept as soon as there is one, until the file or its tests
 * change: a run that was stopped goes on where it was. `-- changed` measures and shows only what has changed since,
 * `-- ledger retry` those with one of these words in their paths; `-- fresh` forgets what is known first; `-- write` puts
 * the table into CONTRIBUTING.md.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { withSection } from './docs/section.mts';
import { allTargets, undecided } from './mutation/groups.mjs';
import { measure, WORKDIR } from './mutation/measure.mjs';
import { forget, hashOf, isKnown, keep, known, percent, sizeOf, timeLeft, toScore } from './mutation/scores.mjs';
import { toTable } from './mutation/table.mjs';
import { projectDir } from './paths.mjs';
import { finish, say, ToolError } from './report/step.mjs';

/** Over all files, in percent. In what buys, waits, stores or delivers, every mutant counts. */
const GOAL = 97;
/** Characters of code. */
const LARGEST_BATCH = 20_000;
const switches = ['write', 'fresh', 'changed'];

/** @typedef {import('./mutation/groups.mjs').Target} Target */

/** @param {string[]} args */
export default async function mutation(args) {
	const words = args.filter((arg) => !switches.includes(arg));
	const targets = allTargets();
	const chosen = targets.filter(({ file }) => words.length === 0 || words.some((word) => file.includes(word)));
	if (args.includes('fresh')) {
		rmSync(WORKDIR, { recursive: true, force: true });
		forget(chosen);
	}
	const changed = chosen.filter((target) => !isKnown(target));
	// Where nothing has changed, all results hold.
	const wanted = args.includes('changed') && changed.length > 0 ? changed : chosen;
	if (wanted.length === 0) throw new ToolError(`No file has "${words.join('" or "')}" in its path.`);
	const open = wanted.filter((target) => !isKnown(target));
	say(`${wanted.length} files, of which ${open.length} are to be measured. ${timeLeft(open)}.`);
	let left = open.length;
	for (const batch of toBatches(open)) {
		const files = batch.map(({ file }) => file);
		say(`\n${files.join(', ')}, with ${batch[0].tests.join(', ')}`);
		await measureAll(batch).catch((error) => say(`${files.join(', ')} could not be measured: ${error.message}`));
		left -= batch.length;
		say(timeLeft(open.slice(-left || open.length)));
	}
	say(`\n${toTable(wanted)}\n\nNot mutated: ${undecided.map(({ why }) => why).join('; ')}.`);
	if (args.includes('write')) {
		const page = join(projectDir, 'CONTRIBUTING.md');
		writeFileSync(page, withSection(readFileSync(page, 'utf8'), 'mutation', toTable(targets)));
	}
	return judge(wanted, wanted.length === targets.length);
}

/**
 * Files with the same tests are measured together: to run all of these tests first takes up to a minute. The results are
 * there only at the end, so no more than a few minutes' work is in one batch.
 *
 * @param {Target[]} open
 */
function toBatches(open) {
	/** @type {Target[][]} */
	const batches = [];
	for (const target of open) {
		const last = batches.at(-1);
		const isSame = last !== undefined && last[0].tests.join() === target.tests.join();
		if (isSame && sizeOf([...last, target]) <= LARGEST_BATCH) last.push(target);
		else batches.push([target]);
	}
	return batches;
}

/** @param {Target[]} batch */
async function measureAll(batch) {
	const startedAt = Date.now();
	const hashes = batch.map(hashOf);
	const mutants = await measure(
		batch.map(({ file }) => file),
		batch[0].tests,
	);
	const seconds = (Date.now() - startedAt) / 1000;
	for (const [index, target] of batch.entries()) {
		const own = mutants.filter(({ fileName }) => relative(projectDir, fileName) === target.file);
		const share = sizeOf([target]) / sizeOf(batch);
		report(target, own, { seconds: Math.round(seconds * share), hash: hashes[index] });
	}
}

/**
 * @param {Target} target
 * @param {import('./mutation/measure.mjs').Mutant[]} mutants
 * @param {{ seconds: number, hash: string }} about
 */
function report(target, mutants, about) {
	const { alive, unknown, score } = toScore(target, mutants);
	const lines = readFileSync(join(projectDir, target.file), 'utf8').split('\n');
	for (const { location, replacement, status, mutatorName } of alive) {
		const { line, column } = location.start;
		say(
			`${target.file}:${line}:${column} ${status}, ${mutatorName}\n    ${lines[line - 1].trim()}\n    → ${replacement}`,
		);
	}
	for (const entry of unknown) say(`${target.file}: named as equivalent, but killed or gone:\n    ${entry}`);
	const killed = score.killed + score.late;
	say(`${target.file}: ${killed} killed, ${score.survived} survived, ${score.named} equivalent, in ${about.seconds} s`);
	// A name without its mutant is to be removed: until then, the file is not done.
	if (unknown.length === 0) keep(target, { ...score, ...about });
}

/**
 * @param {Target[]} targets
 * @param {boolean} areAll the goal is one of all files together
 */
function judge(targets, areAll) {
	const scores = targets.map((target) => ({ target, score: known(target) }));
	const failures = scores.filter(
		({ target, score }) => score === undefined || !isKnown(target) || (target.isStrict && score.survived > 0),
	).length;
	const all = scores.flatMap(({ score }) => score ?? []);
	const passed = all.reduce((sum, { killed, late }) => sum + killed + late, 0);
	return finish(passed, failures + (areAll && percent(all) < GOAL ? 1 : 0));
}
