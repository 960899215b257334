/** Installs what the project needs and is not there yet: `node tools/install.mjs [--all]`. */
import { installN8n } from './install/n8n.mjs';
import { installProject } from './install/project.mjs';
import { installScanner } from './install/scanner.mjs';
import { main } from './processes/main.mjs';

await main(async () => {
	await installProject();
	if (!process.argv.includes('--all')) return; // what a build needs
	await installScanner();
	await installN8n();
});
