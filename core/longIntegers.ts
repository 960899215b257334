/**
 * `JSON.parse` rounds whole numbers of 16 and more digits: 9223372036854775807 becomes 9223372036854775808, which is
 * written as 9223372036854776000. An ID that was rounded names something else, or nothing.
 */
const LONG = /\d{16}/;
const LONG_INTEGER = /^-?\d{16,}$/;
/** A quote, an escaped character, or a whole number that is long. Other numbers take time, and a picture in base64 has many. */
const QUOTE_OR_LONG = /"|\\[^]|(?<![\d.eE+-])-?\d{16,}(?![\d.eE+-])/g;
/** A quote, an escaped character, or a number. */
const QUOTE_OR_NUMBER = /"|\\[^]|-?\d[\d.eE+-]*/g;

/** The same JSON with each whole number that would be rounded as a text. */
export function withLongIntegersAsText(json: string): string {
	if (!LONG.test(json)) return json;
	let isInText = false;
	return json.replace(QUOTE_OR_LONG, (found) => {
		if (found === '"') isInText = !isInText;
		return isInText || !isRounded(found) ? found : `"${found}"`;
	});
}

/** The first number in a JSON text that would not arrive as it is written. */
export function firstChangedNumber(json: string): string | undefined {
	let isInText = false;
	for (const [found] of json.matchAll(QUOTE_OR_NUMBER)) {
		if (found === '"') isInText = !isInText;
		else if (!isInText && (isRounded(found) || !Number.isFinite(Number(found)))) return found;
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
