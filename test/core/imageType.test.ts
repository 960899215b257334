import { imageTypeOf } from '../../core/models/imageType';

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));

test.each([
	['image/png', '89504e470d0a1a0a'],
	['image/jpeg', 'ffd8ffe1'],
	['image/gif', '474946383761'],
	['image/gif', '474946383961ff'],
	['image/webp', '52494646aabbccdd57454250'],
])('a file of the type %s begins with %s', (mimeType, hex) => {
	expect(imageTypeOf(bytes(hex))?.mimeType).toBe(mimeType);
});

test.each([
	'',
	'89',
	'89504e47',
	'00ffd8ff',
	'474946383861',
	'52494646aabbccdd57415645',
	'25504446',
	'0889504e470d0a1a0a',
])('no known type of image begins with "%s"', (hex) => {
	expect(imageTypeOf(bytes(hex))).toBeUndefined();
});
