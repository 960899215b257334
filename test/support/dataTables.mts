/** n8n's data tables, in memory, behind its Data Table node in a sub-execution. */
import type {
	ExecuteWorkflowData,
	IDataObject,
	IExecuteFunctions,
	INode,
	INodeExecutionData,
	IWorkflowBase,
	IWorkflowExecuteAdditionalData,
} from 'n8n-workflow';

/** Tests that put rows into a table by themselves may leave out the time. */
export type Row = IDataObject & { id: number; createdAt?: string };

/** n8n's engine runs a sub-workflow. */
export type Execute = IWorkflowExecuteAdditionalData['executeWorkflow'];

interface Table {
	id: string;
	name: string;
	columns: unknown;
	rows: Row[];
}

interface Condition {
	keyName: string;
	condition: 'eq' | 'neq' | 'lt' | 'lte' | 'gt' | 'gte' | 'like';
	keyValue: string | number;
}

let tables = 0;

export class DataTables {
	tables: Table[] = [];

	/** The operations so far. */
	readonly operations: string[] = [];

	/** The operations of each sub-execution so far. */
	readonly subExecutions: string[][] = [];

	/** The messages to throw at the next operations with these names: before these, or with their rows in the table. */
	readonly faults: Array<[operation: string, fault: string, commits?: 'commitsAlthough']> = [];

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
		const work = this.runAll((code as IWorkflowBase).nodes.slice(1), items);
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

	/** The same, where n8n runs other sub-workflows, too. */
	besides(others: Execute): Execute {
		return async (info, additionalData, options) =>
			info.code?.name === 'Gateway Purchases'
				? ((await this.executeWorkflow(info, additionalData, options)) as ExecuteWorkflowData)
				: await others(info, additionalData, options);
	}

	/** Removes all rows. The next one is number 1 again, as with SQLite. */
	clear(): void {
		this.rows.length = 0;
		this.ids = 0;
	}

	/** Gives the table of the journal another name: it keeps its ID. */
	rename(name = 'Old Purchases'): void {
		const table = this.tables.find((one) => one.name === 'Gateway Purchases');
		if (table !== undefined) table.name = name;
	}

	/** As the next process finds them: what the old one still writes does not arrive. */
	afterCrash(): DataTables {
		const found = new DataTables();
		found.tables = structuredClone(this.tables);
		return found;
	}

	/** A context with the parts that the journal uses. */
	contextOf(workflowId: string, signal?: AbortSignal): IExecuteFunctions & { warned: string[] } {
		const warned: string[] = [];
		return {
			warned,
			executeWorkflow: this.execute,
			getWorkflow: () => ({ id: workflowId }),
			getExecutionId: () => '7',
			getExecutionCancelSignal: () => signal,
			logger: { warn: (text: string) => warned.push(text) },
		} as never;
	}

	/** The nodes of a sub-workflow, each with the items of the one before. */
	private async runAll(nodes: INode[], input: INodeExecutionData[]): Promise<INodeExecutionData[]> {
		this.subExecutions.push(nodes.map(({ parameters }) => String(parameters.operation)));
		let items = input;
		for (const { parameters, executeOnce, alwaysOutputData } of nodes) {
			if (items.length === 0) return [];
			items = await this.run(parameters as IDataObject, executeOnce ? items.slice(0, 1) : items);
			if (items.length === 0 && alwaysOutputData) items = [{ json: {} }];
		}
		return items;
	}

	protected async run(parameters: IDataObject, items: INodeExecutionData[]): Promise<INodeExecutionData[]> {
		const operation = String(parameters.operation);
		this.operations.push(operation);
		const [, fault, commits] = this.faults[0]?.[0] === operation ? (this.faults.shift() ?? []) : [];
		await new Promise((resolve) => setTimeout(resolve, 1));
		if (fault !== undefined && commits === undefined) throw new Error(fault);
		const found = this.perform(operation, parameters, items);
		if (fault !== undefined) throw new Error(fault);
		return found.map((json) => ({ json }));
	}

	/** The clock of the database. */
	protected nowMs(): number {
		return Date.now();
	}

