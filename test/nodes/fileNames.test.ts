/** Names and types of result files: the tables of what their hosts say about them. */
import {
	cleanFileName,
	describeNoFile,
	FileNames,
	nameByPrompt,
	resultMimeType,
} from '../../nodes/generation/fileNames';

/** Bytes that tell nothing about a file. */
const UNKNOWN = new Uint8Array(16);
const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const PNG = bytes('\x89PNG\r\n\x1a\n');
const MP4 = bytes('\0\0\0\x20ftypisom');
const ZIP = bytes('PK\x03\x04');

describe('the type of a file', () => {
	test.each<[string, string | undefined]>([
		['text/html; charset=utf-8', 'a web page'],
		['application/json', 'JSON'],
		['application/problem+json', 'JSON'],
		['application/xml', 'XML'],
		['text/plain', 'text'],
		['image/svg+xml', undefined],
		['', undefined],
	])('%s is no result: %p', (type, words) => {
		expect(describeNoFile(type)).toBe(words);
	});

	const typeOf = (type: string, start: Uint8Array, ...paths: string[]) =>
		resultMimeType(type, { disposition: '', urls: paths.map((path) => `https://a.example${path}`) }, start);

	test.each<[string, Uint8Array, string, string]>([
		// The first bytes tell nothing: the header does, then the name.
		['image/WEBP; q=1', UNKNOWN, '/a.png', 'image/webp'],
		['application/octet-stream', UNKNOWN, '/a.JPG?x=.gif', 'image/jpeg'],
		['', UNKNOWN, '/a.mov.exe', 'application/octet-stream'],
		['model/gltf-binary', UNKNOWN, '/a', 'model/gltf-binary'],
		// They tell a medium: they decide, unless the header names a kind of it.
		['', PNG, '/a.mp4', 'image/png'],
		['binary/octet-stream', MP4, '/a', 'video/mp4'],
		['text/plain; charset=utf-8', bytes('\xff\xd8\xff\xe1'), '/a', 'image/jpeg'],
		['image/*', PNG, '/a', 'image/png'],
		['video/octet-stream', MP4, '/a', 'video/mp4'],
		['image/webp', PNG, '/a.png', 'image/png'],
		['video/mp4', bytes('\xff\xd8\xff\xe1'), '/a.mp4', 'image/jpeg'],
		['image/jpeg', MP4, '/a.jpg', 'video/mp4'],
		['image/apng', PNG, '/a.png', 'image/apng'],
		['audio/mp4', MP4, '/a.m4a', 'audio/mp4'],
		['video/3gpp', PNG, '/a', 'image/png'],
		// They tell no medium: a header that calls the file one is wrong.
		['image/png', ZIP, '/a.png', 'application/zip'],
		['model/vnd.usdz+zip', ZIP, '/a.usdz', 'model/vnd.usdz+zip'],
		['video/mp4', bytes('<!DOCTYPE html>'), '/a.mp4', 'text/plain'],
		['video/mp4', bytes('<!-- a page -->\n<html lang="en">'), '/a.mp4', 'application/xml'],
		['', bytes('Access denied'), '/a.mp4', 'text/plain'],
		['application/octet-stream', bytes('<script>location="/login"</script>'), '/a.mp4', 'text/plain'],
		['', bytes('\xff\xfeN\0o\0'), '/a.mp4', 'video/mp4'],
		['image/svg+xml', bytes('<?xml version="1.0"?>'), '/a.svg', 'image/svg+xml'],
		['image/svg+xml', bytes(`<!--${'-'.repeat(200)}`), '/a.svg', 'image/svg+xml'],
		['image/svg+xml', bytes('{"error":"expired"}'), '/a.svg', 'text/plain'],
		['video/mp4', bytes('#EXTM3U'), '/a.mp4', 'application/vnd.apple.mpegurl'],
		['text/plain', bytes('#EXTM3U'), '/a', 'application/vnd.apple.mpegurl'],
		['text/plain', bytes('The file has'), '/v.mp4', 'text/plain'],
	])('a file with the header %j that begins with %j at %s is %s', (type, start, path, expected) => {
		expect(typeOf(type, start, path)).toBe(expected);
	});

	test.each<[string, string[], string]>([
		['attachment; filename=cat.jpg ; x=y', ['/download'], 'image/jpeg'],
		["attachment; filename*=UTF-8''cat.webp; filename=cat.jpg", ['/download'], 'image/webp'],
		['attachment; filename="cat"', ['/a.gif', '/a.png'], 'image/gif'],
		['', ['/files/1', '/bucket/x.webp'], 'image/webp'],
	])('without a type and known bytes, a file is what its names say: %j at %j is %s', (disposition, paths, expected) => {
		const urls = paths.map((path) => `https://a.example${path}`);
		for (const type of ['', 'application/octet-stream', 'binary/octet-stream'])
			expect(resultMimeType(type, { disposition, urls }, UNKNOWN)).toBe(expected);
		expect(resultMimeType('image/avif', { disposition, urls }, UNKNOWN)).toBe('image/avif');
	});
});

