/**
 * Runs the scanner that n8n runs before it verifies a community package, over the sources and over the packed package:
 * `node tools/scan.mjs`. It brings its own rules and heeds no eslint-disable comments, so it can find what lint does not.
 */
import { join } from 'node:path';
import { installProject } from './install/project.mjs';
import { installScanner } from './install/scanner.mjs';
import { buildPackage } from './package/build.mjs';
import { packPackage, unpackPackage } from './package/pack.mjs';
import { devDir, manifest, projectDir } from './paths.mjs';
import { main } from './processes/main.mjs';
import { say } from './report/step.mjs';

await main(async () => {
	await installProject();
	const { analyzePackage, SOURCE_FILE_PATTERNS } = await import(await installScanner());
	await buildPackage();
	const { tarball } = await packPackage();
	// Below node_modules, where the project's own lint does not look.
	const unpacked = join(devDir, 'packed', 'node_modules', manifest.name);
	await unpackPackage(tarball, unpacked);

	const findings = [
		{ what: 'the sources', ...(await analyzePackage(projectDir, SOURCE_FILE_PATTERNS)) },
		{ what: 'the packed package', ...(await analyzePackage(unpacked, ['**/*.js', 'package.json'])) },
	];
	for (const { what, passed, message, details } of findings) {
		say(`${passed ? '✓' : '✗'} ${what}${passed ? '' : `: ${[message, details].filter(Boolean).join('\n')}`}`);
	}
	return findings.every(({ passed }) => passed) ? 0 : 1;
});
