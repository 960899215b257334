/** `npm run docs`: writes what pages hold of the code (`docs/blocks.mts`), and docs/llms.txt. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { withBlocks } from './docs/blocks.mts';
import { describePages } from './docs/pages.mts';

export default async function docs() {
	const names = readdirSync(new URL('../docs/', import.meta.url), { recursive: true, encoding: 'utf8' });
	for (const name of names.filter((each) => each.endsWith('.md'))) write(`docs/${name}`, withBlocks);
	write('docs/llms.txt', describePages);
}

function write(path: string, renew: (text: string) => string): void {
	const page = new URL(`../${path}`, import.meta.url);
	const text = readFileSync(page, 'utf8');
	const renewed = renew(text);
	if (renewed === text) return;
	writeFileSync(page, renewed);
	console.log(`${path}: written`);
}
