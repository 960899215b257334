/** Puts the package into an n8n as a community package: built, packed and unpacked, never linked to the sources. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { communityPackageDir } from '../n8n/launch.mjs';
import { manifest } from '../paths.mjs';
import { buildPackage, fingerprint } from './build.mjs';
import { packPackage, unpackPackage } from './pack.mjs';

/**
 * @param {string} userFolder of the n8n
 * @returns {Promise<'installed' | 'unchanged'>}
 */
export async function providePackage(userFolder) {
	await buildPackage();
	const folder = communityPackageDir(userFolder, manifest.name);
	const stamp = join(userFolder, '.n8n', 'nodes', `${manifest.name}.fingerprint`);
	const wanted = fingerprint();
	if (existsSync(folder) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return 'unchanged';
	mkdirSync(dirname(stamp), { recursive: true });
	// A folder of its own: test files run at the same time.
	const packed = mkdtempSync(join(userFolder, 'packed-'));
	const { tarball } = await packPackage(packed);
	await unpackPackage(tarball, folder);
	rmSync(packed, { recursive: true });
	writeFileSync(stamp, wanted);
	return 'installed';
}
