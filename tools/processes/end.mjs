/** Ends what the tools have started, however they end themselves. */
import { setTimeout as pause } from 'node:timers/promises';

/** @typedef {() => Promise<unknown> | unknown} Cleanup children are stopped, folders removed */

/** @type {Set<Cleanup>} */
const cleanups = new Set();

/**
 * @param {Cleanup} cleanup
 * @returns {() => void} forgets the cleanup, for when it has been done already
 */
export function atEnd(cleanup) {
	cleanups.add(cleanup);
	return () => cleanups.delete(cleanup);
}

/** Last registered first: what was started later may need what was started earlier. */
export async function cleanUp() {
	for (const cleanup of [...cleanups].reverse()) {
		cleanups.delete(cleanup);
		await Promise.resolve()
			.then(cleanup)
			.catch(() => {}); // one that does not succeed must not keep the others from being done
	}
}

/**
 * Ends a program that was started with `detached`, and whatever it has started.
 *
 * @param {{ pid?: number, kill: (signal: 'SIGTERM') => boolean }} child
 * @param {PromiseLike<unknown>} ended
 * @param {number} graceMs
 */
export async function stopGroup(child, ended, graceMs) {
	child.kill('SIGTERM'); // only the program itself: it ends its own children in its own order
	await Promise.race([ended, pause(graceMs, undefined, { ref: false })]);
	try {
		process.kill(-Number(child.pid), 'SIGKILL'); // what is left, for example a task runner whose n8n did not wait for it
	} catch {
		// nothing was left
	}
	await ended;
}
