/** Starts other programs so that they can be stopped for certain: each in its own process group, stopped by id. */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ToolError } from '../report/step.mjs';
import { projectDir } from '../paths.mjs';
import { atEnd } from './cleanup.mjs';

/** n8n closes its database and its task runner within about 5 s. What was only run to its end has nothing to close. */
const serverGraceMs = 8000;
const programGraceMs = 1000;

/**
 * @typedef {object} Server
 * @property {string} name
 * @property {number} pid
 * @property {Promise<string>} ended how it ended, e.g. "exit code 1"
 * @property {() => boolean} isRunning
 * @property {(lines: number) => string} lastLines the end of what it wrote to its log since it was started
 * @property {() => Promise<void>} stop asks nicely, then kills it and all that it started
 */

/**
 * Starts a Node program that runs until it is stopped; it also ends when this process is gone.
 *
 * @param {object} options
 * @param {string} options.name for messages, e.g. "n8n"
 * @param {string} [options.node] the Node binary; the one that runs this if not given
 * @param {string[]} options.args
 * @param {string} options.logFile output is appended to it
 * @param {string} [options.cwd]
 * @param {NodeJS.ProcessEnv} [options.env]
 * @returns {Server}
 */
export function startServer({ name, node = process.execPath, args, logFile, cwd = projectDir, env = process.env }) {
	mkdirSync(dirname(logFile), { recursive: true });
	const log = openSync(logFile, 'a');
	const logStart = statSync(logFile).size;
	const preload = join(projectDir, 'tools', 'processes', 'stopWithParent.cjs');
	const child = spawn(node, ['--require', preload, ...args], {
		cwd,
		env,
		detached: true, // a group of its own: Ctrl-C in the terminal reaches only us, and we stop things in order
		stdio: ['ignore', log, log, 'ipc'],
	});
	closeSync(log);
	child.channel?.unref();

	const ended = endOf(child);
	const stop = () => stopGroup(child, ended, serverGraceMs);
	const forget = atEnd(stop);
	void ended.then(stop).then(forget); // one that ended by itself may have left children as well

	return {
		name,
		pid: child.pid ?? -1,
		ended,
		isRunning: () => isRunning(child),
		lastLines: (lines) =>
			readFileSync(logFile).subarray(logStart).toString().trimEnd().split('\n').slice(-lines).join('\n'),
		stop,
	};
}

/**
 * Runs a program to its end.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, show?: boolean, user?: import('./user.mjs').User }} [options]
 *   `show` passes its output on to the terminal; `user` is who it runs as, for root only
 * @returns {Promise<{ exitCode: number, stdout: string, stderr: string }>}
 */
export async function run(command, args, { cwd = projectDir, env = process.env, show = false, user } = {}) {
	const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'], ...user });
	let stdout = '';
	let stderr = '';
	child.stdout.setEncoding('utf8').on('data', (text) => {
		stdout += text;
		if (show) process.stdout.write(text);
	});
	child.stderr.setEncoding('utf8').on('data', (text) => {
		stderr += text;
		if (show) process.stderr.write(text);
	});

	child.once('error', (error) => (stderr += error.message)); // there is no such program

	const ended = endOf(child);
	const closed = new Promise((resolve) => child.once('close', resolve));
	const forget = atEnd(() => stopGroup(child, ended, programGraceMs));
	await Promise.all([ended, closed]);
	forget();
	return { exitCode: child.exitCode ?? 1, stdout, stderr };
}

/**
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<string>}
 */
function endOf(child) {
	return new Promise((resolve) => {
		child.once('error', (error) => resolve(error.message));
		child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
	});
}

/** @param {import('node:child_process').ChildProcess} child */
const isRunning = ({ pid, exitCode, signalCode }) => pid !== undefined && exitCode === null && signalCode === null;

/**
 * @param {import('node:child_process').ChildProcess} child
 * @param {Promise<unknown>} ended
 * @param {number} graceMs
 */
async function stopGroup(child, ended, graceMs) {
	if (child.pid === undefined) return;
	if (isRunning(child)) {
		child.kill('SIGTERM'); // only the program itself: it ends its own children in its own order
		await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, graceMs))]);
	}
	// Whatever is left of the group, for example a task runner whose n8n ended without waiting for it.
	try {
		process.kill(-child.pid, 'SIGKILL');
	} catch {
		return; // nothing was left
	}
	await ended;
}

/**
 * Throws when a program that had to succeed did not.
 *
 * @param {string} what e.g. "The build"
 * @param {{ exitCode: number, stdout: string, stderr: string }} result
 */
export function requireSuccess(what, { exitCode, stdout, stderr }) {
	if (exitCode === 0) return;
	throw new ToolError(`${what} ended with exit code ${exitCode}:\n${`${stdout}${stderr}`.trim()}`);
}
