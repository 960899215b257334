/** Builds the package, unless what is in dist is what the present sources give. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { devDir, projectDir } from '../paths.mjs';
import { run } from '../processes/child.mjs';

/** All that the build reads; the lockfile stands for the compiler and svgo. */
const sources = [
	'core',
	'credentials',
	'icons',
	'nodes',
	'gulpfile.js',
	'LICENSE',
	'package.json',
	'package-lock.json',
	'README.md',
	'tsconfig.json',
];
const stamp = join(devDir, 'built-from');

/** @returns {Promise<string>} the fingerprint of what is in dist now */
export async function buildPackage() {
	const present = fingerprint();
	if (existsSync(stamp) && readFileSync(stamp, 'utf8') === present) return present;
	await run('npm', ['run', 'build']);
	const built = fingerprint();
	mkdirSync(devDir, { recursive: true });
	writeFileSync(stamp, built);
	return built;
}

/** Of the sources and of what was made from them: a dist that somebody else built is not trusted. */
function fingerprint() {
	const hash = createHash('sha256');
	for (const file of [...sources, 'dist'].flatMap((path) => filesIn(join(projectDir, path)))) {
		hash
			.update(`${relative(projectDir, file)}\0`)
			.update(readFileSync(file))
			.update('\0');
	}
	return hash.digest('hex');
}

/**
 * @param {string} path a file, a folder, or nothing
 * @returns {string[]} sorted
 */
export function filesIn(path) {
	if (!existsSync(path)) return [];
	if (!statSync(path).isDirectory()) return [path];
	return readdirSync(path, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => join(entry.parentPath ?? entry.path, entry.name))
		.sort();
}
