import type { IExecuteFunctions } from 'n8n-workflow';
import type { GatewayClient } from '../../core/client';
import type { JsonObject } from '../../core/json';
import type { PendingFiles } from '../../core/models/images';
import type { Order } from '../../core/orders/order';
import type { Product } from '../../core/orders/product';
import type { Ports } from '../../core/orders/advance';
import type { WriteAheadLog } from '../../core/orders/writeAheadLog';
import type { TaskLedger } from '../../core/orders/ledger';
import { realClock } from '../connection/transport';
import type { TaskLog } from './taskLog';

/** The options of the first item, which count for all. */
export interface RunLimits {
	concurrency: number;
	requestsPerSecond: number;
}

/** A workflow that gets the results. */
export interface Background {
	workflowId: string;
	/** As the form shows it. */
	name: string;
	/** True: started once for each item; otherwise once for all. */
	eachItem: boolean;
}

export interface RunParts {
	context: IExecuteFunctions;
	client: GatewayClient;
	ledger: TaskLedger;
	log: TaskLog;
	writeAhead: WriteAheadLog;
	limits: RunLimits;
}

/** All that the items of a run share. */
export class Run {
	/** Hints for the output panel. */
	readonly hints = new Set<string>();

	/** Labels of fields that were left out, because the chosen model does not have them. */
	readonly notSent = new Set<string>();

	/** The workflow to start with the results. Absent where the node returns them, or nobody waits for them. */
	background?: Background;

	/** True where another execution polls the tasks of this run. */
	defers = false;

	/** Files that are still to be uploaded, beside the orders that refer to them. */
	readonly files = new Map<Order, PendingFiles>();

	readonly context: IExecuteFunctions;
	readonly client: GatewayClient;
	readonly ledger: TaskLedger;
	readonly log: TaskLog;
	readonly writeAhead: WriteAheadLog;
	readonly limits: RunLimits;

	private readonly answers = new Map<string, Promise<JsonObject>>();

	constructor(parts: RunParts) {
		({
			context: this.context,
			client: this.client,
			ledger: this.ledger,
			log: this.log,
			writeAhead: this.writeAhead,
			limits: this.limits,
		} = parts);
	}

	/** Shares one answer among all items that ask for the same. */
	async shared(what: string, get: () => Promise<JsonObject>): Promise<JsonObject> {
		const answer = this.answers.get(what) ?? get();
		this.answers.set(what, answer);
		return await answer;
	}

	/** The ports of the engine for orders of this run. */
	portsFor(product: Product<{ id: string }, unknown>): Ports {
		return {
			product,
			client: this.client,
			clock: realClock,
			ledger: this.ledger,
			writeAhead: this.writeAhead,
			events: this.log,
			filesOf: (order) => this.files.get(order) ?? new Map(),
			uploadImage: async (file) => await this.client.uploadImage(file),
			polls: !this.defers,
		};
	}
}
