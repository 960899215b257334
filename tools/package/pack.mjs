/** Packs the package as npm would publish it, and puts it where it is to be used: packed and unpacked, never linked to the sources. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { devDir, manifest } from '../paths.mjs';
import { run } from '../processes/child.mjs';
import { buildPackage } from './build.mjs';

const UNFINISHED = 'unfinished-';

/**
 * Builds the package if it has to be.
 * @param {string} [folder] for the tarball; without one the package is only looked at
 */
export async function packPackage(folder) {
	await buildPackage();
	const destination = folder ? ['--pack-destination', folder] : ['--dry-run'];
	// A list of packages in npm up to 11, an object by package name after that.
	const answer = JSON.parse(await run('npm', ['pack', '--json', '--ignore-scripts', ...destination]));
	const [{ filename, files }] = /** @type {Array<{ filename: string, files: Array<{ path: string }> }>} */ (
		Object.values(answer)
	);
	return { filename, files: files.map(({ path }) => path) };
}

/** @param {string} folder that holds the package's files afterwards, and nothing else */
export async function unpackPackage(folder) {
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	const { filename } = await packPackage(folder);
	await run('tar', ['-xzf', filename, '--strip-components=1'], { cwd: folder });
	rmSync(join(folder, filename));
}

/**
 * Packs the package once for all n8n that get a copy, and unpacks it.
 *
 * @returns {Promise<string>} its folder
 */
export async function publishedPackage() {
	const all = join(devDir, 'published');
	const name = await buildPackage();
	const folder = join(all, name);
	if (existsSync(folder)) return folder;
	mkdirSync(all, { recursive: true });
	const earlier = readdirSync(all).filter((each) => !each.startsWith(UNFINISHED));
	const unfinished = mkdtempSync(join(all, UNFINISHED));
	await unpackPackage(unfinished);
	// Two suites may begin at the same moment.
	if (existsSync(folder)) earlier.push(basename(unfinished));
	else renameSync(unfinished, folder);
	for (const each of earlier) rmSync(join(all, each), { recursive: true, force: true });
	return folder;
}

/**
 * Makes it a community package of an n8n.
 * @param {string} userFolder of the n8n
 */
export async function providePackage(userFolder) {
	const folder = join(userFolder, '.n8n', 'nodes', 'node_modules', manifest.name);
	rmSync(folder, { recursive: true, force: true });
	cpSync(await publishedPackage(), folder, { recursive: true });
}
