/** Images in binary fields, without n8n: how a field or a file is found, what tells that it is an image, and what is uploaded. */
import type { IBinaryData, IDataObject } from 'n8n-workflow';
import { asGatewayError, stoppedError } from '../../core/errors';
import { binaryFieldsOf, identifyByContent, readBinaryImage } from '../../nodes/generation/binaryImage';
import { Item, Parameters } from '../../nodes/run/item';
import { SIGNATURE_BYTES } from '../../core/mediaTypes';
import { lightContext } from '../support/lightContext.mts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const file = (more: Partial<IBinaryData> = {}): IBinaryData => ({
	...{ data: PNG.toString('base64'), mimeType: 'image/png', fileName: 'cat.png', fileExtension: 'png' },
	...more,
});
const UNKNOWN = { mimeType: 'application/octet-stream', fileName: undefined, fileExtension: undefined };

interface Given {
	binary?: Record<string, IBinaryData>;
	json?: IDataObject;
	/** Files that n8n finds by a name, where the workflow holds them in the JSON. */
	inJson?: Record<string, IBinaryData>;
	/** The pieces of stored files. */
	stored?: Record<string, Uint8Array[]>;
}

/** An item, and what n8n was asked for. */
function world({ binary, json = {}, inJson = {}, stored = {} }: Given) {
	const read: IBinaryData[] = [];
	let pieces = 0;
	const { context } = lightContext({
		helpers: {
			assertBinaryData: (index: number, given: string | IBinaryData) => {
				expect(index).toBe(3);
				const found = typeof given === 'string' ? inJson[given] : given.data === undefined ? undefined : given;
				if (found === undefined) throw new Error('there is no such file');
				return found;
			},
			getBinaryDataBuffer: async (index: number, data: IBinaryData) => {
				expect(index).toBe(3);
				read.push(data);
				return await Promise.resolve(Buffer.from(data.data, 'base64'));
			},
			getBinaryStream: async (id: string) => {
				const all = stored[id] ?? [];
				return await Promise.resolve(
					(async function* () {
						for (const piece of all) {
							pieces++;
							yield await Promise.resolve(piece);
						}
					})(),
				);
			},
		},
	});
	const item = new Item(new Parameters(context, context.getNode()), 3, { json, binary });
	return { item, read, piecesRead: () => pieces };
}

const image = (given: Given, name: unknown = 'data', number?: number) => {
	const { item, ...more } = world(given);
	const pending = readBinaryImage(item, name, number);
	return { image: pending.file, pending, item, ...more };
};
/** The reason why it is no image. */
const refusal = (given: Given, name?: unknown, number?: number) => {
	try {
		image(given, name, number);
		return undefined;
	} catch (thrown) {
		return asGatewayError(thrown).details.reason;
	}
};

describe('the file that a field names', () => {
	test('the file is found in the binary fields of the item, or where the workflow holds its files', async () => {
		const cat = file({ fileName: 'cat.png' });
		const ways: Given[] = [
			{ binary: { data: cat } },
			{ inJson: { data: cat } },
			{ inJson: { '_files["data"]': cat } },
			{ binary: { data: cat }, inJson: { data: file({ fileName: 'dog.png' }) } },
		];
		for (const given of ways) {
			const found = await image(given).image.read();
			expect(found).toEqual({ bytes: PNG, mimeType: 'image/png', fileName: 'cat.png' });
		}
	});

	test.each<[string, unknown, number | undefined, object]>([
		[
			'an empty name',
			' ',
			undefined,
			{ name: 'binaryFieldEmpty', data: { label: 'Input Binary Field', there: 'a, b' } },
		],
		[
			'an empty name of the second of several',
			'',
			2,
			{ name: 'binaryFieldEmpty', data: { label: 'Image 2: Input Binary Field', there: 'a, b' } },
		],
		[
			'a name that is not there',
			'c',
			undefined,
			{ name: 'noBinaryField', data: { label: 'Input Binary Field', name: 'c', there: 'a, b' } },
		],
		['the same of the second', 'c', 2, { name: 'noBinaryField', data: { label: 'Image 2', name: 'c', there: 'a, b' } }],
		['no text', [], 2, { name: 'notText', data: { label: 'Image 2: Input Binary Field', value: expect.anything() } }],
	])('a message about a field names the image and the fields that are there: %s', (_, name, number, reason) => {
		expect(refusal({ binary: { a: file(), b: file() } }, name, number)).toMatchObject(reason);
	});

	test('the fields with files are those of the item and those in its JSON, each once', () => {
		const json = { _files: { b: {}, c: {}, none: {} }, d: 'x', e: 'y', b: 'z' };
		const inJson = { b: file(), '_files["c"]': file(), d: file(), _files: file() };
		expect(binaryFieldsOf(world({ binary: { a: file() }, json, inJson }).item)).toEqual(['a', 'b', 'c', 'd']);
		expect(binaryFieldsOf(world({ json: { _files: 'text' } }).item)).toEqual([]);
	});
});

