/** A real n8n for one test file: its own user folder and ports, the packed package, a sandbox, and a credential for it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox } from '../../../sandbox/index.mts';
import { installN8n, type N8nVersion } from '../../../tools/install/n8n.mjs';
import { credentialType } from '../../../tools/n8n/examples.mjs';
import { launchN8n, untilReady } from '../../../tools/n8n/launch.mjs';
import { createRestClient } from '../../../tools/n8n/rest.mjs';
import { providePackage } from '../../../tools/package/provide.mjs';

export const sandboxKey = 'sandbox-key';

export type Instance = Awaited<ReturnType<typeof startInstance>>;

interface InstanceOptions {
	sandbox?: Parameters<typeof startSandbox>[0];
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
	const n8n = await launchN8n({
		runtime: await installN8n(options.version),
		userFolder,
		logFile: join(folder, 'n8n.log'),
		env: options.env,
	});

	const close = async () => {
		await n8n.server.stop();
		await sandbox.close();
		rmSync(folder, { recursive: true, force: true });
	};
	try {
		await untilReady(n8n);
		const rest = createRestClient(n8n.url);
		await rest.login();
		const data = { baseUrl: sandbox.baseUrl, apiKey: sandboxKey };
		const { id, name } = await rest.request('POST', '/rest/credentials', { name: 'Sandbox', type: credentialType, data });
		return { n8n, rest, sandbox, credential: { id: String(id), name: String(name), data }, close };
	} catch (error) {
		await close();
		throw error;
	}
}
