/** Finds the Node that n8n needs, or installs it from npm. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ToolError } from '../report/step.mjs';
import { installPinned } from './pinned.mjs';

/** n8n's prebuilt native parts are made for no newer one. */
const newestMajor = 24;

/**
 * The Node that runs this, when n8n can use it; else Node 24.
 *
 * @param {number[]} oldest major and minor version that n8n asks for
 * @returns {Promise<string>} path of the binary
 */
export async function installNode([oldestMajor, oldestMinor]) {
	const [major, minor] = process.versions.node.split('.').map(Number);
	const isNewEnough = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
	if (isNewEnough && major <= newestMajor) return process.execPath;
	const folder = await installPinned({ name: 'node-24', title: 'Installing Node 24 for n8n (190 MB)' });
	const binary = join(folder, 'node_modules', '.bin', 'node');
	if (!existsSync(binary)) {
		throw new ToolError(
			`Node 24 could not be had from npm for this machine (${process.platform} ${process.arch}).`,
			'Delete .n8n-dev/node-24 and try again, or install Node 24 from https://nodejs.org and run the command with it.',
		);
	}
	return binary;
}
