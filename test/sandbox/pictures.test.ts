import { PNG } from 'pngjs';
import type { IDataObject } from 'n8n-workflow';
import { Bench, IMAGES, VIDEOS } from './helpers';

/** Of a pixel: alpha, blue, green, red. */
const LIGHT = 0xfffafafa;

let bench: Bench;
beforeEach(() => {
	bench = new Bench();
});

async function fileOf(path: string, body: IDataObject): Promise<{ url: string; bytes: Buffer }> {
	expect((await bench.post(path, body)).json).toMatchObject({ status: 'queued' });
	bench.clockMs += 60_000;
	const { result } = (await bench.lastStatus()).json as { result: { data: Array<{ url: string }> } };
	const [{ url }] = result.data;
	return { url, bytes: (await bench.file(url)).bytes };
}

const picture = async (prompt: string, more: IDataObject = {}) =>
	await fileOf(IMAGES, { model: 'gamma-image-2', prompt, ...more });
const video = async (image_urls: string[]) => await fileOf(VIDEOS, { model: 'beta-v3', prompt: 'a walk', image_urls });

/** The area of the letters. */
function dots(bytes: Buffer): string {
	const { data } = PNG.sync.read(bytes);
	const colours = new Uint32Array(data.buffer, data.byteOffset, data.length / 4);
	const lit: number[] = [];
	for (let pixel = 0; pixel < colours.length; pixel++) if (colours[pixel] === LIGHT) lit.push(pixel);
	return lit.join(' ');
}

test('a picture shows the words of its prompt, without directives', async () => {
	const cat = dots((await picture('a cat')).bytes);
	expect(cat.length).toBeGreaterThan(1_000);
	expect(dots((await picture('a dog')).bytes)).not.toBe(cat);
	expect(dots((await picture('a cat [[sandbox progress=missing]]')).bytes)).toBe(cat);
});

test.each([
	['1:1', '1K', 1024, 1024],
	['9:21', '2K', 1152, 2688],
	['2:1', '2K', 2688, 1344],
])(
	'with a long prompt and any letters, a picture of %s in %s is a whole one',
	async (size, resolution, width, height) => {
		const { bytes } = await picture('Überraschung 🐈 '.repeat(40), { size, resolution });
		expect(PNG.sync.read(bytes)).toMatchObject({ width, height });
		expect(dots(bytes)).not.toBe('');
	},
);

test('a video starts with the picture that was given', async () => {
	const [cat, dog] = [await picture('a cat'), await picture('a dog')];
	const [withCat, withDog, again] = [await video([cat.url]), await video([dog.url]), await video([cat.url])];
	for (const { bytes } of [withCat, withDog]) expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
	expect(withCat.bytes.equals(withDog.bytes)).toBe(false);
	expect(withCat.bytes.equals(again.bytes)).toBe(true);
	const plain = await video(['https://example.com/a.png']);
	expect(plain.bytes.equals(withCat.bytes)).toBe(false);
});
