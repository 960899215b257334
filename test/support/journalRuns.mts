/** Runs of nodes in n8n's engine with the journal in data tables, and n8n's death in the middle of them. */
import type { IDataObject, INodeExecutionData, IRunExecutionData } from 'n8n-workflow';
import { cleanedTables, journalTables, seenRows } from '../../core/processMemory';
import { runTool } from './agent.mts';
import { DataTables, type Execute, type Row } from './dataTables.mts';
import { pause, quick, quickSandbox, startGateway, type Kind, type RunOptions, type Sandbox } from './nodes.mts';
import { ProcessedData, useProcessedData } from './processedData.mts';

/** A credential as a person makes it: Purchase Log is on by default. */
const BY_DEFAULT = { advanced: false, purchaseLog: undefined };

/** Generate with the prompt of the item, and its result as a URL. */
export const fromItem = { operation: 'generate', prompt: '={{ $json.prompt }}', result: 'urlOnly', options: quick };

/** Errors become items. */
export const inItems = { settings: { onError: 'continueRegularOutput' as const } };

/** A sandbox for all tests of a file, and an n8n without rows for each of them. */
export function useJournal(options: Parameters<typeof quickSandbox>[0] = {}) {
	let sandbox: Sandbox;
	const runs = new JournalRuns(() => sandbox);
	beforeAll(async () => {
		sandbox = await quickSandbox(options);
	});
	afterAll(async () => await sandbox.close());
	beforeEach(() => {
		sandbox.reset();
		runs.reset();
	});
	afterEach(() => jest.restoreAllMocks());
	return runs;
}

class JournalRuns {
	tables = new DataTables();

	record = new ProcessedData();

	/** @param sandbox is there once the tests begin */
	constructor(private readonly sandboxOf: () => Sandbox) {}

	get sandbox(): Sandbox {
		return this.sandboxOf();
	}

	/** An n8n that has no rows yet. */
	reset(): void {
		this.go({ tables: new DataTables(), record: new ProcessedData() });
	}

	/** @param others plays the sub-workflows that are not the journal's */
	begin(kind: Kind, parameters: IDataObject, options: RunOptions = {}, others?: Execute) {
		const started = startGateway(kind, this.sandbox, parameters, { credential: BY_DEFAULT, ...options });
		const { executeWorkflow } = this.tables;
		started.additionalData.executeWorkflow = others ? this.tables.besides(others) : (executeWorkflow as never);
		return started;
	}

	/**
	 * A run, or a step of one, that hands its orders to another execution, which is only noted.
	 *
	 * @param stored the data that n8n has of other executions, by their IDs
	 */
	async handOver(parameters: IDataObject, options: RunOptions, stored: Record<string, object> = {}) {
		const handed: INodeExecutionData[][] = [];
		const started = this.begin('image', parameters, options, async (_, __, { inputData = [] }) => {
			if (inputData.length > 0) handed.push(inputData);
			return await Promise.resolve({ executionId: '101', data: [null], waitTill: new Date(4e12) });
		});
		started.additionalData.getRunExecutionData = async (id) =>
			await Promise.resolve(stored[id] as IRunExecutionData | undefined);
		return { handed, ...(await outcomeOf(started)) };
	}

	async run(kind: Kind, parameters: IDataObject, options: RunOptions = {}) {
		return await outcomeOf(this.begin(kind, parameters, options));
	}

	/** Calls of a tool, which an agent makes one after the other. */
	async runTool(
		kind: Kind,
		parameters: IDataObject,
		calls: IDataObject[],
		execution: Pick<RunOptions, 'mode' | 'kept'>,
	) {
		const { executeWorkflow } = this.tables;
		const ofRun = { ...execution, credential: BY_DEFAULT, executeWorkflow };
		return await runTool(kind, this.sandbox, parameters, calls, {}, ofRun);
	}

	/** n8n dies before it has saved what the node has put out. */
	async dieAtTheEnd(): Promise<void> {
		await this.rows();
		this.go({ tables: this.tables.afterCrash(), record: this.record.afterCrash() });
	}

	/** The rows, once nothing more is written. */
	async rows(): Promise<Row[]> {
		for (let before = -1; before !== this.tables.operations.length; await pause(50))
			before = this.tables.operations.length;
		return this.tables.rows;
	}

	/** n8n dies at that moment, with all that it had in memory. */
	async crash(parameters: IDataObject, options: RunOptions, moment: () => boolean, kind: Kind = 'image') {
		const { promise } = this.begin(kind, parameters, options);
		for (const endMs = Date.now() + 60_000; !moment(); await pause(2))
			if (Date.now() > endMs) throw new Error('It does not come to that');
		const left = { tables: this.tables.afterCrash(), record: this.record.afterCrash() };
		promise.cancel();
		await promise;
		await this.rows();
		this.go(left);
	}

	async crashAtTheEnd(parameters: IDataObject, options: RunOptions, kind: Kind = 'image') {
		const ended = await this.run(kind, parameters, options);
		await this.dieAtTheEnd();
		return ended;
	}

	/** Lets the rows be so old that none of them can get an outcome any more. */
	age(minutes = 3): void {
		for (const row of this.tables.rows)
			row.createdAt = new Date(Date.parse(String(row.createdAt)) - minutes * 60_000).toISOString();
	}

	private go({ tables, record }: Pick<JournalRuns, 'tables' | 'record'>): void {
		Object.assign(this, { tables, record });
		useProcessedData(record);
		for (const memory of [journalTables, seenRows, cleanedTables]) memory.clear();
	}
}

export async function outcomeOf({ promise }: ReturnType<JournalRuns['begin']>) {
	const { data } = await promise;
	const task = data.resultData.runData.Node?.at(-1);
	const json = task?.data?.main?.flatMap((items) => items?.map((item) => item.json) ?? []) ?? [];
	const hints = (task?.hints ?? []).map(({ message }) => message);
	return { data, json, hints, error: task?.error as (Error & { description?: string }) | undefined };
}
