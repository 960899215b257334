/** Installs the scanner that n8n runs over community packages. */
import { join } from 'node:path';
import { installPinned } from './pinned.mjs';

/** @returns {Promise<string>} path of the scanner's module */
export async function installScanner() {
	const folder = await installPinned({ name: 'scanner', title: 'Installing n8n’s package scanner' });
	return join(folder, 'node_modules', '@n8n', 'scan-community-package', 'scanner', 'scanner.mjs');
}
