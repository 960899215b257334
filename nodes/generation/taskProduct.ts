import type { IBinaryKeyData, IDataObject } from 'n8n-workflow';
import type { MediaKind } from '../../core/client';
import { asGatewayError, gatewayError, type TaskReference } from '../../core/errors';
import type { Order, ResultWish } from '../../core/orders/order';
import type { Output, OutputTools, Product } from '../../core/orders/product';
import { NEW_TASK, type TaskRecord } from '../../core/records/taskRecord';
import { generationTask } from '../../core/polling/generationTask';
import { downloadResultField, simplifyField } from '../form/fields';
import { downloadLinkOption, fileNameOption, outputFieldOption, resultPathOption } from '../form/options';
import { isTool } from '../run/agentTools';
import type { Item } from '../run/item';
import type { Run } from '../run/run';
import { linksTo } from './downloadLinks';
import { downloadResults } from './downloads';
import { cleanFileName } from './fileNames';
import { readResult } from './readResult';
import { makingRoom } from './slowDeliveries';
import { toTaskOutput } from './taskOutput';

/** How one item wants the result of its task. */
export function readResultWish(item: Item, downloadField = downloadResultField): ResultWish {
	const simplify = item.flag(simplifyField);
	const downloadLink = item.options.flag(downloadLinkOption);
	return {
		downloadResult: downloadLink || (item.flag(downloadField) && !isTool(item.node)),
		downloadLink,
		outputField: item.options.text(outputFieldOption) || String(outputFieldOption.default),
		fileName: cleanFileName(item.options.text(fileNameOption)),
		simplify,
		resultPath: item.options.text(resultPathOption),
		urlExpected: true,
		resultNeeded: simplify,
		requestUrls: [],
	};
}

/** Generation tasks (contract 4.4, 4.5, 4.8): their results are URLs, and files if they are wanted. */
export function taskProduct({
	client,
	context,
}: Pick<Run, 'client' | 'context'>): Product<TaskRecord & { id: string }, TaskRecord> {
	return {
		status: 'queued',
		create: async ({ kind }, body, signal) => await client.createTask(kind as MediaKind, body, signal),
		read: async ({ kind }, { taskId }) => await client.getTask(kind as MediaKind, taskId),
		target: ({ kind, model: asked, result }, task) => ({
			...generationTask(task, async () => {
				const inline = result?.urlExpected === false ? 'asked' : 'possible';
				return await client.fetchTask(kind as MediaKind, task.taskId, inline);
			}),
			survivalTable: (model) => client.survivalTable(kind as MediaKind, asked ?? model),
		}),
		output: async (order, { answer, record, waitedMs, timedOut }, tools) => {
			const shown = record ?? answer ?? NEW_TASK;
			order.model ??= shown.model;
			const delivery = { order, record: shown, task: requireTask(order), result: requireResult(order), waitedMs };
			if (timedOut) return { json: { ...found(delivery, tools.hints).json, timed_out: true } };
			return order.then === 'nothing' ? { json: found(delivery, tools.hints).json } : await deliver(delivery, tools);
		},
		explain: ({ acceptedAtMs, kind, task }, error) =>
			// It was accepted, so it is not the ID that is wrong.
			error.kind === 'notFound' && acceptedAtMs !== undefined && task !== undefined
				? gatewayError('createdTaskNotFound', { id: task.taskId, mediaKind: kind as MediaKind }, error.details)
				: error,
	};

	/** A record as an output item, with its files. Throws where a completed one has no result, but needs one. */
	async function deliver(delivery: Delivery, { controls, hints }: OutputTools): Promise<Output> {
		const { order, task, record, result, waitedMs } = delivery;
		const { urls, json } = found(delivery, hints);
		Object.assign(task, { status: record.state, urls });
		if (!result.downloadResult || urls.length === 0) return { json };
		const files = {
			urls,
			task: { ...task, elapsedMs: waitedMs ?? 0 },
			kind: order.kind as MediaKind,
			fieldName: result.outputField,
			fileName: result.fileName,
			signal: controls.signal,
		};
		const download = async () =>
			await makingRoom(controls.delivering, async () => await downloadResults(context, files), controls.signal);
		if (!isTool(context.getNode())) {
			const binary = await download();
			return { json: { ...json, ...(result.downloadLink ? linksTo(context, binary, hints) : {}) }, binary };
		}
		// n8n keeps what it has stored, and an agent can do nothing with a file.
		const binary = await unlessLost(task, download);
		return { json: { ...json, ...(result.downloadLink && binary ? linksTo(context, binary, hints) : {}) } };
	}

	/** An agent that reads of an error may buy again, and can use the result without a link, too. */
	async function unlessLost(
		{ taskId }: TaskReference,
		download: () => Promise<IBinaryKeyData>,
	): Promise<IBinaryKeyData | undefined> {
		try {
			return await download();
		} catch (thrown) {
			const error = asGatewayError(thrown);
			if (error.kind === 'stopped') throw error;
			context.logger.warn(`Generation Gateway: no download link for task ${taskId}: ${error.message}`);
			return undefined;
		}
	}
}

interface Delivery {
	order: Order;
	task: TaskReference;
	record: TaskRecord;
	result: ResultWish;
	waitedMs?: number;
}

/** The result, and the item with it. */
function found(delivery: Delivery, hints: Set<string>): { urls: string[]; json: IDataObject } {
	const { order, task, record, result, waitedMs } = delivery;
	const search = {
		...result,
		resultNeeded: result.resultNeeded && order.then !== 'nothing',
		sent: new Set(result.requestUrls),
		hints,
	};
	const { urls, needsRecord } = readResult(record, task.taskId, search, waitedMs);
	return { urls, json: describe(delivery, urls, needsRecord) };
}

function describe(
	{ order, task, record, result, waitedMs }: Delivery,
	urls: string[],
	needsRecord = false,
): IDataObject {
	const simplify = result.simplify && !needsRecord;
	return toTaskOutput(record, { taskId: task.taskId, urls, model: order.model, simplify, waitedMs });
}

function requireTask({ task }: Order): TaskReference {
	if (task === undefined) throw gatewayError('packageBug', { words: 'a task without an ID was delivered' });
	return task;
}

function requireResult({ result }: Order): ResultWish {
	if (result === undefined) throw gatewayError('packageBug', { words: 'nobody says how the result is wanted' });
	return result;
}
