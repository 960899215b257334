/** A headless Chromium under playwright-core. */
import { chromium, selectors } from 'playwright-core';
import { installChromium } from '../install/chromium.mjs';

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

/** @returns {Promise<import('playwright-core').Browser>} `getByTestId` knows n8n's names */
export async function launchBrowser() {
	selectors.setTestIdAttribute('data-test-id');
	return await chromium.launch({ executablePath: await installChromium(), headless: true, args });
}
