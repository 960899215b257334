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
	let waiting = waitingFor.get(signal);
	if (waiting === undefined) {
		const wakers = new Set<() => void>();
		signal.addEventListener('abort', () => wakers.forEach((wakeOne) => wakeOne()), { once: true });
		waitingFor.set(signal, wakers);
		waiting = wakers;
	}
	waiting.add(wake);
	return () => waiting.delete(wake);
}

const waitingFor = new WeakMap<AbortSignal, Set<() => void>>();
