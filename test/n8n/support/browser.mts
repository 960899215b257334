/** A headless Chromium of this machine. */
import { chromium, type Browser } from 'playwright-core';

export async function openBrowser(): Promise<Browser> {
	return await chromium.launch({
		executablePath: '/usr/bin/chromium',
		args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
	});
}
