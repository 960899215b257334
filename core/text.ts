/** A value as text, as an expression may give it; undefined for objects, lists and nothing. */
export function asText(value: unknown): string | undefined {
	if (typeof value === 'string') return value;
	return typeof value === 'boolean' || typeof value === 'bigint' || Number.isFinite(value) ? String(value) : undefined;
}

/** A value for a message: short, and in quotes when it is text. */
export function show(value: unknown): string {
	if (typeof value === 'number' || typeof value === 'bigint') return String(value);
	const text = typeof value === 'string' ? `"${value}"` : toJson(value);
	return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** As JSON; as any other text where JSON cannot hold it, such as an object that contains itself. */
function toJson(value: unknown): string {
	try {
		return JSON.stringify(value) ?? String(value);
	} catch {
		return String(value);
	}
}

export function shorten(text: string, length = 500): string {
	return text.length > length ? `${text.slice(0, length)}…` : text;
}

/** The same as a text of its own: a part of a long text keeps the whole of it in memory. */
export function beginningOf(text: string, length: number): string {
	return structuredClone(shorten(text, length));
}

/** They move the cursor, end the line or reverse the text. */
export const CONTROLS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu;

/** Text from outside, for a message or a line of the log. */
export function printable(text: string): string {
	return text.replace(CONTROLS, ' ');
}

/** A short view of a record, as JSON: long texts, long lists and deep values are cut. */
export function toOutline(value: unknown, length = 400): string {
	return shorten(JSON.stringify(outline(value, 4), undefined, 1).replace(/\n\s*/g, ' '), length);
}

const MOST_ENTRIES = 3;
/** More fields of an object than an outline has room for. */
export const MOST_FIELDS = 200;

function outline(value: unknown, levels: number): unknown {
	if (typeof value === 'string') return shorten(value, 80);
	if (typeof value !== 'object' || value === null) return value;
	if (levels === 0) return '…';
	if (!Array.isArray(value))
		return Object.fromEntries(
			Object.keys(value)
				.slice(0, MOST_FIELDS)
				.map((name) => [name, outline((value as Record<string, unknown>)[name], levels - 1)]),
		);
	const entries = value.slice(0, MOST_ENTRIES).map((entry) => outline(entry, levels - 1));
	return value.length > MOST_ENTRIES ? [...entries, `… ${value.length - MOST_ENTRIES} more`] : entries;
}

/** "a, b or c". */
export function either(choices: ReadonlyArray<string | number | boolean>): string {
	return listOf(choices, 'or');
}

/** "a, b and c". */
export function listOf(entries: ReadonlyArray<string | number | boolean>, word: 'and' | 'or'): string {
	return entries.length < 2 ? entries.join() : `${entries.slice(0, -1).join(', ')} ${word} ${entries.at(-1)}`;
}

/** "25 s", "1 min 30 s", "10 min", "90 min", "24 h". */
export function formatDuration(ms: number): string {
	const tenths = Math.round(ms / 100);
	if (tenths < 600) return `${tenths / 10} s`;
	const seconds = Math.round(ms / 1000);
	if (seconds % 3600 === 0) return `${seconds / 3600} h`;
	return [`${Math.floor(seconds / 60)} min`, ...(seconds % 60 === 0 ? [] : [`${seconds % 60} s`])].join(' ');
}

/** "7 s", "40 s", "9 min", "3 h", "4 days": as exact as an estimate is. */
export function roughDuration(ms: number): string {
	const seconds = Math.max(1, Math.round(ms / 1000));
	if (seconds < 10) return `${seconds} s`;
	if (seconds < 95) return `${5 * Math.round(seconds / 5)} s`;
	const minutes = Math.round(seconds / 60);
	const hours = Math.round(minutes / 60);
	if (minutes < 95) return `${minutes} min`;
	return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

/** "3, 5 to 40, 42": of numbers in ascending order. */
export function toRanges(numbers: number[]): string {
	const ranges: Array<[first: number, last: number]> = [];
	for (const number of numbers) {
		const range = ranges.at(-1);
		if (range !== undefined && range[1] === number - 1) range[1] = number;
		else ranges.push([number, number]);
	}
	return ranges
		.map(([first, last]) =>
			last === first ? `${first}` : last === first + 1 ? `${first}, ${last}` : `${first} to ${last}`,
		)
		.join(', ');
}

/** The reason why n8n did not read or write, in its own words: they may quote names that users have given, and rows. */
export function wordsOf(thrown: unknown): string {
	return printable((thrown instanceof Error ? thrown.message : String(thrown)).slice(0, 200));
}
