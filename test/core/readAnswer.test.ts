/** Reading the body of an answer: as text, and never more of it than memory can take. */
import { readAnswer } from '../../core/http/readAnswer';
import { NO_ROOM, TOO_LARGE } from '../../core/http/types';
import { answersUnderWay } from '../../core/processMemory';
import { deferred, flushPromises } from './support';

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

const read = async (...chunks: Uint8Array[]) => await readAnswer(stream(chunks), code);

test('an answer is read to its end, whatever its pieces: also where one ends in the middle of a character', async () => {
	const all = bytes('{"id":"ä€😀"}');
	const single = Array.from(all, (byte) => new Uint8Array([byte]));
	expect(await read(...single)).toEqual({ text: '{"id":"ä€😀"}' });
	expect(await read()).toEqual({ text: '' });
});

test('bytes that are no UTF-8 become replacement characters, at the end of the answer, too', async () => {
	expect(await read(new Uint8Array([97, 0xff, 98]), new Uint8Array([0xe2, 0x82]))).toEqual({
		text: 'a\ufffdb\ufffd',
	});
});

test('of a stream that breaks the text until then is kept, and the reason', async () => {
	expect(await readAnswer(stream([bytes('{"id":'), bytes('"a"')], 'ECONNRESET'), code)).toEqual({
		text: '{"id":"a"',
		cutOff: 'ECONNRESET',
	});
});

test('what is read at the same time has a bound, too: the rest of an answer beyond it is not read, and small ones are', async () => {
	const end = deferred<undefined>();
	const piece = new Uint8Array(3.9 * MB).fill(97);
	const slow = async function* () {
		yield await Promise.resolve(piece);
		await end.promise;
	};
	const all = Array.from({ length: 20 }, async () => await readAnswer(slow(), code));
	await flushPromises();
	const small = new Uint8Array(64 * 1024).fill(97);
	expect((await read(small)).cutOff).toBeUndefined();
	const { text, cutOff } = await read(bytes('{"id":"a",'), piece);
	end.resolve(undefined);
	expect([text.slice(0, 9), cutOff]).toEqual(['{"id":"a"', NO_ROOM]);
	const read16 = (await Promise.all(all)).filter((answer) => answer.cutOff === undefined);
	expect(read16).toHaveLength(16);
	expect((await read(small, small, small)).cutOff).toBeUndefined();
	expect(answersUnderWay.bytes).toBe(0);
});

describe('an answer that is too large', () => {
	const half = new Uint8Array(MB / 2).fill(97);

	test('of an answer no more than 4 MB are read, and its connection ends', async () => {
		const small = stream(Array<Uint8Array>(8).fill(half));
		const { text, cutOff } = await readAnswer(small, code);
		expect([text.length / MB, cutOff, small.seen.isLeft]).toEqual([4, undefined, false]);
		const large = stream([...Array<Uint8Array>(8).fill(half), new Uint8Array(1), new Uint8Array(1)]);
		const cut = await readAnswer(large, code);
		expect([cut.text.length / MB, cut.cutOff, large.seen.isLeft]).toEqual([4, TOO_LARGE, true]);
	});

	const row = (length: number) => `{"a":"${'b'.repeat(length)}"}`;
	test.each<[string, string, boolean]>([
		['a picture of 3 MB in base64', `{"b64_json":"${'QUJD'.repeat(MB - 10)}"}`, false],
		['texts of 1 KB each, 0.9 MB together', `[${Array(900).fill(row(1000)).join()}]`, false],
		['texts of 1 KB each, 1.1 MB together', `[${Array(1100).fill(row(1014)).join()}]`, true],
		['12,000 URLs', `[${Array(12_000).fill('"https://files.example/a.png"').join()}]`, false],
		['50,001 numbers', `[${Array(50_001).fill('1').join()}]`, true],
		['25,001 long numbers', `[${Array(25_001).fill('9007199254740993').join()}]`, true],
		['13,000 entries', `[${Array(13_000).fill('{"a":1}').join()}]`, true],
		['50,001 lists', '['.repeat(50_001), true],
		['50,000 escapes', `"${'\\n'.repeat(50_000)}"`, true],
	])('the most of what takes time: %s', async (_, text, isTooLarge) => {
		const answer = await read(bytes(text));
		expect(answer.cutOff).toBe(isTooLarge ? TOO_LARGE : undefined);
		expect(text.startsWith(answer.text)).toBe(true);
		if (!isTooLarge) expect(answer.text).toHaveLength(text.length);
	});

	test('of a broken answer that is too large the part that can be read is kept, too', async () => {
		const all = bytes(`{"id":"a","b":${'['.repeat(60_000)}`);
		const { text, cutOff } = await readAnswer(stream([all], 'ECONNRESET'), code);
		expect([text.slice(0, 9), cutOff]).toEqual(['{"id":"a"', TOO_LARGE]);
		expect(text.length).toBeLessThan(all.length);
	});
});
