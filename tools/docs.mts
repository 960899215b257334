/** `npm run docs`: writes the model tables of the README. */
import { readFileSync, writeFileSync } from 'node:fs';
import { withModelTables } from './docs/modelTables.mts';

const readme = new URL('../README.md', import.meta.url);
writeFileSync(readme, withModelTables(readFileSync(readme, 'utf8')));
console.log('README.md: model tables written.');
