/** The most that is read of an answer, in bytes: a record that holds a small picture has a few MB, everything else far less. */
const LARGEST_ANSWER_BYTES = 8 * 1024 * 1024;
/** The same of one that holds whole files: three pictures of 4K as PNG, in base64. */
const LARGEST_INLINE_BYTES = 128 * 1024 * 1024;
/** The text before a file in JSON. */
const FILE_IN_JSON = /"b64_json"\s*:\s*"|"data:[\w.+-]+\/[\w.+-]+;base64,/;
/** Each value takes memory of its own once it is parsed: 8 MB of empty lists would take 150 MB. */
const MOST_VALUES_IN_ANSWER = 300_000;

/** The code of an answer that is not read to its end, because there is too much of it. */
export const TOO_LARGE = 'TOO_LARGE';

/** Says if an answer holds whole files: they were asked for, or it may be so, and its beginning shows it. */
export type InlineFiles = 'asked' | 'possible';

/** Of which size an answer is cut off, in megabytes. */
export function largestMegabytes(inline: InlineFiles | undefined, text: string): number {
	const isLarge = inline === 'asked' || (inline === 'possible' && FILE_IN_JSON.test(text));
	return (isLarge ? LARGEST_INLINE_BYTES : LARGEST_ANSWER_BYTES) / 2 ** 20;
}

export interface AnswerText {
	/** Unparsed: what the service sends is not always what it should be. */
	text: string;
	/** Why the text is not the whole answer: `TOO_LARGE`, or the code of a connection that ended. */
	cutOff?: string;
}

/**
 * The body of an answer as text, and never more of it than memory can take. JSON is UTF-8, whatever the headers say of
 * its encoding; bytes that are no UTF-8 become replacement characters.
 *
 * @param toCode names what ended the stream before its time; what has come until then is kept, because it may hold an ID
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

const [COMMA, BRACKET, BRACE] = [...',[{'].map((sign) => sign.charCodeAt(0));

/** Where there are more values than are read, by what separates them. */
function endOfValues(text: string): number | undefined {
	if (text.length <= MOST_VALUES_IN_ANSWER) return undefined;
	let values = 0;
	for (let index = 0; index < text.length; index++) {
		const code = text.charCodeAt(index);
		if ((code === COMMA || code === BRACKET || code === BRACE) && ++values > MOST_VALUES_IN_ANSWER) return index;
	}
	return undefined;
}