	/** The next number of a row. */
	protected nextId(): number {
		// Rows that a test has put there have numbers, too.
		this.ids = Math.max(this.ids, this.rows.at(-1)?.id ?? 0) + 1;
		return this.ids;
	}

	protected perform(operation: string, parameters: IDataObject, items: INodeExecutionData[]): IDataObject[] {
		if (operation === 'list')
			return this.tables.map(({ id, name, columns }) => ({ id, name, columns }) as unknown as IDataObject);
		if (operation === 'create') return [this.create(parameters)];
		const value = this.idOf((parameters.dataTableId as { value: string }).value);
		const table = this.tables.find(({ id }) => id === value);
		if (table === undefined) throw new Error(`Data table with ID '${value}' could not be found in this project`);
		if (operation === 'insert') {
			const createdAt = new Date(this.nowMs()).toISOString();
			table.rows.push(...items.map(({ json }) => ({ createdAt, ...json, id: Number(json.id ?? this.nextId()) })));
			table.rows.sort((a, b) => a.id - b.id);
			return [{ success: true, insertedRows: items.length }];
		}
		if (operation === 'deleteRows') {
			const goes = toFilter(parameters);
			table.rows = table.rows.filter((row) => !goes(row));
		}
		return operation === 'get' ? select(table.rows, parameters) : [];
	}

	/** An expression asks whether the table with this ID has the name. */
	private idOf(value: string): string {
		const [, id = value] = /\? "([^"]+)"/.exec(value) ?? [];
		const isNamed = this.tables.find(({ name }) => name === 'Gateway Purchases')?.id === id;
		return value.startsWith('=') && !isNamed ? 'not named' : id;
	}

	private create({ tableName, columns }: IDataObject): IDataObject {
		const name = String(tableName);
		if (this.tables.some((table) => table.name === name)) throw new Error(`Data table '${name}' already exists`);
		const table = { id: `t${++tables}`, name, columns: (columns as { column: unknown }).column, rows: [] };
		this.tables.push(table);
		return { id: table.id };
	}
}

/** The rows are in the sequence of their IDs, and those before one, or behind it, are found without a look at the others. */
function select(rows: Row[], parameters: IDataObject): Row[] {
	const fits = toFilter(parameters);
	const ofIds = conditionsOf(parameters).filter(({ keyName }) => keyName === 'id');
	const before = ofIds.find(({ condition }) => condition === 'lt');
	const behind = ofIds.find(({ condition }) => condition === 'gt');
	const isBackwards = parameters.orderByDirection === 'DESC';
	const found: Row[] = [];
	let [first, last] = [0, rows.length - 1];
	while (before && isBackwards && Number(rows[last]?.id) >= Number(before.keyValue)) last--;
	while (behind && !isBackwards && Number(rows[first]?.id) <= Number(behind.keyValue)) first++;
	for (let at = isBackwards ? last : first; rows[at] !== undefined; at += isBackwards ? -1 : 1) {
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
	const holding = conditions.map(({ keyName: key, condition, keyValue }) => {
		if (condition !== 'like') return (row: Row) => compare(row[key], condition, keyValue);
		const pattern = toPattern(String(keyValue));
		return (row: Row) => typeof row[key] === 'string' && pattern.test(row[key]);
	});
	return (row) => (isAny ? holding.some((holds) => holds(row)) : holding.every((holds) => holds(row)));
}

/** As n8n reads it: % stands for any text, and all else for itself. */
function toPattern(text: string): RegExp {
	const parts = text.split('%').map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
	return new RegExp(`^${parts.join('.*')}$`, 's');
}

function compare(value: unknown, condition: Exclude<Condition['condition'], 'like'>, than: string | number): boolean {
	if (value === null || value === undefined) return false;
	const [a, b] = typeof than === 'number' ? [Number(value), than] : [String(value), than];
	if (condition === 'eq') return a === b;
	if (condition === 'neq') return a !== b;
	if (condition === 'lt') return a < b;
	if (condition === 'lte') return a <= b;
	return condition === 'gt' ? a > b : a >= b;
}
