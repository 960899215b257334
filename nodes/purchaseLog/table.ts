import type { IDataObject, IExecuteFunctions, INodeParameters } from 'n8n-workflow';
import { purchaseTables } from '../../core/processMemory';
import { wordsOf } from '../../core/text';
import { COLUMNS, TABLE_NAME } from '../../core/purchases/purchaseRow';
import { runDataTableNode } from './dataTableNode';

/** The most workflows whose tables are remembered. */
const MOST_REMEMBERED = 1000;

/** The ID of the table in the project of the workflow. Makes the table where there is none. */
export async function findTable(context: IExecuteFunctions): Promise<string> {
	const workflow = String(context.getWorkflow().id);
	const known = purchaseTables.get(workflow);
	if (known !== undefined) return await known;
	if (purchaseTables.size >= MOST_REMEMBERED) purchaseTables.clear();
	const found = findOrCreate(context);
	purchaseTables.set(workflow, found);
	found.catch(() => purchaseTables.delete(workflow));
	return await found;
}

/** Forgets the ID: somebody may have removed the table. */
export function forgetTable(context: IExecuteFunctions): void {
	purchaseTables.delete(String(context.getWorkflow().id));
}

/** The parameters of a row operation on the table. */
export function onRows(tableId: string, operation: string, parameters: INodeParameters): INodeParameters {
	return { resource: 'row', operation, dataTableId: { __rl: true, mode: 'id', value: tableId }, ...parameters };
}

/** The parameters for rows that meet all conditions. */
export function matching(conditions: INodeParameters[]): INodeParameters {
	return { matchType: 'allConditions', filters: { conditions } };
}

/** The parameters for the oldest rows, or the newest. To be given with a limit. */
export function inSequence(orderByDirection: 'ASC' | 'DESC'): INodeParameters {
	return { returnAll: false, orderBy: true, orderByColumn: 'id', orderByDirection };
}

async function findOrCreate(context: IExecuteFunctions): Promise<string> {
	const found = await find(context);
	if (found !== undefined) return found;
	const column = Object.entries(COLUMNS).map(([name, type]) => ({ name, type }));
	const options = { createIfNotExists: false };
	const parameters = { resource: 'table', operation: 'create', tableName: TABLE_NAME, columns: { column }, options };
	// Another execution may make it at the same moment: n8n refuses a second table of a name.
	const refused = await runDataTableNode(context, parameters).then(
		() => 'n8n did not create it',
		(thrown: unknown) => wordsOf(thrown),
	);
	const made = await find(context);
	if (made === undefined) throw new Error(`there is no data table "${TABLE_NAME}": ${refused}`);
	return made;
}

/** n8n looks for parts of a name, so the comparison is made here. */
async function find(context: IExecuteFunctions): Promise<string | undefined> {
	const options = { filterName: TABLE_NAME, sortField: 'createdAt', sortDirection: 'asc' };
	const tables = await runDataTableNode(context, { resource: 'table', operation: 'list', returnAll: true, options });
	const table = tables.find(({ name }) => name === TABLE_NAME);
	if (table === undefined) return undefined;
	const missing = missingColumn(table);
	if (missing !== undefined)
		throw new Error(`the data table "${TABLE_NAME}" does not have the column "${missing}" of the right type`);
	return String(table.id);
}

function missingColumn({ columns }: IDataObject): string | undefined {
	const has = new Map((columns as Array<{ name: string; type: string }>).map(({ name, type }) => [name, type]));
	return Object.entries(COLUMNS).find(([name, type]) => has.get(name) !== type)?.[0];
}
