/**
 * `npm start`: from a fresh clone to a real n8n with this package, a sandbox gateway, a ready credential and the example
 * workflows. Runs until Ctrl-C.
 */
import { rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { installN8n } from './install/n8n.mjs';
import { installProject } from './install/project.mjs';
import { launchN8n, untilReady } from './n8n/launch.mjs';
import { createRestClient, N8nRequestError, owner } from './n8n/rest.mjs';
import { devUserFolder, preferModulesOfN8n } from './n8n/userFolder.mjs';
import { providePackage } from './package/provide.mjs';
import { logsDir, projectDir } from './paths.mjs';
import { main } from './processes/main.mjs';
import { say, seconds, step, ToolError } from './report/step.mjs';
import { ensureCredential } from './start/credential.mjs';
import { claimDevInstance } from './start/lock.mjs';
import { help, readOptions } from './start/options.mjs';
import { launchSandbox, untilSandboxReady } from './start/sandbox.mjs';
import { readState, writeState } from './start/state.mjs';
import { ensureWorkflows } from './start/workflows.mjs';

const stateFile = join(devUserFolder, 'npm-start.json');

await main(start, { exitCodeWhenStopped: 0 }); // Ctrl-C is how this is meant to end

async function start() {
	const startedAt = Date.now();
	const options = readOptions(process.argv.slice(2));
	if (options.help) return say(help);
	claimDevInstance();

	await installProject();
	const runtime = await installN8n();
	if (options.reset) {
		await step('Forgetting the local n8n of before', () => rmSync(devUserFolder, { recursive: true, force: true }));
	}
	await step('Building the package and giving it to n8n', async ({ result }) => result(await providePackage(devUserFolder)));

	const sandbox = await launchSandbox({ logFile: join(logsDir, 'sandbox.log'), takenPorts: [options.port] });
	await step('Starting the sandbox gateway', () => untilSandboxReady(sandbox));
	preferModulesOfN8n(devUserFolder, runtime);
	const n8n = await launchN8n({
		runtime,
		userFolder: devUserFolder,
		logFile: join(logsDir, 'n8n.log'),
		port: options.port,
		brokerPort: 5679,
	});
	await step(`Starting n8n ${runtime.version}`, () => untilReady(n8n));
	await step('Preparing login, credential and workflows', async ({ result }) => result(await prepare(n8n.url, sandbox)));

	sayReady({ n8n, sandbox, startedAt, preferredPort: options.port });
	return await firstToEnd([n8n.server, sandbox.server]);
}

/**
 * @param {string} url of the editor
 * @param {import('./start/sandbox.mjs').Sandbox} sandbox
 */
async function prepare(url, sandbox) {
	const rest = createRestClient(url);
	try {
		await rest.login();
	} catch (error) {
		if (!(error instanceof N8nRequestError) || error.status !== 401) throw error;
		return 'skipped: the owner’s login was changed in the editor ("npm start -- --reset" starts afresh)';
	}
	const state = readState(stateFile);
	const credential = await ensureCredential(rest, sandbox, state.credential);
	const { workflows, count } = await ensureWorkflows(rest, credential, state.workflows);
	writeState(stateFile, { credential: { id: credential.id, baseUrl: credential.baseUrl }, workflows });

	const counts = Object.entries(count).filter(([, number]) => number > 0);
	return [
		`credential ${credential.change}`,
		...counts.map(([what, number]) => `${number} workflow${number === 1 ? '' : 's'} ${what === 'yours' ? 'changed by you and kept' : what}`),
	].join(', ');
}

/**
 * @param {object} started
 * @param {import('./n8n/launch.mjs').N8n} started.n8n
 * @param {import('./start/sandbox.mjs').Sandbox} started.sandbox
 * @param {number} started.startedAt
 * @param {number} started.preferredPort
 */
function sayReady({ n8n, sandbox, startedAt, preferredPort }) {
	const moved = n8n.port === preferredPort ? '' : `   (port ${preferredPort} is taken by another program)`;
	say(`
Ready after ${seconds(Date.now() - startedAt)}.

  Editor     ${n8n.url}${moved}
  Email      ${owner.email}
  Password   ${owner.password}

  1. Open the editor and log in.
  2. Open the workflow “Prompt to image to video”: ${n8n.url}/workflow/promptToImageToVideo
  3. Click “Execute workflow”. When it is done, open the last nodes: picture and video are in the output panel.

  Sandbox gateway   ${sandbox.baseUrl}   (API key ${sandbox.apiKey}; result files on ${sandbox.filesUrl})
  Logs              ${relative(projectDir, n8n.logFile)} and ${relative(projectDir, join(logsDir, 'sandbox.log'))}

Press Ctrl-C to stop everything.`);
}

/**
 * None of them is meant to end before Ctrl-C.
 *
 * @param {import('./processes/child.mjs').Server[]} servers
 * @returns {Promise<never>}
 */
async function firstToEnd(servers) {
	const { server, how } = await Promise.race(
		servers.map(async (candidate) => ({ server: candidate, how: await candidate.ended })),
	);
	throw new ToolError(`${server.name} ended by itself (${how}). The end of its log:\n\n${server.lastLines(25)}`);
}
