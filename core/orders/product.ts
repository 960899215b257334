import type { GatewayError, TaskReference } from '../errors';
import type { JsonObject } from '../json';
import type { SurvivalTable } from '../polling/survivalTable';
import type { LedgerEntry } from './ledger';
import type { JobControls } from './jobs';
import type { PollTarget } from '../polling/waitForTask';
import type { Order } from './order';

/** The item that an order becomes: JSON, and n8n's references to its files where there are any. */
export interface Output {
	json: JsonObject;
	binary?: JsonObject;
}

/** All that was seen of a thing when its order ends well. */
export interface Seen<Answer, Rec> {
	/** To the creating request; absent where an earlier try, node or execution has created it. */
	answer?: Answer;
	/** The last read; absent where none was wanted, or none got an answer. */
	record?: Rec;
	/** Milliseconds; absent where nothing was waited for. */
	waitedMs?: number;
	/** It has not finished, and the user wants it all the same. */
	timedOut: boolean;
	/** Why the last poll got no answer. */
	trouble?: GatewayError;
}

/** What an output is made with, beside the order. */
export interface OutputTools {
	controls: JobControls;
	/** Said in the output panel. */
	hints: Set<string>;
}

/**
 * A kind of thing that can be bought or waited for, such as tasks and tokens: all that the engine has to know of it.
 * A new kind is one file with one of these.
 */
export interface Product<Answer extends { id: string }, Rec> {
	/** The status of what has just been created, for messages. */
	status: string;
	/** Sends the creating request once. `body` has the URLs of uploaded files in it. */
	create(order: Order, body: JsonObject, signal: AbortSignal): Promise<Answer>;
	/** Whether what an earlier try created can still be used. Always, if nothing is said. */
	isReusable?(order: Order, entry: LedgerEntry): boolean;
	/** One read, for an order that is read once. */
	read?(order: Order, task: TaskReference): Promise<Rec>;
	/** The thing as something to poll. */
	target?(order: Order, task: TaskReference): ProductTarget<Rec>;
	/** The item. Throws where what was seen is no success. */
	output(order: Order, seen: Seen<Answer, Rec>, tools: OutputTools): Output | Promise<Output>;
	/** What an error means that is about it, where the order says more than the answer. */
	explain?(order: Order, error: GatewayError): GatewayError;
}

/** Something to poll, and what is known of how long such things take. */
export interface ProductTarget<Rec> extends PollTarget<Rec> {
	/** `model` is what the first read says, where the order names none. */
	survivalTable: (model?: string) => SurvivalTable;
	/** When the service has created it, where the order does not know. Unix milliseconds. */
	acceptedAtMs?: number;
}
