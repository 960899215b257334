/** Installs a real n8n, with the Node it needs. */
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { devDir, lockfilesDir } from '../paths.mjs';
import { step, ToolError } from '../report/step.mjs';
import { ensureDebianPackages, findProgram } from './debian.mjs';
import { installLockfile, npm } from './npm.mjs';

/** The versions with a lockfile, oldest first: what it takes to install them, and the oldest Node that runs them. */
const versions = {
	'1.123.0': { takes: 'a minute or more, 1.1 GB', oldestNode: [20, 19] },
	'2.0.0': { takes: 'seconds, 0.2 GB beside 1.123.0', oldestNode: [20, 19] },
	'2.41.0': { takes: 'a minute or more, 2 GB', oldestNode: [24, 0] },
};
/** n8n's prebuilt native parts are made for no newer one. */
const newestNode = 24;

/** @typedef {keyof typeof versions} N8nVersion */

export const n8nVersions = /** @type {N8nVersion[]} */ (Object.keys(versions));

/** The n8n version of `npm start`, and of all tests that do not ask for another one. */
export const n8nVersion = '2.41.0';

/** @typedef {{ version: N8nVersion, node: string, modules: string, bin: string }} N8nRuntime */

/**
 * @param {N8nVersion} version
 * @returns {Promise<N8nRuntime>}
 */
export async function installN8n(version = n8nVersion) {
	const { takes, oldestNode } = versions[version];
	const node = await installNode(oldestNode);
	const name = `n8n-${version}`;
	const folder = join(devDir, name);
	const from = join(lockfilesDir, name);
	// One version after the other takes what the one before has made, and each keeps the processor busy.
	await oneInstalled(() => installLockfile({ title: `Installing n8n ${version} (${takes})`, from, to: folder }));
	await oneBuilt(() => buildSqlite(folder));
	const modules = join(folder, 'node_modules');
	/** The Node binary to run it with, the node_modules that it is in, and its own start file. */
	return { version, node, modules, bin: join(modules, 'n8n', 'bin', 'n8n') };
}

const [oneInstalled, oneBuilt] = [pLimit(1), pLimit(1)];

/**
 * The Node that runs this, when n8n can use it; else Node 24, from npm.
 * @param {number[]} oldest major and minor version that n8n asks for
 */
async function installNode([oldestMajor, oldestMinor]) {
	const [major, minor] = process.versions.node.split('.').map(Number);
	const isNewEnough = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
	if (isNewEnough && major <= newestNode) return process.execPath;
	const folder = join(devDir, 'node-24');
	await installLockfile({
		title: 'Installing Node 24 for n8n (190 MB)',
		from: join(lockfilesDir, 'node-24'),
		to: folder,
	});
	const binary = join(folder, 'node_modules', '.bin', 'node');
	if (existsSync(binary)) return binary;
	throw new ToolError(
		`npm could not provide Node 24 for this machine (${process.platform} ${process.arch}).`,
		'Delete .n8n-dev/node-24 and try again, or install Node 24 from https://nodejs.org and run the command with it.',
	);
}

/**
 * The only one of n8n's native parts that has to be made on the machine: its install script downloads it where it is
 * offered ready-made (from GitHub, which not every network reaches), and compiles it otherwise. What has been made once
 * is kept for the other versions of n8n; it uses Node-API, which is the same for every Node.
 *
 * @param {string} folder that n8n is in
 */
async function buildSqlite(folder) {
	const dependency = join(folder, 'node_modules', 'sqlite3');
	const { version } = JSON.parse(readFileSync(join(dependency, 'package.json'), 'utf8'));
	const built = join(dependency, 'build', 'Release', 'node_sqlite3.node');
	if (existsSync(built)) return;
	const kept = join(devDir, `sqlite3-${version}.node`);
	if (existsSync(kept)) return cpSync(kept, built);

	const build = () =>
		step('Building sqlite3 for this machine (about a minute)', () =>
			npm(['rebuild', 'sqlite3', '--ignore-scripts=false'], folder),
		);
	const compilers = {
		python3: () => findProgram(['python3', 'python']),
		make: () => findProgram(['make']),
		'g++': () => findProgram(['g++', 'c++', 'clang++']),
	};
	try {
		await build();
	} catch (error) {
		if (Object.values(compilers).every((find) => find())) throw error;
		await ensureDebianPackages('sqlite3 could not be downloaded prebuilt, and building it', compilers);
		await build();
	}
	cpSync(built, kept);
}
