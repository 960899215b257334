/** Starts other programs so that they can be stopped for certain: each in its own process group, stopped by id. */
import { appendFileSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { execa } from 'execa';
import { projectDir } from '../paths.mjs';
import { ToolError } from '../report/step.mjs';
import { atEnd, stopGroup } from './end.mjs';

const keeper = join(projectDir, 'tools', 'processes', 'keeper.cjs');
/** n8n closes its database and its task runner within about 5 s. What was only run to its end has nothing to close. */
const serverGraceMs = 8000;
const programGraceMs = 1000;

/** A group of its own: Ctrl-C in the terminal reaches only us, and we stop things in order. */
const ownGroup = { detached: true, cleanup: false, reject: false, cwd: projectDir };

/** @typedef {ReturnType<typeof startServer>} Server */

/**
 * Starts a program that runs until it is stopped; it also ends when this process is gone.
 *
 * @param {object} options
 * @param {string} options.name for messages, e.g. "n8n"
 * @param {string} [options.command] the Node that runs this if not given
 * @param {string[]} options.args
 * @param {string} options.logFile output is appended to it
 * @param {string} [options.cwd]
 * @param {NodeJS.ProcessEnv} [options.env] all of it
 * @param {NodeJS.Signals} [options.stopSignal] how it is asked to stop
 */
export function startServer({
	name,
	command = process.execPath,
	args,
	logFile,
	cwd = projectDir,
	env = process.env,
	stopSignal = 'SIGTERM',
}) {
	mkdirSync(dirname(logFile), { recursive: true });
	appendFileSync(logFile, '');
	const logStart = statSync(logFile).size;
	const what = JSON.stringify({ command, args, logFile, stopSignal, graceMs: serverGraceMs });
	const child = execa(process.execPath, [keeper, what], {
		...ownGroup,
		cwd,
		env,
		extendEnv: false,
		stdio: ['pipe', 'ignore', 'ignore'],
	});

	let running = true;
	const ended = child.then(({ exitCode, signal }) => {
		running = false;
		return signal ? `signal ${signal}` : `exit code ${exitCode}`;
	});
	/** Asks nicely, then kills it and all that it started. */
	const stop = () => stopGroup(child, ended, serverGraceMs);
	const forget = atEnd(stop);
	void ended.then(stop).then(forget); // one that ended by itself may have left children as well

	/** The end of what it has written to its log since it was started. */
	const lastLines = (/** @type {number} */ lines) =>
		readFileSync(logFile).subarray(logStart).toString().trimEnd().split('\n').slice(-lines).join('\n');
	/** The same for people: no stack traces, which say nothing about this project. */
	const lastWords = () =>
		lastLines(200)
			.split('\n')
			.filter((line) => !/^\s+at /.test(line))
			.slice(-25)
			.join('\n');
	/** `pid` is that of its process group; `ended` says how it ended, e.g. "exit code 1". */
	return { name, pid: Number(child.pid), ended, isRunning: () => running, lastLines, lastWords, stop };
}

/**
 * Waits until a server answers.
 *
 * @param {Server} server
 * @param {() => Promise<unknown>} ask succeeds when it does
 * @param {number} [withinMs]
 */
export async function untilAnswers(server, ask, withinMs = 30_000) {
	const deadline = Date.now() + withinMs;
	let reason = '';
	while (server.isRunning() && Date.now() < deadline) {
		try {
			return void (await ask());
		} catch (error) {
			reason = error instanceof Error ? String(error.cause ?? error) : String(error);
		}
		await pause(100);
	}
	const how = server.isRunning()
		? `was not ready within ${withinMs / 1000} s (${reason})`
		: `ended (${await server.ended})`;
	throw new ToolError(`${server.name} ${how}. The end of its log:\n\n${server.lastWords()}`);
}

/**
 * For `untilAnswers`.
 *
 * @param {string} url
 * @param {Record<string, string>} [headers]
 */
export async function askFor(url, headers) {
	const response = await fetch(url, { headers, signal: AbortSignal.timeout(2000) });
	await response.arrayBuffer();
	if (!response.ok) throw new Error(`HTTP ${response.status}`);
}

/**
 * Runs a program to its end: one of the project's devDependencies by its name, or any other.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, extendEnv?: boolean, show?: boolean, timeout?: number }} [options] `env` is added to our
 *   own unless `extendEnv` is false; `show` passes the output on to the terminal instead of keeping it
 */
export async function attempt(command, args, { show = false, ...options } = {}) {
	const output = show ? 'inherit' : 'pipe';
	const child = execa(command, args, {
		...ownGroup,
		...options,
		preferLocal: true,
		localDir: projectDir,
		all: true,
		stdio: ['ignore', output, output],
	});
	const forget = atEnd(() => stopGroup(child, child, programGraceMs));
	const { exitCode = 1, stdout = '', all = '', originalMessage = '' } = await child;
	forget();
	return { exitCode, stdout, output: all || originalMessage };
}

/**
 * The same for one that has to succeed.
 *
 * @param {Parameters<typeof attempt>} call
 * @returns {Promise<string>} what it wrote to stdout
 */
export async function run(...call) {
	const { exitCode, stdout, output } = await attempt(...call);
	if (exitCode === 0) return stdout;
	throw new ToolError(
		`"${[basename(call[0]), ...call[1]].join(' ')}" ended with exit code ${exitCode}:\n${output.trim()}`,
	);
}
