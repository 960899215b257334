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
	const others = Object.entries(readAll(store, verification.atMs)).filter(([token]) => token !== vendorToken);
	store[KEY] = Object.fromEntries([...others.slice(-MOST + 1), [vendorToken, verification]]);
}

export function recallVerification(store: Store, vendorToken: string, nowMs: number): RememberedVerification | undefined {
	return readAll(store, nowMs)[vendorToken];
}

function readAll(store: Store, nowMs: number): Record<string, RememberedVerification> {
	const all = isPlainObject(store[KEY]) ? store[KEY] : {};
	const fresh = Object.entries(all as Record<string, RememberedVerification>).filter(
		([, entry]) => isPlainObject(entry) && nowMs - entry.atMs < REMEMBER_FOR_MS,
	);
	return Object.fromEntries(fresh.map(([token, entry]) => [token, { ...entry }]));
}
