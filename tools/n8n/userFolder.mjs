/** Where the n8n of `npm start` keeps its database and files. */
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { devDir } from '../paths.mjs';

/** Below a folder of the name node_modules, which ESLint skips: n8n keeps hundreds of its editor's scripts in there. */
export const devUserFolder = join(devDir, 'node_modules', 'user');

/**
 * Makes a node that asks for n8n-workflow or zod get n8n's own, as everywhere else. Node looks in the folders above the
 * package first, and for a user folder inside this project that would find the project's development copy.
 *
 * @param {string} userFolder
 * @param {import('../install/n8n.mjs').N8nRuntime} runtime
 */
export function preferModulesOfN8n(userFolder, runtime) {
	const link = join(userFolder, 'node_modules');
	mkdirSync(userFolder, { recursive: true });
	rmSync(link, { recursive: true, force: true });
	symlinkSync(modulesOf(runtime), link, 'dir');
}

/** @param {import('../install/n8n.mjs').N8nRuntime} runtime */
const modulesOf = ({ bin }) => dirname(dirname(dirname(bin)));
