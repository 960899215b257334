/** Files of the project. Its commands and its tests run in its root. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = process.cwd();

export const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The names in a folder, in order. */
export const filesIn = (folder: string): string[] => readdirSync(join(root, folder)).sort();
