import { forbiddenAddress } from '../../core/addresses';

const onTheInternet = { baseUrl: 'https://gateway.example', allowPrivateAddresses: false };
const forbidden = (address: string, rules = onTheInternet) =>
	forbiddenAddress(new URL(`http://${address}/a.png`), rules);

describe('addresses from which nothing is downloaded', () => {
	test.each([
		[
			'this machine',
			[
				'127.0.0.1',
				'127.255.255.254',
				'0x7f000001',
				'2130706433',
				'[::1]',
				'[::ffff:127.0.0.1]',
				'localhost',
				'localhost.',
				'ab.c.localhost.',
				'LOCALHOST',
				'0.0.0.0',
				'[::]',
			],
		],
		[
			'private networks',
			[
				'10.0.0.1',
				'10.255.255.255',
				'172.16.0.1',
				'172.31.255.255',
				'192.168.0.1',
				'100.64.0.1',
				'100.127.255.255',
				'[::ffff:10.0.0.1]',
				'[fc00::1]',
				'[fdff:1:2::3]',
			],
		],
		[
			'link-local addresses and the metadata of clouds',
			[
				'169.254.169.254',
				'0xa9fea9fe',
				'[::ffff:168.63.129.16]',
				'[fe80::1]',
				'[fd00:ec2::254]',
				'100.100.100.200',
				'192.0.0.192',
				'168.63.129.16',
				'169.254.169.254.',
			],
		],
		[
			'IPv4 in IPv6',
			['[::8.8.8.8]', '[fd00::ffff:8.8.8.8]', '[64:ff9b::a00:1]', '[2002:a00:1::]', '[2001:0:a00:1::]', '[::10.0.0.1]'],
		],
		[
			'what is no host',
			[
				'224.0.0.1',
				'240.0.0.1',
				'198.18.0.1',
				'192.0.2.1',
				'192.88.99.1',
				'198.51.100.1',
				'[ff02::1]',
				'[2001:db8::1]',
				'[2001:1ff::1]',
				'[3fff:fff::1]',
			],
		],
		['digits of other scripts', ['１２７.0.0.1', '①⑥⑨.254.169.254', '%31%30.0.0.1']],
	])('nothing is downloaded from %s, however it is written', (_, addresses) => {
		expect(addresses.filter((address) => forbidden(address) === undefined)).toEqual([]);
	});

	test('an address from which nothing is downloaded is named as it is usually written', () => {
		expect([forbidden('0xa9fea9fe'), forbidden('[::FFFF:10.0.0.1]')]).toEqual(['169.254.169.254', '[::ffff:a00:1]']);
	});
});

test('public addresses and names may be fetched from: what a name resolves to is for n8n to judge', () => {
	const addresses = [
		'files.example',
		'172.15.255.255',
		'172.32.0.0',
		'100.63.255.255',
		'100.128.0.0',
		'8.8.8.8',
		'223.255.255.255',
		'[2606:4700::1111]',
		'[::ffff:8.8.8.8]',
		'[2001:200::1]',
		'[3fff:1000::1]',
		'10.example',
		'localhost.example',
	];
	expect(addresses.filter((address) => forbidden(address) !== undefined)).toEqual([]);
});

test('the host of the Base URL may always be fetched from, and loopback addresses if it is one', () => {
	const at = (baseUrl: string) => ({ baseUrl, allowPrivateAddresses: false });
	expect(forbidden('10.0.0.5:9000', at('http://10.0.0.5'))).toBeUndefined();
	expect(forbidden('10.0.0.6', at('http://10.0.0.5'))).toBe('10.0.0.6');
	for (const base of ['http://localhost:3456', 'http://127.0.0.1:1', 'http://[::1]:1']) {
		const addresses = ['127.0.0.1', '127.0.0.9', 'localhost', '[::1]', '[::ffff:127.0.0.1]'];
		for (const address of addresses) expect(forbidden(address, at(base))).toBeUndefined();
		expect(forbidden('10.0.0.5', at(base))).toBe('10.0.0.5');
		expect(forbidden('[::2]', at(base))).toBe('[::2]');
	}
});

test('Private Network allows every private address', () => {
	for (const address of ['10.0.0.1', '127.0.0.1', '[fd00::1]'])
		expect(forbidden(address, { ...onTheInternet, allowPrivateAddresses: true })).toBeUndefined();
});
