import jpeg from 'jpeg-js';
import { PNG } from 'pngjs';
import { drawScene } from './scene.mts';

/**
 * Short MP4 files that start with a picture and then move into it: with the one that was given, so
 * that one sees that what came out is what went in, or with the scene of the words.
 */

const FRAMES = 16;
const FRAMES_PER_SECOND = 8;
/** The share of the picture that the last frame shows. */
const LAST_SHARE = 0.7;
/** Of the encoder: from 0 (best) to 10 (quickest), and the coarseness of the picture, 10 to 51. */
const SPEED = 10;
const QUANTIZATION = 33;
const MAX_CACHED = 16;

/** Width and height in pixels, in sixteens, as the encoder needs them. */
const SIZES: Record<string, [number, number]> = {
	'16:9': [320, 176],
	'9:16': [176, 320],
	'1:1': [240, 240],
	'4:3': [288, 224],
	'3:4': [224, 288],
	'21:9': [384, 160],
};

interface Picture {
	width: number;
	height: number;
	/** RGBA. */
	data: Uint8Array;
}

const cache = new Map<string, Promise<Uint8Array>>();

/**
 * The file; undefined for a picture that is neither PNG nor JPEG.
 *
 * @param key tells the picture from others
 */
export async function videoFromImage(key: string, bytes: Buffer, aspectRatio: string): Promise<Buffer | undefined> {
	const picture = decode(bytes);
	return picture && (await cached(`${aspectRatio} ${key}`, () => encode(picture, sizeOf(aspectRatio))));
}

/** Words that differ by their numbers only, as in a batch, have the same video, since encoding takes 0.1 seconds. */
export async function videoFromWords(words: string, aspectRatio: string): Promise<Buffer> {
	const seed = words.replace(/\d+/g, '');
	return await cached(`${aspectRatio} ${seed}`, async () => {
		const size = sizeOf(aspectRatio);
		const [width, height] = size.map((pixels) => Math.ceil(pixels / LAST_SHARE));
		const { pixels: data } = await drawScene({ width, height }, seed, words, '');
		return await encode({ width, height, data }, size);
	});
}

async function cached(key: string, make: () => Promise<Uint8Array>): Promise<Buffer> {
	if (cache.size >= MAX_CACHED) cache.delete(cache.keys().next().value ?? '');
	const made = cache.get(key) ?? make();
	cache.set(key, made);
	return Buffer.from(await made);
}

function sizeOf(aspectRatio: string): [number, number] {
	return SIZES[aspectRatio] ?? [320, 176];
}

function decode(bytes: Buffer): Picture | undefined {
	try {
		return bytes.subarray(0, 2).toString('hex') === 'ffd8'
			? jpeg.decode(bytes, { useTArray: true })
			: PNG.sync.read(bytes);
	} catch {
		return undefined;
	}
}

async function encode(picture: Picture, [width, height]: [number, number]): Promise<Uint8Array> {
	// Only when needed, since it takes a moment. Native modules show it as `default`, Jest as it is.
	const loaded = await import('h264-mp4-encoder');
	const encoder = await (loaded.default ?? loaded).createH264MP4Encoder();
	Object.assign(encoder, {
		width,
		height,
		frameRate: FRAMES_PER_SECOND,
		speed: SPEED,
		quantizationParameter: QUANTIZATION,
		groupOfPictures: FRAMES,
	});
	encoder.initialize();
	for (let frame = 0; frame < FRAMES; frame += 1) {
		const share = 1 - ((1 - LAST_SHARE) * frame) / (FRAMES - 1);
		encoder.addFrameRgba(middleOf(picture, share, width, height));
	}
	encoder.finalize();
	const bytes = encoder.FS.readFile(encoder.outputFilename);
	encoder.delete();
	return bytes;
}

/** The middle of the picture, as large as fits the frame's shape. */
function middleOf(picture: Picture, share: number, width: number, height: number): Uint8Array {
	const scale = share * Math.min(picture.width / width, picture.height / height);
	const left = (picture.width - width * scale) / 2;
	const top = (picture.height - height * scale) / 2;
	const from = new Uint32Array(picture.data.buffer, picture.data.byteOffset, picture.width * picture.height);
	const frame = new Uint32Array(width * height);
	for (let y = 0; y < height; y += 1) {
		const row = Math.floor(top + (y + 0.5) * scale) * picture.width;
		for (let x = 0; x < width; x += 1) {
			frame[y * width + x] = from[row + Math.floor(left + (x + 0.5) * scale)] ?? 0;
		}
	}
	return new Uint8Array(frame.buffer);
}
