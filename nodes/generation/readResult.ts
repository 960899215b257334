import { missingResult } from '../../core/polling/generationTask';
import { locateResult } from '../../core/records/locateResult';
import type { TaskRecord } from '../../core/records/taskRecord';
import { HINTS } from '../run/hints';

/** The result that one item asks for. */
export interface ResultSearch {
	/** The path that the user has entered; empty: none. */
	resultPath: string;
	/** URLs of the request, which are no result; empty where the request is not known. */
	requestUrls: ReadonlySet<string>;
	/** False: a record without a URL is passed on as it is, because the user asked for another response format. */
	urlExpected: boolean;
	/** True: a completed record without a result is an error, because the item would look like a success. */
	resultNeeded: boolean;
	/** Shown in the output panel. */
	hints: Set<string>;
}

export interface Result {
	urls: string[];
	/** True: the result is in the record, or may be, so the record goes out as it is. */
	needsRecord: boolean;
}

/** The result of a record, and hints about where it stands. Throws where a completed one has none, but needs one. */
export function readResult(record: TaskRecord, taskId: string, search: ResultSearch, waitedMs = 0): Result {
	const { resultPath, requestUrls, urlExpected, resultNeeded, hints } = search;
	const { urls, foundAt, choices, isInline } = locateResult(record, resultPath, requestUrls);
	if (foundAt !== undefined) hints.add(HINTS.resultFound({ place: foundAt }));
	// A URL at an unknown path may not be the result, if the request asked for another format.
	if (urls.length > 0) return { urls, needsRecord: foundAt !== undefined && !urlExpected };
	if (record.state !== 'completed') return { urls, needsRecord: false };

	const isInRecord = isInline === true || !urlExpected;
	if (choices) hints.add(HINTS.resultUnclear({ places: choices.join(' or ') }));
	else if (resultNeeded && !isInRecord) throw missingResult(taskId, record, waitedMs, resultPath);
	else if (resultPath !== '') hints.add(HINTS.resultNotAtPath({ path: resultPath }));
	else if (!isInRecord) hints.add(HINTS.resultNotFound());
	return { urls, needsRecord: true };
}
