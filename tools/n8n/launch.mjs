/** Starts an n8n process on this machine only, and waits until it answers. */
import { mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { devDir } from '../paths.mjs';
import { freePort } from '../processes/freePort.mjs';
import { askFor, run, startServer, untilAnswers } from '../processes/child.mjs';

/** n8n stops nicely within this; the tools then end it the hard way a little later. */
const gracefulShutdownSeconds = 5;
/** A start takes 10 s, and minutes on a machine that has much else to do. One that ends by itself is noticed sooner. */
const readyWithinMs = 300_000;

/**
 * The folder of an n8n's user folder in which its workflows may write files.
 *
 * @param {string} userFolder
 */
export const filesFolderOf = (userFolder) => join(userFolder, 'files');

/** @typedef {import('../install/n8n.mjs').N8nRuntime} N8nRuntime */
/** @typedef {Awaited<ReturnType<typeof launchN8n>>} N8n */

/**
 * @param {object} options
 * @param {N8nRuntime} options.runtime
 * @param {string} options.userFolder n8n keeps its database and files in `.n8n` below it
 * @param {string} options.logFile
 * @param {string[]} [options.command] what n8n is to be: `start` if not given, or for example `worker --concurrency=5`
 * @param {number} [options.port] any free one if not given
 * @param {Record<string, string>} [options.env] added to, or in place of, the usual settings
 */
export async function launchN8n({ runtime, userFolder, logFile, command = ['start'], port: chosenPort, env }) {
	const port = chosenPort ?? (await freePort());
	const ports = { N8N_PORT: String(port), N8N_RUNNERS_BROKER_PORT: String(await freePort()) };
	mkdirSync(filesFolderOf(userFolder), { recursive: true });
	const server = startServer({
		name: 'n8n',
		command: runtime.node,
		args: [runtime.bin, ...command],
		cwd: userFolder, // n8n reads a .env file of the folder it is started in
		logFile,
		env: { ...environment(runtime, userFolder), ...ports, ...env },
	});
	/** `url` is the editor's, without a slash at the end. n8n is still starting: see `untilReady`. */
	return { url: `http://localhost:${port}`, port, userFolder, logFile, server };
}

/** @param {N8n} n8n */
export async function untilReady({ url, server }) {
	await untilAnswers(server, () => askFor(`${url}/healthz/readiness`), readyWithinMs);
}

/**
 * Runs one of n8n's commands to its end, e.g. `import:workflow`.
 *
 * @param {{ runtime: N8nRuntime, userFolder: string }} options of an n8n that is not running
 * @param {string[]} args
 */
export async function runN8n({ runtime, userFolder }, args) {
	mkdirSync(userFolder, { recursive: true });
	await run(runtime.node, [runtime.bin, ...args], {
		cwd: userFolder,
		env: environment(runtime, userFolder),
		extendEnv: false,
	});
}

/**
 * The caller's environment without what would make this n8n another one than the one asked for.
 *
 * @param {N8nRuntime} runtime
 * @param {string} userFolder
 */
function environment({ node }, userFolder) {
	const foreign =
		/^(N8N_|DB_|EXECUTIONS_|QUEUE_|WEBHOOK_|OFFLOAD_|CREDENTIALS_|npm_|NODE_OPTIONS$|NODE_PATH$|FORCE_COLOR$)/;
	const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
	return {
		...env,
		PATH: [dirname(node), env.PATH].join(delimiter), // n8n starts its task runner with whatever "node" is found first
		NO_PROXY: [env.NO_PROXY, 'localhost,127.0.0.1'].filter(Boolean).join(','), // the sandbox is not behind the proxy
		NO_COLOR: '1',
		NODE_COMPILE_CACHE: join(devDir, 'compile-cache'), // Node 22 and newer keep there what they have compiled
		N8N_USER_FOLDER: userFolder,
		N8N_LISTEN_ADDRESS: '127.0.0.1',
		N8N_ENCRYPTION_KEY: 'only-for-development-on-this-machine',
		N8N_SECURE_COOKIE: 'false', // the editor is served over plain http
		N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem',
		N8N_RESTRICT_FILE_ACCESS_TO: filesFolderOf(userFolder),
		N8N_GRACEFUL_SHUTDOWN_TIMEOUT: String(gracefulShutdownSeconds),
		N8N_DIAGNOSTICS_ENABLED: 'false',
		N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
		N8N_TEMPLATES_ENABLED: 'false',
		N8N_PERSONALIZATION_ENABLED: 'false',
		N8N_COMMUNITY_PACKAGES_ALLOW_TOOL_USAGE: 'true', // n8n 1.x: without it the nodes are no tools for agents
		N8N_ENFORCE_SETTINGS_FILE_PERMISSIONS: 'true',
		DB_PING_TIMEOUT_MS: '120000', // a busy n8n would refuse all requests until its database answers the next ping
		N8N_LOG_LEVEL: 'info',
	};
}
