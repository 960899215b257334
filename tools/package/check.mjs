/** The files of the packed package. */
import { join, relative } from 'node:path';
import { manifest, projectDir } from '../paths.mjs';
import { ToolError } from '../report/step.mjs';
import { filesIn } from './build.mjs';
import { packPackage } from './pack.mjs';

/** n8n needs these and nothing else: no sources, types, source maps, tests, sandbox, documentation pictures. */
const allowed = [
	/^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/,
	/^dist\/(core|credentials|nodes)\/([\w.-]+\/)*[\w.-]+\.js$/,
	/^dist\/nodes\/([\w.-]+\/)*[\w-]+\.node\.json$/,
	/^dist\/nodes\/[\w-]+\/__schema__\/v[\d.]+\/[\w/-]+\.json$/,
	/^dist\/package\.json$/,
	/^dist\/icons\/[\w.-]+\.svg$/,
];

/** Throws what is wrong with it. */
export async function checkPackage() {
	const { files } = await packPackage();
	const complaints = [
		...files
			.filter((file) => !allowed.some((rule) => rule.test(file)))
			.map((file) => `${file} does not belong in the package (see the rules in tools/package/check.mjs)`),
		...requiredFiles()
			.filter((file) => !files.includes(file))
			.map((file) => `${file} is missing in the package`),
	];
	if (complaints.length > 0) throw new ToolError(complaints.join('\n'));
}

/**
 * The files that people and n8n look for: the texts, the nodes and credentials that package.json promises, and their
 * output schemas.
 */
function requiredFiles() {
	const schemas = filesIn(join(projectDir, 'nodes'))
		.filter((file) => file.includes('__schema__'))
		.map((file) => `dist/${relative(projectDir, file).replaceAll('\\', '/')}`);
	return ['README.md', 'LICENSE', ...manifest.n8n.nodes, ...manifest.n8n.credentials, ...schemas];
}
