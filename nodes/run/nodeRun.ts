import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { CreditsNote } from '../../core/account/runCredits';
import type { GatewayClient } from '../../core/client';
import type { JsonObject } from '../../core/json';
import type { PendingFiles } from '../../core/models/images';
import type { HandOver } from '../../core/orders/handOver';
import type { BuyPorts } from '../../core/engine/buyOnce';
import type { Purchase } from '../../core/orders/order';
import type { Ports } from '../../core/engine/advance';
import type { OrderLedger } from '../../core/orders/ledger';
import type { Journal } from '../../core/journal/journal';
import type { Marks } from '../../core/journal/marks';
import { realClock } from '../connection/transport';
import type { PollPlan } from '../../core/polling/planner';
import type { Waiting } from '../form/fields';
import type { TimeAlone } from './whereItRuns';
import type { Progress } from './progress';
import type { TaskLog } from './taskLog';

/** A workflow that gets the results. */
export interface Background {
	workflowId: string;
	/** As the form shows it. */
	name: string;
	/** The executions that wait for the orders of earlier tries, too. Kept with the ledger. */
	executions: Record<string, string>;
}

/**
 * An order among all that the tries of a node have handed over: by its item, and by its task once it has one. With a Purchase
 * Key, several items may have the same task, and each wants its result.
 */
export function keyInBackground({ ledger }: Pick<Run, 'ledger'>, { item, task }: Purchase): string {
	return [`${ledger.scope.runIndex}.${item}`, ...(task === undefined ? [] : [task.taskId])].join(' ');
}

/** The other execution that an earlier try has handed the order to; undefined where there is none. */
export function executionOf(run: Pick<Run, 'ledger' | 'background'>, order: Purchase): string | undefined {
	return run.background?.executions[keyInBackground(run, order)];
}

/** All that the items of a run share. */
export interface Run {
	context: IExecuteFunctions;
	client: GatewayClient;
	ledger: OrderLedger;
	log: TaskLog;
	/** The memory of a run without rows, and the witness of one with rows. */
	marks: Marks;
	/** The memory of a run with rows, opened when something is to be bought: see `runMemory.ts`. Absent where it has none. */
	journal?: Journal;
	/** Opens it, once. Returns the reason why there is none. */
	openJournal: () => Promise<string | undefined>;
	/** Tasks that are waited for at the same time. */
	concurrency: number;
	pollPlan: PollPlan;
	/** Absent where the operation does not ask for it. */
	waiting?: Waiting;
	/** Present where n8n runs the node alone, and ends it soon. */
	alone?: TimeAlone;
	/** Present where the credits that the run uses are reported. */
	credits?: CreditsNote;
	/** The option Reuse While Building. Absent where it never has an effect. */
	reuses?: boolean;
	/** Hints for the output panel. */
	hints: Set<string>;
	/** The workflow to start with the results. Absent where the node returns them, or does not wait for them. */
	background?: Background;
	/** Tells the user how far it is. */
	progress: Progress;
	/** True where the orders of this run go on in another execution. */
	handsOver: boolean;
	/** Retry On Fail, which n8n does not play there. Absent where it is off, or nothing is handed over. */
	retryOnFail?: HandOver['retry'];
	/** The output until n8n replaces it, once the orders have been handed over. */
	asleep?: INodeExecutionData[];
	/** Files that are still to be uploaded, beside the requests that refer to them. */
	files: Map<Purchase, PendingFiles>;
	/** The hash of a file's content, by n8n's ID of it: see `requestHash.ts`. */
	fileHash: (id: string, read: () => Promise<string>) => Promise<string>;
	/** Shares one answer of the service among all items that ask for it. */
	shared: (what: string, get: () => Promise<JsonObject>) => Promise<JsonObject>;
}

/** Asks once for each `what`, however many ask at the same time or later. */
export function sharing<T>(): (what: string, get: () => Promise<T>) => Promise<T> {
	const answers = new Map<string, Promise<T>>();
	return async (what, get) => {
		const answer = answers.get(what) ?? get();
		answers.set(what, answer);
		return await answer;
	};
}

/** The ports of what a run buys, when its journal is open. */
export function buyPortsOf({
	client,
	ledger,
	log,
	files,
	journal,
	marks,
}: Run): Omit<BuyPorts, 'sleep'> & Pick<Ports, 'client'> {
	return {
		client,
		clock: realClock,
		ledger,
		writeAhead: journal ?? marks,
		events: log,
		filesOf: (order) => files.get(order) ?? new Map(),
		uploadImage: async (file) => await client.uploadImage(file),
	};
}
