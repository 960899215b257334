/** `npm run test:n8n`: the package, packed as for npm, in a real n8n. `npm run test:n8n -- credential` runs the files with that word in their names. */
import { join } from 'node:path';
import { installChromium } from './install/chromium.mjs';
import { installN8n } from './install/n8n.mjs';
import { installProject } from './install/project.mjs';
import { buildPackage } from './package/build.mjs';
import { main } from './processes/main.mjs';
import { runNodeTests } from './report/nodeTests.mjs';
import { step } from './report/step.mjs';
import { createTally } from './report/tally.mjs';

await main(async () => {
	await installProject();
	await installN8n();
	await installChromium(); // the person of the verification uses a browser
	await step('Building the package', async ({ result }) => result((await buildPackage()) ? 'built' : 'unchanged'));

	const tally = createTally();
	tally.add(...(await runNodeTests(join('test', 'n8n'), process.argv.slice(2), { atOnce: 2 })));
	return tally.finish();
});
