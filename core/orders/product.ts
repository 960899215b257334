import type { GatewayError, TaskReference } from '../errors';
import type { CreateAttempt } from '../http/types';
import type { JsonObject } from '../json';
import type { SurvivalTable } from '../polling/survivalTable';
import type { LedgerEntry } from './ledger';
import type { JobControls } from './jobs';
import type { PollTarget } from '../polling/pollTarget';
import type { Order } from './order';

/** The output item of an order: JSON, and n8n's references to its files where there are any. */
export interface Output {
	json: JsonObject;
	binary?: JsonObject;
}

/** The answers about a thing whose order ends well. */
export interface Seen<Answer, Rec> {
	/** The answer to the creating request; absent where an earlier try, node or execution has created the thing. */
	answer?: Answer;
	/** The record of the last read or poll; absent where there was none, or none got an answer. */
	record?: Rec;
	/** Milliseconds; absent where nothing was waited for. */
	waitedMs?: number;
}

/** The thing that another order has bought under the same Purchase Key. */
export interface Bought {
	id: string;
	/** Unix milliseconds. */
	boughtAtMs: number;
}

/** The tools for making an output, beside the order. */
export interface OutputTools {
	controls: JobControls;
	/** Hints for the output panel. */
	hints: Set<string>;
}

/**
 * A kind of thing that can be bought or waited for, such as tasks and tokens, as the engine sees it. For a new kind, write one
 * of these: CONTRIBUTING has the recipe.
 */
export interface Product<Answer extends { id: string }, Rec> {
	/** The status of a new thing, for messages. */
	status: string;
	/** Sends the creating request once. `body` has the URLs of uploaded files in it. */
	create(order: Order, body: JsonObject, attempt: CreateAttempt): Promise<Answer>;
	/** True when the thing of an earlier try can still be used. Absent: always. */
	isReusable?(order: Order, entry: LedgerEntry): boolean;
	/** One read, for an order that is read once. */
	read?(order: Order, task: TaskReference): Promise<Rec>;
	/** The thing as a poll target. */
	target?(order: Order, task: TaskReference): ProductTarget<Rec>;
	/** The output item. Throws where the answers are no success. */
	output(order: Order, seen: Seen<Answer, Rec>, tools: OutputTools): Output | Promise<Output>;
	/** Replaces an error where the order tells more about it than the answer. */
	explain?(order: Order, error: GatewayError): GatewayError;
}

/** A poll target, and the earlier durations of such things. */
export interface ProductTarget<Rec> extends PollTarget<Rec> {
	/** `model` is the one of the first record, where the order names none. */
	survivalTable: (model?: string) => SurvivalTable;
	/** The time of creation, where the order does not know it. Unix milliseconds. */
	acceptedAtMs?: number;
}
