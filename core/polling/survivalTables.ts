import { SurvivalTable } from './survivalTable';

/**
 * What this process has learned about how long tasks take, for all executions in it. A new process begins anew. It
 * holds counts by service, kind and model: nothing of prompts, keys or users.
 */
const tables = new Map<string, SurvivalTable>();

/** More would be an attack, or a mistake. The one that was not used for longest makes room. */
const MOST = 200;

/** @param of what tells one kind of task from another, e.g. the service's address, the kind and the model */
export function survivalTableOf(...of: string[]): SurvivalTable {
	const key = JSON.stringify(of);
	const table = tables.get(key) ?? new SurvivalTable();
	tables.delete(key);
	tables.set(key, table);
	for (const oldest of tables.keys()) {
		if (tables.size <= MOST) break;
		tables.delete(oldest);
	}
	return table;
}
