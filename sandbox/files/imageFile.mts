import { createHash } from 'node:crypto';
import { crc32, deflate } from 'node:zlib';
import { promisify } from 'node:util';
import { drawText } from './letters.mts';

/**
 * Makes real PNG files of an exact pixel size, quickly even at 3840x2160: one palette byte per
 * pixel, a cyclic palette, and rows that differ from the row above by one constant. Filtered that
 * way the data is long runs of one byte, so deflate (in zlib's own threads) takes milliseconds.
 * Only the rows with words are written out.
 */

const deflateAsync = promisify(deflate);
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const FILTER_NONE = 0;
const FILTER_SUB = 1;
const FILTER_UP = 2;
const MAX_CACHED = 64;
const LETTERS_PER_LINE = 22;
const MOST_LINES = 5;
/** Palette entries that the gradient does not reach: of the words, and behind them. */
const LIGHT = 255;
const DARK = 254;
const STEPS = { across: 156, down: 92 };

const cache = new Map<string, Promise<Buffer>>();

/**
 * A diagonal gradient whose two colours come from `seed`, with the words on it: the same seed gives
 * the same bytes, another seed gives another file.
 */
export function imageFile(width: number, height: number, seed: string, words = ''): Promise<Buffer> {
	const key = `${width}x${height}:${seed}`;
	const known = cache.get(key);
	if (known) return known;
	if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value ?? '');
	const made = makeImage(width, height, seed, words);
	cache.set(key, made);
	return made;
}

async function makeImage(width: number, height: number, seed: string, words: string): Promise<Buffer> {
	const header = Buffer.alloc(13);
	header.writeUInt32BE(width, 0);
	header.writeUInt32BE(height, 4);
	header.set([8, 3, 0, 0, 0], 8); // 8 bits per pixel, palette, no interlace
	const rows = filteredRows(width, height);
	writeWords(rows, width, height, words);
	return Buffer.concat([
		SIGNATURE,
		chunk('IHDR', header),
		chunk('PLTE', palette(seed)),
		chunk('IDAT', await deflateAsync(rows, { level: 1 })),
		chunk('IEND', Buffer.alloc(0)),
	]);
}

/** The palette index grows by one every few pixels to the right and every few rows down. */
function filteredRows(width: number, height: number): Buffer {
	const rowLength = width + 1;
	const rows = Buffer.alloc(rowLength * height);
	const { pixelsPerStep, rowsPerStep } = stepsOf(width, height);
	rows[0] = FILTER_SUB;
	for (let x = pixelsPerStep; x < width; x += pixelsPerStep) rows[x + 1] = 1;
	for (let y = 1; y < height; y += 1) {
		const start = y * rowLength;
		rows[start] = FILTER_UP;
		if (y % rowsPerStep === 0) rows.fill(1, start + 1, start + rowLength);
	}
	return rows;
}

/** Light letters on a dark band across the middle. */
function writeWords(rows: Buffer, width: number, height: number, words: string): void {
	const text = drawText(words, LETTERS_PER_LINE, MOST_LINES);
	const scale = Math.floor(Math.min(width / text.width, height / (text.height + 4)));
	if (text.height === 0 || scale < 1) return;
	const { pixelsPerStep, rowsPerStep } = stepsOf(width, height);
	const rowLength = width + 1;
	const band = (text.height + 2) * scale;
	const top = Math.floor((height - band) / 2);
	const left = Math.floor((width - text.width * scale) / 2);
	for (let y = 0; y < band; y += scale) {
		const row = Buffer.alloc(rowLength, DARK);
		row[0] = FILTER_NONE;
		for (let x = 0; x < text.width; x += 1) {
			const start = 1 + left + x * scale;
			if (text.isLit(x, y / scale - 1)) row.fill(LIGHT, start, start + scale);
		}
		for (let copy = 0; copy < scale; copy += 1) row.copy(rows, (top + y + copy) * rowLength);
	}
	// The row below cannot be told by the row above it.
	const start = (top + band) * rowLength;
	const down = Math.floor((top + band) / rowsPerStep);
	rows[start] = FILTER_NONE;
	for (let x = 0; x < width; x += 1) rows[start + 1 + x] = down + Math.floor(x / pixelsPerStep);
}

function stepsOf(width: number, height: number): { pixelsPerStep: number; rowsPerStep: number } {
	return {
		pixelsPerStep: Math.ceil(width / STEPS.across),
		rowsPerStep: Math.ceil(height / STEPS.down),
	};
}

/** From the first colour to the second and back, and the two of the words. */
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
	colours.fill(24, DARK * 3, DARK * 3 + 3).fill(250, LIGHT * 3, LIGHT * 3 + 3);
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
