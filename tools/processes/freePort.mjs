/** Ports for servers that start later than they are chosen. */
import { randomInt } from 'node:crypto';
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import getPort from 'get-port';

/** A server that has not opened its port by then never will. */
const CHOSEN_FOR_MS = 600_000;

const folder = join(tmpdir(), 'generation-gateway-ports');

/**
 * A free port. It is none of those that the system gives to outgoing connections: n8n opens its port seconds after it was
 * chosen, and on a busy machine one of these is taken by then. And it is above 10,080, which `fetch` refuses as a bad port.
 * No other process that chooses its ports here gets the same one meanwhile.
 */
export async function freePort() {
	mkdirSync(folder, { recursive: true });
	for (;;) {
		const port = await getPort({ port: Array.from({ length: 20 }, () => randomInt(10_081, 32_768)) });
		if (choose(join(folder, String(port)))) return port;
	}
}

/**
 * @param {string} file that stands for the port
 * @returns {boolean} false where another process has chosen it just now
 */
function choose(file) {
	try {
		writeFileSync(file, '', { flag: 'wx' });
		return true;
	} catch {
		const chosenAtMs = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
		if (Date.now() - chosenAtMs > CHOSEN_FOR_MS) rmSync(file, { force: true });
		return false;
	}
}
