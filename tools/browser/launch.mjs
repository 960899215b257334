/** A headless Chromium under playwright-core. */
import { chromium, selectors } from 'playwright-core';
import { ensureDebianPackages, findProgram } from '../install/debian.mjs';

/** Chrome does the same work where somebody has it already. */
const findChromium = () => findProgram(['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']);

/** Nothing that goes to the internet by itself; no sandbox, because Chromium has none for root. */
const args = [
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
];

export const installChromium = () => ensureDebianPackages('The test in a browser', { chromium: findChromium });

/** @returns {Promise<import('playwright-core').Browser>} `getByTestId` knows n8n's names */
export async function launchBrowser() {
	await installChromium();
	selectors.setTestIdAttribute('data-test-id');
	return await chromium.launch({ executablePath: findChromium(), headless: true, args });
}
