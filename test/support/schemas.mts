/** The output schemas of the nodes, and what an output item is in their terms. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Schema {
	type: string;
	properties?: Record<string, Schema>;
	items?: Schema;
	version?: number;
}

const nodesDir = join(__dirname, '..', '..', 'nodes');

/** The place where n8n looks for the schema of an operation: beside the node, for version 1 of it. */
const schemasOf = (node: string) => join(nodesDir, node, '__schema__', 'v1.0.0');

/** @param operation with its resource: "asset/get" */
export function readSchema(node: string, operation: string): Schema {
	return JSON.parse(readFileSync(join(schemasOf(node), `${operation}.json`), 'utf8')) as Schema;
}

/** The operations of a node that have a schema, in alphabetical order. */
export function operationsWithSchema(node: string): string[] {
	return readdirSync(schemasOf(node), { recursive: true, encoding: 'utf8' })
		.filter((file) => file.endsWith('.json'))
		.map((file) => file.replaceAll('\\', '/').replace(/\.json$/, ''))
		.sort();
}

/** @param schema decides between integer and number only: 3 may be either */
export function toSchema(value: unknown, schema: Schema | undefined): Schema {
	if (value === null) return { type: 'null' };
	if (Array.isArray(value)) return { type: 'array', items: toSchema(value[0], schema?.items) };
	if (typeof value === 'object') {
		const entries = Object.entries(value).map(
			([name, inner]) => [name, toSchema(inner, schema?.properties?.[name])] as const,
		);
		return { type: 'object', properties: Object.fromEntries(entries) };
	}
	if (typeof value !== 'number') return { type: typeof value };
	return { type: Number.isInteger(value) && schema?.type !== 'number' ? 'integer' : 'number' };
}
