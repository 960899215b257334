/** `npm run docs`: writes the tables of the pages in docs/nodes. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { withBlocks } from './docs/blocks.mts';

export default async function docs() {
	const folder = new URL('../docs/nodes/', import.meta.url);
	for (const name of readdirSync(folder)) {
		const page = new URL(name, folder);
		const text = readFileSync(page, 'utf8');
		const renewed = withBlocks(text);
		writeFileSync(page, renewed);
		console.log(`docs/nodes/${name}: ${text === renewed ? 'fresh' : 'tables written'}`);
	}
}
