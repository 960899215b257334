/**
 * `npm run scan`: the scanner that n8n runs before it verifies a community package, over the sources and over the packed
 * package. It brings its own rules and heeds no eslint-disable comments, so it can find what lint does not.
 */
import { join } from 'node:path';
import { installLockfile } from './install/npm.mjs';
import { unpackPackage } from './package/pack.mjs';
import { devDir, lockfilesDir, manifest, projectDir } from './paths.mjs';
import { say } from './report/step.mjs';

export default async function scan() {
	const folder = join(devDir, 'scanner');
	await installLockfile({ title: 'Installing n8n’s package scanner', from: join(lockfilesDir, 'scanner'), to: folder });
	const { analyzePackage, SOURCE_FILE_PATTERNS } = await import(
		join(folder, 'node_modules', '@n8n', 'scan-community-package', 'scanner', 'scanner.mjs')
	);
	// Below node_modules, where the project's own lint does not look.
	const unpacked = join(devDir, 'packed', 'node_modules', manifest.name);
	await unpackPackage(unpacked);

	const findings = [
		{ what: 'the sources', ...(await analyzePackage(projectDir, SOURCE_FILE_PATTERNS)) },
		{ what: 'the packed package', ...(await analyzePackage(unpacked, ['**/*.js', 'package.json'])) },
	];
	for (const { what, passed, message, details } of findings) {
		say(`${passed ? '✓' : '✗'} ${what}${passed ? '' : `: ${[message, details].filter(Boolean).join('\n')}`}`);
	}
	return findings.every(({ passed }) => passed) ? 0 : 1;
}
