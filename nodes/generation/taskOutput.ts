import type { IDataObject } from 'n8n-workflow';
import type { MediaKind } from '../../core/client';
import type { TaskReference } from '../../core/errors';
import type { Order, ResultOptions } from '../../core/orders/order';
import { missingResult } from '../../core/orders/taskErrors';
import { locateResult } from '../../core/records/locateResult';
import type { MissingParts } from '../../core/records/missingParts';
import { pricesIn } from '../../core/records/prices';
import type { TaskRecord } from '../../core/records/taskRecord';
import { printable, shorten } from '../../core/text';
import { HINTS } from '../run/hints';
import { toIsoTime, toRecord, toSeconds, withoutErrors } from '../run/output';

/** A task after a read, and its order's options of the result. */
export interface Delivery {
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
export function toTaskOutput(delivery: Delivery, hints: Set<string>): { urls: string[]; json: IDataObject } {
	const { order, task, record, result, waitedMs, baseUrl } = delivery;
	const { taskId } = task;
	const search = {
		...result,
		resultNeeded: result.resultNeeded && order.then !== 'nothing',
		requestUrls: new Set(result.requestUrls),
		kind: order.kind as MediaKind,
		baseUrl,
		hints,
	};
	const { urls, needsRecord, missing } = readResult(record, taskId, search, waitedMs);
	if (record.endedBy !== undefined) hints.add(HINTS.endedByRecord({ status: printable(record.status) }));
	if (record.errorBeside !== undefined && (urls.length > 0 || needsRecord)) {
		const { message, code = '' } = record.errorBeside;
		hints.add(HINTS.errorBesideResult({ words: printable(shorten(message ?? code, 200)) }));
	}
	const simplify = result.simplify && !needsRecord;
	return {
		urls,
		json: toFieldsOf(record, { taskId, urls, model: order.model, simplify, waitedMs, reused: order.reused, missing }),
	};
}

/** The result that one item asks for. */
interface ResultSearch {
	/** The path that the user has entered; empty: none. */
	resultPath: string;
	/** URLs of the request, which are no result; empty where the request is not known. */
	requestUrls: ReadonlySet<string>;
	/** False: a record without a URL is passed on as it is, because the user asked for another response format. */
	urlExpected: boolean;
	/** True: a completed record without a result is an error, because the item would look like a success. */
	resultNeeded: boolean;
	kind: MediaKind;
	baseUrl: string;
	/** Shown in the output panel. */
	hints: Set<string>;
}

interface Result {
	urls: string[];
	/** True: the result is in the record, or may be, so the record goes out as it is. */
	needsRecord: boolean;
	missing?: MissingParts;
}

/** The result of a record, and hints about where it stands. Throws where a completed one has none, but needs one. */
function readResult(record: TaskRecord, taskId: string, search: ResultSearch, waitedMs = 0): Result {
	const { resultPath, requestUrls, urlExpected, resultNeeded, hints } = search;
	const { urls, foundAt, choices, isInline, missing } = locateResult(record, resultPath, requestUrls, search);
	if (missing !== undefined) hints.add(HINTS.partsMissing());
	if (foundAt !== undefined) hints.add(HINTS.resultFound({ place: foundAt }));
	// A URL at an unknown path may not be the result, if the request asked for another format.
	if (urls.length > 0) return { urls, needsRecord: foundAt !== undefined && !urlExpected, missing };
	if (record.state !== 'completed') return { urls, needsRecord: false };

	const isInRecord = isInline === true || !urlExpected;
	if (choices) hints.add(HINTS.resultUnclear({ places: choices.join(' or ') }));
	else if (resultNeeded && !isInRecord) throw missingResult(taskId, record, waitedMs, resultPath);
	else if (resultPath !== '') hints.add(HINTS.resultNotAtPath({ path: resultPath }));
	else if (!isInRecord) hints.add(HINTS.resultNotFound());
	return { urls, needsRecord: true };
}

interface TaskOutputOptions {
	taskId: string;
	/** The result URLs; empty while there are none. */
	urls: string[];
	/** The model that was asked for, where the record names none. */
	model?: string;
	simplify: boolean;
	waitedMs?: number;
	/** Another item has bought it. */
	reused?: boolean;
	missing?: MissingParts;
}

/**
 * A task as an output item: first what the user came for, then the rest, prices as they came; lists, times and the raw record,
 * unless simplified, last. Times are in ISO 8601. Never a top-level `error`: n8n takes that for a node that wants to be run
 * again.
 */
function toFieldsOf(record: TaskRecord, options: TaskOutputOptions): IDataObject {
	const { taskId, urls, model, simplify, waitedMs, reused, missing } = options;
	return {
		url: urls[0],
		download_url: undefined,
		task_id: taskId,
		status: record.state,
		missing_results: missing?.count,
		missing_reason: missing?.reason,
		reason: record.state === 'failed' ? (record.refusal.message ?? record.refusal.code ?? record.status) : undefined,
		progress: record.state === 'completed' ? undefined : record.progress,
		model: record.model ?? model,
		reused,
		...withoutErrors(pricesIn(record.raw) as IDataObject),
		download_urls: undefined,
		urls: urls.length > 0 ? urls : undefined,
		waited_seconds: waitedMs === undefined ? undefined : toSeconds(waitedMs),
		created_at: toIsoTime(record.createdAt),
		expires_at: toIsoTime(record.expiresAt),
		record: simplify ? undefined : toRecord(record.raw),
	};
}
