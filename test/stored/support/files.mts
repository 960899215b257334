/** The files below `data`: what versions of the package have stored. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const DATA = join(__dirname, '..', 'data');

/** The names of all files, from `data` on. */
export const FILES = readdirSync(DATA, { recursive: true })
	.map(String)
	.filter((name) => name.endsWith('.json'))
	.sort();

export const readStored = (name: string): unknown => JSON.parse(readFileSync(join(DATA, name), 'utf8'));

export const sumOf = (name: string) =>
	createHash('sha256')
		.update(readFileSync(join(DATA, name)))
		.digest('hex')
		.slice(0, 16);

export const readSums = (): unknown => JSON.parse(readFileSync(join(DATA, '..', 'sums.json'), 'utf8'));
