/** Lists of pages and files: the example workflows, the versions of n8n, and llms.txt. */
import { filesIn, read } from './files.mts';

interface Workflow {
	name: string;
	nodes: Array<{ type: string; parameters?: { content?: string } }>;
}

/** The name of each example, and the first sentence of its first note. */
export function describeExamples(): string {
	const pictures = new Set(filesIn('docs/images'));
	return filesIn('workflows')
		.map((file) => {
			const { name, nodes } = JSON.parse(read(`workflows/${file}`)) as Workflow;
			const notes = nodes
				.filter(({ type }) => type.endsWith('.stickyNote'))
				.map(({ parameters }) => parameters?.content ?? '');
			const [, said = ''] = notes[0]?.split('\n\n') ?? [];
			const needs = /(?:\*\*To try it\*\*|### To try it) \(needs ([^)]*)\)/.exec(notes.join('\n'))?.[1];
			const link = `[${file}](../../workflows/${file})${needs === undefined ? '' : ` · needs ${needs}`}`;
			const image = file.replace(/json$/, 'png');
			const picture = pictures.has(image) ? [`![${name}](../images/${image})`] : [];
			return [`### ${name}`, firstSentence(said), link, ...picture].join('\n\n');
		})
		.join('\n\n');
}

function firstSentence(text: string): string {
	const [sentence = ''] = /^.*?[.:](?= |$)/.exec(text) ?? [text];
	return sentence.replace(/:$/, '.');
}

/** The versions of n8n that have a lockfile, which the tests of versions run in. */
export function describeVersions(): string {
	const versions = filesIn('tools/lockfiles').flatMap((name) => /^n8n-(.+)$/.exec(name)?.[1] ?? []);
	versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
	const newest = versions.pop() ?? '';
	return `Tested in n8n ${versions.join(', ')} and ${newest}; all other suites run in ${newest}.`;
}

const SECTIONS: Array<[title: string, folder: string]> = [
	['Start', 'docs/start'],
	['Guides', 'docs/guides'],
	['Reference', 'docs/reference'],
	['Evidence', 'docs/evidence'],
	['Specification of the gateway', 'docs/service'],
];

/** The text of docs/llms.txt: each page with its title and its first sentence. */
export function describePages(): string {
	const { description } = JSON.parse(read('package.json')) as { description: string };
	const sections = SECTIONS.map(([title, folder]) => {
		const names = filesIn(folder).filter((name) => name.endsWith('.md'));
		return [title, names.map((name) => `${folder}/${name}`)] as const;
	});
	const more = ['docs/help.md', 'docs/versions.md', 'SECURITY.md', 'CONTRIBUTING.md'];
	return [
		'# n8n-nodes-generation-gateway',
		`> ${description}`,
		...[['Read first', ['README.md', ...more]] as const, ...sections].map(
			([title, paths]) => `## ${title}\n\n${paths.map(toLine).join('\n')}`,
		),
	]
		.join('\n\n')
		.concat('\n');
}

function toLine(path: string): string {
	const [, title = path, rest = ''] = /^# (.+)\n+([^]*)/.exec(read(path)) ?? [];
	const [first = ''] = rest.split('\n').filter((line) => /^[A-Z*`]/.test(line));
	const plain = firstSentence(first)
		.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
		.replace(/[*`]/g, '');
	return `- [${title}](${path.startsWith('docs/') ? path.slice('docs/'.length) : `../${path}`}): ${plain}`;
}
