/** A proxy on this machine. It writes down which addresses it is asked for. */
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type AddressInfo } from 'node:net';

export interface Proxy {
	url: string;
	/** The address of each request, as it came. */
	asked: string[];
	/** Everything that was sent to it, through tunnels as well. */
	text(): string;
	close(): void;
}

/** @param addressOf the address that is meant; undefined where a login comes first */
export async function startProxy(addressOf: (url: string) => string | undefined): Promise<Proxy> {
	const asked: string[] = [];
	const pass = (incoming: IncomingMessage, response: ServerResponse) => {
		const { method, headers, url = '' } = incoming;
		asked.push(url);
		const address = addressOf(url);
		if (address === undefined) return void response.writeHead(401, { 'www-authenticate': 'Basic' }).end();
		const onward = send(address, { method, headers }, (answer) => {
			response.writeHead(answer.statusCode ?? 502, answer.headers);
			answer.pipe(response);
		});
		onward.on('error', () => response.destroy());
		incoming.pipe(onward);
	};
	const server = createServer(pass);
	const sent: Buffer[] = [];
	server.on('connection', (socket) => socket.on('data', (bytes: Buffer) => sent.push(bytes)));
	server.on('connect', ({ url = '' }, socket) => {
		asked.push(url);
		const { hostname, port } = new URL(`http://${url}`);
		const onward = connect(Number(port), hostname, () => {
			socket.write('HTTP/1.1 200 OK\r\n\r\n');
			onward.pipe(socket).pipe(onward);
		});
		for (const end of [onward, socket]) end.on('error', () => [onward, socket].forEach((each) => each.destroy()));
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
		asked,
		text: () => Buffer.concat(sent).toString(),
		close() {
			server.closeAllConnections();
			server.close();
		},
	};
}
