/** Installs lockfiles with npm. It works on a bare machine: with nothing but Node, and says what could not be done and why. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
	copyFileSync,
	cpSync,
	existsSync,
	linkSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { atEnd, stopGroup } from '../processes/end.mjs';
import { step, ToolError } from '../report/step.mjs';

/** The codes by which npm tells that the registry could not be reached; usually there is no network. */
const offlineCodes =
	/\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|ENOTCACHED)\b/;
/** npm's own patience is more than a minute without a word; this is about 20 s. */
const patience = ['--fetch-retries=3', '--fetch-retry-mintimeout=2000', '--fetch-retry-maxtimeout=10000'];
const quiet = ['--no-audit', '--no-fund', '--no-update-notifier'];
/** Beside the packages: which lockfile they were installed from. */
const STAMP = '.installed-from-lockfile';

/** @type {Map<string, Promise<void>>} By folder: whoever else wants the same waits for it. */
const installations = new Map();

/**
 * Installs what a lockfile asks for, unless exactly that has been done before.
 *
 * @param {Installation} installation
 */
export function installLockfile(installation) {
	const folder = installation.to ?? installation.from;
	const installed = installations.get(folder) ?? install(installation);
	installations.set(folder, installed);
	return installed;
}

/**
 * @typedef {object} Installation
 * @property {string} title e.g. "Installing n8n 2.41.0 (2 to 8 minutes, 2.2 GB)"
 * @property {string} from the folder of the lockfile
 * @property {string} [to] where node_modules is to be, if that is another one
 * @property {string} [like] a node_modules with most of the packages: npm then fetches only the others
 * @property {() => Promise<unknown>} [afterwards] belongs to it
 */

/** @param {Installation} installation */
async function install({ title, from, to = from, like, afterwards }) {
	const wanted = createHash('sha256')
		.update(readFileSync(join(from, 'package-lock.json')))
		.digest('hex');
	const modules = join(to, 'node_modules');
	const stamp = join(modules, STAMP); // npm ci removes it with the rest
	if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
	if (to !== from) cpSync(from, to, { recursive: true });
	await step(title, async () => {
		if (like) {
			rmSync(modules, { recursive: true, force: true });
			linkModules(like, modules);
		}
		await npm([like ? 'install' : 'ci', '--ignore-scripts'], to);
	});
	await afterwards?.();
	writeFileSync(stamp, wanted);
}

/**
 * Copies a node_modules at almost no cost: its files are hard links. npm replaces packages and never writes into their
 * files, so the other folder keeps its own. What npm and the stamp note beside the packages is written again, so that is copied.
 *
 * @param {string} from
 * @param {string} to
 */
function linkModules(from, to) {
	mkdirSync(to, { recursive: true });
	for (const entry of readdirSync(from, { withFileTypes: true })) {
		const [source, target] = [join(from, entry.name), join(to, entry.name)];
		if (entry.isDirectory()) linkModules(source, target);
		else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
		else if (['.package-lock.json', STAMP].includes(entry.name)) copyFileSync(source, target);
		else linkSync(source, target);
	}
}

/**
 * @param {string[]} args
 * @param {string} cwd
 */
export async function npm(args, cwd) {
	const child = spawn('npm', [...args, ...quiet, ...patience], {
		cwd,
		env: environment(),
		detached: true,
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	const ended = new Promise((end) => child.once('error', end).once('exit', end));
	const forget = atEnd(() => stopGroup(child, ended, 1000));
	const [, ...outputs] = await Promise.all([ended, text(child.stderr), text(child.stdout)]);
	forget();
	if (child.exitCode === 0) return;

	const lines = outputs
		.join('')
		.trim()
		.split('\n')
		.filter((line) => !/npm warn/i.test(line));
	const [offline] = offlineCodes.exec(lines.join('\n')) ?? [];
	if (!offline)
		throw new ToolError(`"npm ${args.join(' ')}" in ${cwd} failed. npm says:\n${lines.slice(-25).join('\n')}`);
	throw new ToolError(
		`The npm registry cannot be reached (${offline}).`,
		'Check the network, and if there is one, the registry and proxy settings of npm (npm config list). Then run the same command again: what is complete is kept.',
	);
}

/**
 * `npm start` hands its own settings on to what it starts, `ignore-scripts` of this project's .npmrc among them.
 * An npm of another folder must read its own instead. Settings that lead to the registry come from the user's files and stay.
 */
function environment() {
	const ours = /^npm_(package_|lifecycle_|config_(ignore_scripts|legacy_peer_deps|local_prefix|prefix|json|dry_run)$)/;
	const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name)));
	// Native parts are built on all cores, with the headers that came with Node; without them npm would fetch them from the internet.
	const nodeDir = resolve(dirname(process.execPath), '..');
	return {
		JOBS: 'max',
		...(existsSync(join(nodeDir, 'include', 'node', 'node.h')) ? { npm_config_nodedir: nodeDir } : {}),
		...env,
	};
}
