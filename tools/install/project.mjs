/** Installs the project's own devDependencies. */
import { join } from 'node:path';
import { projectDir } from '../paths.mjs';
import { step } from '../report/step.mjs';
import { isInstalled, markInstalled, packageCounter } from './lockfile.mjs';
import { npm } from './npm.mjs';

export async function installProject() {
	const lockfile = join(projectDir, 'package-lock.json');
	if (isInstalled(projectDir, lockfile)) {
		markInstalled(projectDir, lockfile);
		return;
	}
	await step('Installing the project’s tools (about a minute)', async ({ detail }) => {
		detail(packageCounter(projectDir, lockfile));
		await npm(['ci', '--ignore-scripts'], {
			cwd: projectDir,
			doing: 'install the project’s tools',
		});
		markInstalled(projectDir, lockfile);
	});
}
