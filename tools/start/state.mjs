/** Remembers what `npm start` put into the local n8n, to tell it from what the user changed since. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * @typedef {object} State
 * @property {{ id: string, baseUrl: string }} [credential]
 * @property {Record<string, { fileHash: string, versionId: string }>} workflows by workflow id; n8n gives a workflow a
 *   new version id with every change
 */

/**
 * @param {string} file
 * @returns {State}
 */
export function readState(file) {
	if (!existsSync(file)) return { workflows: {} };
	return JSON.parse(readFileSync(file, 'utf8'));
}

/**
 * @param {string} file
 * @param {State} state
 */
export function writeState(file, state) {
	mkdirSync(dirname(file), { recursive: true });
	writeFileSync(file, `${JSON.stringify(state, null, 2)}\n`);
}
