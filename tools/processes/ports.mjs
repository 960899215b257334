/** Finds ports that nobody uses. */
import { createServer } from 'node:net';

/**
 * The preferred port, or any free one when it is taken.
 *
 * @param {number} preferred 0 for any
 * @param {number[]} [exclude] ports that are free now but promised to somebody else
 */
export async function freePort(preferred, exclude = []) {
	if (preferred !== 0 && !exclude.includes(preferred) && (await isFree(preferred))) return preferred;
	for (;;) {
		const port = await probe(0, '127.0.0.1');
		if (port !== undefined && !exclude.includes(port) && (await isFree(port))) return port;
	}
}

/**
 * A server on all addresses, or on the IPv6 loopback that "localhost" may mean to a browser, counts as well.
 * @param {number} port
 */
async function isFree(port) {
	for (const host of ['127.0.0.1', '::1', '0.0.0.0']) {
		if ((await probe(port, host)) === undefined) return false;
	}
	return true;
}

/**
 * @param {number} port
 * @param {string} host
 * @returns {Promise<number | undefined>} the port that could be opened
 */
function probe(port, host) {
	return new Promise((resolve) => {
		const server = createServer();
		server.once('error', (/** @type {NodeJS.ErrnoException} */ error) =>
			resolve(error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT' ? port : undefined),
		);
		server.listen(port, host, () => {
			const address = server.address();
			server.close(() => resolve(typeof address === 'object' && address ? address.port : undefined));
		});
	});
}
