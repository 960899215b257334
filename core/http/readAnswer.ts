import type { Clock } from '../clock';
import { answersUnderWay } from '../processMemory';
import { NO_ROOM, TOO_LARGE, type AnswerText } from './types';

/**
 * The largest answer that is read, in bytes: a record in which a picture of 3 MB stands as base64. n8n has one thread:
 * each further megabyte of a text would hold it for some more milliseconds, and that several times.
 */
const LARGEST_ANSWER_BYTES = 4 * 2 ** 20;
/** The most characters beside long texts that are read: short values take many times longer than a long text. */
const MOST_BESIDE_LONG_TEXTS = 2 ** 20;
/** Characters without a sign of JSON in them, from which on they are a long text. */
const LONG_TEXT = 4096;
/** The beginning of a value, a name or an escaped character, or a part of a long number: each takes time and memory of its own. */
const SIGN = /[,[{"\\]|\d{16}/g;
/** The most of these signs that are read: an entry of an object has three to five. 8 MB of empty lists would take 150 MB. */
const MOST_SIGNS = 50_000;
/** About as many values: a URL in a list has three signs, an entry of an object four or five, a number one. */
const MOST_VALUES = 15_000;

/** The limits beyond which an answer is cut off, as the user reads them. */
export const ANSWER_LIMITS = {
	megabytes: MOST_BESIDE_LONG_TEXTS / 2 ** 20,
	megabytesWithFiles: LARGEST_ANSWER_BYTES / 2 ** 20,
	values: MOST_VALUES.toLocaleString('en'),
};

/** Bytes from which on each step with an answer may take milliseconds, and from which on it needs room. */
const LARGE_ANSWER = 2 ** 16;
/** The most bytes that all large answers together may have while they are read: thousands of polls may be under way. */
export const MOST_UNDER_WAY = 64 * 2 ** 20;

/** Takes a break after one step with a large answer: n8n has one thread, and all steps in a row would hold it too long. */
export async function breakAfter({ text }: AnswerText, { sleep }: Clock): Promise<void> {
	if (text.length > LARGE_ANSWER) await sleep(1);
}

/**
 * Reads the body of an answer as text, and never more than n8n can take. It is UTF-8, whatever the headers say.
 *
 * @param toCode names the reason why the stream ended too early; the text until then is kept, because it may hold an ID
 */
export async function readAnswer(
	stream: AsyncIterable<Uint8Array>,
	toCode: (thrown: unknown) => string,
): Promise<AnswerText> {
	const decoder = new TextDecoder();
	let text = '';
	let left = LARGEST_ANSWER_BYTES;
	let room = 0;
	let cutOff: string | undefined;
	try {
		// Leaving the loop ends the stream, and with it the connection.
		for await (const chunk of stream) {
			text += decoder.decode(chunk.subarray(0, left), { stream: true });
			left -= chunk.length;
			const needed = Math.max(0, LARGEST_ANSWER_BYTES - left - LARGE_ANSWER);
			answersUnderWay.bytes += needed - room;
			room = needed;
			if (left < 0) cutOff = TOO_LARGE;
			else if (room > 0 && answersUnderWay.bytes > MOST_UNDER_WAY) cutOff = NO_ROOM;
			if (cutOff !== undefined) break;
		}
		if (cutOff === undefined) text += decoder.decode();
	} catch (thrown) {
		cutOff = toCode(thrown);
	} finally {
		answersUnderWay.bytes -= room;
	}
	const end = endOfReadable(text);
	if (end !== undefined) return { text: text.slice(0, end), cutOff: TOO_LARGE };
	return cutOff === undefined ? { text } : { text, cutOff };
}

/** The index up to which a text is not too large to be parsed; undefined where all of it is not. */
function endOfReadable(text: string): number | undefined {
	const sign = new RegExp(SIGN);
	let [signs, short] = [0, 0];
	for (let from = 0; sign.test(text); from = sign.lastIndex) {
		const length = sign.lastIndex - from;
		if (length < LONG_TEXT) short += length;
		if (++signs > MOST_SIGNS || short > MOST_BESIDE_LONG_TEXTS) return from;
	}
	return undefined;
}
