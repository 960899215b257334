/** The answers about the account: its balance, a new token, the URL of an uploaded image. */
import { parseTokenRecord, parseUserBalance } from '../../core/records/accountRecords';
import { parseUploadUrl } from '../../core/records/locateResult';

describe('the balance', () => {
	test.each([
		['1234567890123456', 1_234_567_890_123_456],
		['-1234567890123456', -1_234_567_890_123_456],
		['12345678901234567890', 12_345_678_901_234_567_000],
	])('a balance that is so large that it came as text is a number: %s', (text, number) => {
		expect(parseUserBalance({ remain_credits: text })).toEqual({ remain_credits: number });
	});

	test.each<[string, unknown]>([
		['without an amount that is left', { used_credits: 4, used_balance: 2 }],
		['with a short text', { remain_credits: '123456789012345' }],
		['with a number and more', { remain_credits: '1234567890123456 credits' }],
		['with a fraction as text', { remain_credits: '1234567890123456.5' }],
		['with words for a number that is used', { remain_credits: 1, used_credits: 'many' }],
		['with words for a yes or no', { remain_credits: 1, unlimited_quota: 'yes' }],
		['that is a list', [{ remain_credits: 1 }]],
	])('%s is no balance', (_, answer) => {
		expect(parseUserBalance(answer)).toBeUndefined();
	});
});

describe('a token', () => {
	test.each<[string, Record<string, unknown>, string, string]>([
		['with a number for its ID', { key: 'abc', id: 7 }, '7', 'sk-abc'],
		['with a text for its ID', { key: 'abc', id: 'token_7' }, 'token_7', 'sk-abc'],
		['without an ID', { key: 'abc' }, '', 'sk-abc'],
		['whose key is complete', { key: 'sk-abc', id: 7 }, '7', 'sk-abc'],
		['with an ID of another type', { key: 'abc', id: { value: 7 } }, '', 'sk-abc'],
	])('a token is read at the top and in `data`: %s', (_, raw, id, apiKey) => {
		expect(parseTokenRecord(raw)).toEqual({ id, apiKey, raw, answer: raw });
		const answer = { success: true, data: raw };
		expect(parseTokenRecord(answer)).toEqual({ id, apiKey, raw, answer });
	});

	test('a token is read at the top where `data` is something else', () => {
		const answer = { key: 'abc', data: 'ok' };
		expect(parseTokenRecord(answer)).toEqual({ id: '', apiKey: 'sk-abc', raw: answer, answer });
	});

	test.each<[string, unknown]>([
		['without a key', { id: 7 }],
		['with an empty key', { key: '' }],
		['whose key is no text', { key: 5 }],
		['that is a list', Object.assign([], { key: 'abc' })],
		['in a list', Object.assign([], { data: { key: 'abc' } })],
		['that is nothing', null],
	])('%s is no token', (_, answer) => {
		expect(parseTokenRecord(answer)).toBeUndefined();
	});
});

test.each<[string, unknown, string | undefined]>([
	['in `data`', { success: true, data: { url: 'https://files.example.com/a.png' } }, 'https://files.example.com/a.png'],
	['at the top', { url: 'https://files.example.com/b.png' }, 'https://files.example.com/b.png'],
	['in a list', { data: [{ url: 'https://files.example.com/c.png' }] }, 'https://files.example.com/c.png'],
	['as `data` itself', { data: 'https://files.example.com/d' }, 'https://files.example.com/d'],
	['at a place of its own', { file: { link: 'https://files.example.com/f' } }, 'https://files.example.com/f'],
	['as the answer itself', 'https://files.example.com/g.png', 'https://files.example.com/g.png'],
	['without a host', { data: { url: '/files/h.png' } }, 'https://g.example/files/h.png'],
	['at two places', { a: { link: 'https://x.example/1' }, b: { link: 'https://x.example/2' } }, undefined],
	['nowhere', { data: {} }, undefined],
	['that is none', { url: 'a.png', data: { url: 'b.png' } }, undefined],
	['among spaces', { url: ' https://files.example.com/a.png\n' }, 'https://files.example.com/a.png'],
	['with a space in it', { url: 'https://files.example.com/a b.png' }, 'https://files.example.com/a%20b.png'],
	['that is the file itself', { data: { url: 'data:image/png;base64,AAAA' } }, undefined],
	[
		'beside another field of this name',
		{ data: { url: '/a.png' }, url: 'https://files.example.com/a.png' },
		'https://files.example.com/a.png',
	],
])('the URL of an uploaded image is found: %s', (_, answer, url) => {
	expect(parseUploadUrl(answer, 'https://g.example')).toBe(url);
});
