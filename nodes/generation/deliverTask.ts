import type { IBinaryKeyData, IDataObject, IExecuteFunctions } from 'n8n-workflow';
import type { MediaKind } from '../../core/client';
import { gatewayError, invalidInput, type TaskReference } from '../../core/errors';
import type { OutputTools, Ports } from '../../core/engine/advance';
import type { Order, Output, ResultOptions } from '../../core/orders/order';
import { promptOf } from '../../core/orders/states';
import { assertNotExpired, missingResult } from '../../core/orders/taskErrors';
import { locateResult, type MissingParts } from '../../core/records/locateResult';
import { pricesIn } from '../../core/records/prices';
import { NEW_TASK, stateOf, type TaskRecord } from '../../core/records/taskRecord';
import { isPlaylist, typeByName } from '../../core/mediaTypes';
import { usualMs } from '../../core/polling/planner';
import { printable, shorten } from '../../core/text';
import { isAtOrigin } from '../../core/urls';
import { resultField } from '../form/fields';
import { fileNameOption, outputFieldOption, resultPathOption, splitFilesOption } from '../form/options';
import { isTool } from '../run/whereItRuns';
import { toIsoTime, toRecord, toSeconds, withoutEmpty, withoutErrors } from '../run/toItem';
import { HINTS } from '../run/hints';
import type { Item } from '../run/inputItem';
import type { Run } from '../run/nodeRun';
import { downloadResults } from './downloads';
import { cleanFileName, nameByPrompt } from './fileNames';
import type { JobControls } from '../../core/engine/jobs';
import { limitSlowDeliveries } from '../../core/processMemory';
import { FILE_LIMITS } from './fileLimits';
import { realClock } from '../connection/transport';

/** The form of one item, as far as it is about the result. */
export function readResultOptions(item: Item, { alone }: Pick<Run, 'alone'>): ResultOptions {
	const simplify = item.options.simplifies;
	item.options.given(splitFilesOption);
	const outputField = item.options.text(outputFieldOption) || String(outputFieldOption.default);
	// JavaScript would take the file for something else, and it would be lost.
	if (outputField === '__proto__')
		throw invalidInput(
			`${outputFieldOption.displayName} is "__proto__", which no field can be called`,
			'Enter another name.',
		);
	return {
		// An agent can do nothing with a file, and has no such field. n8n deletes the files of a node that it runs alone.
		as: isTool(item.node) || alone !== undefined ? 'urlOnly' : item.givenChoice(resultField),
		outputField,
		fileName: item.options.has(fileNameOption) ? cleanFileName(item.options.text(fileNameOption)) : undefined,
		simplify,
		split: item.options.flag(splitFilesOption) && !isTool(item.node),
		resultPath: item.options.text(resultPathOption),
		urlExpected: true,
		resultNeeded: simplify,
		requestUrls: [],
	};
}

/** Makes the output of a task that was read, with its files if they are wanted. Throws where it is no success. */
export function deliverTask({ client, context }: Pick<Run, 'client' | 'context'>): Ports['deliver'] {
	return async (order, { answer, record, waitedMs }, tools) => {
		const { task, result } = order;
		if (task === undefined) throw gatewayError('packageBug', { words: 'a task without an ID was delivered' });
		if (result === undefined)
			throw gatewayError('packageBug', { words: 'the order does not say how the result is wanted' });
		const shown = record ?? answer ?? unseen(task);
		order.model ??= shown.model;
		const { baseUrl } = client.fileRules;
		const delivery = { order, record: shown, task, result, waitedMs, baseUrl };
		assertNotExpired(order, task, shown);
		const { json, binary } =
			order.then === 'nothing'
				? { json: toTaskOutput(delivery, tools.hints).json }
				: await deliver({ client, context }, delivery, tools);
		const isRunning = shown.state === 'queued' || shown.state === 'in_progress';
		const usual = () => usualMs(client.survivalTable(order.kind as MediaKind, order.model));
		const forAgent =
			isRunning && isTool(context.getNode()) ? { message: wordsForAgent(record ?? answer, usual()) } : {};
		return { json: withoutEmpty({ ...json, ...forAgent } as IDataObject), binary };
	};
}

