/** Ports for servers that start later than they are chosen. */
import { randomInt } from 'node:crypto';
import getPort from 'get-port';

/**
 * A free port. It is none of those that the system gives to outgoing connections: n8n opens its port seconds after it was
 * chosen, and on a busy machine one of these is taken by then. And it is above 10,080, which `fetch` refuses as a bad port.
 */
export const freePort = () => getPort({ port: Array.from({ length: 20 }, () => randomInt(10_081, 32_768)) });
