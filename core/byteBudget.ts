/**
 * Bytes that are held in memory at the same time, by all executions of the process. A holder that would exceed the budget waits
 * until others have let go of theirs. The oldest one never waits: otherwise files that have come in part would wait for each other
 * for ever. So the most that is held is the budget and what one holder may have.
 */
export class ByteBudget {
	private bytes = 0;

	/** The oldest first. */
	private readonly holdings = new Set<Holding>();

	private readonly waiting = new Set<() => void>();

	constructor(private readonly mostBytes: number) {}

	begin(): Holding {
		return new Holding(this);
	}

	/** @internal Resolves when the bytes fit, or the signal aborts. */
	async add(holding: Holding, bytes: number, signal?: AbortSignal): Promise<void> {
		this.holdings.add(holding);
		const isOldest = () => this.holdings.values().next().value === holding;
		while (this.bytes + bytes > this.mostBytes && !isOldest() && !signal?.aborted) await this.released(signal);
		// It has let go meanwhile: nothing would give these back.
		if (this.holdings.has(holding)) this.bytes += bytes;
	}

	/** @internal */
	letGo(holding: Holding, bytes: number): void {
		if (!this.holdings.delete(holding)) return;
		this.bytes -= bytes;
		for (const wake of this.waiting) wake();
	}

	private async released(signal?: AbortSignal): Promise<void> {
		let wake = () => {};
		await new Promise<void>((resolve) => {
			wake = resolve;
			this.waiting.add(wake);
			signal?.addEventListener('abort', wake, { once: true });
		});
		this.waiting.delete(wake);
		signal?.removeEventListener('abort', wake);
	}
}

/** One that holds bytes, until it lets go of them. */
export class Holding {
	private bytes = 0;

	constructor(private readonly budget: ByteBudget) {}

	/** @param bytes all that it holds then */
	async grow(bytes: number, signal?: AbortSignal): Promise<void> {
		const more = bytes - this.bytes;
		if (more <= 0) return;
		await this.budget.add(this, more, signal);
		this.bytes = bytes;
	}

	letGo(): void {
		this.budget.letGo(this, this.bytes);
		this.bytes = 0;
	}
}
