/** Redis on this machine only, with nothing kept on disk. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../processes/freePort.mjs';
import { findProgram } from '../install/debian.mjs';
import { startServer, untilAnswers } from '../processes/child.mjs';

export const findRedis = () => findProgram(['redis-server']);

/** @param {string} folder for its log */
export async function startRedis(folder) {
	const port = await freePort();
	const server = startServer({
		name: 'Redis',
		command: String(findRedis()),
		args: ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no', '--dir', folder],
		logFile: join(folder, 'redis.log'),
	});
	await untilAnswers(server, () => connectTo(port));
	return { port, server };
}

/**
 * For `untilAnswers`.
 * @param {number} port
 */
export async function connectTo(port) {
	const socket = connect(port, '127.0.0.1');
	await once(socket, 'connect');
	socket.destroy();
}
