/** Installs a real n8n, with the Node it needs. */
import { join } from 'node:path';
import { installNode } from './node.mjs';
import { installPinned } from './pinned.mjs';

/** The versions with a lockfile, oldest first: what npm needs to know to install them, and the oldest Node that runs them. */
const versions = {
	'1.123.0': { size: '1.3 GB', oldestNode: [20, 19] },
	'2.0.0': { size: '1.3 GB', oldestNode: [20, 19] },
	'2.41.0': { size: '2.2 GB', oldestNode: [24, 0] },
};

/** @typedef {keyof typeof versions} N8nVersion */

export const n8nVersions = /** @type {N8nVersion[]} */ (Object.keys(versions));

/** What `npm start` and all tests run that do not ask for another one. */
export const n8nVersion = '2.41.0';

/**
 * @typedef {object} N8nRuntime
 * @property {string} version
 * @property {string} node the Node binary to run it with
 * @property {string} bin n8n's own start file
 */

/**
 * @param {N8nVersion} [version]
 * @returns {Promise<N8nRuntime>}
 */
export async function installN8n(version = n8nVersion) {
	const { size, oldestNode } = versions[version];
	const node = await installNode(oldestNode);
	const folder = await installPinned({
		name: `n8n-${version}`,
		title: `Installing n8n ${version} (about 2 minutes, ${size})`,
		rebuild: ['sqlite3'], // the only one of n8n's native parts that has to be made on the machine
	});
	return { version, node, bin: join(folder, 'node_modules', 'n8n', 'bin', 'n8n') };
}
