/** How values become texts. */

/** A number or a switch that an expression gives is a text, too; undefined for what is none. */
export function asText(value: unknown): string | undefined {
	if (typeof value === 'string') return value;
	return typeof value === 'boolean' || typeof value === 'bigint' || Number.isFinite(value) ? String(value) : undefined;
}

/** Short, and in quotes when it is text. */
export function show(value: unknown): string {
	if (typeof value === 'number') return String(value);
	const text = typeof value === 'string' ? `"${value}"` : (JSON.stringify(value) ?? String(value));
	return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

export function shorten(text: string, length = 500): string {
	return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** "25 s", "1 min 30 s", "10 min". */
export function formatDuration(ms: number): string {
	if (ms < 60_000) return `${Math.round(ms / 100) / 10} s`;
	const minutes = Math.floor(ms / 60_000);
	const seconds = Math.round((ms % 60_000) / 1000);
	return seconds === 0 ? `${minutes} min` : `${minutes} min ${seconds} s`;
}
