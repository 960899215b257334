/**
 * What makes a request the same one as before: n8n stores these hashes, so those of an earlier version are found again, and
 * nothing is bought twice.
 */
import { fileHashes, asBeforeRenamed, isToBeRenamed } from '../../nodes/run/fileHashes';
import { hashOf } from '../../nodes/run/hashOf';
import { hashOfKey } from '../../nodes/run/openPurchaseLog';

test('a request has the same hash in every version, and another request or thing has another one', () => {
	expect(hashOf('task', { prompt: 'a cat' })).toBe('Zl4HR4DdecJekkEFFUj9tR');
	const all = [hashOf('task', { a: 1 }), hashOf('task', { a: 2 }), hashOf('token', { a: 1 })];
	expect(new Set(all).size).toBe(3);
});

describe('the hashes of files', () => {
	test('a file is read once for all items and tries, however many ask at the same time', async () => {
		const store = {};
		const read = jest.fn(async (hash: string) => await Promise.resolve(hash));
		const ask = fileHashes(store);
		const asked = ['a', 'b', 'a'].map(async (id) => await ask(id, async () => await read(`hash of ${id}`)));
		expect(await Promise.all(asked)).toEqual(['hash of a', 'hash of b', 'hash of a']);
		expect(read).toHaveBeenCalledTimes(2);
		// They are stored.
		expect(Object.keys((store as Record<string, object>).generationGatewayFiles ?? {})).toEqual([
			'bhjwCkjlrDK37hixR7AmzQ',
			'txSU/AaZjIKMzyhD3yqYaG',
		]);
		const gone = async () => await Promise.reject(new Error('it is gone'));
		const later = fileHashes(JSON.parse(JSON.stringify(store)) as object as never);
		expect([await later('a', gone), await later('b', gone)]).toEqual(['hash of a', 'hash of b']);
		await expect(later('c', gone)).rejects.toThrow('it is gone');
	});

	test('n8n is going to rename the files of a webhook, and no others', () => {
		const id = 'filesystem-v2:workflows/w/executions/temp/binary_data/u';
		expect([id, id.replace('temp', '57'), 'database:u', ''].map(isToBeRenamed)).toEqual([true, false, false, false]);
		expect([id, id.replace('temp', '57')].map(asBeforeRenamed)).toEqual([id, id]);
		expect(asBeforeRenamed('database:u')).toBe('database:u');
	});

	test('the file of a webhook is the same one after n8n has renamed it', async () => {
		const id = (execution: string) => `filesystem-v2:workflows/w/executions/${execution}/binary_data/u`;
		const store = {};
		await fileHashes(store)(id('temp'), async () => await Promise.resolve('its hash'));
		const gone = async () => await Promise.reject(new Error('it is gone'));
		expect(await fileHashes(store)(id('57'), gone)).toBe('its hash');
		await expect(fileHashes(store)(`${id('57')}2`, gone)).rejects.toThrow('it is gone');
	});
});

test('a Purchase Key has the same hash in all nodes with the same account and address, and no other', () => {
	const of = (key: string, account: string, baseUrl: string) =>
		hashOfKey(key, { account, base_url: baseUrl } as Parameters<typeof hashOfKey>[1]);
	expect(of('k', 'c', 'https://gateway.test')).toBe('8rRERfRBgnONwQHlnBbp6l');
	const others = [
		of('x', 'c', 'https://gateway.test'),
		of('k', 'x', 'https://gateway.test'),
		of('k', 'c', 'https://x.test'),
	];
	expect(new Set([...others, of('k', 'c', 'https://gateway.test')]).size).toBe(4);
});
