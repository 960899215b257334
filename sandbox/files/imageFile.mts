import { crc32, deflate } from 'node:zlib';
import { promisify } from 'node:util';
import { drawScene } from './scene.mts';

/** Real PNG files of an exact pixel size; they are packed in zlib's own threads. */

const deflateAsync = promisify(deflate);
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const MAX_CACHED = 64;

interface Size {
	width: number;
	height: number;
}

const cache = new Map<string, Promise<Buffer>>();

/** The scene of the words, with a caption: the same seed gives the same bytes, another seed gives another file. */
export function imageFile(size: Size, seed: string, words = ''): Promise<Buffer> {
	const key = `${size.width}x${size.height}:${seed}`;
	const known = cache.get(key);
	if (known) return known;
	if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value ?? '');
	const made = makeImage(size, seed, words);
	cache.set(key, made);
	return made;
}

async function makeImage(size: Size, seed: string, words: string): Promise<Buffer> {
	const { width, height } = size;
	const { pixels } = await drawScene(size, seed, words);
	const header = Buffer.alloc(13);
	header.writeUInt32BE(width, 0);
	header.writeUInt32BE(height, 4);
	header.set([8, 6, 0, 0, 0], 8); // 8 bits each of red, green, blue and opacity, no interlace
	const rowBytes = width * 4;
	const rows = Buffer.alloc((rowBytes + 1) * height); // each begins with 0: no filter
	for (let y = 0; y < height; y += 1)
		rows.set(pixels.subarray(y * rowBytes, (y + 1) * rowBytes), y * (rowBytes + 1) + 1);
	return Buffer.concat([
		SIGNATURE,
		chunk('IHDR', header),
		chunk('IDAT', await deflateAsync(rows, { level: 1 })),
		chunk('IEND', Buffer.alloc(0)),
	]);
}

function chunk(type: string, data: Buffer): Buffer {
	const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
	const framed = Buffer.alloc(named.length + 8);
	framed.writeUInt32BE(data.length, 0);
	named.copy(framed, 4);
	framed.writeUInt32BE(crc32(named), named.length + 4);
	return framed;
}