/** The words about a task that goes on, for an agent: otherwise it would wait for nothing, or call the tool again and pay again. */
function wordsForAgent(seen: TaskRecord | undefined, usualTimeMs: number | undefined): string {
	const how = seen === undefined ? 'It is not known whether the task has finished' : 'The task is running';
	const usual = usualTimeMs && ` Such a task usually takes about ${Math.ceil(usualTimeMs / 1000)} seconds.`;
	return `${how}.${usual ?? ''} Its result is not part of this answer: call a tool for Get Result with this task ID. If you have none, tell the user the ID. Calling Generate again creates a new task, and you pay again.`;
}

/** A task of which no poll has got an answer: only its order knows how it is. */
const unseen = ({ status = NEW_TASK.status, progress }: TaskReference): TaskRecord => {
	const state = stateOf(status) === 'queued' ? 'queued' : 'in_progress';
	return { ...NEW_TASK, state, status, progress };
};

/** The item of a task, with its files. Throws where a completed one has no result, but needs one. */
async function deliver(
	{ client, context }: Pick<Run, 'client' | 'context'>,
	delivery: Delivery,
	{ controls, hints }: OutputTools,
): Promise<Output> {
	const { order, task, record, result, waitedMs } = delivery;
	const prompt = promptOf(order);
	const { urls, json } = toTaskOutput(delivery, hints);
	Object.assign(task, { status: record.state, urls });
	// What is announced before the end may not be there yet, or never.
	if (urls.length === 0 || record.state !== 'completed') return { json };
	if (result.as === 'urlOnly') {
		if (urls.some((url) => isPlaylist(typeByName(new URL(url).pathname) ?? ''))) hints.add(HINTS.playlist());
		if (urls.some((url) => isAtOrigin(url, client.fileRules.baseUrl))) hints.add(HINTS.urlsWantKey());
		return { json };
	}
	// Many may wait for their files at the same time: the item has what it needs of the record.
	record.raw = {};
	const files = {
		urls,
		task: { ...task, elapsedMs: waitedMs ?? 0 },
		fieldName: result.outputField,
		fileName: result.fileName ?? (prompt === undefined ? '' : nameByPrompt(prompt, task.taskId)),
		rules: client.fileRules,
		signal: controls.signal,
		hints,
	};
	const download = async () => await downloadResults(context, files);
	const binary = await takeDeliveryTurn(controls, download);
	const links = result.as === 'fileAndLink' ? linksTo(context, binary, hints) : {};
	return { json: { ...json, ...links }, binary };
}

/** A task after a read, and its order's options of the result. */
interface Delivery {
	order: Order;
	task: TaskReference;
	record: TaskRecord;
	result: ResultOptions;
	waitedMs?: number;
	/** Of the service: some results are relative to it. */
	baseUrl: string;
}

/**
 * The JSON of a task's item, and the result URLs in it. A field that is undefined has its place there, but no value. Throws
 * where a completed task has no result, but needs one.
 */
function toTaskOutput(delivery: Delivery, hints: Set<string>): { urls: string[]; json: IDataObject } {
	const { record } = delivery;
	const found = readResult(delivery, hints);
	if (record.endedBy !== undefined) hints.add(HINTS.endedByRecord({ status: printable(record.status) }));
	if (record.errorBeside !== undefined && (found.urls.length > 0 || found.needsRecord)) {
		const { message, code = '' } = record.errorBeside;
		hints.add(HINTS.errorBesideResult({ words: printable(shorten(message ?? code, 200)) }));
	}
	return { urls: found.urls, json: toFieldsOf(delivery, found) };
}

interface Result {
	urls: string[];
	/** True: the result is in the record, or may be, so the record goes out as it is. */
	needsRecord: boolean;
	missing?: MissingParts;
}

