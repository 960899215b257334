/** The types of files: by their first bytes, by their names, and the extensions that names get. */
import { extensionOf, isMedia, isPlaylist, typeByContent, typeByName } from '../../core/mediaTypes';

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
const text = (characters: string) => new Uint8Array(Buffer.from(characters, 'latin1'));

test.each([
	['image/png', 'png', '89504e470d0a1a0a'],
	['image/jpeg', 'jpg', 'ffd8ffe1'],
	['image/gif', 'gif', '474946383761'],
	['image/gif', 'gif', '474946383961ff'],
	['image/webp', 'webp', '52494646aabbccdd57454250'],
	['image/tiff', 'tiff', '49492a0008'],
	['image/bmp', 'bmp', '424d36100000 00000000 36000000'],
	['image/jxl', 'jxl', 'ff0a'],
	['audio/mpeg', 'mp3', 'fffb9064'],
	['audio/mpeg', 'mp3', '49443304'],
	['audio/aac', 'aac', 'fff15080'],
	['video/mpeg', 'mpg', '000001ba44'],
	['application/gzip', 'gz', '1f8b08'],
])('a file of the type %s (.%s) begins with %s', (mimeType, extension, hex) => {
	expect(typeByContent(bytes(hex))).toBe(mimeType);
	expect(extensionOf(mimeType)).toBe(extension);
	expect(typeByName(`a.b.${extension.toUpperCase()}`)).toBe(mimeType);
});

test.each([
	['image/avif', '\0\0\0\x1cftypavif\0\0\0\0'],
	['image/avif', '\0\0\0\x1cftypmif1\0\0\0\0mif1miafavif'],
	['image/heic', '\0\0\0\x18ftypheic\0\0\0\0mif1heic'],
	['image/heic', '\0\0\0\x18ftypmif1\0\0\0\0mif1heic'],
	['audio/mp4', '\0\0\0\x20ftypM4A \0\0\0\0'],
	['video/mp4', '\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41'],
	['video/mp4', '\0\0\0\x18ftypmp42\0\0\0\0'],
	['video/quicktime', '\0\0\0\x14ftypqt  \0\0\0\0'],
	['video/quicktime', '\0\0\x01\x00moov'],
	['video/webm', '\x1aE\xdf\xa3\x9fB\x86\x81\x01B\xf7\x81\x01B\x82\x84webm'],
	['video/x-matroska', '\x1aE\xdf\xa3\xa3B\x86\x81\x01B\x82\x88matroska'],
	['video/x-msvideo', 'RIFF....AVI LIST'],
	['video/mp2t', `G${'.'.repeat(187)}G`],
	['video/ogg', `OggS${'.'.repeat(24)}\x80theora`],
	['audio/ogg', `OggS${'.'.repeat(24)}OpusHead`],
	['audio/wav', 'RIFF....WAVEfmt '],
	['audio/flac', 'fLaC\0'],
	['image/svg+xml', '<?xml version="1.0"?>\n<svg xmlns="x">'],
	['image/svg+xml', '\xef\xbb\xbf <svg>'],
	['application/zip', 'PK\x03\x04'],
	['application/pdf', '%PDF-1.7'],
	['application/vnd.apple.mpegurl', '#EXTM3U\n#EXT-X-VERSION:3'],
	['application/vnd.apple.mpegurl', '\xef\xbb\xbf#EXTM3U'],
	['application/dash+xml', '<?xml version="1.0"?><MPD xmlns="x">'],
	['application/xml', '<?xml version="1.0"?><Error>'],
	...[
		...['<Error><Code>AccessDenied</Code>', '\n<!DOCTYPE html>', '<script>', '{"error":{}}'],
		...['null', 'Access denied', '\xef\xbb\xbfThe file has expired', '\xe5\xb7\xb2\xe8\xbf\x87\xe6\x9c\x9f\r\n', 'a'],
	].map((start): [string, string] => ['text/plain', start]),
])('a file of the type %s begins with %j', (mimeType, start) => {
	expect(typeByContent(text(start))).toBe(mimeType);
});

test.each(['', '8900', '89504e4700', '47494638386100', '0889504e470d0a1a0a', '7b00ff', '424d3610', 'fffe4e006f00'])(
	'no known type begins with "%s"',
	(hex) => {
		expect(typeByContent(bytes(hex))).toBeUndefined();
	},
);

test.each([
	['image/x-x3f', 'x3f'],
	['image/foo+xml', 'foo'],
	['application/octet-stream', 'bin'],
])('the extension of %s is %s', (mimeType, extension) => {
	expect(extensionOf(mimeType)).toBe(extension);
});

test.each(['', 'png', 'a', 'a.', 'a.constructor', 'a.png?x', 'a.1'])('the name %j tells no type', (name) => {
	expect(typeByName(name)).toBeUndefined();
});

test.each([
	['audio/mpegurl', false, true],
	['audio/x-mpegurl', false, true],
	['application/vnd.apple.mpegurl', false, true],
	['application/x-mpegurl', false, true],
	['application/dash+xml', false, true],
	['audio/mpeg', true, false],
	['video/mp4', true, false],
	['application/zip', false, false],
])('%s: a medium %s, a playlist %s', (mimeType, media, playlist) => {
	expect([isMedia(mimeType), isPlaylist(mimeType)]).toEqual([media, playlist]);
});
