import { createHash } from 'crypto';
import type { CreatedThing } from '../../core/errors';
import { isPlainObject, type JsonObject } from '../../core/json';
import { sharing } from './nodeRun';

/**
 * The hash that tells a request from another one: of what the user has chosen (`Chosen`), and of what tells files that are still
 * to be uploaded. The order of the fields does not count: a release may show them in another one.
 */
export function hashOf(thing: CreatedThing, request: unknown): string {
	return shortHash(`${thing} ${JSON.stringify(request, withSortedKeys)}`);
}

/** 132 bits: no two texts have the same. */
export const shortHash = (text: string) => createHash('sha256').update(text).digest('base64').slice(0, 22);

function withSortedKeys(_name: string, value: unknown): unknown {
	if (!isPlainObject(value)) return value;
	return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const KEY = 'generationGatewayFiles';

/** A loop has other files in each round, and n8n stores all of them with the execution. */
const MOST_KEPT = 2_000;

/** The execution of a file in n8n's ID of it, in each storage but the database. */
const EXECUTION = /\/executions\/[^/]+\//;
/** That of a webhook has none at first: n8n renames its files when it ends or sleeps. */
const UNKNOWN_EXECUTION = '/executions/temp/';

/** The same before and after n8n has renamed the file. */
export const asBeforeRenamed = (id: string) => id.replace(EXECUTION, UNKNOWN_EXECUTION);

/**
 * The hashes of files' contents, by n8n's IDs of them: each file is read once for all items, and for all tries. A retry need not
 * have it any more, because n8n removes files with the execution that has stored them.
 *
 * @param store of the ledger
 */
export function fileHashes(store: JsonObject): (id: string, read: () => Promise<string>) => Promise<string> {
	const shared = sharing<string>();
	return async (id, read) =>
		await shared(id, async () => {
			const kept = isPlainObject(store[KEY]) ? store[KEY] : {};
			store[KEY] = kept;
			// IDs are long.
			const key = hashOf('task', ['file', asBeforeRenamed(id)]);
			const known = kept[key];
			if (typeof known === 'string') return known;
			const hash = await read();
			kept[key] = hash;
			for (const oldest of Object.keys(kept).slice(0, -MOST_KEPT)) delete kept[oldest];
			return hash;
		});
}
