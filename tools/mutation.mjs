/**
 * Mutation testing with Stryker: `npm run test:mutation`. It changes the code in thousands of ways, one at a time, and
 * every change must turn a test red. The result of each file is kept as soon as there is one, until the file or its tests
 * change: a run that was stopped goes on where it was. `-- changed` measures the files that differ from the branch main,
 * `-- ledger retry` those with one of these words in their paths; `-- fresh` measures again what is known; `-- write`
 * puts the table into CONTRIBUTING.md.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withSection } from './docs/section.mts';
import { allTargets, undecided } from './mutation/groups.mjs';
import { measure, WORKDIR } from './mutation/measure.mjs';
import { hashOf, isKnown, keep, known, percent, timeLeft, toScore } from './mutation/scores.mjs';
import { toTable } from './mutation/table.mjs';
import { projectDir } from './paths.mjs';
import { finish, say } from './report/step.mjs';

/** Over all files, in percent. In what buys, waits, stores or delivers, every mutant counts. */
const GOAL = 97;
const switches = ['write', 'fresh', 'changed'];

/** @typedef {import('./mutation/groups.mjs').Target} Target */

/** @param {string[]} args */
export default async function mutation(args) {
	const words = args.filter((arg) => !switches.includes(arg));
	const targets = allTargets();
	const wanted = (args.includes('changed') ? targets.filter(isChanged()) : targets).filter(
		({ file }) => words.length === 0 || words.some((word) => file.includes(word)),
	);
	if (args.includes('fresh')) rmSync(WORKDIR, { recursive: true, force: true });
	const open = wanted.filter((target) => args.includes('fresh') || !isKnown(target));
	say(`${wanted.length} files, of which ${open.length} are to be measured.`);
	for (const [index, target] of open.entries()) {
		say(`\n${target.file}, with ${target.tests.join(', ')}`);
		await measureOne(target).catch((error) => say(`${target.file} could not be measured: ${error.message}`));
		say(timeLeft(open.slice(index + 1)));
	}
	say(`\n${toTable(wanted)}\n\nNot mutated: ${undecided.map(({ why }) => why).join('; ')}.`);
	if (args.includes('write')) {
		const page = join(projectDir, 'CONTRIBUTING.md');
		writeFileSync(page, withSection(readFileSync(page, 'utf8'), 'mutation', toTable(targets)));
	}
	return judge(wanted);
}

/** @param {Target} target */
async function measureOne(target) {
	const startedAt = Date.now();
	const hash = hashOf(target);
	const mutants = await measure(target);
	const { alive, unknown, score } = toScore(target, mutants);
	const lines = readFileSync(join(projectDir, target.file), 'utf8').split('\n');
	for (const { location, replacement, status, mutatorName } of alive) {
		const { line, column } = location.start;
		say(
			`${target.file}:${line}:${column} ${status}, ${mutatorName}\n    ${lines[line - 1].trim()}\n    → ${replacement}`,
		);
	}
	for (const entry of unknown) say(`${target.file}: named as equivalent, but killed or gone:\n    ${entry}`);
	const seconds = Math.round((Date.now() - startedAt) / 1000);
	say(`${score.killed + score.late} killed, ${score.survived} survived, ${score.named} equivalent, in ${seconds} s`);
	// A name without its mutant is to be removed: until then, the file is not done.
	if (unknown.length === 0) keep(target, { ...score, seconds, hash });
}

/** @returns {(target: Target) => boolean} */
function isChanged() {
	const git = (/** @type {string[]} */ ...args) => execFileSync('git', args, { cwd: projectDir, encoding: 'utf8' });
	const base = git('merge-base', 'main', 'HEAD').trim();
	const names = [git('diff', '--name-only', base), git('ls-files', '--others', '--exclude-standard')].join('\n');
	const changed = new Set(names.split('\n'));
	return ({ file, tests }) => changed.has(file) || tests.some((test) => changed.has(`test/${test}.test.ts`));
}

/** @param {Target[]} targets */
function judge(targets) {
	const scores = targets.map((target) => ({ target, score: known(target) }));
	const failures = scores.filter(
		({ target, score }) => score === undefined || !isKnown(target) || (target.isStrict && score.survived > 0),
	).length;
	const all = scores.flatMap(({ score }) => score ?? []);
	const passed = all.reduce((sum, { killed, late }) => sum + killed + late, 0);
	return finish(passed, failures + (percent(all) >= GOAL ? 0 : 1));
}
