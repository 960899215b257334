/** The bytes that n8n keeps of our own executions, read beside n8n. The Node that measures may be too old for that. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installN8n } from '../../tools/install/n8n.mjs';
import type { Instance } from '../../test/n8n/support/instance.mts';

const READ = `
	const { DatabaseSync } = require('node:sqlite');
	const [file, workflowId] = process.argv.slice(1);
	const bytes = (column) => 'length(CAST(d.' + column + ' AS BLOB))';
	const sql = 'SELECT sum(' + bytes('data') + ' + ' + bytes('workflowData') + ') AS bytes FROM execution_data d' +
		" JOIN execution_entity e ON e.id = d.executionId WHERE e.workflowId = ? AND e.mode = 'integrated'";
	console.log(new DatabaseSync(file, { readOnly: true }).prepare(sql).get(workflowId).bytes ?? 0);
`;

/** Of all sub-executions of a workflow together. */
export async function storedBytes({ n8n }: Pick<Instance, 'n8n'>, workflowId: string): Promise<number> {
	const { node } = await installN8n();
	const file = join(n8n.userFolder, '.n8n', 'database.sqlite');
	const { stdout } = await promisify(execFile)(node, ['--no-warnings', '-e', READ, file, workflowId]);
	return Number(stdout);
}
