/** The scores for CONTRIBUTING: one row for each folder, and one for each file that has survivors. */
import { dirname } from 'node:path';
import { isKnown, known, percent } from './scores.mjs';

/** @typedef {import('./groups.mjs').Target} Target */

/** @param {Target[]} targets */
export function toTable(targets) {
	const folders = [...new Set(targets.map(({ file }) => dirname(file)))].sort();
	const rows = folders.flatMap((folder) => {
		const inside = targets.filter(({ file }) => dirname(file) === folder);
		const alive = inside.filter((target) => (known(target)?.survived ?? 0) > 0);
		return [row(`\`${folder}\``, inside), ...alive.map((target) => row(`— \`${nameOf(target)}\``, [target]))];
	});
	return [
		'| Folder | Files | Changed since | Score | Killed | Timed out | Survived | Equivalent | Minutes |',
		'|---|---|---|---|---|---|---|---|---|',
		...rows,
		row('All', targets),
	].join('\n');
}

/** @param {Target} target */
function nameOf({ file, isStrict = false }) {
	return `${file.slice(dirname(file).length + 1)}${isStrict ? ' (no survivor allowed)' : ''}`;
}

/**
 * @param {string} name
 * @param {Target[]} targets
 */
function row(name, targets) {
	const scores = targets.flatMap((target) => known(target) ?? []);
	const sum = (/** @type {(score: import('./scores.mjs').Score) => number} */ figure) =>
		scores.reduce((total, score) => total + figure(score), 0);
	const changed = targets.filter((target) => known(target) !== undefined && !isKnown(target)).length;
	const measured = scores.length === targets.length ? `${targets.length}` : `${scores.length} of ${targets.length}`;
	const score = scores.length === 0 ? 'not measured' : `${percent(scores).toFixed(1)} %`;
	const figures = [sum(({ killed }) => killed), sum(({ late }) => late), sum(({ survived }) => survived)];
	const minutes = (sum(({ seconds }) => seconds) / 60).toFixed(1);
	return `| ${[name, measured, changed, score, ...figures, sum(({ named }) => named), minutes].join(' | ')} |`;
}
