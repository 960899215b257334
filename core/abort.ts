import { abortListeners } from './processMemory';

/**
 * Calls `wake` once when the signal aborts; returns a function that forgets it. All callers of one signal share
 * a single listener: hundreds of waiting tasks would otherwise look like a leak to Node.
 */
export function onAbort(signal: AbortSignal | undefined, wake: () => void): () => void {
	if (signal === undefined) return () => {};
	if (signal.aborted) {
		wake();
		return () => {};
	}
	let listeners = abortListeners.get(signal);
	if (listeners === undefined) {
		const added = new Set<() => void>();
		signal.addEventListener('abort', () => added.forEach((listener) => listener()), { once: true });
		abortListeners.set(signal, added);
		listeners = added;
	}
	listeners.add(wake);
	return () => listeners.delete(wake);
}

/** The value of a promise, or undefined when the signal aborts first. */
export async function untilAborted<T>(promise: Promise<T>, signal?: AbortSignal): Promise<T | undefined> {
	let forget = () => {};
	const aborted = new Promise<undefined>((resolve) => (forget = onAbort(signal, () => resolve(undefined))));
	return await Promise.race([promise, aborted]).finally(forget);
}
