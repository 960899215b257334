/** The table of the purchase log of a workflow, in memory, and what is asked of it. The time is faked. */
import type { IDataObject } from 'n8n-workflow';
import type { PurchaseRow } from '../../core/purchases/purchaseRow';
import { N8nPurchaseTable } from '../../nodes/purchaseLog/purchaseTable';
import { DataTables } from './dataTables.mts';
import { untilDone } from './lightContext.mts';

let workflows = 0;

export const row = (changes: Partial<PurchaseRow> = {}): PurchaseRow => ({
	...{ time: new Date().toISOString(), state: 'accepted', task_id: 't', code: '', thing: 'task', model: 'm' },
	...{ workflow: 'W', workflow_id: 'w', node: 'N', node_id: 'n', execution: '7', run: 'r', retry: false, item: 0 },
	...{ attempt: 'a', account: 'c', base_url: 'u', request_hash: 'h', key_hash: '', credits: null },
	...changes,
});

/** The table of a workflow that nobody has used so far. */
export function open(tables = new DataTables(), signal?: AbortSignal) {
	const told: string[] = [];
	const context = tables.contextOf(`w${++workflows}`, signal);
	return { tables, told, warned: context.warned, table: new N8nPurchaseTable(context, (why) => told.push(why)) };
}

export const insert = async (table: N8nPurchaseTable, of: PurchaseRow) => await untilDone(table.insert(of));
export const flush = async (table: N8nPurchaseTable) => await untilDone(table.flush());

/** Tables that note what is asked, and how many rows are written at once. */
export class Noted extends DataTables {
	readonly calls: IDataObject[] = [];

	readonly written: number[] = [];

	protected override perform(operation: string, parameters: IDataObject, items: never[]): IDataObject[] {
		if (operation === 'insert') this.written.push(items.length);
		this.calls.push(parameters);
		return super.perform(operation, parameters, items);
	}

	asked(operation: string): IDataObject[] {
		return this.calls.filter((call) => call.operation === operation);
	}

	/** The values of the conditions of each reading. */
	get values() {
		return this.asked('get').map(({ filters }) =>
			(filters as { conditions: Array<{ keyValue: string }> }).conditions.map(({ keyValue }) => keyValue),
		);
	}
}

/** The parameters by which an operation is on rows of the log. */
export const onTable = (tables: DataTables) => ({
	resource: 'row',
	dataTableId: { __rl: true, mode: 'id', value: tables.tables[0]?.id },
});

export const ids = ({ rows }: DataTables) => rows.map(({ task_id: id }) => id);
