/** `npm run docs`: writes the tables of the pages in docs/nodes, and what the messages in docs/troubleshooting.md cost. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { withBlocks } from './docs/blocks.mts';
import { withCosts } from './docs/costs.mts';

export default async function docs() {
	for (const name of readdirSync(new URL('../docs/nodes/', import.meta.url))) write(`docs/nodes/${name}`, withBlocks);
	write('docs/troubleshooting.md', withCosts);
}

function write(path: string, renew: (text: string) => string): void {
	const page = new URL(`../${path}`, import.meta.url);
	const text = readFileSync(page, 'utf8');
	const renewed = renew(text);
	writeFileSync(page, renewed);
	console.log(`${path}: ${text === renewed ? 'fresh' : 'tables written'}`);
}