describe('the file that an expression gives', () => {
	test('the file itself is taken, of any item', async () => {
		const { image: found } = image({}, file({ fileName: 'other.png' }));
		expect(await found.read()).toMatchObject({ fileName: 'other.png', bytes: PNG });
	});

	test('a file without its content is that of the item, if only one is like it', async () => {
		const like = { ...file(), data: undefined };
		delete like.data;
		const binary = { a: file({ fileName: 'dog.png' }), b: file(), c: { ...file(), data: undefined as never } };
		expect(await image({ binary }, like).image.read()).toMatchObject({ fileName: 'cat.png', bytes: PNG });
		const reason = { name: 'notAFile', data: { label: 'Image 2: Input Binary Field' } };
		expect(refusal({ binary: { a: file(), b: file() } }, like, 2)).toEqual(reason);
		expect(refusal({}, like, 2)).toEqual(reason);
		expect(refusal({ binary: { a: file() } }, { any: 'object' })?.name).toBe('notAFile');
	});
});

describe('what is an image', () => {
	test('a file that calls itself an image is one, and is not read for that', async () => {
		const { image: found, read } = image({
			binary: { data: file({ mimeType: 'image/avif', fileName: undefined, fileExtension: undefined }) },
		});
		await found.check();
		expect(read).toEqual([]);
		expect(await found.read()).toMatchObject({ mimeType: 'image/avif', fileName: 'image.png' });
		const jpg = image({ binary: { data: file({ fileName: undefined, fileExtension: 'jpg' }) } });
		expect(await jpg.image.read()).toMatchObject({ fileName: 'image.jpg' });
	});

	test('a file of another type, or of none, is one by its first bytes, and is named after them', async () => {
		for (const mimeType of ['application/octet-stream', 'x-image/y', undefined]) {
			const long = Buffer.concat([PNG, Buffer.alloc(1000)]).toString('base64');
			const data = file({ ...UNKNOWN, mimeType: mimeType as string, data: long });
			const { image: found, read } = image({ binary: { data } });
			await found.check();
			expect(read).toEqual([{ ...data, mimeType: mimeType ?? '', data: long.slice(0, 2 * SIGNATURE_BYTES) }]);
			expect(await found.read()).toEqual({
				bytes: Buffer.from(long, 'base64'),
				mimeType: 'image/png',
				fileName: 'image.png',
			});
		}
	});

	test('a stored file is one by its first bytes, and no more of it is read', async () => {
		const more = Buffer.alloc(1000);
		const pieces = [PNG.subarray(0, 2), Buffer.concat([PNG.subarray(2), more]), more];
		const data = file({ ...UNKNOWN, id: 'stored' });
		const { image: found, read, piecesRead } = image({ binary: { data }, stored: { stored: pieces } });
		await found.check();
		expect([read, piecesRead()]).toEqual([[], 2]);
		expect(found.stored()).toEqual({ id: 'stored', mimeType: 'image/png', fileName: 'image.png' });
		const jpeg = Buffer.concat([Buffer.from('ffd8ffe000104a464946', 'hex'), more]);
		const short = image({ binary: { data }, stored: { stored: [jpeg, jpeg] } });
		await short.image.check();
		expect([short.image.stored()?.fileName, short.piecesRead()]).toEqual(['image.jpg', 1]);
	});

	test.each([
		['text/plain', undefined, { label: 'Input Binary Field', name: 'data', mimeType: 'text/plain' }],
		[undefined, 2, { label: 'Image 2', name: 'data', mimeType: '' }],
	])('a file of the type %s that is none is refused by its name', async (mimeType, number, data) => {
		const text = file({ mimeType: mimeType as string, data: Buffer.from('plain text here').toString('base64') });
		const { image: found } = image({ binary: { data: text } }, 'data', number);
		await expect(found.check()).rejects.toMatchObject({ details: { reason: { name: 'notAnImage', data } } });
	});

	test('a file that n8n does not have any more is named, with its field and what n8n says', async () => {
		const gone = {
			name: 'fileUnreadable',
			data: { label: 'Input Binary Field', name: 'cat.png', words: 'it is gone' },
		};
		const isGone = { details: { reason: gone } };
		const { pending, item } = image({ binary: { data: file({ id: 'a' }) } });
		const fails = async () => await Promise.reject(new Error('it is gone'));
		Object.assign(item.context.helpers, { getBinaryDataBuffer: fails, getBinaryStream: fails });
		await expect(pending.file.read()).rejects.toMatchObject(isGone);
		await expect(identifyByContent(item, pending, async (_, read) => await read())).rejects.toMatchObject(isGone);
		const other = image({ binary: { data: file({ ...UNKNOWN, id: 'a' }) } }, 'data', 2);
		Object.assign(other.item.context.helpers, { getBinaryStream: fails });
		await expect(other.image.check()).rejects.toMatchObject({
			details: { reason: { name: 'fileUnreadable', data: { label: 'Image 2: Input Binary Field', name: 'data' } } },
		});
		const cause = new Error('it is gone');
		Object.assign(item.context.helpers, { getBinaryDataBuffer: async () => await Promise.reject(cause) });
		expect(asGatewayError(await pending.file.read().catch((error: unknown) => error)).cause).toBe(cause);
		const stopped = { getBinaryDataBuffer: async () => await Promise.reject(stoppedError()) };
		Object.assign(item.context.helpers, stopped);
		await expect(pending.file.read()).rejects.toMatchObject({ kind: 'stopped' });
	});

	test('a file that is none and came from an expression is refused by its own name', async () => {
		const none = { mimeType: 'text/plain', data: 'AAAA' };
		await expect(image({}, file(none)).image.check()).rejects.toMatchObject({
			details: { reason: { data: { name: 'cat.png' } } },
		});
		const nameless = image({}, file({ ...none, fileName: undefined }));
		await expect(nameless.image.check()).rejects.toMatchObject({ details: { reason: { data: { name: 'file' } } } });
	});
});

