/** What the packed package may hold, and how large it may be. */
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { projectDir } from '../paths.mjs';
import { filesIn } from './build.mjs';

const largestPackageBytes = 150_000;

/** n8n needs these and nothing else: no sources, types, source maps, tests, sandbox, documentation pictures. */
const allowed = [
	/^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/,
	/^dist\/(core|credentials|nodes)\/([\w.-]+\/)*[\w.-]+\.js$/,
	/^dist\/nodes\/([\w.-]+\/)*[\w-]+\.node\.json$/,
	/^dist\/nodes\/[\w-]+\/__schema__\/v[\d.]+\/[\w/-]+\.json$/,
	/^dist\/icons\/[\w.-]+\.svg$/,
];

/**
 * @param {import('./pack.mjs').Packed} packed
 * @returns {string[]} what is wrong; empty when all is well
 */
export function complaintsAbout({ files, bytes }) {
	const complaints = files
		.filter((file) => !allowed.some((rule) => rule.test(file)))
		.map((file) => `${file} does not belong in the package (see the rules in tools/package/check.mjs)`);
	for (const file of requiredFiles()) {
		if (!files.includes(file)) complaints.push(`${file} is missing in the package`);
	}
	if (bytes > largestPackageBytes) {
		complaints.push(`the package has ${bytes} bytes; at most ${largestPackageBytes} are allowed`);
	}
	return complaints;
}

/** What people and n8n look for: the texts, the nodes and credentials that package.json promises, and their output schemas. */
function requiredFiles() {
	const { n8n } = JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8'));
	const schemas = filesIn(join(projectDir, 'nodes'))
		.filter((file) => file.includes('__schema__'))
		.map((file) => `dist/${relative(projectDir, file).replaceAll('\\', '/')}`);
	return ['README.md', 'LICENSE', ...n8n.nodes, ...n8n.credentials, ...schemas];
}
