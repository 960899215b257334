import { isPlainObject } from '../model/paths';

/**
 * Which verification a vendor token belongs to, for an hour, in n8n's static data of the workflow: the browser
 * callback brings the vendor token and no task id, and the result is looked up by both (contract 4.6, step 3).
 */
export interface RememberedVerification {
	taskId: string;
	/** Unix milliseconds. */
	atMs: number;
	/** The trigger has told that the person has passed: also after a restart it does not tell it again. */
	told?: boolean;
}

type Store = Record<string, unknown>;

const KEY = 'generationGatewayVerifications';
const REMEMBER_FOR_MS = 3_600_000;
/** A bound for the database row, far above what an hour brings. */
const MOST = 1000;

export function rememberVerification(store: Store, vendorToken: string, verification: RememberedVerification): void {
	const all = readAll(store, verification.atMs);
	all.delete(vendorToken);
	all.set(vendorToken, verification);
	store[KEY] = Object.fromEntries([...all].slice(-MOST));
}

export function recallVerification(store: Store, vendorToken: string, nowMs: number): RememberedVerification | undefined {
	return readAll(store, nowMs).get(vendorToken);
}

/** What is not older than an hour, oldest first. */
function readAll(store: Store, nowMs: number): Map<string, RememberedVerification> {
	const all = isPlainObject(store[KEY]) ? (store[KEY] as Record<string, RememberedVerification>) : {};
	const fresh = Object.entries(all).filter(([, entry]) => isPlainObject(entry) && nowMs - entry.atMs < REMEMBER_FOR_MS);
	return new Map(fresh.map(([token, entry]) => [token, { ...entry }]));
}
