import { TOO_LARGE, type AnswerText, type InlineFiles } from './types';

/**
 * The largest answer that is read, in bytes. A record with a small picture in it has a few MB, everything else far
 * less.
 */
const LARGEST_ANSWER_BYTES = 8 * 1024 * 1024;
/** The largest answer that holds whole files: three pictures of 4K as PNG, in base64. */
const LARGEST_INLINE_BYTES = 128 * 1024 * 1024;
/** The beginning of a file in JSON. */
const FILE_IN_JSON = /"b64_json"\s*:\s*"|"data:[\w.+-]+\/[\w.+-]+;base64,/;
/**
 * The most values of an answer that are read. Each takes memory of its own once it is parsed: 8 MB of empty lists would
 * take 150 MB.
 */
const MOST_VALUES_IN_ANSWER = 300_000;

/** The limits beyond which an answer is cut off. */
export function answerLimits(inline: InlineFiles | undefined, text: string): { megabytes: number; values: string } {
	const isLarge = inline === 'asked' || (inline === 'possible' && FILE_IN_JSON.test(text));
	const megabytes = (isLarge ? LARGEST_INLINE_BYTES : LARGEST_ANSWER_BYTES) / 2 ** 20;
	return { megabytes, values: MOST_VALUES_IN_ANSWER.toLocaleString('en') };
}

/**
 * Reads the body of an answer as text, and never more than memory can take. JSON is UTF-8, whatever the headers say;
 * bytes that are no UTF-8 become replacement characters.
 *
 * @param toCode names the reason why the stream ended too early; the text until then is kept, because it may hold an ID
 */
export async function readAnswer(
	stream: AsyncIterable<Uint8Array>,
	toCode: (thrown: unknown) => string,
	inline?: InlineFiles,
): Promise<AnswerText> {
	const decoder = new TextDecoder();
	let text = '';
	let left = inline === 'asked' ? LARGEST_INLINE_BYTES : LARGEST_ANSWER_BYTES;
	let mayGrow = inline === 'possible';
	try {
		// Leaving the loop ends the stream, and with it the connection.
		for await (const chunk of stream) {
			if (chunk.length > left && mayGrow) {
				mayGrow = false;
				if (FILE_IN_JSON.test(text)) left += LARGEST_INLINE_BYTES - LARGEST_ANSWER_BYTES;
			}
			text += decoder.decode(chunk.subarray(0, left), { stream: true });
			left -= chunk.length;
			if (left < 0) return { text, cutOff: TOO_LARGE };
		}
	} catch (thrown) {
		return { text, cutOff: toCode(thrown) };
	}
	text += decoder.decode();
	const end = endOfValues(text);
	return end === undefined ? { text } : { text: text.slice(0, end), cutOff: TOO_LARGE };
}

/**
 * The index at which the text has more values than are read, counted by what separates them; undefined when it has
 * fewer.
 */
function endOfValues(text: string): number | undefined {
	let values = 0;
	for (const { index } of text.matchAll(/[,[{]/g)) if (++values > MOST_VALUES_IN_ANSWER) return index;
	return undefined;
}