describe('the name of a file', () => {
	const nameOf = (disposition: string, url = 'https://a.example/0.png', wanted = '', mimeType = 'image/png') =>
		new FileNames(wanted).nameOf({ disposition, urls: [url], mimeType }, 'task/1');

	test.each([
		['attachment; filename="cat.png"', 'cat.png'],
		[`attachment; filename="a.png"; filename*=UTF-8'de'Kätzchen%20%C3%BC.png`, 'Kätzchen ü.png'],
		['attachment; filename="../../etc/cat.png"', 'cat.png'],
		['attachment; filename="..\\\\cat.png"', 'cat.png'],
		['attachment; filename="...cat.png"', 'cat.png'],
		['attachment; filename="c:a|t?<>*.png"', 'c_a_t____.png'],
		["attachment; filename*=UTF-8''a%00b.png", 'a_b.png'],
		['attachment; filename=".htaccess"', 'htaccess.png'],
		['attachment; filename="12.png"', '1.png'],
		["attachment; filename*=UTF-8''x%0A/../../etc%5Ccat.png", 'cat.png'],
		['attachment; filename="Image-12.png"', '1.png'],
		['attachment; filename="output"', '1.png'],
		['attachment; filename="output of cat.png"', 'output of cat.png'],
		['', '1.png'],
	])('the name of a file is what the service says: %s', (disposition, expected) => {
		expect(nameOf(disposition)).toBe(expected);
	});

	test.each([
		['https://a.example/x/cat%20a.png?y=z', 'cat a.png'],
		['https://a.example/x/cat', '1.png'],
		['https://a.example/cat.exe', '1.png'],
	])('the name of a file is that of the address %s', (url, expected) => {
		expect(nameOf('', url)).toBe(expected);
	});

	test.each([
		['cat', 'image/png', 'cat.png'],
		['cat', 'image/jpeg', 'cat.jpg'],
		['cat.png', 'video/mp4', 'cat.mp4'],
		['v1.5', 'video/mp4', 'v1.5.mp4'],
		['cat', 'image/../x-heic', 'cat.heic'],
		['cat', 'image/<img src=x onerror=alert(1)>', 'cat.bin'],
		['cat', 'image/x\\..\\evil.bat', 'cat.bin'],
	])('the name of a file is what the user has entered, with the right end: %s of %s', (wanted, mimeType, expected) => {
		expect(nameOf('attachment; filename="other.png"', undefined, wanted, mimeType)).toBe(expected);
	});

	test('a type without end gives the name no more than an end', () => {
		const type = `image/${'x'.repeat(15_000)}`;
		const known = resultMimeType(type, { disposition: '', urls: ['https://a.example/a'] }, UNKNOWN);
		expect(known).toBe(type.slice(0, 100));
		expect(nameOf('', undefined, 'cat', known)).toBe('cat.bin');
	});

	test('no two of an item are the same, whatever the case of their letters', () => {
		const names = new FileNames('Cat.PNG');
		const file = { disposition: '', urls: ['https://a.example/a.png'], mimeType: 'image/png' };
		const taken = Array.from({ length: 3 }, () => {
			const name = names.nameOf(file, 'x');
			names.use(name);
			return name;
		});
		expect(taken).toEqual(['Cat.PNG', 'Cat_1.PNG', 'Cat_2.PNG']);
		names.use('cat_3.png');
		expect(names.nameOf(file, 'x')).toBe('Cat_4.PNG');
		const dotted = new FileNames('v1.5');
		dotted.use('v1.5.png');
		expect(dotted.nameOf(file, 'x')).toBe('v1.5_1.png');
	});

	test.each<[string, string]>([
		['A lighthouse at dusk, waves breaking on the rocks', 'A-lighthouse-at-dusk-waves-breaking-on-t-123456789012'],
		['  ../..\\con: "x"?\n', 'con-x-123456789012'],
		['Cafe\u0301 ☕ über Zürich.', 'Café-über-Zürich-123456789012'],
		['東京の夜、雨', '東京の夜-雨-123456789012'],
		['हिन्दी में', 'हिन्दी-में-123456789012'],
		[`${'x'.repeat(39)}😀y`, `${'x'.repeat(39)}-123456789012`],
		['𝒳'.repeat(50), `${'𝒳'.repeat(40)}-123456789012`],
		['\u0301😀 ', '123456789012'],
		['a'.repeat(40) + '\u202etxt.exe', `${'a'.repeat(40)}-123456789012`],
	])('without a name, files are called by the prompt %j and the end of the task ID', (prompt, expected) => {
		expect(nameByPrompt(prompt, 'task_0/123456789012')).toBe(expected);
	});

	test.each([
		['7', 'a-7'],
		['gen:17', 'a-gen-17'],
		['../x/', 'a-x'],
		['task_12345678901', 'a-12345678901'],
	])('the task ID %s is in it, after one dash', (id, expected) => {
		expect(nameByPrompt('a', id)).toBe(expected);
	});

	test('the name of a file that somebody enters is cleaned, also where it is a whole prompt', () => {
		expect(cleanFileName('  a/b\\c  ')).toBe('a_b_c');
		expect(cleanFileName('cat. . ')).toBe('cat');
		expect(cleanFileName('...')).toBe('');
		expect(cleanFileName('invoice\u202egpj.exe')).toBe('invoice_gpj.exe');
		expect(cleanFileName('x'.repeat(400))).toBe('x'.repeat(200));
		expect(cleanFileName(`${'x'.repeat(196)}😀y`)).toBe(`${'x'.repeat(196)}😀`);
		expect(cleanFileName(`${'x'.repeat(197)}😀y`)).toBe('x'.repeat(197));
		expect(cleanFileName('雨'.repeat(150))).toBe('雨'.repeat(66));
	});
});