describe('what tells one file from another', () => {
	test('a file in memory is known by its content, and a stored one by its ID', () => {
		const identityOf = (data: IBinaryData) => image({ binary: { data } }).pending.identity;
		expect(identityOf(file())).toBe(identityOf(file({ fileName: 'dog.png' })));
		expect(identityOf(file())).toMatch(/^[\w+/]{43}=$/);
		expect(identityOf(file({ data: 'AAAA' }))).not.toBe(identityOf(file()));
		expect(identityOf(file({ id: 'stored' }))).toBe('stored');
	});

	test('only a stored file has a place', () => {
		expect(image({ binary: { data: file() } }).image.stored()).toBeUndefined();
		expect(image({ binary: { data: file({ id: 'x' }) } }).image.stored()).toEqual({
			id: 'x',
			mimeType: 'image/png',
			fileName: 'cat.png',
		});
	});

	test('a stored file has a name and a type that an order can keep', () => {
		const long = file({ id: 'x', fileName: 'a'.repeat(1_001), mimeType: `image/${'b'.repeat(200)}` });
		const { fileName, mimeType } = image({ binary: { data: long } }).image.stored() ?? {};
		expect([fileName, mimeType]).toEqual(['a'.repeat(1_000), `image/${'b'.repeat(194)}`]);
	});

	test('a stop ends the reading of a stored file, and is forgotten when it has been read', async () => {
		const stop = new AbortController();
		const { pending, item } = image({ binary: { data: file({ id: 'a' }) } });
		const destroyed = jest.fn();
		const stream = (pieces: () => AsyncGenerator<Uint8Array>) => Object.assign(pieces(), { destroy: destroyed });
		Object.assign(item.context, { getExecutionCancelSignal: () => stop.signal });
		const identify = async () => await identifyByContent(item, pending, async (_, read) => await read());
		Object.assign(item.context.helpers, {
			getBinaryStream: async () =>
				await Promise.resolve(
					stream(async function* () {
						yield await Promise.resolve(PNG);
					}),
				),
		});
		await identify();
		stop.abort();
		expect(destroyed).not.toHaveBeenCalled();
		const again = new AbortController();
		Object.assign(item.context, { getExecutionCancelSignal: () => again.signal });
		Object.assign(item.context.helpers, {
			getBinaryStream: async () =>
				await Promise.resolve(
					stream(async function* () {
						again.abort();
						yield await Promise.resolve(PNG);
					}),
				),
		});
		await identify();
		expect(destroyed).toHaveBeenCalledWith(expect.objectContaining({ kind: 'stopped' }));
	});

	test('a stored file can be known by its content, the same in each execution; one in memory is already', async () => {
		const identified = async (id: string, pieces: Uint8Array[]) => {
			const { pending: found, item } = image({ binary: { data: file({ id }) }, stored: { [id]: pieces } });
			await identifyByContent(item, found, async (_, read) => await read());
			return found.identity;
		};
		const whole = await identified('a', [PNG]);
		expect(await identified('b', [PNG.subarray(0, 3), PNG.subarray(3)])).toBe(whole);
		expect(await identified('b', [PNG.subarray(3)])).not.toBe(whole);
		const { pending: inMemory, item } = image({ binary: { data: file() } });
		const { identity } = inMemory;
		await identifyByContent(item, inMemory, async () => await Promise.reject(new Error('it is known already')));
		expect([inMemory.identity, identity.length]).toEqual([identity, whole.length]);
	});
});
