import { imageTypeOf } from '../../core/models/imageType';

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));

test.each([
	['image/png', 'png', '89504e470d0a1a0a'],
	['image/jpeg', 'jpg', 'ffd8ffe1'],
	['image/gif', 'gif', '474946383761'],
	['image/gif', 'gif', '474946383961ff'],
	['image/webp', 'webp', '52494646aabbccdd57454250'],
])('a file of the type %s (.%s) begins with %s', (mimeType, extension, hex) => {
	expect(imageTypeOf(bytes(hex))).toEqual({ mimeType, extension });
});

test.each([
	'',
	'89',
	'89504e47',
	'00ffd8ff',
	'474946383861',
	'00474946383761',
	'52494646aabbccdd57415645',
	'25504446',
	'0889504e470d0a1a0a',
])('no known type of image begins with "%s"', (hex) => {
	expect(imageTypeOf(bytes(hex))).toBeUndefined();
});
