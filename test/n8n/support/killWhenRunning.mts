/** kill -9 in a moment that is over before n8n could say by itself that it has come. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { installN8n } from '../../../tools/install/n8n.mjs';
import type { Instance } from './instance.mts';

/** Reads n8n's database beside n8n: what it has saved so far. The Node that tests run with may be too old for that. */
const WATCH = `
	const { DatabaseSync } = require('node:sqlite');
	const [file, id, pid] = process.argv.slice(1);
	const read = new DatabaseSync(file, { readOnly: true }).prepare('SELECT status FROM execution_entity WHERE id = ?');
	console.log('watching');
	const untilMs = Date.now() + 60_000;
	while (read.get(id).status !== 'running') if (Date.now() > untilMs) process.exit(1);
	process.kill(-pid, 'SIGKILL');
`;

/** Kills n8n as soon as it has saved that this execution, which sleeps, has been woken. */
export async function killWhenRunning({ n8n }: Instance, executionId: string, wake: () => Promise<unknown>) {
	const { node } = await installN8n();
	const file = join(n8n.userFolder, '.n8n', 'database.sqlite');
	const args = ['--no-warnings', '-e', WATCH, file, executionId, String(n8n.server.pid)];
	const watcher = spawn(node, args, { stdio: ['ignore', 'pipe', 'inherit'] });
	const over = once(watcher, 'exit');
	await once(watcher.stdout, 'data');
	void wake().catch(() => {}); // n8n may be dead before it has answered
	const [code] = await over;
	if (code !== 0) throw new Error(`Execution ${executionId} was not woken`);
	await n8n.server.ended;
}
