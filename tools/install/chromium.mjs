/** Finds the Chromium that the tests in a browser use, or installs Debian's. */
import { findProgram } from '../processes/findProgram.mjs';
import { ensureDebianPackages } from './debian.mjs';

/** Chrome does the same work where somebody has it already. */
const programs = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];

const findChromium = () => findProgram(programs);

/** @returns {Promise<string>} path of the program */
export async function installChromium() {
	await ensureDebianPackages('The test in a browser', { names: ['chromium'], isThere: () => findChromium() !== undefined });
	return String(findChromium());
}
