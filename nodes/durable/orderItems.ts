/** Orders between executions: as items of n8n's, read from those again, and ended where no execution goes on with them. */
import { deepCopy, type IExecuteFunctions, type INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';
import { codeOf, gatewayError } from '../../core/errors';
import { isPlainObject, type JsonObject } from '../../core/json';
import { handOverSchema, type HandOver } from '../../core/orders/handOver';
import { MAX_ID_LENGTH, ORDER_VERSION, orderSchema, type Order, type OrderEnd } from '../../core/orders/order';
import { makeRefused, endBadly, hasEnded } from '../../core/orders/states';
import { describe } from '../../core/errors/describe';
import { takingBreaks } from '../../core/clock';
import { realClock } from '../connection/transport';
import { printable } from '../../core/text';
import { toNodeError, listIds } from '../errors/toNodeError';

/**
 * An order on its way through the sub-workflow, as an item of n8n's. It has an `error`, and nothing beside it but
 * `message` and `details`: if n8n ever hands it to the workflow as it is, because it died just then, it is loudly no
 * result, and goes to the error output. The node Results makes the real output of it.
 */
export interface OrderItem extends INodeExecutionData {
	json: {
		error: string;
		message: string;
		details: { code: string; task_id?: string; gateway_order: Order; gateway_run?: HandOver; is_canceled?: true };
	};
}

const orderItemSchema = z.object({
	json: z.object({ details: z.object({ gateway_order: orderSchema.refine(({ thing }) => thing === 'task') }) }),
	binary: z.unknown(),
});

/**
 * Orders as items, as they are now: n8n writes them down whenever it saves, and the orders go on meanwhile. An item that changes
 * with its order in part would say that a request was not sent which the service has accepted. n8n stores an object once,
 * however often it occurs: what orders have in common is the same one.
 */
export async function toOrderItems(orders: Order[]): Promise<OrderItem[]> {
	const known = new Map<string, unknown>();
	const share = <T extends object>(value: T): T => {
		const text = JSON.stringify(value);
		if (!known.has(text)) known.set(text, deepCopy(value));
		return known.get(text) as T;
	};
	return await inPieces(orders, (order) => {
		const { request, task, wait, result } = order;
		return toOrderItem({
			...order,
			...(request && { request: { ...request } }),
			...(task && { task: { ...task } }),
			...(result && { result: share(result) }),
			...(wait && { wait: { ...wait, plan: share(wait.plan), ...(wait.polls && { polls: [...wait.polls] }) } }),
		});
	});
}

/** The same with the facts about their run, which the first item carries for all. */
export function withHandOver([first, ...others]: OrderItem[], handOver: HandOver): OrderItem[] {
	if (first === undefined) return [];
	const details = { ...first.json.details, gateway_run: handOver };
	return [{ ...first, json: { ...first.json, details } }, ...others];
}

/** The facts about the run of these orders; undefined where they cannot be read: a dead execution may leave anything. */
export const handOverOf = ([first = { json: {} }]: INodeExecutionData[]): HandOver | undefined =>
	handOverSchema.safeParse(detailsOf(first).gateway_run).data;

/** The order as an item. Files are where n8n looks for them. */
export function toOrderItem(order: Order): OrderItem {
	const id = order.task?.taskId;
	const { binary, ...output } = order.end?.output ?? {};
	const stored = binary === undefined ? order : { ...order, end: { ...order.end, output } as OrderEnd };
	const error = gatewayError('resultNotPassedOn', { id });
	return {
		json: {
			error: error.message,
			message: describe(error, { recovery: 'runAgain' }),
			details: { code: codeOf(error), ...(id === undefined ? {} : { task_id: id }), gateway_order: stored },
		},
		...(binary === undefined ? {} : { binary: binary as INodeExecutionData['binary'] }),
	};
}

/** An item without its order: what a sleeping node puts out until n8n replaces it. The order itself is stored once. */
export function toPlaceholder(order: Order): INodeExecutionData {
	const { error, message, details } = toOrderItem(order).json;
	return { json: { error, message, details: { code: details.code, task_id: details.task_id } } };
}

/** The same for orders that no execution waits for any more: the question in the sub-workflow does not take them for finished. */
export const asCanceled = ({ json, ...item }: OrderItem): OrderItem => ({
	...item,
	json: { ...json, details: { ...json.details, is_canceled: true } },
});

/** True for an order that has ended in a poller, unless that has to run once more. */
export function isEndedItem(item: INodeExecutionData): boolean {
	const { gateway_order: order, is_canceled: isCanceled } = detailsOf(item);
	return isPlainObject(order) && order.state === 'ended' && isCanceled !== true;
}

/** True for an item that Results has handed out: it has no order. One of the user's may have one, but no error beside it. */
export const isHandedOut = (item: INodeExecutionData): boolean => !item.json.error || !detailsOf(item).gateway_order;

/** The orders in items that n8n or a person has written; undefined where they are none. */
export async function parseOrderItems(value: unknown): Promise<Order[] | undefined> {
	return await readAll(value, parseOrderItem);
}

type ReadItem = (item: INodeExecutionData, index: number) => Order | undefined;

async function readAll(value: unknown, read: ReadItem): Promise<Order[] | undefined> {
	if (!isItems(value)) return undefined;
	const orders = await inPieces(value, read);
	return orders.every((order) => order !== undefined) ? orders : undefined;
}

/** The same for one item. */
export function parseOrderItem(item: unknown): Order | undefined {
	const { data } = orderItemSchema.safeParse(item);
	if (data === undefined) return undefined;
	const { gateway_order: order } = data.json.details;
	const { binary } = data;
	if (binary === undefined || order.end?.output === undefined) return order;
	return {
		...order,
		end: { ...order.end, output: { ...order.end.output, binary: binary as Record<string, unknown> } },
	};
}

/**
 * Orders of items that may have been damaged; undefined where none of them looks like an order. One that cannot be read has
 * ended, with its ID where that can be read; one of another version of the package is kept as it is.
 */
export async function salvageOrderItems(value: unknown): Promise<Order[] | undefined> {
	const hasOrders = isItems(value) && value.some((item) => 'gateway_order' in detailsOf(item));
	return hasOrders ? await inPieces(value, salvageOrder) : undefined;
}

function salvageOrder(item: INodeExecutionData, index: number): Order {
	const order = parseOrderItem(item);
	if (order !== undefined) return order;
	const { gateway_order: damaged, task_id: known } = detailsOf(item);
	const task = isPlainObject(damaged) ? damaged.task : undefined;
	const id = [isPlainObject(task) ? task.taskId : undefined, known].find(isId);
	const reason = isOfOther(damaged) ? 'storedByOtherVersion' : 'storedItemUnreadable';
	const refused = makeRefused(index, gatewayError(reason, { id }));
	return {
		...refused,
		...(id === undefined ? {} : { task: { taskId: id, elapsedMs: 0 } }),
		// For a user who has that version again. n8n may keep a file in the item alone.
		...(isOfOther(damaged) ? { about: { stored: damaged, ...(item.binary && { binary: item.binary }) } } : {}),
	};
}

function isOfOther(order: unknown): boolean {
	return isPlainObject(order) && typeof order.version === 'number' && order.version !== ORDER_VERSION;
}

function isItems(value: unknown): value is INodeExecutionData[] {
	return Array.isArray(value) && value.length > 0 && value.every((item) => isPlainObject(item));
}

const isId = (id: unknown): id is string => typeof id === 'string' && id !== '' && id.length <= MAX_ID_LENGTH;

function detailsOf({ json }: INodeExecutionData): JsonObject {
	return isPlainObject(json) && isPlainObject(json.details) ? json.details : {};
}

/** The items that the execution began with. */
export function itemsOfStart(context: IExecuteFunctions): INodeExecutionData[] {
	const { $ } = context.getWorkflowDataProxy(0) as unknown as {
		$: (node: string) => { all: () => INodeExecutionData[] };
	};
	try {
		return $('Start').all();
	} catch {
		// There is no such node: then this is no sub-workflow of ours.
		return context.getInputData();
	}
}

/** All orders, as they were passed to the sub-workflow. */
export async function ordersOfStart(context: IExecuteFunctions): Promise<Order[]> {
	const orders = await salvageOrderItems(itemsOfStart(context));
	if (orders === undefined) throw gatewayError('operationNotForWorkflows', {});
	return orders;
}

/** The same in a later round, which has to end: items that are no orders count as damaged ones, at least one. */
export async function salvagedStart(context: IExecuteFunctions): Promise<Order[]> {
	const items = itemsOfStart(context);
	return (await salvageOrderItems(items)) ?? (items.length > 0 ? items : [{ json: {} }]).map(salvageOrder);
}

/** The same as `parseOrderItems`; an order that another version of the package has written has ended, with its ID. */
export async function requireOrders(items: unknown): Promise<Order[]> {
	const orders = await readAll(items, (item, index) =>
		isOfOther(detailsOf(item).gateway_order) ? salvageOrder(item, index) : parseOrderItem(item),
	);
	if (orders === undefined) throw gatewayError('operationNotForWorkflows', {});
	return orders;
}

/** Ends the orders that have not ended, each with its ID: no execution goes on with them. */
export function endAll(context: IExecuteFunctions, orders: readonly Order[], { isUnsent, why }: Ending): Order[] {
	const left: string[] = [];
	// Copies: a request that is still under way tells its own order, and the log, what came of it.
	const ended = orders.map((order) => ({ ...order }));
	for (const order of ended) {
		const { task, thing, wait } = order;
		if (hasEnded(order)) continue;
		if (task === undefined) {
			endBadly(
				order,
				isUnsent(order) ? gatewayError('submissionStopped', { why }) : gatewayError('outcomeStillUnknown', { thing }),
			);
			continue;
		}
		left.push(task.taskId);
		order.task = { ...task, elapsedMs: Date.now() - (wait?.startedAtMs ?? Date.now()) };
		endBadly(order, gatewayError('waitingInterrupted', { id: task.taskId, why }, { task: order.task }));
	}
	if (left.length > 0)
		context.logger.warn(
			`Generation Gateway: no execution waits any more, still running at the service: ${left.map(printable).join(', ')}`,
		);
	return ended;
}

interface Ending {
	/** True for an order without an ID whose request was surely not sent. */
	isUnsent: (order: Order) => boolean;
	/** The reason of the end, for messages. */
	why?: string;
}

/** True where the order has ended by itself, well or badly. */
export const hasFinished = ({ end }: Order): boolean =>
	end !== undefined && !['stopped', 'notSubmitted', 'outcomeUnknown'].includes(end.as);

/** The error of an execution that no other waits for. n8n lists it as canceled, because its message says so. */
export function canceledError(context: IExecuteFunctions, orders: Order[]) {
	const left = orders.flatMap((order) => (order.task && !hasFinished(order) ? order.task : []));
	const errorContext = { node: context.getNode(), itemIndex: 0 };
	return toNodeError(gatewayError('waitingCanceled', {}), errorContext, left.length > 0 ? listIds(left, 'Tasks') : {});
}

/** Thousands of items at once would hold n8n. */
export async function inPieces<T, R>(all: readonly T[], work: (one: T, index: number) => R): Promise<R[]> {
	const breakIfDue = takingBreaks(realClock);
	const done: R[] = [];
	for (const [index, one] of all.entries()) {
		done.push(work(one, index));
		await breakIfDue();
	}
	return done;
}
