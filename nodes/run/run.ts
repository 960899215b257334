import type { GatewayClient } from '../../core/client';
import type { JsonObject } from '../../core/json';
import type { Intents } from '../../core/tasks/intents';
import type { TaskLedger } from '../../core/tasks/ledger';
import type { TaskLog } from './taskLog';
import type { Ticket } from './ticket';

/** What the options of the first item say for all. */
export interface RunLimits {
	concurrency: number;
	requestsPerSecond: number;
}

/** A workflow that gets the results. */
export interface Background {
	workflowId: string;
	/** As the form shows it. */
	name: string;
	/** Once for each item, in place of once for all. */
	eachItem: boolean;
}

/** What all items of a run share. */
export class Run {
	/** Said in the output panel, each once. */
	readonly hints = new Set<string>();

	/** Labels of fields that were left out, because the chosen model does not have them. */
	readonly notSent = new Set<string>();

	/** What is to be started with the results. Absent where the node puts them out itself, or nobody wants them. */
	background?: Background;

	/** Tasks that are waited for by another execution, by the index of their item. Absent where this one waits. */
	tickets?: Map<number, Ticket>;

	private readonly answers = new Map<string, Promise<JsonObject>>();

	constructor(
		readonly client: GatewayClient,
		readonly ledger: TaskLedger,
		readonly log: TaskLog,
		readonly intents: Intents,
		readonly limits: RunLimits,
	) {}

	/** One answer for all items: what is asked for is the same for each. */
	async shared(what: string, get: () => Promise<JsonObject>): Promise<JsonObject> {
		const answer = this.answers.get(what) ?? get();
		this.answers.set(what, answer);
		return await answer;
	}
}
