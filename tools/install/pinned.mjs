/** Installs a committed lockfile of tools/lockfiles into a folder of its own, apart from the project. */
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { devDir, lockfilesDir } from '../paths.mjs';
import { step } from '../report/step.mjs';
import { isInstalled, markInstalled, packageCounter } from './lockfile.mjs';
import { buildNative } from './native.mjs';
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
	for (const dependency of rebuild) await buildNative(folder, dependency);
	markInstalled(folder, lockfile);
	return folder;
}
