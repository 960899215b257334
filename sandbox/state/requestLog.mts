/** Every request that came, so that a test can prove what was sent, where, and how fast. */

export interface LoggedRequest {
	/** Milliseconds of the sandbox's clock. */
	at: number;
	method: string;
	/** Path with query, as sent. */
	path: string;
	headers: Record<string, string | string[] | undefined>;
	/** Parsed JSON; for an upload the file's name, type and size; undefined without a body. */
	body?: unknown;
	/** Status answered; undefined while open, 0 when the connection was broken on purpose. */
	status?: number;
}

/** Older entries are dropped beyond this, so that a sandbox may run for days. */
const MAX_ENTRIES = 200_000;
const WINDOW_MS = 1_000;

export class RequestLog {
	entries: LoggedRequest[] = [];
	/** Most requests that came within any one second. */
	peakPerSecond = 0;
	private window: number[] = [];

	add(entry: LoggedRequest): LoggedRequest {
		this.entries.push(entry);
		if (this.entries.length > MAX_ENTRIES) this.entries.splice(0, MAX_ENTRIES / 10);
		while ((this.window[0] ?? Infinity) <= entry.at - WINDOW_MS) this.window.shift();
		this.window.push(entry.at);
		this.peakPerSecond = Math.max(this.peakPerSecond, this.window.length);
		return entry;
	}

	clear(): void {
		this.entries = [];
		this.window = [];
		this.peakPerSecond = 0;
	}
}
