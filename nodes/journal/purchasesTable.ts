import type { IDataObject, IExecuteFunctions, INodeParameters } from 'n8n-workflow';
import { TABLE_NAME } from '../../core/labels';
import { COLUMNS } from '../../core/journal/row';
import { NoTableError } from '../../core/journal/table';
import { journalTables, seenRows, type FoundTable } from '../../core/processMemory';
import { wordsOf } from '../../core/text';
import { realClock } from '../connection/transport';
import { nameOfNode, NEEDED_NODES, runDataTableNodes, TooSlowError } from './dataTableNode';

/** The most workflows whose tables are remembered, and the most tables whose numbers are. */
const MOST_REMEMBERED = 1000;

/** The reason why n8n cannot have the table, as far as it is known without a look for it. */
export function whatIsMissing(
	context: IExecuteFunctions,
	{ establishedAtMs }: { establishedAtMs?: number },
): string | undefined {
	if (!context.getWorkflow().id) return 'the workflow has not been saved';
	if (establishedAtMs === undefined) return TOO_OLD;
	const known = context.getKnownNodeTypes();
	const [, missing] = Object.entries(NEEDED_NODES).find(([type]) => known[type] === undefined) ?? [];
	return missing === undefined ? undefined : `this n8n does not have the node "${missing}"`;
}

const TOO_OLD = 'it needs n8n 2.41 or later';

/** The ID of the table in the project of the workflow, which is made where there is none. Rejects with `NoTableError` where there can be none. */
export async function findTable(context: IExecuteFunctions): Promise<string> {
	const workflow = workflowOf(context);
	const known = journalTables.get(workflow);
	if (known !== undefined) return await known.finding;
	if (journalTables.size >= MOST_REMEMBERED) journalTables.clear();
	const found: FoundTable = { finding: findOrCreate(context) };
	journalTables.set(workflow, found);
	found.finding.then(
		(id) => (found.id = id),
		() => journalTables.get(workflow) === found && journalTables.delete(workflow),
	);
	return await found.finding;
}

/** The ID as far as this process knows it now. */
export function knownTable(context: IExecuteFunctions): string | undefined {
	return journalTables.get(workflowOf(context))?.id;
}

/** Forgets the ID: a person may have removed the table. */
export function forgetTable(context: IExecuteFunctions): void {
	journalTables.delete(workflowOf(context));
}

const workflowOf = (context: IExecuteFunctions) => String(context.getWorkflow().id);

/** Numbers are remembered at such a distance, and so many of them for each table: for two hours. */
const SEEN_APART_MS = 60_000;
const MOST_SEEN = 120;

/** The clocks of two processes differ by less. */
const CLOCKS_APART_MS = 60_000;

/** Remembers the highest number of these rows. */
export function rememberSeen(tableId: string, rows: IDataObject[]): void {
	const seen = seenRows.get(tableId) ?? [];
	const [before, last] = [seen.at(-2), seen.at(-1)];
	const id = rows.reduce((most, row) => Math.max(most, Number(row.id) || 0), 0);
	if (id <= (last?.id ?? 0)) return;
	if (before !== undefined && last !== undefined && last.atMs - before.atMs < SEEN_APART_MS) seen.pop();
	seen.push({ id, atMs: realClock.now() });
	if (seen.length > MOST_SEEN) seen.shift();
	if (seenRows.size >= MOST_REMEMBERED && !seenRows.has(tableId)) seenRows.clear();
	seenRows.set(tableId, seen);
}

/**
 * The highest number that this process had seen in the table before an execution began: all that another one has written since then
 * about its runs has a higher one. Later numbers will not do: in a second round of a loop, they may be higher than that of a retry's
 * lease.
 *
 * @param beganAtMs by the clock of the process in which it began
 */
export function seenBefore(tableId: string, beganAtMs: number): number {
	const seen = seenRows.get(tableId) ?? [];
	return seen.filter(({ atMs }) => atMs < beganAtMs - CLOCKS_APART_MS).at(-1)?.id ?? 0;
}

/** The parameters of a row operation on the table. */
export function onRows(tableId: string, operation: string, parameters: INodeParameters): INodeParameters {
	return { resource: 'row', operation, dataTableId: { __rl: true, mode: 'id', value: tableId }, ...parameters };
}

/** A condition of n8n's Data Table node. */
export function where(keyName: string, condition: string, keyValue: string | number): INodeParameters {
	return { keyName, condition, keyValue };
}

/** The parameters for rows that meet all conditions. */
export function matching(conditions: INodeParameters[]): INodeParameters {
	return { matchType: 'allConditions', filters: { conditions } };
}

