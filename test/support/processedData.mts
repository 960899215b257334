/** n8n's table of processed data, in memory: with its reads and writes apart from each other, as in a database. */
import { DataDeduplicationService } from 'n8n-core';
import type {
	DeduplicationItemTypes,
	ICheckProcessedContextData,
	ICheckProcessedOptions,
	IDataDeduplicator,
	IDeduplicationOutput,
} from 'n8n-workflow';

export class ProcessedData implements IDataDeduplicator {
	rows = new Map<string, DeduplicationItemTypes[]>();

	/** The calls so far. */
	readonly calls: Array<'record' | 'remove'> = [];

	/** The fate of the next calls: a message to throw, or undefined to let it pass. */
	faults: Array<string | undefined> = [];

	/** As long as one read or one write takes. */
	delayMs = 0;

	private async access(): Promise<void> {
		await new Promise((resolve) => setTimeout(resolve, this.delayMs));
	}

	private async begin(call: 'record' | 'remove'): Promise<void> {
		this.calls.push(call);
		const fault = this.faults.shift();
		await this.access();
		if (fault !== undefined) throw new Error(fault);
	}

	async checkProcessedAndRecord(
		items: DeduplicationItemTypes[],
		_: unknown,
		where: ICheckProcessedContextData,
		{ maxEntries }: ICheckProcessedOptions,
	): Promise<IDeduplicationOutput> {
		await this.begin('record');
		const kept = [...(this.rows.get(rowOf(where)) ?? [])];
		const processed = items.filter((item) => kept.includes(item));
		const added = items.filter((item) => !kept.includes(item));
		await this.access();
		this.rows.set(rowOf(where), [...kept, ...added].slice(-(maxEntries ?? Infinity)));
		return { new: added, processed };
	}

	async removeProcessed(items: DeduplicationItemTypes[], _: unknown, where: ICheckProcessedContextData): Promise<void> {
		await this.begin('remove');
		const kept = [...(this.rows.get(rowOf(where)) ?? [])];
		await this.access();
		this.rows.set(
			rowOf(where),
			kept.filter((item) => !items.includes(item)),
		);
	}

	async clearAllProcessedItems(): Promise<void> {
		this.rows.clear();
	}

	async getProcessedDataCount(): Promise<number> {
		return this.all().length;
	}

	all(): DeduplicationItemTypes[] {
		return [...this.rows.values()].flat();
	}

	/** As the next process finds it: what the old one still writes does not arrive. */
	afterCrash(): ProcessedData {
		const found = new ProcessedData();
		for (const [row, items] of this.rows) found.rows.set(row, [...items]);
		return found;
	}
}

const rowOf = ({ workflow, node }: ICheckProcessedContextData) => `${workflow.id} ${node?.id}`;

/** Replaces n8n's table from now on. Undefined: it has no such table, and each call throws. */
export function useProcessedData(data: ProcessedData | undefined): void {
	Object.assign(DataDeduplicationService, {
		instance: data && new (DataDeduplicationService as unknown as new (data: IDataDeduplicator) => unknown)(data),
	});
}
