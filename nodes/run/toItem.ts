/** The output of a node: the items of what has ended, and their fields, of which n8n must misread none. */
import type { IBinaryKeyData, IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { codeOf, type GatewayError, type TaskReference } from '../../core/errors';
import type { Order, Output } from '../../core/orders/order';
import { errorOf, promptOf } from '../../core/orders/states';
import { describe } from '../../core/errors/describe';
import { thingOf, type CreatedThing } from '../../core/errors/things';
import { takingBreaks } from '../../core/clock';
import { realClock } from '../connection/transport';
import { plain, recoveryOf, type ErrorContext } from '../errors/toNodeError';
import { isDeeperThan, isPlainObject, withinLevels, type JsonObject } from '../../core/json';
import { looseTime } from '../../core/records/loose';

/** The most levels of a record: n8n cannot save much more. */
const MOST_LEVELS = 500;

/**
 * Fields of an item's JSON that n8n reads as a report about the node: for an `error` it runs the node again, which buys
 * again, or sends the item to the error branch; by `$error` it replaces the item.
 */
const READ_BY_N8N = ['error', '$error'];

/** The fields that come with an `error` of ours in an item. */
const OF_AN_ERROR = ['code', 'details', 'http_status'];

/** The JSON field of an item that holds its files, in workflows with the setting `binaryMode: 'combined'`. */
export const FILES_IN_JSON = '_files';

/** The fields at the end of an item. */
const LAST = new Set(['download_urls', 'urls', 'waited_seconds', 'created_at', 'expires_at', 'record']);

/** The place of the task ID in an error item. */
const TASK_ID_AT: Partial<Record<OnError, string>> = {
	continueRegularOutput: '{{ $json.task_id }}',
	continueErrorOutput: '{{ $json.details.task_id }}',
};

/** The output items of what has ended, in the sequence of the input. */
export async function toItems(
	context: IExecuteFunctions,
	worked: Worked[],
	errorContext: ItemContext,
): Promise<INodeExecutionData[]> {
	const onError = onErrorOf(context);
	// Of a node without input, n8n passes on the item itself, and a mark would replace its JSON.
	const isCopied = onError === 'continueErrorOutput' && context.getExecuteData().source !== null;
	const breakIfDue = takingBreaks(realClock);
	const output: INodeExecutionData[] = [];
	for (const [index, outcome] of worked.entries()) {
		const items = itemsOf(outcome, index, onError, errorContext);
		// An item that passes through may have an `error` of its own.
		const isMarked = isCopied && outcome.error !== undefined;
		output.push(...(isMarked ? items.map(markForErrorOutput) : items));
		await breakIfDue();
	}
	return output;
}

/** The result of the work for one item. */
export interface Outcome {
	output?: Output;
	error?: GatewayError;
	task?: TaskReference;
	/** The prompt that was asked with, where it is known. */
	prompt?: string;
	/** Fields and files of the input that go with the outcome. */
	input?: IDataObject;
	inputFiles?: IBinaryKeyData;
	/** True where each file of the output is to be an item. */
	split?: boolean;
	/** Tasks that have failed and were created again. */
	earlierTaskIds?: string[];
}

/** The work for one item when it has ended, or is to go on in another execution. */
export interface Worked extends Outcome {
	order?: Order;
}

/** The place of an outcome: its words depend on it. */
export type ItemContext = Pick<ErrorContext, 'operation' | 'isTool'> & { describes?: CreatedThing };

/** The outcome of an order that has ended. */
export function outcomeOf(order: Order): Outcome {
	const { task, input, end, earlierTaskIds, result } = order;
	return {
		...{ task, earlierTaskIds, prompt: promptOf(order), input: input as IDataObject | undefined },
		...{ output: end?.output, error: errorOf(order), split: result?.split },
	};
}

/** The node's setting On Error. */
export type OnError = 'stopWorkflow' | 'continueRegularOutput' | 'continueErrorOutput';

export function onErrorOf(context: IExecuteFunctions): OnError {
	if (!context.continueOnFail()) return 'stopWorkflow';
	return context.getNode().onError === 'continueErrorOutput' ? 'continueErrorOutput' : 'continueRegularOutput';
}

/** The only place where an outcome becomes items, whatever On Error says: one, or one for each file or URL of it. */
export function itemsOf(
	outcome: Outcome,
	...place: [item: number, onError: OnError, errorContext: ItemContext]
): Items {
	const item = toItem(outcome, ...place);
	return outcome.split && outcome.error === undefined ? splitFiles(item) : [item];
}

export type Items = [INodeExecutionData, ...INodeExecutionData[]];

/** The lists of an item with several files: each item of them has its own entry. */
function splitFiles(item: INodeExecutionData): Items {
	const { json, binary = {}, ...others } = item;
	const { urls, download_urls: links, ...fields } = json;
	// An unfinished task may announce URLs, and a record that holds its result has none.
	if (!Array.isArray(urls) || json.status !== 'completed') return [item];
	const files = Object.entries(binary);
	const [[field] = ['']] = files;
	return urls.map((url, index) => ({
		...others,
		json: { ...fields, url, ...(Array.isArray(links) ? { download_url: links[index] } : {}) } as IDataObject,
		...(files[index] && { binary: { [field]: files[index][1] } }),
	})) as Items;
}

function toItem(outcome: Outcome, item: number, onError: OnError, errorContext: ItemContext): INodeExecutionData {
	const binary = (outcome.output?.binary as IBinaryKeyData | undefined) ?? outcome.inputFiles;
	const made = { json: toJson(outcome, onError, errorContext), pairedItem: { item } };
	return binary === undefined ? made : { ...made, binary };
}

function toJson(outcome: Outcome, onError: OnError, errorContext: ItemContext): IDataObject {
	const { output, error, prompt, input = {}, earlierTaskIds } = outcome;
	if (error !== undefined) return toErrorJson(error, outcome, onError, errorContext);
	const json = (output?.json ?? {}) as IDataObject;
	const first = prompt === undefined ? {} : withoutEmpty({ url: json.url as string | undefined, prompt });
	const more = { ...input, ...withoutEmpty({ earlier_task_ids: earlierTaskIds }) };
	return { ...first, ...(Object.keys(more).length === 0 ? json : withMore(json, more)) };
}

function toErrorJson(
	error: GatewayError,
	{ task: bought, prompt, input = {}, earlierTaskIds }: Outcome,
	onError: OnError,
	errorContext: ItemContext,
): IDataObject {
	const { operation, isTool, describes } = errorContext;
	const { task = bought, details } = error;
	const situation = { operation, recovery: recoveryOf({ isTool, isItem: true }), taskIdAt: TASK_ID_AT[onError] };
	const [message, advice, code] = [plain(error.message), plain(describe(error, situation)), codeOf(error)];
	const fields = withoutEmpty({
		prompt,
		http_status: details.httpStatus,
		[thingOf(describes)?.idField ?? 'task_id']: task?.taskId,
		status: task?.status,
		progress: task?.progress,
		waited_seconds: task && toSeconds(task.elapsedMs),
		urls: task?.urls,
		earlier_task_ids: earlierTaskIds,
	});
	if (isNoFailure(error, errorContext)) return { ...fields, message: [message, advice].filter(Boolean).join('. ') };
	// n8n sends an item to the error output with all its fields only when it has no others than these.
	if (onError === 'continueErrorOutput')
		return { error: message, message: advice, details: { ...input, code, ...fields } };
	return { ...input, error: message, code, ...(advice !== '' && { details: advice }), ...fields };
}

/** True for the end of a wait in a tool: an agent that reads of a failure would buy again, although the task goes on. */
export function isNoFailure({ kind }: GatewayError, { isTool }: Pick<ErrorContext, 'isTool'>): boolean {
	return isTool === true && kind === 'taskTimedOut';
}

/** Fields of an item with more of them, before the last ones. */
function withMore(json: IDataObject, more: IDataObject): IDataObject {
	const fields = Object.entries(json);
	const those = (areLast: boolean) => Object.fromEntries(fields.filter(([name]) => LAST.has(name) === areLast));
	return { ...those(false), ...more, ...those(true) };
}

/**
 * Makes the property `error` of an item one that n8n cannot copy. Older versions send an item with such a property to
 * the error output, and then replace its JSON by the message alone, unless they cannot copy it. Only for items that the
 * node itself returns.
 */
export function markForErrorOutput(item: INodeExecutionData): INodeExecutionData {
	const { error } = item.json;
	return error === undefined
		? item
		: Object.defineProperty(item, 'error', { value: error, enumerable: false, writable: true });
}

/** An answer as the fields of an item. If n8n would misread one, all are in `record`, too, as with Simplify off. */
export function toFields(answer: JsonObject): IDataObject {
	const fields = withoutErrors(toRecord(answer));
	return READ_BY_N8N.some((name) => name in answer) ? { ...fields, record: toRecord(answer) } : fields;
}

/** An answer as it came, as one field of an output item. */
export function toRecord(raw: JsonObject): IDataObject {
	return toValue(raw) as IDataObject;
}

/** Makes the field `record` of an output: the service's answer as it came; nothing with Simplify on. */
export function recordField({ simplifies }: { simplifies: boolean }): (raw?: JsonObject) => IDataObject {
	return (raw = {}) => (simplifies ? {} : { record: toRecord(raw) });
}

/** The fields of an item that passes through. An error of an earlier node would be taken for one of this node. */
export function toPassOn(input: IDataObject): IDataObject {
	const left = 'error' in input ? [...OF_AN_ERROR, ...(isPlainObject(input.details) ? ['message'] : [])] : [];
	return Object.fromEntries(Object.entries(withoutErrors(input)).filter(([name]) => !left.includes(name)));
}

/** True for an item that n8n sends to the error output of any node that puts it out. */
export const looksFailed = ({ error, ...others }: IDataObject): boolean =>
	Boolean(error) && Object.keys(others).every((name) => ['message', 'details'].includes(name));

/** Removes the fields that n8n would misread, where others have chosen the names. */
export function withoutErrors(fields: IDataObject): IDataObject {
	return Object.fromEntries(Object.entries(fields).filter(([name]) => !READ_BY_N8N.includes(name)));
}

/** Removes fields without a value: an empty column in the editor says less than none. */
export function withoutEmpty(fields: IDataObject): IDataObject {
	return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The same for a value of any kind. */
export const toValue = (value: unknown) =>
	(isDeeperThan(value, MOST_LEVELS) ? withinLevels(value, MOST_LEVELS) : value) as IDataObject[string];

/** Seconds with one decimal. */
export function toSeconds(ms: number): number {
	return Math.round(ms / 100) / 10;
}

/** A time of the service (Unix seconds) as ISO 8601 in UTC, as n8n's date functions take it. Undefined for what is no time. */
export function toIsoTime(unixSeconds?: number): string | undefined {
	const date = new Date((looseTime(unixSeconds) ?? NaN) * 1000);
	return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
