/** n8n's data tables, as its workers and a PostgreSQL share them: what was written first is not always seen first. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { DataTables } from '../../support/dataTables.mts';
import type { Case } from './cases.mts';
import type { Story } from './story.mts';
import { WORLD, type Time } from './time.mts';

/** An operation is on its way to the database for so long at the most, … */
const LONGEST_WAY_MS = 60;
/** … and rows that have their numbers already are seen by others after so long at the most. */
const LONGEST_COMMIT_MS = 150;
/** n8n answers. */
const ANSWER_MS = 3;

export class LogTables extends DataTables {
	private uses = 0;

	constructor(
		private readonly time: Time,
		private readonly story: Story,
		private readonly fate: NonNullable<Case['purchaseLog']> = {},
	) {
		super();
	}

	protected override async run(parameters: IDataObject, items: INodeExecutionData[]): Promise<INodeExecutionData[]> {
		const { time, story, fate } = this;
		await time.pass(1 + time.random() * LONGEST_WAY_MS);
		const operation = String(parameters.operation);
		if (operation === 'insert' && fate.isFull) {
			story.visit('a full purchase log');
			throw new Error('Data table size limit exceeded');
		}
		const fails = fate.failing?.includes(this.uses++) ?? false;
		if (fails) story.visit('a purchase log that does not answer');
		if (fails && time.random() < 0.5) throw new Error('the database is locked');
		const found =
			operation === 'insert' ? await this.commit(parameters, items) : this.perform(operation, parameters, items);
		// The rows are in the table all the same.
		if (fails) throw new Error('the connection to the database was closed');
		return found.map((json) => ({ json }));
	}

	/** The database goes on with it when the process is dead. */
	private async commit(parameters: IDataObject, items: INodeExecutionData[]): Promise<IDataObject[]> {
		const { time } = this;
		const ids = items.map(() => this.nextId());
		const rows = items.map(({ json }, index) => ({ json: { ...json, id: ids[index] } }));
		const commitMs = time.random() * LONGEST_COMMIT_MS;
		time.after(commitMs, () => this.perform('insert', parameters, rows), WORLD);
		await time.pass(commitMs + ANSWER_MS);
		return [{ success: true }];
	}

	/** The clock of the database goes right, whatever that of a worker does. */
	protected override nowMs(): number {
		return this.time.nowMs;
	}
}
