/** `npm run test:versions`: the package, packed as for npm, in every n8n that it is tested on. `npm run test:versions -- 2.0.0` takes one of them. */
import { join } from 'node:path';
import { installN8n, n8nVersions } from './install/n8n.mjs';
import { installProject } from './install/project.mjs';
import { buildPackage } from './package/build.mjs';
import { main } from './processes/main.mjs';
import { runNodeTests, testFiles } from './report/nodeTests.mjs';
import { step } from './report/step.mjs';
import { createTally } from './report/tally.mjs';

await main(async () => {
	const folder = join('test', 'versions');
	const words = process.argv.slice(2);
	await installProject();
	for (const version of n8nVersions.filter((candidate) => testFiles(folder, words).some((file) => file.includes(candidate)))) {
		await installN8n(version);
	}
	await step('Building the package', async ({ result }) => result((await buildPackage()) ? 'built' : 'unchanged'));

	const tally = createTally();
	tally.add(...(await runNodeTests(folder, words)));
	return tally.finish();
});
