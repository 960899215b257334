/** Packs the built package as npm would publish it, and unpacks it where it is to be used. */
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { devDir, projectDir } from '../paths.mjs';
import { requireSuccess, run } from '../processes/child.mjs';

/**
 * @typedef {object} Packed
 * @property {string} tarball
 * @property {number} bytes of the tarball
 * @property {string[]} files in the tarball, relative to the package
 */

/**
 * @param {string} [folder] of the tarball; what is in it is removed
 * @returns {Promise<Packed>}
 */
export async function packPackage(folder = join(devDir, 'packed')) {
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	const result = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], { cwd: projectDir });
	requireSuccess('npm pack', result);
	// A list of packages in npm up to 11, an object by package name after that.
	const [packed] = /** @type {any[]} */ (Object.values(JSON.parse(result.stdout)));
	return {
		tarball: join(folder, packed.filename),
		bytes: packed.size,
		files: packed.files.map((/** @type {{ path: string }} */ file) => file.path),
	};
}

/**
 * Replaces the folder's content with the package's.
 *
 * @param {string} tarball
 * @param {string} folder
 */
export async function unpackPackage(tarball, folder) {
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	requireSuccess('Unpacking the package', await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', folder], { cwd: dirname(tarball) }));
}