/** The result of a record, and hints about where it stands. Throws where a completed one has none, but needs one. */
function readResult({ order, task, record, result, waitedMs = 0, baseUrl }: Delivery, hints: Set<string>): Result {
	const { resultPath, urlExpected } = result;
	const facts = { kind: order.kind as MediaKind, baseUrl };
	const located = locateResult(record, resultPath, new Set(result.requestUrls), facts);
	const { urls, foundAt, choices } = located;
	const missing = record.state === 'completed' ? missingOf(urls.length, result, located.missing) : located.missing;
	if (missing !== undefined) hints.add(HINTS.partsMissing());
	if (foundAt !== undefined) hints.add(HINTS.resultFound({ place: foundAt }));
	// A URL at an unknown path may not be the result, if the request asked for another format.
	if (urls.length > 0) return { urls, needsRecord: foundAt !== undefined && !urlExpected, missing };
	if (record.state !== 'completed') return { urls, needsRecord: false };

	const isInRecord = located.isInline === true || located.hasDataUri === true || !urlExpected;
	const isNeeded = result.resultNeeded && order.then !== 'nothing';
	if (choices) hints.add(HINTS.resultUnclear({ places: choices.join(' or ') }));
	else if (isNeeded && !isInRecord) throw missingResult(task.taskId, record, waitedMs, resultPath);
	else if (resultPath !== '') hints.add(HINTS.resultNotAtPath({ path: resultPath }));
	else if (!isInRecord) hints.add(HINTS.resultNotFound());
	return { urls, needsRecord: true };
}

/**
 * The results that are missing in a completed record: those that it lists and does not have, or those that were asked for, where it lists
 * fewer. Not at a path that a person has entered: it may lead to one of many.
 */
function missingOf(
	found: number,
	{ count = 1, resultPath }: ResultOptions,
	listed?: MissingParts,
): MissingParts | undefined {
	const unlisted = found > 0 && resultPath === '' ? count - found : 0;
	return unlisted > (listed?.count ?? 0) ? { ...listed, count: unlisted } : listed;
}

/**
 * A task as an output item: first what the user came for, then the rest, prices as they came; lists, times and the raw record,
 * unless simplified, last. Times are in ISO 8601. Never a top-level `error`: n8n takes that for a node that wants to be run
 * again.
 */
function toFieldsOf(delivery: Delivery, { urls, needsRecord, missing }: Result): IDataObject {
	const { order, task, record, result, waitedMs } = delivery;
	return {
		url: urls[0],
		download_url: undefined,
		task_id: task.taskId,
		status: record.state,
		missing_results: missing?.count,
		missing_reason: missing?.reason,
		reason: record.state === 'failed' ? (record.refusal.message ?? record.refusal.code ?? record.status) : undefined,
		progress: record.state === 'completed' ? undefined : record.progress,
		model: record.model ?? order.model,
		reused: order.reused,
		...withoutErrors(pricesIn(record.raw) as IDataObject),
		download_urls: undefined,
		urls: urls.length > 0 ? urls : undefined,
		waited_seconds: waitedMs === undefined ? undefined : toSeconds(waitedMs),
		created_at: toIsoTime(record.createdAt),
		expires_at: toIsoTime(record.expiresAt),
		record: result.simplify && !needsRecord ? undefined : toRecord(record.raw),
	};
}

/** In the words of n8n's helper. n8n may delete the file sooner, together with the execution. */
const LINK_LIFETIME = '30 days';

/**
 * Links to n8n's own copies of the files, for the output: `download_url`, `download_urls`. They open without login.
 * Where n8n makes none, as for files that it keeps in memory, a hint says so: the task has been paid for.
 */
function linksTo({ helpers }: IExecuteFunctions, files: IBinaryKeyData, hints: Set<string>): IDataObject {
	try {
		const links = Object.values(files).map((file) => helpers.createBinarySignedUrl(file, LINK_LIFETIME));
		return { download_url: links[0], download_urls: links };
	} catch {
		hints.add(HINTS.noDownloadLink());
		return {};
	}
}

/**
 * Does work when its turn among the deliveries of a run comes. Work that takes long gives the turn to the next one after
 * a while and goes on beside it, as long as there are not too many of these in the process.
 */
async function takeDeliveryTurn<R>(
	{ delivering, signal }: Pick<JobControls, 'delivering' | 'signal'>,
	work: () => Promise<R>,
): Promise<R> {
	const { running } = await delivering(async () => {
		const running = work();
		const ended = new AbortController();
		const isOver = running.then(
			() => ended.abort(),
			() => ended.abort(),
		);
		await realClock.sleep(FILE_LIMITS.turnMs, AbortSignal.any([signal, ended.signal]));
		if (!ended.signal.aborted) await Promise.race([isOver, untilBeside(isOver)]);
		return { running };
	});
	return await running;
}

/** Resolves when one of the places without a turn is free, and takes it until the work is over. */
async function untilBeside(isOver: Promise<void>): Promise<void> {
	await new Promise<void>((begin) => {
		void limitSlowDeliveries(async () => {
			begin();
			await isOver;
		});
	});
}
