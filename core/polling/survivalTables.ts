import { survivalTables as tables } from '../processMemory';
import { SurvivalTable } from './survivalTable';

/** The most tables: more would be an attack, or a mistake. The one that was not used for longest is dropped. */
const MOST = 200;

/**
 * The durations of such tasks that this process has seen, in all executions.
 *
 * @param of the service's address, the kind and the model
 */
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
