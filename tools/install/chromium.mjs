/** Finds the Chromium that the tests in a browser use, or installs Debian's. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { ensureDebianPackages } from './debian.mjs';

/** Chrome does the same work where somebody has it already. */
const programs = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

/** @returns {Promise<string>} path of the program */
export async function installChromium() {
	await ensureDebianPackages(['chromium'], () => findChromium() !== undefined);
	return /** @type {string} */ (findChromium());
}

function findChromium() {
	const folders = (process.env.PATH ?? '').split(delimiter);
	return programs.flatMap((program) => folders.map((folder) => join(folder, program))).find(isProgram);
}

/** @param {string} file */
function isProgram(file) {
	try {
		accessSync(file, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}
