/** n8n's data tables, in memory, behind its Data Table node in a sub-execution. */
import type { IDataObject, IExecuteFunctions, INodeExecutionData, IWorkflowBase } from 'n8n-workflow';

export type Row = IDataObject & { id: number };

interface Table {
	id: string;
	name: string;
	columns: unknown;
	rows: Row[];
}

interface Condition {
	keyName: string;
	condition: 'eq' | 'neq' | 'lt' | 'lte' | 'gt' | 'gte';
	keyValue: string | number;
}

let tables = 0;

export class DataTables {
	tables: Table[] = [];

	/** The operations so far. */
	readonly operations: string[] = [];

	/** The messages to throw at the next operations with these names. */
	readonly faults: Array<[operation: string, fault: string]> = [];

	private ids = 0;

	/** The rows of the log. */
	get rows(): Row[] {
		return this.tables.find(({ name }) => name === 'Gateway Purchases')?.rows ?? [];
	}

	/** `executeWorkflow` as a node sees it. */
	readonly execute = async (
		{ code }: { code?: unknown },
		items: INodeExecutionData[] = [],
		_?: unknown,
		{ doNotWaitToFinish = false }: { doNotWaitToFinish?: boolean } = {},
	) => {
		const { parameters } = (code as IWorkflowBase).nodes[1] ?? {};
		const work = this.run(parameters as IDataObject, items);
		if (!doNotWaitToFinish) return { executionId: 'sub', data: [await work] };
		work.catch(() => {});
		return { executionId: 'sub', data: [null] };
	};

	/** `executeWorkflow` as n8n's engine calls it. */
	readonly executeWorkflow = async (
		info: { code?: unknown },
		_: unknown,
		options: { inputData?: INodeExecutionData[]; doNotWaitToFinish?: boolean },
	) => await this.execute(info, options.inputData, undefined, options);

	/** A context with the parts that the log uses. */
	contextOf(workflowId: string): IExecuteFunctions & { warned: string[] } {
		const warned: string[] = [];
		return {
			warned,
			executeWorkflow: this.execute,
			getWorkflow: () => ({ id: workflowId }),
			getExecutionId: () => '7',
			getExecutionCancelSignal: () => undefined,
			logger: { warn: (text: string) => warned.push(text) },
		} as never;
	}

	protected async run(parameters: IDataObject, items: INodeExecutionData[]) {
		const operation = String(parameters.operation);
		this.operations.push(operation);
		const fault = this.faults[0]?.[0] === operation ? this.faults.shift()?.[1] : undefined;
		await new Promise((resolve) => setTimeout(resolve, 1));
		if (fault !== undefined) throw new Error(fault);
		return this.perform(operation, parameters, items).map((json) => ({ json }));
	}

	/** The next number of a row. */
	protected nextId(): number {
		return ++this.ids;
	}

	protected perform(operation: string, parameters: IDataObject, items: INodeExecutionData[]): IDataObject[] {
		if (operation === 'list')
			return this.tables.map(({ id, name, columns }) => ({ id, name, columns }) as unknown as IDataObject);
		if (operation === 'create') return [this.create(parameters)];
		const { value } = parameters.dataTableId as { value: string };
		const table = this.tables.find(({ id }) => id === value);
		if (table === undefined) throw new Error(`Could not find the data table: '${value}'`);
		if (operation === 'insert') {
			table.rows.push(...items.map(({ json }) => ({ ...json, id: Number(json.id ?? this.nextId()) })));
			table.rows.sort((a, b) => a.id - b.id);
		}
		if (operation === 'deleteRows') {
			const goes = toFilter(parameters);
			table.rows = table.rows.filter((row) => !goes(row));
		}
		return operation === 'get' ? select(table.rows, parameters) : [];
	}

	private create({ tableName, columns }: IDataObject): IDataObject {
		const name = String(tableName);
		if (this.tables.some((table) => table.name === name)) throw new Error(`Data table '${name}' already exists`);
		const table = { id: `t${++tables}`, name, columns: (columns as { column: unknown }).column, rows: [] };
		this.tables.push(table);
		return { id: table.id };
	}
}

/** The rows are in the sequence of their IDs, and those before one are found without a look at the others. */
function select(rows: Row[], parameters: IDataObject): Row[] {
	const fits = toFilter(parameters);
	const before = conditionsOf(parameters).find(({ keyName, condition }) => keyName === 'id' && condition === 'lt');
	const isBackwards = parameters.orderByDirection === 'DESC';
	const found: Row[] = [];
	let last = rows.length - 1;
	while (before && isBackwards && Number(rows[last]?.id) >= Number(before.keyValue)) last--;
	for (let at = isBackwards ? last : 0; rows[at] !== undefined; at += isBackwards ? -1 : 1) {
		if (found.length >= Number(parameters.limit)) break;
		if (fits(rows[at])) found.push(rows[at]);
	}
	return found;
}

const conditionsOf = ({ filters }: IDataObject) =>
	(filters as { conditions?: Condition[] } | undefined)?.conditions ?? [];

function toFilter(parameters: IDataObject): (row: Row) => boolean {
	const conditions = conditionsOf(parameters);
	if (conditions.length === 0) return () => true;
	const [{ keyName }] = conditions;
	const isAny = parameters.matchType !== 'allConditions';
	if (isAny && conditions.every((one) => one.keyName === keyName && one.condition === 'eq')) {
		const values = new Set(conditions.map(({ keyValue }) => String(keyValue)));
		return ({ [keyName]: value }) => value !== null && value !== undefined && values.has(String(value));
	}
	const holds = (row: Row) => (one: Condition) => compare(row[one.keyName], one.condition, one.keyValue);
	return (row) => (isAny ? conditions.some(holds(row)) : conditions.every(holds(row)));
}

function compare(value: unknown, condition: Condition['condition'], than: string | number): boolean {
	if (value === null || value === undefined) return false;
	const [a, b] = typeof than === 'number' ? [Number(value), than] : [String(value), than];
	if (condition === 'eq') return a === b;
	if (condition === 'neq') return a !== b;
	if (condition === 'lt') return a < b;
	if (condition === 'lte') return a <= b;
	return condition === 'gt' ? a > b : a >= b;
}
