/** Builds the native parts of npm packages for this machine. */
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { devDir, lockfilesDir } from '../paths.mjs';
import { findProgram } from '../processes/findProgram.mjs';
import { step, ToolError } from '../report/step.mjs';
import { ensureDebianPackages } from './debian.mjs';
import { isInstalled } from './lockfile.mjs';
import { lastLines, runNpm } from './npm.mjs';

const compilers = ['c++', 'g++', 'clang++'];

/**
 * Runs the install script of a package. It downloads the native part where it is offered ready-made (from GitHub, which
 * not every network reaches), and compiles it otherwise; the compiler is installed only when it is needed for that.
 *
 * @param {string} folder that holds node_modules
 * @param {string} dependency e.g. "sqlite3"
 */
export async function buildNative(folder, dependency) {
	if (reuseBuilt(folder, dependency)) return;
	try {
		await rebuild(folder, dependency);
	} catch (error) {
		if (hasCompiler()) throw error;
		const purpose = `${dependency} could not be downloaded ready-made, and building it`;
		await ensureDebianPackages(purpose, { names: ['python3', 'make', 'g++'], isThere: hasCompiler });
		await rebuild(folder, dependency);
	}
}

/**
 * @param {string} folder
 * @param {string} dependency
 */
async function rebuild(folder, dependency) {
	await step(`Building ${dependency} for this machine (about a minute)`, async () => {
		const done = await runNpm(['rebuild', dependency, '--ignore-scripts=false'], { cwd: folder });
		if (done.exitCode === 0) return;
		throw new ToolError(
			`Could not build ${dependency}. npm says:\n${lastLines(done)}`,
			'It is downloaded from github.com, or compiled with the headers of Node: see https://github.com/nodejs/node-gyp#installation',
		);
	});
}

/** node-gyp finds a Python that is called python3 or python. */
function hasCompiler() {
	const hasAny = (/** @type {string[]} */ names) => findProgram(names) !== undefined;
	return hasAny(['python3', 'python']) && hasAny(['make']) && hasAny(compilers);
}

/**
 * Takes a native part over from another folder where it has been built already, in the same version. It fits: what is
 * built here uses Node-API, which is the same for every Node.
 *
 * @param {string} folder
 * @param {string} dependency
 * @returns {boolean} whether there was one
 */
function reuseBuilt(folder, dependency) {
	const own = join(folder, 'node_modules', dependency);
	const versionOf = (/** @type {string} */ path) => JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')).version;
	const donor = readdirSync(devDir)
		.filter((name) => existsSync(join(lockfilesDir, name)))
		.filter((name) => isInstalled(join(devDir, name), join(lockfilesDir, name, 'package-lock.json'), { byStampOnly: true }))
		.map((name) => join(devDir, name, 'node_modules', dependency))
		.find((other) => existsSync(join(other, 'build')) && versionOf(other) === versionOf(own));
	if (donor === undefined) return false;
	cpSync(join(donor, 'build'), join(own, 'build'), { recursive: true });
	return true;
}