/** The parameters for rows with one of these values in the column. */
export function matchingAny(column: string, values: string[]): INodeParameters {
	const conditions = values.map((value) => where(column, 'eq', value));
	return { matchType: 'anyCondition', filters: { conditions } };
}

/**
 * The parameters for the oldest rows, or the newest.
 *
 * @param limit at most 1,000: n8n gives up a reading of more rows when others are added meanwhile
 */
export function inSequence(orderByDirection: 'ASC' | 'DESC', limit: number): INodeParameters {
	return { returnAll: false, limit, orderBy: true, orderByColumn: 'id', orderByDirection };
}

/**
 * The words with which n8n refuses before it writes anything, and what they mean. n8n measures its tables before each insert
 * begins; a Data Table node of n8n 2.0 has no operations for tables.
 */
const REFUSALS: Array<[words: RegExp, meaning: string]> = [
	[/size limit exceeded/i, 'the storage of n8n’s data tables is full'],
	[/module is disabled/i, 'n8n’s data tables are turned off'],
	[/undefined \(reading 'execute'\)/, TOO_OLD],
];

/** The error of n8n, as a `NoTableError` where n8n has refused before it wrote anything. */
export function asNoTable(thrown: unknown): unknown {
	const words = wordsOf(thrown);
	const [, meaning] = REFUSALS.find(([refusal]) => refusal.test(words)) ?? [];
	return meaning === undefined ? thrown : new NoTableError(`${meaning} (${words})`);
}

async function findOrCreate(context: IExecuteFunctions): Promise<string> {
	const found = await find(context);
	if (found !== undefined) return found;
	const column = Object.entries(COLUMNS).map(([name, type]) => ({ name, type }));
	const options = { createIfNotExists: false };
	const parameters = { resource: 'table', operation: 'create', tableName: TABLE_NAME, columns: { column }, options };
	// Another execution may make it at the same moment: n8n refuses a second table of a name.
	const refused = await runDataTableNodes(context, [parameters]).then(
		() => undefined,
		async (thrown: unknown) => {
			// It may be there in a moment: then a run without rows would not see what others have bought with theirs.
			if (thrown instanceof TooSlowError) return await Promise.reject(thrown);
			return wordsOf(thrown);
		},
	);
	const made = await find(context);
	if (made !== undefined) return made;
	// A person has renamed it already: the next look makes another one.
	if (refused === undefined || refused.includes('already exists'))
		throw new Error(`the data table "${TABLE_NAME}" was there, and is gone`);
	throw new NoTableError(`n8n did not create the data table "${TABLE_NAME}" (${refused})`);
}

/** The tables whose names have this one in it, the oldest first. */
const LIST: INodeParameters = {
	...{ resource: 'table', operation: 'list', returnAll: true },
	options: { filterName: TABLE_NAME, sortField: 'createdAt', sortDirection: 'asc' },
};

/**
 * Reads rows of the table if it has the name now, in one sub-execution. Rejects where another table has it, or none: a table that a
 * person has renamed keeps its ID, and other workflows buy by the rows of a new one.
 */
export async function readIfNamed(
	context: IExecuteFunctions,
	tableId: string,
	parameters: INodeParameters,
): Promise<IDataObject[]> {
	const name = JSON.stringify(TABLE_NAME);
	const named = `$(${JSON.stringify(nameOfNode(0))}).all().find(({ json }) => json.name === ${name})`;
	const id = JSON.stringify(tableId);
	const table = `={{ ${named}?.json.id === ${id} ? ${id} : "not named ${TABLE_NAME}" }}`;
	return await runDataTableNodes(context, [LIST, onRows(table, 'get', parameters)]);
}

/** The words of a Data Table node of n8n 1.123, which has no operations for tables, at the first of them. */
const NO_SUCH_OPERATION = /could not get parameter/i;

/** n8n looks for parts of a name, so the comparison is made here. */
async function find(context: IExecuteFunctions): Promise<string | undefined> {
	const tables = await runDataTableNodes(context, [LIST]).catch(async (thrown: unknown) => {
		const error = NO_SUCH_OPERATION.test(wordsOf(thrown)) ? new NoTableError(TOO_OLD) : asNoTable(thrown);
		return await Promise.reject(error);
	});
	const table = tables.find(({ name }) => name === TABLE_NAME);
	if (table === undefined) return undefined;
	const missing = missingColumn(table);
	if (missing === undefined) return String(table.id);
	throw new NoTableError(
		`the data table "${TABLE_NAME}" has no column "${missing}" of the right type: rename or delete this table, and the node creates a new one`,
	);
}

function missingColumn({ columns }: IDataObject): string | undefined {
	const has = new Map((columns as Array<{ name: string; type: string }>).map(({ name, type }) => [name, type]));
	return Object.entries(COLUMNS).find(([name, type]) => has.get(name) !== type)?.[0];
}
