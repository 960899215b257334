/** The folders of the project, and of all that the tools download and write. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectDir = dirname(dirname(fileURLToPath(import.meta.url)));

/** Everything that the tools install or write stays in this one folder; git ignores it. Deleting it is always safe. */
export const devDir = join(projectDir, '.n8n-dev');

export const lockfilesDir = join(projectDir, 'tools', 'lockfiles');
export const logsDir = join(devDir, 'logs');

/** @type {{ name: string, version: string, n8n: { nodes: string[], credentials: string[] } }} */
export const manifest = JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8'));
