/**
 * One n8n that test files share, which run at the same time: `npm run test:n8n` starts it, with the editor. Each file has a
 * sandbox and a credential of its own. What kills n8n or needs settings of its own starts another one (`startInstance`).
 */
import { readFileSync } from 'node:fs';
import { startSandbox } from '../../../sandbox/index.mts';
import { signIn, startInstance, WITH_CODE_NODE, type Instance } from './instance.mts';

const VARIABLE = 'GENERATION_GATEWAY_TEST_N8N';

interface Running {
	url: string;
	logFile: string;
	userFolder: string;
}

/** What a test can rely on, in an n8n of its own or in the shared one. */
export interface Joined extends Pick<Instance, 'rest' | 'credential' | 'sandbox' | 'close'> {
	n8n: Running;
}

/** For the command that runs the test files: n8n, and what tells them where it is. */
export async function startSharedN8n() {
	const { n8n, close } = await startInstance({ editor: true, env: WITH_CODE_NODE });
	const { url, logFile, userFolder } = n8n;
	return { env: { [VARIABLE]: JSON.stringify({ url, logFile, userFolder } satisfies Running) }, close };
}

/** For a test file. */
export async function joinN8n(options: Parameters<typeof startSandbox>[0] = {}): Promise<Joined> {
	const n8n = JSON.parse(process.env[VARIABLE] ?? '{}') as Running;
	const sandbox = await startSandbox({ port: 0, filesPort: 0, ...options });
	try {
		return { n8n, sandbox, close: sandbox.close, ...(await signIn(n8n.url, sandbox)) };
	} catch (error) {
		await sandbox.close();
		throw error;
	}
}

/** All that n8n has logged so far. */
export const logOf = ({ n8n }: Pick<Joined, 'n8n'>) => readFileSync(n8n.logFile, 'utf8');
