/** Installs a real n8n, with the Node it needs. */
import { join } from 'node:path';
import { installNode24 } from './node.mjs';
import { installPinned } from './pinned.mjs';

export const n8nVersion = '2.41.0';

/**
 * @typedef {object} N8nRuntime
 * @property {string} version
 * @property {string} node the Node binary to run it with
 * @property {string} bin n8n's own start file
 */

/** @returns {Promise<N8nRuntime>} */
export async function installN8n() {
	const node = await installNode24();
	const folder = await installPinned({
		name: `n8n-${n8nVersion}`,
		title: `Installing n8n ${n8nVersion} (about 2 minutes, 2.2 GB)`,
		rebuild: ['sqlite3'], // the only one of n8n's native parts that has to be made on the machine
	});
	return { version: n8nVersion, node, bin: join(folder, 'node_modules', 'n8n', 'bin', 'n8n') };
}
