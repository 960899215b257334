import { isPlainObject, type JsonObject } from '../../core/json';
import { hashOf } from './hashOf';
import { sharing } from './run';

const KEY = 'generationGatewayFiles';

/** The execution of a file in n8n's ID of it, in each storage but the database. */
const EXECUTION = /\/executions\/[^/]+\//;
/** That of a webhook has none at first: n8n renames its files when it ends or sleeps. */
const UNKNOWN_EXECUTION = '/executions/temp/';

/** True for the ID of a file that is going to have another one. */
export const isToBeRenamed = (id: string) => id.includes(UNKNOWN_EXECUTION);

/** The ID that a file had while its execution ran, if that was the one of a webhook. */
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
			const kept = keptIn(store);
			// IDs are long.
			const key = hashOf('task', ['file', asBeforeRenamed(id)]);
			const known = kept[key];
			if (typeof known === 'string') return known;
			return (kept[key] = await read());
		});
}

function keptIn(store: JsonObject): JsonObject {
	const kept = store[KEY];
	if (isPlainObject(kept)) return kept;
	const empty: JsonObject = {};
	store[KEY] = empty;
	return empty;
}
