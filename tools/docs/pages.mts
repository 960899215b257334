/** Lists of pages and files: the recipes of the cookbook, the versions of n8n, and llms.txt. */
import { filesIn, read } from './files.mts';

interface Workflow {
	name: string;
	nodes: Array<{ type: string; parameters?: { content?: string } }>;
}

/** The workflow files by what a reader looks for. */
const COOKBOOK: Array<[title: string, names: string[]]> = [
	['First steps', ['text-to-image', 'text-to-image-batch', 'prompt-to-image-to-video']],
	[
		'Pictures and videos',
		[
			...['pictures-from-a-sheet', 'video-every-morning', 'product-photo-to-video', 'form-to-video'],
			'result-by-result',
		],
	],
	['Orders and money', ['webhook-order', 'approval-before-buying', 'scheduled-batch', 'spending-report']],
	['When something fails', ['failed-batch-alert']],
	['Agents', ['background-chat', 'ai-agent', 'agent-budget']],
	['Avatars', ['private-avatar-to-video', 'verified-person-to-video', 'person-verification-trigger']],
];

/** Each recipe: when to use it, and what to change, as its notes say. */
export function describeExamples(): string {
	return COOKBOOK.flatMap(([title, names]) => [`## ${title}`, ...names.map(describeExample)]).join('\n\n');
}

function describeExample(fileName: string): string {
	const { name, nodes } = JSON.parse(read(`workflows/${fileName}.json`)) as Workflow;
	const notes = nodes
		.filter(({ type }) => type.endsWith('.stickyNote'))
		.map(({ parameters }) => parameters?.content ?? '');
	const [, said = '', ...more] = notes[0]?.split('\n\n') ?? [];
	const toChange = more.find((paragraph) => paragraph.startsWith('**To change:**'));
	const needs = /(?:\*\*To try it\*\*|### To try it) \(needs ([^)]*)\)/.exec(notes.join('\n'))?.[1];
	const picture = `${fileName}.png`;
	const [use = said] = /^.*?\.(?= |$)/.exec(said) ?? [];
	return [
		`### [${name}](../../workflows/${fileName}.json)`,
		`${use}${needs === undefined ? '' : ` *Needs ${needs}.*`}`,
		...(toChange === undefined ? [] : [toChange]),
		...(filesIn('docs/images').includes(picture) ? [`![Workflow](../images/${picture})`] : []),
	].join('\n\n');
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
