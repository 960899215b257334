/** A server that counts who connects to it. */
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Sends one request with this Authorization header; `code` is Node's, where it refuses to. */
export async function sendHeader(authorization: string): Promise<{ code?: string; connections: number }> {
	let connections = 0;
	const server = createServer((_, response) => response.end()).on('connection', () => connections++);
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const { port } = server.address() as AddressInfo;
	const code = await new Promise<string | undefined>((resolve) => {
		try {
			request({ host: '127.0.0.1', port, headers: { authorization } }, (response) =>
				response.resume().on('end', () => resolve(undefined)),
			)
				.on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
				.end();
		} catch (error) {
			resolve((error as NodeJS.ErrnoException).code);
		}
	});
	await new Promise((resolve) => setTimeout(resolve, 50));
	server.closeAllConnections();
	await new Promise((resolve) => server.close(resolve));
	return { code, connections };
}
