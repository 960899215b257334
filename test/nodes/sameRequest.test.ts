/**
 * What makes a request the same one as before: n8n stores these hashes, so those of an earlier version are found again, and
 * nothing is bought twice.
 */
import { hashOf } from '../../nodes/run/hashOf';
import { hashOfKey } from '../../nodes/run/openJournal';

test('a request has the same hash in every version, and another request or thing has another one', () => {
	expect(hashOf('task', { prompt: 'a cat' })).toBe('Zl4HR4DdecJekkEFFUj9tR');
	const all = [hashOf('task', { a: 1 }), hashOf('task', { a: 2 }), hashOf('token', { a: 1 })];
	expect(new Set(all).size).toBe(3);
});

test('a Purchase Key has the same hash in all nodes with the same account and address, and no other', () => {
	const of = (key: string, account: string, baseUrl: string) => hashOfKey(key, { account, baseUrl });
	expect(of('k', 'c', 'https://gateway.test')).toBe('8rRERfRBgnONwQHlnBbp6l');
	const others = [
		of('x', 'c', 'https://gateway.test'),
		of('k', 'x', 'https://gateway.test'),
		of('k', 'c', 'https://x.test'),
	];
	expect(new Set([...others, of('k', 'c', 'https://gateway.test')]).size).toBe(4);
});
