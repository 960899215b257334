/** Reading the body of an answer: as text, and never more of it than memory can take. */
import { answerLimits, readAnswer } from '../../core/http/readAnswer';
import { TOO_LARGE, type InlineFiles } from '../../core/http/types';

const MB = 1024 * 1024;
const bytes = (text: string) => new TextEncoder().encode(text);
const code = (thrown: unknown) => String(thrown);

/** A stream of these chunks, which then ends, or breaks. `isLeft` tells whether it was left before its end. */
function stream(chunks: Uint8Array[], thrown?: unknown) {
	const seen = { isLeft: false };
	const generator = (async function* () {
		let isLeft = true;
		try {
			for (const chunk of chunks) yield await Promise.resolve(chunk);
			isLeft = false;
			if (thrown !== undefined) throw thrown;
		} finally {
			seen.isLeft = isLeft;
		}
	})();
	return Object.assign(generator, { seen });
}

const read = async (chunks: Uint8Array[], inline?: InlineFiles) => await readAnswer(stream(chunks), code, inline);
/** The length of what is read, in MB, of an answer of this length after its beginning; and why not all of it is. */
async function readOf(megabytes: number, inline?: InlineFiles, start = '') {
	const piece = new Uint8Array(MB / 2).fill(97);
	const pieces = Array.from({ length: 2 * megabytes }, () => piece);
	const { text, cutOff } = await read([bytes(start), ...pieces], inline);
	return [(text.length - start.length) / MB, cutOff];
}

test('an answer is read to its end, whatever its pieces: also where one ends in the middle of a character', async () => {
	const all = bytes('{"id":"ä€😀"}');
	const single = Array.from(all, (byte) => new Uint8Array([byte]));
	expect(await read(single)).toEqual({ text: '{"id":"ä€😀"}' });
	expect(await read([])).toEqual({ text: '' });
});

test('bytes that are no UTF-8 become replacement characters, at the end of the answer, too', async () => {
	expect(await read([new Uint8Array([97, 0xff, 98]), new Uint8Array([0xe2, 0x82])])).toEqual({
		text: 'a\ufffdb\ufffd',
	});
});

test('of a stream that breaks the text until then is kept, and the reason', async () => {
	expect(await readAnswer(stream([bytes('{"id":'), bytes('"a"')], 'ECONNRESET'), code)).toEqual({
		text: '{"id":"a"',
		cutOff: 'ECONNRESET',
	});
});

describe('an answer that is too large', () => {
	test.each<[number, InlineFiles | undefined, string, number]>([
		[9, undefined, '', 8],
		[9, 'possible', '', 8],
		[129, 'asked', '', 128],
	])('of %d MB (files: %s) after %j, %d MB are read', async (megabytes, inline, start, expected) => {
		expect(await readOf(megabytes, inline, start)).toEqual([expected, TOO_LARGE]);
	});

	test.each<[number, InlineFiles | undefined, string]>([
		[8, undefined, ''],
		[8, 'possible', ''],
		[9, 'possible', '{"b64_json" : "'],
		[9, 'possible', '{"url":"data:image/svg+xml;base64,'],
		[128, 'asked', ''],
	])('an answer of %d MB (files: %s) after %j is not too large', async (megabytes, inline, start) => {
		const rest = bytes(start).length === 0 ? megabytes : megabytes - 1;
		expect(await readOf(rest, inline, start)).toEqual([rest, undefined]);
	});

	test('with a file in it, no more than 128 MB are read', async () => {
		const start = '{"b64_json":"';
		const [megabytes, cutOff] = await readOf(129, 'possible', start);
		expect(cutOff).toBe(TOO_LARGE);
		expect(megabytes).toBe(128 - start.length / MB);
	});

	test('an answer is not too large where a file begins right before the limit', async () => {
		const file = bytes('"b64_json":"');
		const before = new Uint8Array(8 * MB - file.length).fill(97);
		expect((await read([before, file, bytes('x')], 'possible')).cutOff).toBeUndefined();
		expect((await read([before, file, bytes('x')])).cutOff).toBe(TOO_LARGE);
	});

	test.each(['"b64_json":7', '"data:text;base64,', '"x":"data:/;base64,'])(
		'what only looks like a file does not make room for more: %s',
		async (start) => {
			expect((await readOf(9, 'possible', start))[1]).toBe(TOO_LARGE);
		},
	);

	test('the connection of an answer that is too large ends, and nothing more is read', async () => {
		const large = stream([new Uint8Array(8 * MB), new Uint8Array(1), new Uint8Array(1)]);
		expect((await readAnswer(large, code)).cutOff).toBe(TOO_LARGE);
		expect(large.seen.isLeft).toBe(true);
		const small = stream([new Uint8Array(8 * MB)]);
		expect((await readAnswer(small, code)).cutOff).toBeUndefined();
		expect(small.seen.isLeft).toBe(false);
	});
});

describe('the values of an answer', () => {
	const MOST = 300_000;
	test.each([',', '[', '{'])('no more than 300,000 values of an answer are read, which begin with %s', async (sign) => {
		const full = sign.repeat(MOST);
		expect(await read([bytes(full)])).toEqual({ text: full });
		expect(await read([bytes(`${full}]`)])).toEqual({ text: `${full}]` });
		expect(await read([bytes(`a${full}b${sign}c`)])).toEqual({ text: `a${full}b`, cutOff: TOO_LARGE });
	});

	test('a long text is one value of an answer', async () => {
		const text = `["${'a'.repeat(2 * MOST)}"]`;
		expect(await read([bytes(text)])).toEqual({ text });
	});
});

test('the limits of an answer are those that it was read by', () => {
	const values = '300,000';
	expect(answerLimits(undefined, '"b64_json":"')).toEqual({ megabytes: 8, values });
	expect(answerLimits('possible', '{}')).toEqual({ megabytes: 8, values });
	expect(answerLimits('possible', '{"b64_json":"')).toEqual({ megabytes: 128, values });
	expect(answerLimits('asked', '{}')).toEqual({ megabytes: 128, values });
});
