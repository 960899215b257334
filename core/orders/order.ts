import { z } from 'zod';
import type { GatewayErrorDetails, GatewayErrorKind } from '../errors';
import type { CreatedThing } from '../errors/things';
import { unixMs } from '../clock';
import { isPlainObject, type JsonObject } from '../json';
import { keptWait, MAX_TIMEOUT_MS } from '../polling/waitForTask';
import { LONGEST_ID, LONGEST_WORD } from '../records/taskRecord';

/**
 * The version of what is stored; that of 1.0.0 is 2. n8n holds orders for as long as its executions sleep, or can be retried, so each
 * later version of the package reads all versions from 2 on: a change of the meaning of a field raises the number, and an order with a
 * lower one is made into one of today before the schema reads it (`test/stored/orders.json` has one of each). A field that is added,
 * and may be absent, raises nothing. An order of a version that this code cannot know is not read: it ends as an error that names
 * its task (`nodes/durable/orderItems.ts`), and nothing is bought for it.
 */
export const ORDER_VERSION = 2;

/** Characters of the ID of a task or of a model. */
export const MAX_ID_LENGTH = LONGEST_ID;
/** Tasks that were created again after they had failed: one for each try of Retry On Fail. */
export const MOST_EARLIER_TASKS = 5;
/** IDs of a record and of its wrapper. */
export const MAX_OTHER_IDS = 3;
export const MAX_OUTPUT_FIELD_LENGTH = 200;
export const MAX_RESULT_PATH_LENGTH = 1_000;
/** Of a longer one there is the beginning, and a sign for the rest. */
const MAX_STATUS_LENGTH = LONGEST_WORD + 1;

/** Characters of a prompt: contract 4.5 allows as many for an image. Of a longer one there is the beginning, and a sign for the rest. */
export const MAX_PROMPT_LENGTH = 32_000;

/** URLs of a request. The uploads for it come on top. */
export const MAX_REQUEST_URLS = 1_000;

/** Characters of the name of a run. */
export const MAX_RUN_LENGTH = 200;

const json = z.custom<JsonObject>(isPlainObject);

/**
 * The request that is still to be sent. The order loses it as soon as the outcome is known; with Retry On Fail, which may send
 * it again, as soon as it has ended well. Earlier copies of the order stay with their executions.
 */
const requestSchema = z.object({
	/** The body. In it, files that are still to be uploaded are references: the files themselves are beside the order. */
	body: json,
	/** The hash of the request, taken before uploads. */
	hash: z.string().max(64),
	/** The option Submit Again for Run: see `ledger.ts`. */
	submitAgainFor: z.string().max(MAX_RUN_LENGTH).optional(),
	/** The URLs of uploaded files, which are in the body by now. */
	uploads: z.array(z.string()).max(MAX_REQUEST_URLS).optional(),
	/** The hash of its Purchase Key: see `core/journal/purchaseKey.ts`. */
	keyHash: z.string().max(64).optional(),
});

/** The way to wait for the thing once it exists. Milliseconds. */
const waitSchema = keptWait.extend({
	plan: z.discriminatedUnion('kind', [
		z.object({ kind: z.literal('automatic') }),
		z.object({ kind: z.literal('fixed'), intervalMs: z.number().min(1000).max(MAX_TIMEOUT_MS) }),
	]),
	timeoutMs: z.number().min(0).max(MAX_TIMEOUT_MS),
	/** The time at which it was to be submitted first: it waits for a place of the account no longer than the timeout. */
	wantedAtMs: unixMs.optional().catch(undefined),
	/** The beginning of the wait: the timeout counts from here. */
	startedAtMs: unixMs.optional(),
	/** Other IDs that the last unfinished record of the task had. */
	otherIds: z.array(z.string().max(MAX_ID_LENGTH)).max(MAX_OTHER_IDS).optional().catch(undefined),
	/** The time of a poll that was due while the execution slept. */
	dueAtMs: unixMs.optional().catch(undefined),
});

/** The form in which the result of a generation task is wanted. */
const resultSchema = z.object({
	/** Files in n8n, with or without links to them, or the URLs of the service alone. */
	as: z.enum(['file', 'fileAndLink', 'urlOnly']),
	outputField: z.string().max(MAX_OUTPUT_FIELD_LENGTH),
	/** Empty: as the service calls its files. Absent: by the prompt, where it is known. */
	fileName: z.string().max(300).optional(),
	simplify: z.boolean(),
	/** One item for each file or URL. */
	split: z.boolean(),
	/** The path that the user has entered; empty: none. */
	resultPath: z.string().max(MAX_RESULT_PATH_LENGTH),
	/** False: a record without a URL is passed on as it is, because another response format was asked for. */
	urlExpected: z.boolean(),
	/** True: a completed record without a result is an error, because the item would look like a success. */
	resultNeeded: z.boolean(),
	/** The number of results that the request asks for; absent for one. */
	count: z.number().optional().catch(undefined),
	/** URLs of the request, which are no result. */
	requestUrls: z.array(z.string()).max(2 * MAX_REQUEST_URLS),
});

/** The columns `run` and `first` of a purchase. */
export const boughtInSchema = z.object({ run: z.string().max(2000), first: z.string().max(2000) });

/** The columns that the rows of one request share. */
const purchaseSchema = z.object({
	attempt: z.string().max(200),
	hash: z.string().max(64),
	keyHash: z.string().max(64).optional(),
	/** The run that has bought it, and its first try, where another one reuses it: see `core/journal/reuse.ts`. */
	boughtIn: boughtInSchema.optional(),
});

