import { Readable } from 'node:stream';

const CHUNK = Buffer.alloc(64 * 1024, 'sandbox\0');
const MEGABYTE = 1_000_000;
const SLICES_PER_SECOND = 10;

/**
 * A stream of so many megabytes that never holds more than one chunk; with `bytesPerSecond` it is
 * slow, a tenth of a second at a time; it is asked for each time, so that it can change. It waits for its reader, and stops when the reader leaves.
 */
export function byteStream(
	megabytes: number,
	bytesPerSecond: () => number | undefined,
	sleep: (ms: number) => Promise<void>,
): { body: Readable; length: number } {
	const length = megabytes * MEGABYTE;
	return {
		body: Readable.from(chunks(length, bytesPerSecond, sleep), { objectMode: false }),
		length,
	};
}

/** The same pace for bytes that exist already. */
export function slowStream(bytes: Buffer, bytesPerSecond: number, sleep: (ms: number) => Promise<void>): Readable {
	return Readable.from(slices(bytes, bytesPerSecond, sleep), { objectMode: false });
}

async function* chunks(
	length: number,
	bytesPerSecond: () => number | undefined,
	sleep: (ms: number) => Promise<void>,
): AsyncGenerator<Buffer> {
	for (let left = length; left > 0; ) {
		const pace = bytesPerSecond();
		const part = CHUNK.subarray(0, Math.min(left, pace === undefined ? CHUNK.length : sliceLength(pace)));
		left -= part.length;
		yield part;
		if (pace !== undefined && left > 0) await sleep((part.length / pace) * 1_000);
	}
}

async function* slices(
	bytes: Buffer,
	bytesPerSecond: number,
	sleep: (ms: number) => Promise<void>,
): AsyncGenerator<Buffer> {
	const most = sliceLength(bytesPerSecond);
	for (let start = 0; start < bytes.length; start += most) {
		if (start > 0) await sleep((most / bytesPerSecond) * 1_000);
		yield bytes.subarray(start, start + most);
	}
}

function sliceLength(bytesPerSecond: number): number {
	return Math.max(1, Math.min(CHUNK.length, Math.floor(bytesPerSecond / SLICES_PER_SECOND)));
}
