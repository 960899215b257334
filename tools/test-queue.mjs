/** `npm run test:queue`: the package in n8n's queue mode, with Redis, PostgreSQL, a main n8n and two workers on this machine only. */
import { join } from 'node:path';
import { ensureDebianPackages } from './install/debian.mjs';
import { installN8n } from './install/n8n.mjs';
import { installProject } from './install/project.mjs';
import { buildPackage } from './package/build.mjs';
import { main } from './processes/main.mjs';
import { postgres } from './queue/postgres.mjs';
import { redis } from './queue/redis.mjs';
import { runNodeTests } from './report/nodeTests.mjs';
import { step } from './report/step.mjs';
import { createTally } from './report/tally.mjs';

await main(async () => {
	await installProject();
	await installN8n();
	await ensureDebianPackages('The queue mode of n8n', redis, postgres);
	await step('Building the package', async ({ result }) => result((await buildPackage()) ? 'built' : 'unchanged'));

	const tally = createTally();
	tally.add(...(await runNodeTests(join('test', 'queue'), process.argv.slice(2))));
	return tally.finish();
});
