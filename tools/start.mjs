/**
 * `npm start`: from a fresh clone to a real n8n with this package, a sandbox gateway, a ready credential and the example
 * workflows. Runs until Ctrl-C.
 */
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import getPort from 'get-port';
import { installN8n } from './install/n8n.mjs';
import { filesFolderOf, launchN8n, untilReady } from './n8n/launch.mjs';
import { createRestClient, N8nRequestError, owner } from './n8n/rest.mjs';
import { providePackage } from './package/pack.mjs';
import { devDir, projectDir } from './paths.mjs';
import { atEnd } from './processes/end.mjs';
import { say, seconds, step, ToolError } from './report/step.mjs';
import { importExamples } from './start/importExamples.mjs';
import { startSandbox } from './start/sandbox.mjs';

const help = `Starts a real n8n with this package, and a sandbox gateway that stands in for the service.

  npm start                   installs what is missing, builds, starts, and prints the editor's address
  npm start -- --reset        first deletes the data of the local n8n (workflows, credentials, executions) and of the sandbox
  npm start -- --port 8000    another port for the editor (a free one is chosen when it is taken)
  npm start -- --data folder  keeps its data and logs in this folder, so that several can run side by side
  npm start -- --help         this text`;

/** @param {string[]} args */
export default async function start(args) {
	const options = readOptions(args);
	if (options.help) return say(help);
	const dataDir = resolve(options.data);
	// Below a folder of the name node_modules, which ESLint skips: n8n keeps hundreds of its editor's scripts in there.
	const userFolder = join(dataDir, 'node_modules', 'user');
	const logsDir = join(dataDir, 'logs');
	claimLock(dataDir);

	const runtime = await installN8n();
	if (options.reset) rmSync(userFolder, { recursive: true, force: true });
	await step('Building the package and installing it in n8n', () => providePackage(userFolder));
	const port = await getPort({ port: options.port });
	const sandbox = await step('Starting the sandbox gateway', () =>
		startSandbox(join(logsDir, 'sandbox.log'), ['--state', join(userFolder, 'sandbox.state')]),
	);
	preferModules(userFolder, runtime.modules);
	await step('Preparing credential and workflows', async (tell) =>
		tell(await importExamples({ runtime, userFolder }, sandbox)),
	);
	const n8n = await launchN8n({ runtime, userFolder, logFile: join(logsDir, 'n8n.log'), port });
	const password = await step(`Starting n8n ${runtime.version}`, async () => {
		await untilReady(n8n);
		return await signUp(n8n.url);
	});

	const moved = port === options.port ? '' : `   (port ${options.port} is taken by another program)`;
	say(`
Ready after ${seconds(process.uptime() * 1000)}.

  Open       ${n8n.url}/workflow/promptToImageToVideo${moved}
  Email      ${owner.email}
  Password   ${password}

  1. Open this address and log in: it is the workflow “Prompt to image to video”.
  2. Click “Execute workflow”. When it is done, open the last nodes: picture and video are in the output panel.
  3. The other examples are in the list of workflows: ${n8n.url}/home/workflows

  Inbox             ${sandbox.baseUrl}/inbox   (shows what the examples send to an app or a chat)
  Files             ${relative(projectDir, filesFolderOf(userFolder))}   (the files that the examples store)
  Purchases         ${sandbox.baseUrl}/__sandbox/tasks   (each task that the sandbox has accepted)
  Sandbox gateway   ${sandbox.baseUrl}   (API key ${sandbox.apiKey}; result files on ${sandbox.filesUrl})
  Logs              ${relative(projectDir, n8n.logFile)} and ${relative(projectDir, join(logsDir, 'sandbox.log'))}

Press Ctrl-C to stop everything.`);

	// None of them is meant to end before Ctrl-C.
	const servers = [n8n.server, sandbox.server];
	const { server, how } = await Promise.race(servers.map(async (each) => ({ server: each, how: await each.ended })));
	throw new ToolError(`${server.name} stopped unexpectedly (${how}). The end of its log:\n\n${server.lastWords()}`);
}

/** @param {string[]} args */
function readOptions(args) {
	try {
		const { values } = parseArgs({
			args,
			options: {
				reset: { type: 'boolean' },
				help: { type: 'boolean', short: 'h' },
				port: { type: 'string', default: '5678' },
				data: { type: 'string', default: devDir },
			},
		});
		const port = Number(values.port);
		if (Number.isInteger(port) && port >= 1024 && port <= 65535) return { ...values, port };
		throw new Error(`"${values.port}" cannot be the port: take a whole number from 1024 to 65535, e.g. 8000.`);
	} catch (error) {
		throw new ToolError(error instanceof Error ? error.message : String(error), `\n${help}`);
	}
}

/**
 * A second `npm start` would open the same n8n database.
 *
 * @param {string} dataDir
 */
function claimLock(dataDir) {
	const lockFile = join(dataDir, 'running.pid');
	const pid = runningPid(lockFile);
	if (pid)
		throw new ToolError(
			`npm start is already running here (process ${pid}).`,
			'Stop it first with Ctrl-C in its terminal.',
		);
	mkdirSync(dataDir, { recursive: true });
	writeFileSync(lockFile, String(process.pid));
	atEnd(() => rmSync(lockFile, { force: true }));
}

/**
 * A lock that outlived its process (kill -9, power cut) must not count, nor when another program has got the same id since.
 *
 * @param {string} lockFile
 */
function runningPid(lockFile) {
	try {
		const pid = Number(readFileSync(lockFile, 'utf8'));
		process.kill(pid, 0);
		if (process.platform !== 'linux') return pid;
		return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('run.mjs') ? pid : undefined;
	} catch {
		return undefined;
	}
}

/**
 * Makes a node that asks for n8n-workflow or zod get n8n's own, as everywhere else. Node looks in the folders above the
 * package first, and for a user folder inside this project that would find the project's development copy.
 *
 * @param {string} userFolder
 * @param {string} modules
 */
function preferModules(userFolder, modules) {
	const link = join(userFolder, 'node_modules');
	rmSync(link, { recursive: true, force: true });
	symlinkSync(modules, link, 'dir');
}

/**
 * @param {string} url of the editor
 * @returns {Promise<string>} the password to show
 */
async function signUp(url) {
	try {
		await createRestClient(url).login();
		return owner.password;
	} catch (error) {
		if (error instanceof N8nRequestError && error.status === 401)
			return 'the one you chose in the editor ("npm start -- --reset" starts with a fresh n8n)';
		throw error;
	}
}
