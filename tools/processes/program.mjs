/** Starts servers that are not Node programs. */
import { connect } from 'node:net';
import { join } from 'node:path';
import { projectDir } from '../paths.mjs';
import { ToolError } from '../report/step.mjs';
import { startServer } from './child.mjs';

const keeper = join(projectDir, 'tools', 'processes', 'keeper.cjs');
const pollEveryMs = 100;

/**
 * @param {object} options
 * @param {string} options.name for messages, e.g. "Redis"
 * @param {string} options.command
 * @param {string[]} options.args
 * @param {string} options.logFile
 * @param {NodeJS.Signals} [options.stopSignal] how it is asked to stop
 * @param {import('./user.mjs').User} [options.user] who it runs as, for root only
 */
export function startProgram({ name, command, args, logFile, stopSignal = 'SIGTERM', user }) {
	return startServer({ name, args: [keeper, JSON.stringify({ command, args, stopSignal, ...user })], logFile });
}

/**
 * Waits until a server on this machine takes connections.
 *
 * @param {import('./child.mjs').Server} server
 * @param {number} port
 * @param {number} [timeoutMs]
 */
export async function untilListening(server, port, timeoutMs = 30_000) {
	const deadline = Date.now() + timeoutMs;
	while (server.isRunning() && Date.now() < deadline) {
		if (await accepts(port)) return;
		await new Promise((resolve) => setTimeout(resolve, pollEveryMs));
	}
	const how = server.isRunning() ? `was not ready within ${timeoutMs / 1000} s` : `ended (${await server.ended})`;
	throw new ToolError(`${server.name} ${how}. The end of its log:\n\n${server.lastLines(25)}`);
}

/**
 * @param {number} port
 * @returns {Promise<boolean>}
 */
function accepts(port) {
	return new Promise((resolve) => {
		const socket = connect(port, '127.0.0.1');
		socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
		socket.once('connect', () => socket.destroy());
	});
}