const taskSchema = z.object({
	taskId: z.string().max(MAX_ID_LENGTH),
	// Damaged answers of the service are no reason to drop the task.
	status: z.string().max(MAX_STATUS_LENGTH).optional().catch(undefined),
	progress: z.number().optional().catch(undefined),
	elapsedMs: z.number(),
	urls: z.array(z.string()).optional(),
});

/** An error as plain data: nothing of an HTTP client, and nothing that was thrown before it. */
export interface StoredError {
	kind: GatewayErrorKind;
	message: string;
	details: Omit<GatewayErrorDetails, 'cause' | 'others'> & { others?: StoredError[] };
}

const storedError = z.custom<StoredError>(
	(value) =>
		isPlainObject(value) &&
		typeof value.kind === 'string' &&
		typeof value.message === 'string' &&
		isPlainObject(value.details) &&
		[value.details.reason, value.details.serviceReason].every(isReason),
);

/** It may be of another version of the package. */
function isReason(value: unknown): boolean {
	return value === undefined || (isPlainObject(value) && typeof value.name === 'string' && isPlainObject(value.data));
}

/** The ends of an order. `states.ts` has the effect of a retry on each. */
const ENDS = ['done', 'refused', 'notSubmitted', 'outcomeUnknown', 'failed', 'timedOut', 'stopped'] as const;

const endSchema = z
	.object({
		as: z.enum(ENDS),
		/** The output item. */
		output: z.object({ json, binary: json.optional() }).optional(),
		error: storedError.optional(),
		/** For the output panel. */
		hints: z.array(z.string()).max(50).optional(),
	})
	.refine(({ output, error }) => (output === undefined) !== (error === undefined));

/**
 * An order: the task to buy for one item, or one that was bought earlier, how to wait for it, how the result is wanted, and its
 * state. Plain JSON, so that it can be saved, shown and passed on. n8n's users can write one themselves: so it has no address
 * of the service, never holds the key, and everything in it has bounds.
 */
export const orderSchema = z
	.object({
		version: z.literal(ORDER_VERSION),
		/** Index of the item that it is for. */
		item: z.number().int().min(0),
		thing: z.literal('task'),
		/** Empty where the form could not be read. */
		kind: z.enum(['image', 'video', '']),
		state: z.enum(['planned', 'submitting', 'accepted', 'ended']),
		model: z.string().max(MAX_ID_LENGTH).optional(),
		/** The thing that a key may be limited to, e.g. "the model beta-v3". */
		scope: z
			.string()
			.max(MAX_ID_LENGTH + 100)
			.optional(),
		request: requestSchema.optional(),
		/** The step after the acceptance: nothing more, one read, or polling until it has finished. */
		then: z.enum(['nothing', 'read', 'poll']),
		/** The prompt of the request, once the order has lost that: see `promptOf`. */
		prompt: z
			.string()
			.max(MAX_PROMPT_LENGTH + 1)
			.optional(),
		/** Known once it is accepted, or given by the user. */
		task: taskSchema.optional(),
		/** Tasks that have failed and were created again by Retry On Fail. */
		earlierTaskIds: z.array(z.string().max(MAX_ID_LENGTH)).max(MOST_EARLIER_TASKS).optional(),
		/** The service that has accepted it: a hash of its address. */
		service: z.string().max(64).optional().catch(undefined),
		/** Absent where another node or execution has created it. */
		acceptedAtMs: unixMs.optional(),
		/** Its rows in the purchase log, until its end is there. */
		purchase: purchaseSchema.optional(),
		/** It was bought before: by another item under the same Purchase Key, or by the node for the same request. */
		reused: z.boolean().optional(),
		wait: waitSchema.optional(),
		/** It goes on in another execution, which plays Retry On Fail: so it keeps what a further try needs. */
		isRetried: z.boolean().optional(),
		result: resultSchema.optional(),
		/** The item that held another order, as it was stored: this version cannot read it. */
		about: json.optional(),
		/** Fields that go with the result to another workflow. */
		input: json.optional(),
		end: endSchema.optional(),
	})
	.refine(({ state, end }) => (state === 'ended') === (end !== undefined), 'an end is what ended orders have')
	.refine(
		({ state, request }) => (state !== 'planned' && state !== 'submitting') || request !== undefined,
		'an order to submit has a request',
	)
	.refine(({ state, task }) => state !== 'accepted' || Boolean(task?.taskId), 'an accepted order has an ID')
	.refine(({ state, kind }) => state === 'ended' || kind !== '', 'a task has a kind');

export type Order = z.infer<typeof orderSchema>;
export type OrderEnd = NonNullable<Order['end']>;
export type OrderWait = NonNullable<Order['wait']>;
export type ResultOptions = NonNullable<Order['result']>;

/**
 * The thing that is bought for one item, or was bought before: an order, or a token, a verification, a group or an asset, of which nothing is
 * stored. The service gives a token no ID that is needed: that of its `task` may be empty.
 */
export interface Purchase extends Omit<Order, 'version' | 'thing' | 'kind' | 'then'> {
	thing: CreatedThing;
	then?: Order['then'];
}

/** The output item of a purchase: JSON, and n8n's references to its files where there are any. */
export interface Output {
	json: JsonObject;
	binary?: JsonObject;
}

/** The part of an order that an operation gives; the rest follows. */
export type OrderDraft = Omit<Order, 'version' | 'state' | 'end'>;
