/** The workflows that we give to n8n, as it stores them: `subWorkflows.json`, by what they do. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export const storedSubWorkflows = JSON.parse(readFileSync(resolve(__dirname, 'subWorkflows.json'), 'utf8')) as Record<
	string,
	unknown
>;
