/** A real n8n of its own for one test file (see shared.mts for the others): its own user folder and ports, the packed package, a sandbox, and a credential for it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox } from '../../../sandbox/index.mts';
import { installN8n, type N8nVersion } from '../../../tools/install/n8n.mjs';
import { credentialType } from '../../../tools/n8n/examples.mjs';
import { importExamples } from '../../../tools/start/importExamples.mjs';
import { provideDatabase } from '../../../tools/n8n/database.mjs';
import { launchN8n, untilReady, type N8n } from '../../../tools/n8n/launch.mjs';
import { createRestClient } from '../../../tools/n8n/rest.mjs';
import { providePackage } from '../../../tools/package/pack.mjs';

export const sandboxKey = 'sandbox-key';

/**
 * Parts of n8n that no test uses without the editor: an n8n starts a third sooner without them, and the suites start it
 * again and again. With the editor, n8n has them all.
 */
const UNUSED_MODULES = [
	...['insights', 'external-secrets', 'mcp', 'mcp-registry', 'provisioning', 'source-control', 'chat-hub', 'sso-oidc'],
	...['sso-saml', 'log-streaming', 'ldap', 'quick-connect', 'workflow-builder', 'favorites', 'redaction', 'otel'],
	...['token-exchange', 'n8n-packages', 'workflow-reviews', 'instance-ai'],
];

/** Settings with which the n8n of the suites starts sooner. */
export const MINIMAL_N8N = {
	N8N_DISABLE_UI: 'true', // it need not prepare a thousand files of its editor
	N8N_DISABLED_MODULES: UNUSED_MODULES.join(),
	N8N_RUNNERS_MODE: 'external', // the process of the Code node
	N8N_RUNNERS_AUTH_TOKEN: 'no-runner',
};

/** For tests of examples with a Code node: without its process, it would wait for ever. */
export const WITH_CODE_NODE = { N8N_RUNNERS_MODE: 'internal' };

export type Instance = Awaited<ReturnType<typeof startInstance>>;

/** Logs in as n8n's owner, and makes a credential for the sandbox, with the purchase log as users have it: on. */
export async function signIn(n8nUrl: string, { baseUrl }: { baseUrl: string }) {
	const rest = createRestClient(n8nUrl);
	await rest.login();
	const data = { baseUrl, apiKey: sandboxKey };
	const { id, name } = await rest.request('POST', '/rest/credentials', { name: 'Sandbox', type: credentialType, data });
	return { rest, credential: { id: String(id), name: String(name), data } };
}

interface InstanceOptions {
	sandbox?: Parameters<typeof startSandbox>[0];
	/** Imports the example workflows as `npm start` does. */
	examples?: boolean;
	/** True where the editor, or what n8n has only for it, is used. */
	editor?: boolean;
	/** Settings of n8n on top of the usual ones. */
	env?: Record<string, string>;
	/** Of n8n. */
	version?: N8nVersion;
}

export async function startInstance(options: InstanceOptions = {}) {
	const folder = mkdtempSync(join(tmpdir(), 'generation-gateway-n8n-'));
	const userFolder = join(folder, 'user');
	await providePackage(userFolder);
	const sandbox = await startSandbox({ port: 0, filesPort: 0, ...options.sandbox });
	const prepare = async () => {
		const runtime = await installN8n(options.version);
		// Those of other versions are started once only.
		if (options.version === undefined) await provideDatabase(runtime, userFolder);
		const service = { baseUrl: sandbox.baseUrl, apiKey: sandboxKey };
		if (options.examples) await importExamples({ runtime, userFolder }, service);
		return runtime;
	};
	// A sandbox that stays open would hold up the whole suite.
	const runtime = await prepare().catch(async (error: unknown) => {
		await sandbox.close();
		throw error;
	});
	const launch = async (port?: number, env = options.env) =>
		await launchN8n({
			runtime,
			userFolder,
			logFile: join(folder, 'n8n.log'),
			port,
			env: { ...(options.editor ? {} : MINIMAL_N8N), ...env },
		});
	let n8n = await launch();

	const close = async () => {
		await n8n.server.stop();
		await sandbox.close();
		rmSync(folder, { recursive: true, force: true });
	};
	try {
		await untilReady(n8n);
		const { rest, credential } = await signIn(n8n.url, sandbox);
		return {
			/** The n8n that runs now. */
			get n8n(): N8n {
				return n8n;
			},
			rest,
			sandbox,
			credential,
			close,

			/** Ends n8n without a chance to save anything, as a power cut does. What it logged can still be read. */
			kill: () => killN8n(n8n),

			/** SIGTERM is how a system ends n8n in an orderly way: n8n has a few seconds then. */
			end: async (signal: Signal) => await endN8n(n8n, signal),

			/** Starts n8n again, at the same address; with other settings, if any are given. */
			async restart(env?: Record<string, string>) {
				const { port } = n8n;
				n8n = await launch(port, env);
				await untilReady(n8n);
			},
		};
	} catch (error) {
		await close();
		throw error;
	}
}

export type Signal = 'SIGKILL' | 'SIGTERM';

export async function endN8n(n8n: N8n, signal: Signal) {
	await (signal === 'SIGKILL' ? killN8n(n8n) : n8n.server.stop());
}

/** kill -9 of n8n and all that it started. */
async function killN8n({ server }: N8n) {
	process.kill(-server.pid, 'SIGKILL');
	await server.ended;
}
