/** What must be undone before the process ends (children stopped, folders removed), however it ends. */

/** @type {Set<() => Promise<unknown> | unknown>} */
const cleanups = new Set();

/**
 * @param {() => Promise<unknown> | unknown} cleanup
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
