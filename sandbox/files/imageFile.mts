import { createHash } from 'node:crypto';
import { crc32, deflate } from 'node:zlib';
import { promisify } from 'node:util';

/**
 * Makes real PNG files of an exact pixel size, quickly even at 3840x2160: one palette byte per
 * pixel, a cyclic palette, and rows that differ from the row above by one constant. Filtered that
 * way the data is long runs of one byte, so deflate (in zlib's own threads) takes milliseconds.
 */

const deflateAsync = promisify(deflate);
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const FILTER_SUB = 1;
const FILTER_UP = 2;
const MAX_CACHED = 64;

const cache = new Map<string, Promise<Buffer>>();

/**
 * A diagonal gradient whose two colours come from `seed`: the same seed gives the same bytes,
 * another seed gives another file.
 */
export function imageFile(width: number, height: number, seed: string): Promise<Buffer> {
	const key = `${width}x${height}:${seed}`;
	const known = cache.get(key);
	if (known) return known;
	if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value ?? '');
	const made = makeImage(width, height, seed);
	cache.set(key, made);
	return made;
}

async function makeImage(width: number, height: number, seed: string): Promise<Buffer> {
	const header = Buffer.alloc(13);
	header.writeUInt32BE(width, 0);
	header.writeUInt32BE(height, 4);
	header.set([8, 3, 0, 0, 0], 8); // 8 bits per pixel, palette, no interlace
	const pixels = await deflateAsync(filteredRows(width, height), { level: 1 });
	return Buffer.concat([
		SIGNATURE,
		chunk('IHDR', header),
		chunk('PLTE', palette(seed)),
		chunk('IDAT', pixels),
		chunk('IEND', Buffer.alloc(0)),
	]);
}

/** The palette index grows by one every few pixels to the right and every few rows down. */
function filteredRows(width: number, height: number): Buffer {
	const rowLength = width + 1;
	const rows = Buffer.alloc(rowLength * height);
	const pixelsPerStep = Math.max(1, Math.round(width / 160));
	const rowsPerStep = Math.max(1, Math.round(height / 96));
	rows[0] = FILTER_SUB;
	for (let x = pixelsPerStep; x < width; x += pixelsPerStep) rows[x + 1] = 1;
	for (let y = 1; y < height; y += 1) {
		const start = y * rowLength;
		rows[start] = FILTER_UP;
		if (y % rowsPerStep === 0) rows.fill(1, start + 1, start + rowLength);
	}
	return rows;
}

/** From the first colour to the second and back, so that an index may wrap around unseen. */
function palette(seed: string): Buffer {
	const hash = createHash('sha256').update(seed).digest();
	const colours = Buffer.alloc(256 * 3);
	for (let i = 0; i < 256; i += 1) {
		const mix = (1 - Math.cos((i / 256) * 2 * Math.PI)) / 2;
		for (let channel = 0; channel < 3; channel += 1) {
			const from = hash.readUInt8(channel);
			const to = hash.readUInt8(channel + 3);
			colours[i * 3 + channel] = Math.round(from + (to - from) * mix);
		}
	}
	return colours;
}

function chunk(type: string, data: Buffer): Buffer {
	const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
	const framed = Buffer.alloc(named.length + 8);
	framed.writeUInt32BE(data.length, 0);
	named.copy(framed, 4);
	framed.writeUInt32BE(crc32(named), named.length + 4);
	return framed;
}
