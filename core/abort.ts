import { abortListeners, type AbortListener } from './processMemory';

/**
 * Calls `wake` once when the signal aborts; returns a function that forgets it. All callers of one signal share a single
 * listener: hundreds of waiting tasks would otherwise look like a leak to Node. When all have forgotten there is none:
 * Node keeps a signal of `AbortSignal.any` for ever while it has one.
 */
export function onAbort(signal: AbortSignal | undefined, wake: () => void): () => void {
	if (signal === undefined) return () => {};
	if (signal.aborted) {
		wake();
		return () => {};
	}
	const { wakes, listener } = abortListeners.get(signal) ?? listen(signal);
	wakes.add(wake);
	return () => {
		if (!wakes.delete(wake) || wakes.size > 0) return;
		signal.removeEventListener('abort', listener);
		abortListeners.delete(signal);
	};
}

function listen(signal: AbortSignal): AbortListener {
	const wakes = new Set<() => void>();
	const added = { wakes, listener: () => wakes.forEach((wake) => wake()) };
	signal.addEventListener('abort', added.listener, { once: true });
	abortListeners.set(signal, added);
	return added;
}

/** The value of a promise, or undefined when the signal aborts first. */
export async function untilAborted<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
	let forget = () => {};
	const aborted = new Promise<undefined>((resolve) => (forget = onAbort(signal, () => resolve(undefined))));
	return await Promise.race([promise, aborted]).finally(forget);
}
