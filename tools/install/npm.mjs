/** Runs npm, and says in plain words why it could not do its work. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ToolError } from '../report/step.mjs';
import { run } from '../processes/child.mjs';

/** How npm tells that the registry could not be reached; the usual reason is a missing network. */
const offlineCodes = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ERR_SOCKET_TIMEOUT|ENOTCACHED)\b/;

/** npm's own patience is more than a minute without a word; this is about 20 s. */
const patience = ['--fetch-retries=3', '--fetch-retry-mintimeout=2000', '--fetch-retry-maxtimeout=10000'];
const quiet = ['--no-audit', '--no-fund', '--no-update-notifier'];

/**
 * @param {string[]} args
 * @param {{ cwd: string, doing: string }} options `doing` is for the message, e.g. "install n8n 2.41.0"
 */
export async function npm(args, { cwd, doing }) {
	const done = await runNpm(args, { cwd });
	if (done.exitCode === 0) return done.stdout;

	const output = `${done.stderr}${done.stdout}`;
	if (/ENOENT/.test(output) && /spawn npm/.test(output)) {
		throw new ToolError(`Could not ${doing}: there is no npm on this machine.`, 'It comes with Node: https://nodejs.org');
	}
	const offline = offlineCodes.exec(output);
	if (offline) {
		throw new ToolError(
			`Could not ${doing}: the npm registry cannot be reached (${offline[0]}).`,
			'Check the network, and if there is one, the registry and proxy settings of npm (npm config list). Then run the same command again: what is complete is kept.',
		);
	}
	throw new ToolError(`Could not ${doing}. npm says:\n${lastLines(done)}`);
}

/**
 * @param {string[]} args
 * @param {{ cwd: string }} options
 */
export const runNpm = (args, { cwd }) => run('npm', [...args, ...quiet, ...patience], { cwd, env: withoutNpmSettings() });

/** @param {{ stdout: string, stderr: string }} done */
export function lastLines({ stdout, stderr }) {
	const lines = `${stderr}${stdout}`.trim().split('\n');
	return lines.filter((line) => !/npm warn/i.test(line)).slice(-25).join('\n');
}

/**
 * `npm start` hands its own settings on to what it starts, `ignore-scripts` of this project's .npmrc among them.
 * An npm of another folder must read its own instead. Settings that lead to the registry come from the user's files and stay.
 */
function withoutNpmSettings() {
	const ours = /^npm_(package_|lifecycle_|config_(ignore_scripts|legacy_peer_deps|local_prefix|prefix|json|dry_run)$)/;
	return { ...nodeHeaders(), ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !ours.test(name))) };
}

/** Native parts are built with the headers that came with Node; without this npm would fetch them from the internet. */
function nodeHeaders() {
	const nodeDir = resolve(dirname(process.execPath), '..');
	return existsSync(join(nodeDir, 'include', 'node', 'node.h')) ? { npm_config_nodedir: nodeDir } : {};
}
