/** Redis on this machine only, with nothing kept on disk. */
import { join } from 'node:path';
import { freePort } from '../processes/ports.mjs';
import { findProgram } from '../processes/findProgram.mjs';
import { startProgram, untilListening } from '../processes/program.mjs';

const program = () => findProgram(['redis-server']);

export const redis = { names: ['redis-server'], isThere: () => program() !== undefined };

/** @param {string} folder for its log */
export async function startRedis(folder) {
	const port = await freePort(0);
	const server = startProgram({
		name: 'Redis',
		command: String(program()),
		args: ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no', '--dir', folder],
		logFile: join(folder, 'redis.log'),
	});
	await untilListening(server, port);
	return { port, server };
}
