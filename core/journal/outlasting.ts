import type { Clock } from '../clock';

/** A database that is restarted is back within a minute. */
export const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000];

/**
 * Tries again while n8n's database may be away: what cannot be written there is not submitted, and an item that was not
 * submitted needs a person. Rejects with the last reason.
 */
export async function outlasting<T>(clock: Pick<Clock, 'sleep'>, write: () => Promise<T>): Promise<T> {
	for (const pauseMs of PAUSES_MS) {
		try {
			return await write();
		} catch {
			await clock.sleep(pauseMs);
		}
	}
	return await write();
}
