/**
 * Installs what a lockfile asks for: with npm, or with pnpm where it is one of pnpm's. It works on a bare machine, with
 * nothing but Node (pnpm is one of the project's tools), and says what could not be done and why.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { devDir } from '../paths.mjs';
import { atEnd, stopGroup } from '../processes/end.mjs';
import { step, ToolError } from '../report/step.mjs';

/** The codes by which npm tells that the registry could not be reached; usually there is no network. */
const offlineCodes =
	/\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|ENOTCACHED)\b/;
/** Their own patience is more than a minute without a word; this is about 20 s. */
const patience = ['--fetch-retries=3', '--fetch-retry-mintimeout=2000', '--fetch-retry-maxtimeout=10000'];
/**
 * A package manager may wait for a registry that has fallen silent, for ever. It is started again after this time: what has been
 * fetched until then is kept.
 */
const ATTEMPT_WITHIN_MS = 15 * 60_000;
const ATTEMPTS = 4;
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
 * @property {string} title e.g. "Installing n8n 2.41.0 (a minute or more, 2 GB)"
 * @property {string} from the folder of the lockfile
 * @property {string} [to] where node_modules is to be, if that is another one
 */

/** @param {Installation} installation */
async function install({ title, from, to = from }) {
	const isOfPnpm = existsSync(join(from, 'pnpm-lock.yaml'));
	const lockfile = join(from, isOfPnpm ? 'pnpm-lock.yaml' : 'package-lock.json');
	const wanted = createHash('sha256').update(readFileSync(lockfile)).digest('hex');
	const stamp = join(to, 'node_modules', STAMP);
	if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
	rmSync(stamp, { force: true });
	if (to !== from) cpSync(from, to, { recursive: true });
	await step(title, () => (isOfPnpm ? pnpm(to) : npm(['ci', '--ignore-scripts'], to)));
	writeFileSync(stamp, wanted);
}

/**
 * @param {string[]} args
 * @param {string} cwd
 */
export async function npm(args, cwd) {
	await runManager(['npm'], [...args, '--no-audit', '--no-fund', '--no-update-notifier'], cwd);
}

/**
 * A third of npm's processor time for a whole n8n, and what several versions have in common is fetched once. It lays the
 * packages out as npm does, and adds no packages that npm would not.
 *
 * @param {string} cwd
 */
async function pnpm(cwd) {
	const asNpm = ['--config.node-linker=hoisted', '--config.auto-install-peers=false', '--ignore-workspace'];
	const settings = ['--config.confirm-modules-purge=false', `--store-dir=${join(devDir, 'pnpm-store')}`];
	const program = join(dirname(fileURLToPath(import.meta.resolve('pnpm'))), 'bin', 'pnpm.cjs');
	const args = ['install', '--frozen-lockfile', '--ignore-scripts', ...asNpm, ...settings];
	await runManager([process.execPath, program], args, cwd);
}

/**
 * @param {string[]} command
 * @param {string[]} args
 * @param {string} cwd
 */
async function runManager(command, args, cwd) {
	for (let attempt = 0; attempt < ATTEMPTS; attempt++) if (await hasEnded(command, args, cwd)) return;
	throw new ToolError(
		`The npm registry has not delivered within ${(ATTEMPTS * ATTEMPT_WITHIN_MS) / 60_000} minutes.`,
		'Check the network, then run the same command again: what is complete is kept.',
	);
}

/**
 * Runs it once. False where it was stopped because it took too long.
 *
 * @param {string[]} command
 * @param {string[]} args
 * @param {string} cwd
 */
async function hasEnded([program, ...file], args, cwd) {
	const child = spawn(program, [...file, ...args, ...patience], {
		cwd,
		env: environment(),
		detached: true,
		stdio: ['ignore', 'pipe', 'pipe'],
	});
	const ended = new Promise((end) => child.once('error', end).once('exit', end));
	const stop = () => stopGroup(child, ended, 1000);
	const forget = atEnd(stop);
	let isLate = false;
	const late = setTimeout(() => void ((isLate = true), stop()), ATTEMPT_WITHIN_MS);
	const [, ...outputs] = await Promise.all([ended, text(child.stderr), text(child.stdout)]);
	clearTimeout(late);
	forget();
	if (child.exitCode === 0) return true;
	if (isLate) return false;

	const lines = outputs
		.join('')
		.trim()
		.split('\n')
		.filter((line) => !/npm warn|^ ?WARN |^Progress: /i.test(line));
	const [offline] = offlineCodes.exec(lines.join('\n')) ?? [];
	if (!offline)
		throw new ToolError(
			`"${basename(file.at(-1) ?? program)} ${args.join(' ')}" in ${cwd} failed. It says:\n${lines.slice(-25).join('\n')}`,
		);
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
