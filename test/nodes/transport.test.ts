/** Requests to the service: what ended a connection tells whether one may be sent again, and no answer shows the key. */
import { connectionCode, hidingKey } from '../../nodes/connection/transport';

/** As n8n's HTTP client hands it on: the code outside, the system call inside. */
const wrapped = (code: string, syscall: string) =>
	Object.assign(new Error(code), { code, cause: Object.assign(new Error(code), { code, syscall }) });
const endless: Record<string, unknown> = {};
endless.cause = endless;

describe('the code of a connection that has ended', () => {
	test.each<[string, unknown, string]>([
		['a host that could not be reached', wrapped('EHOSTUNREACH', 'connect'), 'EHOSTUNREACH'],
		['a host name that does not exist', wrapped('ENOTFOUND', 'getaddrinfo'), 'ENOTFOUND'],
		['a refused connection', wrapped('ECONNREFUSED', 'connect'), 'ECONNREFUSED'],
		['a time-out while connecting', wrapped('ETIMEDOUT', 'connect'), 'EHOSTUNREACH'],
		['a time-out while reading', wrapped('ETIMEDOUT', 'read'), 'ETIMEDOUT'],
		...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN'].flatMap((code) =>
			['read', 'write'].map((syscall): [string, unknown, string] => [
				`a connection that was there: ${code} of ${syscall} may have carried the request`,
				wrapped(code, syscall),
				'ECONNRESET',
			]),
		),
		[
			'a host whose addresses did not answer in time, or refused: the first says only when it is asked',
			{
				cause: {
					code: 'ETIMEDOUT',
					errors: ['ETIMEDOUT', 'ENETUNREACH'].map((code) => ({ code, syscall: 'connect' })),
				},
			},
			'EHOSTUNREACH',
		],
		['a code that only n8n gives', { httpCode: 'ECONNREFUSED' }, 'ECONNREFUSED'],
		['an address that n8n blocks', { cause: { name: 'SsrfBlockedIpError' } }, 'ERR_BLOCKED_BY_N8N'],
		[
			'an older Node that speaks TLS to a port without',
			{
				code: 'EPROTO',
				cause: { message: 'write EPROTO 4:error:0A00010B:SSL routines:x:wrong version number:../x.c:3:' },
			},
			'ERR_SSL_WRONG_VERSION_NUMBER',
		],
		['an error that contains itself', endless, 'UNKNOWN'],
		['nothing', undefined, 'UNKNOWN'],
	])('the code of a connection that has ended is found: %s', (_, thrown, code) => {
		expect(connectionCode(thrown)).toBe(code);
	});
});

describe('an answer that quotes the key', () => {
	const unicode = (text: string) =>
		[...Array(text.length).keys()]
			.map((index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`)
			.join('');
	const hide = async (key: string, text: string) => {
		const send = hidingKey(async () => ({ status: 401, headers: {}, text }), key);
		return (await send({ method: 'GET', url: 'https://gateway.example', timeoutMs: 1 })).text;
	};
	const json = (text: string) => JSON.stringify(text).slice(1, -1);
	const ways: Array<[string, (key: string) => string]> = [
		['as it is', json],
		['with escaped slashes', (key) => json(key).replaceAll('/', '\\/')],
		['in escaped characters', unicode],
		['in upper-case escaped characters', (key) => unicode(key).replace(/[a-f]/g, (digit) => digit.toUpperCase())],
		['as part of an address', (key) => json(encodeURIComponent(key))],
		[
			'as part of an address in lower case',
			(key) => json(encodeURIComponent(key)).replace(/%../g, (code) => code.toLowerCase()),
		],
	];

	test.each(
		['sk-0123456789abcdef', 'ab/cd+ef"gh\\ij==', 'a.b*c(d)[e]^f$', 'schlüssel-🗝-schlüssel'].flatMap((key) =>
			ways.map(([way, write]) => [key, way, write] as const),
		),
	)('the answer that quotes the key %s %s is read without it', async (key, _way, write) => {
		const text = `{"message":"bad key ${write(key)}.","id":"task-1"}`;
		expect(JSON.parse(await hide(key, text))).toEqual({ message: 'bad key [API key].', id: 'task-1' });
	});

	test.each(ways)('without its sk-, as a service stores it, the key %s is removed, too', async (_way, write) => {
		const text = `{"key":"${write('0123456789abcdef')}","remain_quota":5}`;
		expect(JSON.parse(await hide('sk-0123456789abcdef', text))).toEqual({ key: '[API key]', remain_quota: 5 });
	});

	test('the beginning of the key at the end of an answer that was cut off is removed, in each way that it is told', async () => {
		const cut = async (text: string) => {
			const send = hidingKey(
				async () => ({ status: 200, headers: {}, text, cutOff: 'ended' as never }),
				'sk-0123456789abcdef',
			);
			return (await send({ method: 'GET', url: 'https://gateway.example', timeoutMs: 1 })).text;
		};
		expect(await cut('{"note":"key sk-0123456789abcde')).toBe('{"note":"key ');
		expect(await cut('{"note":"key 0123456789')).toBe('{"note":"key ');
		expect(await cut('{"id":"sk-0123456789abcdef","note":"sk-0')).toBe('{"id":"[API key]","note":"sk-0');
		expect(await hide('sk-0123456789abcdef', 'sk-0123456789')).toBe('sk-0123456789');
	});

	test('the key is removed wherever it stands in a long answer', async () => {
		const quoted = 'sk-0123456789abcdef';
		for (const before of [16_360, 16_370, 16_384, 32_760])
			for (const [way, write] of ways)
				expect([way, await hide(quoted, `${'a'.repeat(before)}${write(quoted)}${'b'.repeat(40_000)}`)]).toEqual([
					way,
					`${'a'.repeat(before)}[API key]${'b'.repeat(40_000)}`,
				]);
	});

	test('the rest of a short key stays: it might be any word', async () => {
		expect(await hide('sk-gateway', 'sk-gateway, gateway')).toBe('[API key], gateway');
		expect(await hide('sk-gateways', 'sk-gateways, gateways')).toBe('[API key], [API key]');
		expect(await hide('a-sk-0123456789', 'sk-0123456789')).toBe('sk-0123456789');
	});
});
