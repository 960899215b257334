/** Certificates and proxies between n8n and the service, in n8n's own engine. */
import { environment, secured, startProxy, trusting, type CertificateKind } from '../support/network.mts';
import { quick, quickSandbox, runGateway, testCredential, type Sandbox } from '../support/nodes.mts';

let sandbox: Sandbox;
beforeAll(async () => {
	sandbox = await quickSandbox();
});
afterAll(async () => await sandbox.close());
beforeEach(() => sandbox.reset());

/** Ends what a test has begun, the last first. */
const ends: Array<() => unknown> = [];
afterEach(async () => {
	jest.restoreAllMocks();
	for (const end of ends.splice(0).reverse()) await end();
});

const server = async (kind: CertificateKind, target = sandbox.baseUrl) => {
	const made = await secured(target, kind);
	ends.push(made.close);
	return made;
};
const trust = (ca: string) => void ends.push(trusting(ca).restore);
const generate = { operation: 'generate', prompt: 'a', options: quick };
const WAY = 'set the environment variable NODE_EXTRA_CA_CERTS';
const kinds: Array<[CertificateKind, string, string]> = [
	['selfSigned', 'n8n does not trust the certificate of this host: it is self-signed, or its issuer is', WAY],
	['unknownIssuer', 'n8n does not trust the certificate of this host: its issuer is not known', WAY],
	['expired', 'The certificate of this host has expired', 'has to renew it'],
	['otherName', 'The certificate of this host is for another host name', 'Enter the host name'],
	['oldVersion', 'n8n and this host have no version of TLS', 'TLS 1.2'],
];
const isTrusted = (kind: CertificateKind) => !['selfSigned', 'unknownIssuer'].includes(kind);

test.each(kinds)('a certificate is told as what is wrong with it, and nothing is sent: %s', async (kind, said, way) => {
	const { url, ca, seen } = await server(kind);
	if (isTrusted(kind)) trust(ca);
	const { error } = await runGateway('image', sandbox, generate, { credential: { baseUrl: url } });
	expect(error?.message).toBe(`The service at ${url.slice(8)} could not be reached`);
	expect(error?.description).toContain(said);
	expect(error?.description).toContain(way);
	expect(error?.description).not.toMatch(/REJECT_UNAUTHORIZED|Ignore SSL/);
	const { status, message } = await testCredential({ ...sandbox, baseUrl: url });
	expect(status).toBe('Error');
	expect(message).toContain(said);
	expect(message).toContain(way);
	expect(seen).toEqual([]);
});

test('with the certificate of its issuer, n8n trusts a service', async () => {
	const { url, ca, seen } = await server('trusted');
	trust(ca);
	const { json } = await runGateway('image', sandbox, generate, { credential: { baseUrl: url } });
	expect(json[0]?.status).toBe('completed');
	expect(seen[0]).toBe('POST /v1/images/generations');
	expect(await testCredential({ ...sandbox, baseUrl: url })).toMatchObject({ status: 'OK' });
});

describe('a proxy', () => {
	const through = async (variables: (proxy: string) => Record<string, string>) => {
		const proxy = await startProxy();
		ends.push(proxy.close, environment({ NO_PROXY: '', no_proxy: '', ...variables(proxy.url) }).restore);
		return proxy;
	};

	test('HTTP_PROXY is used for all requests to the service, uploads and results included', async () => {
		const { seen } = await through((url) => ({ HTTP_PROXY: url }));
		const { json, items } = await runGateway('image', sandbox, generate);
		expect(json[0]?.status).toBe('completed');
		expect(items[0].binary).toBeDefined();
		expect(seen[0]).toBe(`POST ${sandbox.baseUrl}/v1/images/generations`);
		expect(seen.some((line) => line.startsWith(`GET ${sandbox.filesUrl}`))).toBe(true);
		expect(seen.filter((line) => line.includes(sandbox.baseUrl))).toHaveLength(sandbox.requests.length);
		expect((await testCredential(sandbox)).status).toBe('OK');
		expect(seen.at(-1)).toBe(`GET ${sandbox.baseUrl}/v1/user/balance`);
	});

	test('HTTPS_PROXY is used for https, and does not see the requests', async () => {
		const { url, ca } = await server('trusted');
		trust(ca);
		const { seen } = await through((proxy) => ({ HTTPS_PROXY: proxy }));
		// Behind a proxy, n8n checks the certificate of an IP address as one of localhost.
		const baseUrl = url.replace('127.0.0.1', 'localhost');
		const { json, error } = await runGateway('image', sandbox, generate, { credential: { baseUrl } });
		expect(error?.description).toBe(undefined);
		expect(json[0]?.status).toBe('completed');
		expect(new Set(seen)).toEqual(new Set([`CONNECT ${baseUrl.slice(8)}`]));
		expect((await testCredential({ ...sandbox, baseUrl })).status).toBe('OK');
	});
});
