import { filesOf, loadPackage, readProjectFile } from '../support/sources.mts';

/** The file that n8n's search and its Docs link read, beside each node. */
interface Codex {
	node: string;
	categories: string[];
	alias: string[];
	resources: { primaryDocumentation: Array<{ url: string }> };
}

const { name, repository, homepage } = JSON.parse(readProjectFile('package.json')) as {
	name: string;
	repository: { url: string };
	homepage: string;
};
const pages = filesOf('docs/reference');

test('every node has search words and a Docs link that leads to its page', async () => {
	const { nodes } = await loadPackage();
	const address = homepage.replace(/#.*$/, '');
	expect(repository.url).toContain(address);
	for (const { path, instance } of nodes) {
		const codex = JSON.parse(readProjectFile(path.replace(/\.ts$/, '.json'))) as Codex;
		expect(codex.node).toBe(`${name}.${instance.description.name}`);
		expect(codex.categories).not.toEqual([]);
		expect(codex.alias.length).toBeGreaterThan(2);
		const [{ url }] = codex.resources.primaryDocumentation;
		expect(pages.map((page) => `${address}/blob/HEAD/${page}`)).toContain(url);
	}
});
