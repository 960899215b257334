/** Compares what a lockfile asks for with what is on disk. */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {Record<string, { version?: string, optional?: boolean, devOptional?: boolean, extraneous?: boolean }>} Packages */

const stampName = '.installed-from-lockfile';

/** @param {string} file */
const packagesIn = (file) => /** @type {Packages} */ (JSON.parse(readFileSync(file, 'utf8')).packages ?? {});

/** @param {string} lockfile */
const hashOf = (lockfile) => createHash('sha256').update(readFileSync(lockfile)).digest('hex');

/**
 * Whether `folder/node_modules` is what the lockfile asks for. A stamp says so quickly. Without one (somebody ran npm
 * by hand) npm's own record is read, which npm writes last: an interrupted install has none.
 *
 * @param {string} folder
 * @param {string} lockfile
 * @param {{ byStampOnly?: boolean }} [options] for installs that end with a step that npm's record knows nothing about
 */
export function isInstalled(folder, lockfile, { byStampOnly = false } = {}) {
	const stamp = join(folder, 'node_modules', stampName);
	if (existsSync(stamp)) return readFileSync(stamp, 'utf8') === hashOf(lockfile);
	return !byStampOnly && matchesRecord(folder, lockfile);
}

/**
 * @param {string} folder
 * @param {string} lockfile
 */
export function markInstalled(folder, lockfile) {
	writeFileSync(join(folder, 'node_modules', stampName), hashOf(lockfile));
}

/**
 * @param {string} folder
 * @param {string} lockfile
 */
function matchesRecord(folder, lockfile) {
	const record = join(folder, 'node_modules', '.package-lock.json');
	if (!existsSync(record)) return false;
	const present = packagesIn(record);
	return Object.entries(packagesIn(lockfile)).every(
		([path, wanted]) =>
			path === '' ||
			wanted.extraneous ||
			present[path]?.version === wanted.version ||
			// left out by npm on the platforms that it is not made for
			((wanted.optional || wanted.devOptional) && present[path] === undefined),
	);
}

/**
 * For the progress line: how many of the lockfile's packages are on disk already.
 *
 * @param {string} folder
 * @param {string} lockfile
 */
export function packageCounter(folder, lockfile) {
	const paths = Object.entries(packagesIn(lockfile))
		.filter(([path, { optional, extraneous }]) => path && !optional && !extraneous)
		.map(([path]) => join(folder, path, 'package.json'));
	return () => {
		const count = paths.filter((path) => existsSync(path)).length;
		return count === 0 ? '' : `${count} of ${paths.length} packages`; // npm downloads for a while before it writes
	};
}
