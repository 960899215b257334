/** Installs a committed lockfile of tools/lockfiles into a folder of its own, apart from the project. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { devDir, lockfilesDir } from '../paths.mjs';
import { step } from '../report/step.mjs';
import { isInstalled, markInstalled, packageCounter } from './lockfile.mjs';
import { npm } from './npm.mjs';

/**
 * @param {object} options
 * @param {string} options.name a folder of tools/lockfiles, and of .n8n-dev
 * @param {string} options.title e.g. "Installing n8n 2.41.0 (about 2 minutes, 2.2 GB)"
 * @param {string[]} [options.rebuild] packages whose install script must run; those of all others are skipped
 * @returns {Promise<string>} the folder
 */
export async function installPinned({ name, title, rebuild = [] }) {
	const folder = join(devDir, name);
	const source = join(lockfilesDir, name);
	const lockfile = join(source, 'package-lock.json');
	if (isInstalled(folder, lockfile, { byStampOnly: rebuild.length > 0 })) return folder;

	const doing = `install ${name}`;
	mkdirSync(folder, { recursive: true });
	if (!isInstalled(folder, lockfile)) {
		await step(title, async ({ detail }) => {
			cpSync(source, folder, { recursive: true }); // the .npmrc that some have as well
			detail(packageCounter(folder, lockfile));
			await npm(['ci', '--ignore-scripts'], { cwd: folder, doing });
		});
	}
	for (const dependency of rebuild) {
		if (reuseBuilt(folder, dependency)) continue;
		await step(`Building ${dependency} for this machine (about a minute)`, async () => {
			await npm(['rebuild', dependency, '--ignore-scripts=false'], { cwd: folder, doing: `build ${dependency}` });
		});
	}
	markInstalled(folder, lockfile);
	return folder;
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
