/** Runs the sandbox gateway in a process of its own. */
import { join } from 'node:path';
import { projectDir } from '../paths.mjs';
import { startServer } from '../processes/child.mjs';
import { freePort } from '../processes/ports.mjs';
import { ToolError } from '../report/step.mjs';

const apiKey = 'sandbox-key';
const readyWithinMs = 30_000;

/**
 * @typedef {object} Sandbox
 * @property {string} baseUrl
 * @property {string} filesUrl result files are on a port of their own, as with the real service
 * @property {string} apiKey
 * @property {import('../processes/child.mjs').Server} server
 */

/**
 * @param {{ logFile: string, port?: number, filesPort?: number, takenPorts?: number[], args?: string[] }} options
 *   `args`: more of sandbox/main.mts
 * @returns {Promise<Sandbox>} still starting: see `untilSandboxReady`
 */
export async function launchSandbox({ logFile, port: preferred = 8787, filesPort: preferredFiles = 8788, takenPorts = [], args = [] }) {
	const port = await freePort(preferred, takenPorts);
	const filesPort = await freePort(preferredFiles, [...takenPorts, port]);
	const server = startServer({
		name: 'the sandbox gateway',
		args: ['--import', 'tsx', join('sandbox', 'main.mts'), '--port', String(port), '--files-port', String(filesPort), ...args],
		cwd: projectDir,
		logFile,
	});
	return { baseUrl: `http://127.0.0.1:${port}`, filesUrl: `http://127.0.0.1:${filesPort}`, apiKey, server };
}

/** @param {Sandbox} sandbox */
export async function untilSandboxReady({ baseUrl, server }) {
	const deadline = Date.now() + readyWithinMs;
	while (server.isRunning() && Date.now() < deadline) {
		const response = await fetch(`${baseUrl}/v1/user/balance`, {
			headers: { authorization: `Bearer ${apiKey}` },
			signal: AbortSignal.timeout(2000),
		}).catch(() => undefined);
		await response?.arrayBuffer();
		if (response?.ok) return;
		await new Promise((resolve) => setTimeout(resolve, 100));
	}
	throw new ToolError(`The sandbox gateway did not start. The end of its log:\n\n${server.lastLines(25)}`);
}
