import type { IBinaryKeyData, IDataObject } from 'n8n-workflow';
import type { GatewayClient, MediaKind } from '../../core/client';
import { asGatewayError, type TaskReference } from '../../core/errors';
import { NEW_TASK, type TaskRecord } from '../../core/records/taskRecord';
import { generationTask } from '../../core/tasks/generationTask';
import type { JobControls } from '../../core/tasks/runTasks';
import { takingTurns } from '../../core/tasks/takingTurns';
import { waitForTask, type WaitOptions } from '../../core/tasks/waitForTask';
import { realClock } from '../connection/transport';
import { downloadResultField, simplifyField } from '../form/fields';
import { downloadLinkOption, fileNameOption, outputFieldOption, resultPathOption } from '../form/options';
import { isTool } from '../run/agentTools';
import type { Item, JobOutput } from '../run/item';
import type { Run } from '../run/run';
import { linksTo } from './downloadLinks';
import { downloadResults } from './downloads';
import { FILE_LIMITS } from '../connection/fileLimits';
import { cleanFileName } from './fileNames';
import { readResult, type Result, type ResultSearch } from './readResult';
import { toTaskOutput } from './taskOutput';

/** How one item wants its result. */
export interface Delivery extends ResultSearch {
	item: Item;
	kind: MediaKind;
	downloadResult: boolean;
	/** Links to n8n's copies of the files, too. Implies the download. */
	downloadLink: boolean;
	outputField: string;
	/** Empty: as the service calls its files. */
	fileName: string;
	simplify: boolean;
	/** The model that was asked for, where the record names none. */
	model?: string;
}

export function readDelivery(
	item: Item,
	kind: MediaKind,
	{ hints }: Run,
	downloadField = downloadResultField,
): Delivery {
	const simplify = item.flag(simplifyField);
	const downloadLink = item.options.flag(downloadLinkOption);
	return {
		item,
		kind,
		downloadResult: downloadLink || (item.flag(downloadField) && !isTool(item.node)),
		downloadLink,
		outputField: item.options.text(outputFieldOption) || String(outputFieldOption.default),
		fileName: cleanFileName(item.options.text(fileNameOption)),
		simplify,
		resultPath: item.options.text(resultPathOption),
		sent: new Set(),
		urlExpected: true,
		resultNeeded: simplify,
		hints,
	};
}

/** Waits for a task, and delivers what came of it: the result, or at the timeout the unfinished task. */
export async function waitAndDeliver(
	client: GatewayClient,
	task: TaskReference,
	delivery: Delivery,
	controls: JobControls,
	options: Omit<WaitOptions, 'lifeTable' | 'backlogMs' | 'signal'>,
): Promise<JobOutput> {
	const { kind, urlExpected } = delivery;
	const inline = urlExpected ? 'possible' : 'asked';
	const awaited = generationTask(task, async () => await client.fetchTask(kind, task.taskId, inline));
	const lifeTable = (model?: string) => client.lifeTable(kind, delivery.model ?? model);
	const waiting = { ...options, lifeTable, backlogMs: () => client.backlogMs, signal: controls.signal };
	const { record = NEW_TASK, timedOut, waitedMs } = await waitForTask(awaited, waiting);
	if (!timedOut) return await deliver(record, task, delivery, controls, waitedMs);
	const soFar = readResult(record, task.taskId, delivery, waitedMs);
	return { json: { ...toJson(record, task.taskId, soFar, delivery, waitedMs), timed_out: true } };
}

/** So many deliveries of this process that take long go on beside those whose turn it is. */
const SLOW_DELIVERIES = 12;
const besideOthers = takingTurns(SLOW_DELIVERIES);

/** Takes a turn for work that may take long: then it gives its turn away and goes on, if few others do the same. */
async function makingRoom<R>(
	delivering: JobControls['delivering'],
	work: () => Promise<R>,
	signal: AbortSignal,
): Promise<R> {
	const { running } = await delivering(async () => {
		const running = work();
		const ended = new AbortController();
		const isOver = running.then(
			() => ended.abort(),
			() => ended.abort(),
		);
		await realClock.sleep(FILE_LIMITS.turnMs, AbortSignal.any([signal, ended.signal]));
		if (!ended.signal.aborted)
			await new Promise<void>((resolve) => {
				void isOver.then(resolve);
				void besideOthers(async () => {
					resolve();
					await isOver;
				});
			});
		return { running };
	});
	return await running;
}

/** A record as an output item, with its files. Throws where a completed one has no result, but needs one. */
export async function deliver(
	record: TaskRecord,
	task: TaskReference,
	delivery: Delivery,
	{ delivering, signal }: JobControls,
	waitedMs?: number,
): Promise<JobOutput> {
	const { item, kind, downloadResult, downloadLink, outputField, fileName, hints } = delivery;
	const result = readResult(record, task.taskId, delivery, waitedMs);
	const { urls } = result;
	item.model ??= record.model;
	Object.assign(task, { status: record.state, urls });
	const files = { urls, task: { ...task, elapsedMs: waitedMs ?? 0 }, kind, fieldName: outputField, fileName, signal };
	const download = async () =>
		await makingRoom(delivering, async () => await downloadResults(item.context, files), signal);
	const binary =
		downloadResult && urls.length > 0
			? await (isTool(item.node) ? unlessLost(item, task, download) : download())
			: undefined;
	const json = toJson(record, task.taskId, result, delivery, waitedMs);
	const links = downloadLink && binary ? linksTo(item.context, binary, hints) : {};
	// n8n keeps what it has stored, and an agent can do nothing with a file.
	return { json: { ...json, ...links }, binary: isTool(item.node) ? undefined : binary };
}

/** An agent that reads of an error may buy again, and can use the result without a link, too. */
async function unlessLost(
	{ context }: Item,
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

/** A record as the JSON of an output item. */
export function describeTask(record: TaskRecord, taskId: string, delivery: Delivery): IDataObject {
	return toJson(record, taskId, readResult(record, taskId, delivery), delivery);
}

function toJson(
	record: TaskRecord,
	taskId: string,
	{ urls, needsRecord }: Result,
	{ model, simplify }: Delivery,
	waitedMs?: number,
): IDataObject {
	return toTaskOutput(record, { taskId, urls, model, simplify: simplify && !needsRecord, waitedMs });
}
