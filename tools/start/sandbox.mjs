/** Runs the sandbox gateway in a process of its own. */
import { join } from 'node:path';
import getPort from 'get-port';
import { askFor, startServer, untilAnswers } from '../processes/child.mjs';

const apiKey = 'sandbox-key';

/** @typedef {Awaited<ReturnType<typeof startSandbox>>} Sandbox */

/**
 * @param {string} logFile
 * @param {string[]} [options] of sandbox/main.mts
 */
export async function startSandbox(logFile, options = []) {
	// Result files are on a port of their own, as with the real service. A port that is taken is replaced by any other.
	const [port, filesPort] = [await getPort({ port: 8787 }), await getPort({ port: 8788 })];
	const ports = ['--port', String(port), '--files-port', String(filesPort)];
	const server = startServer({
		name: 'The sandbox gateway',
		args: ['--import', 'tsx', join('sandbox', 'main.mts'), ...ports, ...options],
		logFile,
	});
	const baseUrl = `http://127.0.0.1:${port}`;
	await untilAnswers(server, () => askFor(`${baseUrl}/v1/user/balance`, { authorization: `Bearer ${apiKey}` }));
	return { baseUrl, filesUrl: `http://127.0.0.1:${filesPort}`, apiKey, server };
}
