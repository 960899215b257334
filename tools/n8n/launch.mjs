/** Starts an n8n process on this machine only, and waits until it answers. */
import { mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { startServer } from '../processes/child.mjs';
import { freePort } from '../processes/ports.mjs';
import { ToolError } from '../report/step.mjs';

const readyWithinMs = 120_000;
/** n8n stops nicely within this; the tools then end it the hard way a little later. */
const gracefulShutdownSeconds = 5;

/**
 * @typedef {object} N8n
 * @property {string} url of the editor, without a slash at the end
 * @property {number} port
 * @property {string} userFolder
 * @property {string} logFile
 * @property {import('../processes/child.mjs').Server} server
 */

/**
 * @param {object} options
 * @param {import('../install/n8n.mjs').N8nRuntime} options.runtime
 * @param {string} options.userFolder n8n keeps its database and files in `.n8n` below it
 * @param {string} options.logFile
 * @param {string[]} [options.command] what n8n is to be: `start` if not given, or for example `worker --concurrency=5`
 * @param {number} [options.port] preferred; a free one is taken when it is in use
 * @param {number} [options.brokerPort] the same, for n8n's task runners
 * @param {number[]} [options.takenPorts] promised to others
 * @param {Record<string, string>} [options.env] added to, or in place of, the settings below
 * @returns {Promise<N8n>} still starting: see `untilReady`
 */
export async function launchN8n({
	runtime,
	userFolder,
	logFile,
	command = ['start'],
	port: preferredPort = 0,
	brokerPort: preferredBrokerPort = 0,
	takenPorts = [],
	env = {},
}) {
	const port = await freePort(preferredPort, takenPorts);
	const brokerPort = await freePort(preferredBrokerPort, [...takenPorts, port]);
	mkdirSync(userFolder, { recursive: true });
	const server = startServer({
		name: 'n8n',
		node: runtime.node,
		args: [runtime.bin, ...command],
		cwd: userFolder, // n8n reads a .env file of the folder it is started in
		logFile,
		env: { ...inheritedEnv(runtime.node), ...settings({ userFolder, port, brokerPort }), ...env },
	});
	return { url: `http://localhost:${port}`, port, userFolder, logFile, server };
}

/** @param {{ userFolder: string, port: number, brokerPort: number }} options */
function settings({ userFolder, port, brokerPort }) {
	return {
		N8N_USER_FOLDER: userFolder,
		N8N_PORT: String(port),
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		N8N_RUNNERS_BROKER_PORT: String(brokerPort),
		N8N_ENCRYPTION_KEY: 'only-for-development-on-this-machine',
		N8N_SECURE_COOKIE: 'false', // the editor is served over plain http
		N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem',
		N8N_GRACEFUL_SHUTDOWN_TIMEOUT: String(gracefulShutdownSeconds),
		N8N_DIAGNOSTICS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
		N8N_TEMPLATES_ENABLED: 'false',
		N8N_PERSONALIZATION_ENABLED: 'false',
		N8N_COMMUNITY_PACKAGES_ALLOW_TOOL_USAGE: 'true', // n8n 1.x: without it the nodes are no tools for agents
		N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS: 'true',
		N8N_LOG_LEVEL: 'info',
		NO_COLOR: '1',
	};
}

/**
 * The caller's environment without what would make this n8n another one than the one asked for.
 * @param {string} node
 */
function inheritedEnv(node) {
	const foreign = /^(N8N_|DB_|EXECUTIONS_|QUEUE_|WEBHOOK_|OFFLOAD_|CREDENTIALS_|npm_|NODE_OPTIONS$|NODE_PATH$|FORCE_COLOR$)/;
	const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
	return {
		...env,
		PATH: [dirname(node), env.PATH].join(delimiter), // n8n starts its task runner with whatever "node" is found first
		NO_PROXY: [env.NO_PROXY, 'localhost,127.0.0.1'].filter(Boolean).join(','), // the sandbox is not behind the proxy
	};
}

/**
 * @param {N8n} n8n
 * @param {number} [timeoutMs]
 */
export async function untilReady({ url, server, logFile }, timeoutMs = readyWithinMs) {
	const deadline = Date.now() + timeoutMs;
	let answer = '';
	while (server.isRunning() && Date.now() < deadline) {
		try {
			const response = await fetch(`${url}/healthz/readiness`, { signal: AbortSignal.timeout(2000) });
			await response.arrayBuffer();
			if (response.ok) return;
			answer = `HTTP ${response.status}`;
		} catch (error) {
			answer = error instanceof Error ? String(error.cause ?? error) : String(error);
		}
		await new Promise((resolve) => setTimeout(resolve, 200));
	}
	const how = server.isRunning() ? `was not ready within ${timeoutMs / 1000} s (${answer})` : `ended (${await server.ended})`;
	throw new ToolError(`n8n ${how}. The end of its log, ${logFile}:\n\n${server.lastLines(25)}`);
}

/**
 * Where n8n looks for a community package.
 *
 * @param {string} userFolder
 * @param {string} packageName
 */
export const communityPackageDir = (userFolder, packageName) =>
	join(userFolder, '.n8n', 'nodes', 'node_modules', packageName);
