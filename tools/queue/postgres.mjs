/** PostgreSQL on this machine only, with a new and empty database in a folder of its own. */
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { requireSuccess, run } from '../processes/child.mjs';
import { freePort } from '../processes/ports.mjs';
import { findProgram } from '../processes/findProgram.mjs';
import { startProgram, untilListening } from '../processes/program.mjs';
import { userOf } from '../processes/user.mjs';

/** Debian keeps the programs of each version apart, out of PATH. */
const debianFolder = '/usr/lib/postgresql';
const userName = 'n8n';

function initdb() {
	const versions = existsSync(debianFolder) ? readdirSync(debianFolder).sort((a, b) => Number(b) - Number(a)) : [];
	return findProgram(
		['initdb'],
		versions.map((version) => join(debianFolder, version, 'bin')),
	);
}

export const postgres = { names: ['postgresql'], isThere: () => initdb() !== undefined };

/** @param {string} parent an existing folder that other users may pass through; the database gets a folder in it */
export async function startPostgres(parent) {
	const program = String(initdb());
	// PostgreSQL refuses to run as root; its package brings a user for it.
	const user = process.getuid?.() === 0 ? await userOf('postgres') : undefined;
	const folder = join(parent, 'postgres');
	const data = join(folder, 'data');
	const password = randomBytes(16).toString('hex');
	const passwordFile = join(folder, 'password');
	mkdirSync(folder, { mode: 0o700 });
	writeFileSync(passwordFile, password, { mode: 0o600 });
	if (user) for (const path of [folder, passwordFile]) chownSync(path, user.uid, user.gid);

	const settings = [
		'--username',
		userName,
		'--pwfile',
		passwordFile,
		'--auth',
		'scram-sha-256',
		'--encoding',
		'UTF8',
		'--locale',
		'C',
	];
	requireSuccess(
		'Making a database',
		await run(program, ['-D', data, ...settings, '--no-sync'], { cwd: folder, user }),
	);

	const port = await freePort(0);
	const server = startProgram({
		name: 'PostgreSQL',
		command: join(dirname(program), 'postgres'),
		// -F: nothing of it must survive a power cut. No socket file: only the port.
		args: ['-D', data, '-F', '-p', String(port), '-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
		logFile: join(parent, 'postgres.log'),
		stopSignal: 'SIGINT', // without waiting for connections to be closed
		user,
	});
	await untilListening(server, port);
	return { port, server, user: userName, password, database: 'postgres' };
}
