/** PostgreSQL on this machine only, with a new and empty database in a folder of its own. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freePort } from '../processes/freePort.mjs';
import { findProgram } from '../install/debian.mjs';
import { run, startServer, untilAnswers } from '../processes/child.mjs';
import { connectTo } from './redis.mjs';

/** Debian keeps the programs of each version apart, out of PATH. */
const debianFolder = '/usr/lib/postgresql';
const userName = 'n8n';

export function findInitdb() {
	const versions = existsSync(debianFolder) ? readdirSync(debianFolder).sort((a, b) => Number(b) - Number(a)) : [];
	return findProgram(
		['initdb'],
		versions.map((version) => join(debianFolder, version, 'bin')),
	);
}

/** @param {string} parent an existing folder that other users may pass through; the database gets a folder in it */
export async function startPostgres(parent) {
	const initdb = String(findInitdb());
	const folder = join(parent, 'postgres');
	const password = randomBytes(16).toString('hex');
	const passwordFile = join(folder, 'password');
	mkdirSync(folder, { mode: 0o700 });
	writeFileSync(passwordFile, password, { mode: 0o600 });
	// PostgreSQL refuses to run as root; its package brings a user for it.
	const isRoot = process.getuid?.() === 0;
	if (isRoot) await run('chown', ['-R', 'postgres:', folder]);
	const [command, ...prefix] = isRoot ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups'] : ['env'];

	const data = join(folder, 'data');
	const access = ['--username', userName, '--pwfile', passwordFile, '--auth', 'scram-sha-256'];
	await run(command, [...prefix, initdb, '-D', data, ...access, '--encoding', 'UTF8', '--locale', 'C', '--no-sync'], {
		cwd: folder,
	});
	const port = await freePort();
	// -F: nothing of it must survive a power cut. No socket file: only the port.
	const settings = ['-F', '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='];
	const server = startServer({
		name: 'PostgreSQL',
		command,
		args: [...prefix, join(dirname(initdb), 'postgres'), '-D', data, ...settings],
		logFile: join(parent, 'postgres.log'),
		stopSignal: 'SIGINT', // without waiting for connections to be closed
	});
	await untilAnswers(server, () => connectTo(port));
	return { port, server, user: userName, password, database: 'postgres' };
}
