/** The purchase log as its owner has it: a credential without it, and the rows of its data table. */
import { credentialType } from '../../../tools/n8n/examples.mjs';
import type { Signed } from './workflow.mts';

/** The columns that tests go by. */
export interface LogRow {
	execution: string;
	/** Ends with the ID of the workflow. */
	run: string;
	state: string;
	item: number;
	attempt: string;
	task_id: string;
}

/** The same, with another credential in which Purchase Log is off: its runs are remembered by nothing but n8n's processed data. */
export async function withoutPurchaseLog({ rest, credential }: Signed): Promise<Signed> {
	const data = { ...credential.data, advanced: true, purchaseLog: false };
	const { id } = await rest.request('POST', '/rest/credentials', { name: 'Without Log', type: credentialType, data });
	return { rest, credential: { ...credential, id: String(id), name: 'Without Log' } };
}

/** All rows, oldest first. None where there is no table. */
export const readPurchases = async (signed: Pick<Signed, 'rest'>) =>
	await readTable<LogRow>(signed, 'Gateway Purchases');

/** The same of any data table. */
export async function readTable<Row>({ rest }: Pick<Signed, 'rest'>, wanted: string): Promise<Row[]> {
	const { id: projectId } = await rest.request('GET', '/rest/projects/personal');
	const path = `/rest/projects/${projectId}/data-tables`;
	const tables: Array<{ id: string; name: string }> = (await rest.request('GET', path)).data;
	const table = tables.find(({ name }) => name === wanted);
	if (table === undefined) return [];
	const pages: Row[][] = [];
	do {
		const query = `take=${ROWS_AT_ONCE}&skip=${pages.length * ROWS_AT_ONCE}&sortBy=id:asc`;
		pages.push((await rest.request('GET', `${path}/${table.id}/rows?${query}`)).data);
	} while (pages.at(-1)?.length === ROWS_AT_ONCE);
	return pages.flat();
}

const ROWS_AT_ONCE = 250;
