/** Executions that a version of the package has left asleep in n8n's database: see test/stored. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installN8n } from '../../../tools/install/n8n.mjs';
import { projectDir } from '../../../tools/paths.mjs';
import type { Instance } from './instance.mts';

const FOLDER = join(projectDir, 'test/stored/data');

/** All of them, by their names. */
export const storedExecutions = () =>
	readdirSync(FOLDER, { recursive: true })
		.map(String)
		.filter((name) => name.includes('executions'))
		.filter((name) => name.endsWith('.json'));

/** As a file has it. The IDs are those of the n8n that has written it. */
export interface Stored {
	workflowId: string;
	receiverId: string;
	credentialId: string;
	/** Of the tasks that were accepted. */
	taskIds: string[];
	/** The outermost one first. */
	executions: Array<{ id: string; mode: string; startedAt: string; createdAt: string; waitTill: string }>;
}

export const readStored = (name: string) => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as Stored;

/** The Node that tests run with may be too old for it. The rows come as JSON. */
const INSERT = `
	const { DatabaseSync } = require('node:sqlite');
	const { readFileSync } = require('node:fs');
	const database = new DatabaseSync(process.argv[1]);
	const at = (time) => time.replace('T', ' ').replace('Z', '');
	const { workflowId, executions } = JSON.parse(readFileSync(0, 'utf8'));
	for (const { id, mode, startedAt, createdAt, waitTill, workflowData, data } of executions) {
		database
			.prepare('INSERT INTO execution_entity (id, workflowId, finished, mode, status, startedAt, createdAt, waitTill) VALUES (?, ?, 0, ?, ?, ?, ?, ?)')
			.run(id, workflowId, mode, 'waiting', at(startedAt), at(createdAt), at(waitTill));
		database.prepare('INSERT INTO execution_data (executionId, workflowData, data) VALUES (?, ?, ?)').run(id, JSON.stringify(workflowData), data);
	}
`;

/** Far from now: what n8n has in the place of a time when nothing is to wake an execution. */
const NEVER = '2999';

/** The text of a file, as if the last sleep in it had ended just now: else, Timeout would be over for all of its tasks. */
function asOfNow(text: string): string {
	const { executions } = JSON.parse(text) as Stored;
	const wakeTimes = executions.map(({ waitTill }) => waitTill).filter((time) => !time.startsWith(NEVER));
	const writtenAt = Math.max(...wakeTimes.map((time) => Date.parse(time)));
	const later = Date.now() - writtenAt;
	const isNear = (time: number) => Math.abs(time - writtenAt) < 3_600_000;
	return text
		.replace(/\b\d{13}\b/g, (time) => String(Number(time) + (isNear(Number(time)) ? later : 0)))
		.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (time) =>
			isNear(Date.parse(time)) ? new Date(Date.parse(time) + later).toISOString() : time,
		);
}

/** Puts them into the database of an n8n that does not run, with the IDs of this n8n in the place of those in the file. */
export async function insertExecutions({ n8n }: Instance, name: string, ids: Record<string, string>): Promise<void> {
	const { node } = await installN8n();
	const rows = Object.entries(ids).reduce(
		(text, [before, now]) => text.replaceAll(before, now),
		asOfNow(readFileSync(join(FOLDER, name), 'utf8')),
	);
	const database = join(n8n.userFolder, '.n8n', 'database.sqlite');
	const { status, stderr } = spawnSync(node, ['--no-warnings', '-e', INSERT, database], { input: rows });
	if (status !== 0) throw new Error(`${name} was not inserted: ${String(stderr)}`);
}
