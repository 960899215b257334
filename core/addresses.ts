/**
 * The addresses that result files may be fetched from: a gateway on the internet must not make n8n fetch from its own
 * network. Names are left to n8n's own protection, which sees what they resolve to.
 */
export interface FileRules {
	/**
	 * The base URL of the service, without trailing slash and without the `/v1` suffix. Its host is always allowed, and if that
	 * is a loopback address, all of these are.
	 */
	baseUrl: string;
	allowPrivateAddresses: boolean;
}

/** The address as text where it may not be fetched; undefined where it may. */
export function forbiddenAddress(url: URL, { baseUrl, allowPrivateAddresses }: FileRules): string | undefined {
	const kind = kindOf(url.hostname);
	if (allowPrivateAddresses || kind === 'other') return undefined;
	const base = new URL(baseUrl);
	const isAtHome = url.hostname === base.hostname || (kind === 'loopback' && kindOf(base.hostname) === 'loopback');
	return isAtHome ? undefined : url.hostname;
}

/** IPv4 addresses that lie in no public network (IANA's registry of special purposes), and Azure's own. */
const NOT_PUBLIC = [
	...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '168.63.129.16/32'],
	'169.254.0.0/16', // the metadata of most clouds
	...['172.16.0.0/12', '192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16'],
	...['198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3'],
];

type Kind = 'loopback' | 'private' | 'other';

/** @param host as `URL` writes it: decimal, octal, hex and shortened IPv4 addresses have become four numbers */
function kindOf(host: string): Kind {
	if (host.startsWith('[')) return kindOfIPv6(host.slice(1, -1));
	// No name ends in a number: `URL` refuses it.
	if (/\.\d+$/.test(host)) return kindOfIPv4(toNumber(host));
	return /(^|\.)localhost\.?$/.test(host) ? 'loopback' : 'other';
}

function kindOfIPv4(address: number): Kind {
	const isWithin = (range: string) => {
		const [network = '', bits] = range.split('/');
		return Math.floor((address - toNumber(network)) / 2 ** (32 - Number(bits))) === 0;
	};
	if (isWithin('127.0.0.0/8')) return 'loopback';
	return NOT_PUBLIC.some(isWithin) ? 'private' : 'other';
}

/** Public ones begin with 2 or 3 (RFC 4291). Those that carry an IPv4 address are judged by it, or not fetched at all. */
function kindOfIPv6(address: string): Kind {
	const [first = 0, second = 0, ...rest] = expand(address);
	const groups = [first, second, ...rest];
	const carried = (groups[6] ?? 0) * 0x10000 + (groups[7] ?? 0);
	const isZero = (group: number) => group === 0;
	if (groups.slice(0, 7).every(isZero) && groups[7] === 1) return 'loopback';
	if (groups.slice(0, 5).every(isZero) && groups[5] === 0xffff) return kindOfIPv4(carried);
	// 2001::/23 are protocols such as Teredo, 2001:db8::/32 and 3fff::/20 are for texts, 2002::/16 leads to IPv4.
	const isSpecial =
		(first === 0x2001 && (second < 0x200 || second === 0xdb8)) ||
		first === 0x2002 ||
		(first === 0x3fff && second < 0x1000);
	return first >> 13 === 1 && !isSpecial ? 'other' : 'private';
}

function toNumber(address: string): number {
	return address.split('.').reduce((number, part) => number * 256 + Number(part), 0);
}

/** The eight groups of an address that `URL` has written: without dots, with at most one `::`. */
function expand(address: string): number[] {
	const [head = [], tail = []] = address.split('::').map((half) =>
		half
			.split(':')
			.filter(Boolean)
			.map((group) => parseInt(group, 16)),
	);
	return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail];
}
