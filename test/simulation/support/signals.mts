/**
 * Signals that do what the product, n8n and the model ask of them, and no more. Node's own make an event, an error with
 * its stack and entries for the garbage collector of each: a fifth of the time of a simulation.
 */
type Listener = () => void;

export class FakeSignal {
	aborted = false;

	private listeners: Set<Listener> | undefined;

	addEventListener(_type: 'abort', listener: Listener): void {
		(this.listeners ??= new Set()).add(listener);
	}

	removeEventListener(_type: 'abort', listener: Listener): void {
		this.listeners?.delete(listener);
	}

	static any(signals: FakeSignal[]): FakeSignal {
		const own = new FakeSignal();
		for (const signal of signals) {
			if (signal.aborted) own.abort();
			else signal.addEventListener('abort', () => own.abort());
		}
		return own;
	}

	abort(): void {
		if (this.aborted) return;
		this.aborted = true;
		this.listeners?.forEach((listener) => listener());
	}
}

export class FakeAbortController {
	readonly signal = new FakeSignal();

	abort(): void {
		this.signal.abort();
	}
}
