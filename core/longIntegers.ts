/**
 * `JSON.parse` rounds whole numbers of 16 and more digits: 9223372036854775807 becomes 9223372036854775808, which is
 * written as 9223372036854776000. An ID that was rounded names something else, or nothing.
 */
const LONG = /\d{16}/;
const LONG_INTEGER = /^-?\d{16,}$/;
const STRING_OR_NUMBER = /"|-?\d[\d.eE+-]*/g;

/** The same JSON with each whole number that would be rounded as a text. */
export function withLongIntegersAsText(json: string): string {
	if (!LONG.test(json)) return json;
	const parts: string[] = [];
	let takenTo = 0;
	for (const { number, index } of numbersIn(json)) {
		if (!isRounded(number)) continue;
		parts.push(json.slice(takenTo, index), `"${number}"`);
		takenTo = index + number.length;
	}
	return parts.join('') + json.slice(takenTo);
}

/** The first number in a JSON text that would not arrive as it is written. */
export function firstChangedNumber(json: string): string | undefined {
	for (const { number } of numbersIn(json)) {
		if (isRounded(number) || !Number.isFinite(Number(number))) return number;
	}
	return undefined;
}

/** True for a number that JSON cannot write, or that was most likely rounded before it came here. */
export function isInexact(value: unknown): boolean {
	if (typeof value === 'bigint') return true;
	return (
		typeof value === 'number' && (Number.isInteger(value) ? !Number.isSafeInteger(value) : !Number.isFinite(value))
	);
}

function isRounded(number: string): boolean {
	return LONG_INTEGER.test(number) && !Number.isSafeInteger(Number(number));
}

/** The numbers outside of strings. */
function* numbersIn(json: string): Generator<{ number: string; index: number }> {
	const next = new RegExp(STRING_OR_NUMBER);
	for (let found = next.exec(json); found !== null; found = next.exec(json)) {
		if (found[0] === '"') next.lastIndex = endOfText(json, found.index + 1);
		else yield { number: found[0], index: found.index };
	}
}

/** The index behind the quote that ends a string. */
function endOfText(json: string, from: number): number {
	for (let quote = json.indexOf('"', from); quote !== -1; quote = json.indexOf('"', quote + 1)) {
		let escapes = 0;
		while (json[quote - 1 - escapes] === '\\') escapes++;
		if (escapes % 2 === 0) return quote + 1;
	}
	return json.length;
}
