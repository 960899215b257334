/** Servers between n8n and the sandbox: with certificates of all kinds, and proxies. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import tls from 'node:tls';

export const CERTIFICATES = ['selfSigned', 'unknownIssuer', 'expired', 'otherName', 'trusted', 'oldVersion'] as const;
export type CertificateKind = (typeof CERTIFICATES)[number];

const folder = () => mkdtempSync(join(process.env.TEST_RUN_FOLDER ?? '/tmp', 'tls-'));

/** A certificate for 127.0.0.1 with its key, and the one of its issuer. */
function certificate(kind: CertificateKind) {
	const at = folder();
	const openssl = (...given: string[]) => execFileSync('openssl', given, { cwd: at, stdio: 'pipe' });
	const read = (name: string) => readFileSync(join(at, name), 'utf8');
	const key = ['-newkey', 'rsa:2048', '-nodes'];
	const name = kind === 'otherName' ? 'DNS:other.test' : 'IP:127.0.0.1,DNS:localhost';
	writeFileSync(join(at, 'names'), `subjectAltName=${name}\n`);
	openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=Issuer', '-days', '2');
	if (kind === 'selfSigned') return { key: read('ca.key'), cert: read('ca.pem'), ca: read('ca.pem') };
	openssl('req', ...key, '-keyout', 'own.key', '-out', 'own.csr', '-subj', '/CN=Sandbox');
	const days = kind === 'expired' ? '-1' : '2';
	const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-set_serial', '1', '-days', days, '-extfile', 'names'];
	openssl('x509', '-req', '-in', 'own.csr', '-out', 'own.pem', ...signed);
	return { key: read('own.key'), cert: read('own.pem'), ca: read('ca.pem') };
}

/** The requests that came to a server, one line each. */
type Seen = string[];

async function listening(server: Server, seen: Seen) {
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const sockets = new Set<Socket>();
	server.on('connection', (socket: Socket) => sockets.add(socket));
	const close = async () => {
		// The server does not count those of CONNECT any more.
		for (const socket of sockets) socket.destroy();
		await new Promise((resolve) => server.close(resolve));
	};
	return { port: (server.address() as AddressInfo).port, seen, close };
}

function passOn(incoming: IncomingMessage, url: string, response: ServerResponse) {
	const { method, headers } = incoming;
	const outgoing = request(url, { method, headers }, (answer) => {
		response.writeHead(answer.statusCode ?? 502, answer.headers);
		answer.pipe(response);
	});
	outgoing.on('error', () => response.destroy());
	incoming.pipe(outgoing);
}

/** A server with such a certificate in front of another one. */
export async function secured(target: string, kind: CertificateKind) {
	const { key, cert, ca } = certificate(kind);
	const seen: Seen = [];
	const old =
		kind === 'oldVersion'
			? ({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const)
			: {};
	const server = createSecureServer({ key, cert, ...old }, (incoming, response) => {
		seen.push(`${incoming.method} ${incoming.url}`);
		passOn(incoming, `${target}${incoming.url}`, response);
	});
	const { port, close } = await listening(server, seen);
	return { url: `https://127.0.0.1:${port}`, ca, seen, close };
}

/** Until `restore` is called, Node trusts this issuer, too, as with `NODE_EXTRA_CA_CERTS`, which it reads at its start only. */
export function trusting(ca: string): { restore: () => void } {
	const real = tls.createSecureContext;
	tls.createSecureContext = (options) => {
		const made = real(options);
		(made as unknown as { context: { addCACert: (pem: string) => void } }).context.addCACert(ca);
		return made;
	};
	return { restore: () => (tls.createSecureContext = real) };
}

/** A proxy, for http and, by CONNECT, for https. */
export async function startProxy() {
	const seen: Seen = [];
	const server = createServer((incoming, response) => {
		seen.push(`${incoming.method} ${incoming.url}`);
		passOn(incoming, String(incoming.url), response);
	});
	server.on('connect', ({ url = '' }: IncomingMessage, socket: import('node:stream').Duplex) => {
		seen.push(`CONNECT ${url}`);
		const [host, port] = url.split(':');
		const through = connect(Number(port), host, () => {
			socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
			through.pipe(socket).pipe(through);
		});
		for (const end of [through, socket]) end.on('error', () => [through, socket].forEach((each) => each.destroy()));
	});
	const { port, close } = await listening(server, seen);
	return { url: `http://127.0.0.1:${port}`, seen, close };
}

/** Sets variables of the environment until `restore` is called. */
export function environment(variables: Record<string, string>): { restore: () => void } {
	const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
	Object.assign(process.env, variables);
	return {
		restore: () => {
			for (const [name, value] of before)
				if (value === undefined) delete process.env[name];
				else process.env[name] = value;
		},
	};
}
