import { isPlainObject, type JsonObject } from '../../core/json';
import { hashOf } from './hashOf';
import { sharing } from './run';

const KEY = 'generationGatewayFiles';

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
			const key = hashOf('task', ['file', id]);
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
