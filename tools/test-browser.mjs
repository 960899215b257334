/** `npm run test:browser`: the package in the real editor, in a headless Chromium. `npm run test:browser -- forms` runs the files with that word in their names. */
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
	await installChromium();
	await step('Building the package', async ({ result }) => result((await buildPackage()) ? 'built' : 'unchanged'));

	const tally = createTally();
	tally.add(...(await runNodeTests(join('test', 'browser'), process.argv.slice(2), { inOneProcess: true })));
	return tally.finish();
});
