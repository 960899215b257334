import { gatewayError } from '../errors';
import { locateResult, urlsOfInputs, type TaskFacts } from '../records/locateResult';
import { errorBeside, errorWithin, parseRefusal, saidIn, type ServiceRefusal } from '../records/refusals';
import { typeByName } from '../mediaTypes';
import { shorten } from '../text';
import { parseResultUrl } from '../urls';
import { knownState, type TaskRecord, type TaskState } from '../records/taskRecord';

/** The task that was asked for, and what its order knows of the result. */
export interface AskedFor extends TaskFacts {
	taskId: string;
	/** Other IDs that an unfinished record of this task had: gateways pass on the record of the service behind them. */
	otherIds?: readonly string[];
	/** The path of the result that the user has entered; empty: none. */
	resultPath?: string;
	/** URLs of the request, which are no result. */
	requestUrls?: readonly string[];
}

/**
 * The record of a status answer with its state, as far as it is believed: it counts for the task that it names. Throws
 * what a wait rides out for a while: no status, a failure that names no task, and the end of another task.
 */
export function judgeTask(record: TaskRecord, asked: AskedFor): TaskRecord {
	const { wordDecides, state } = stateOfRecord(record, asked);
	const isNamed = record.ids.some((id) => id === asked.taskId || asked.otherIds?.includes(id));
	const details = { httpStatus: 200, ...saidIn(refusalOf(record)) };
	if (state === 'failed' && !isNamed) throw gatewayError('failureOfNoTask', {}, details);
	const what = 'a task status';
	const other = `another task (${shorten(record.ids[0] ?? '', 100)})`;
	if (state === 'completed' && !isNamed && record.hasTaskId)
		throw gatewayError('answerLacks', { what, other }, { httpStatus: 200 });
	// Without a status word, only a progress says that the task is running. A word alone may be that of the request.
	const saysNothing =
		state === undefined
			? record.status === '' && !(isNamed && record.progress !== undefined)
			: state === 'completed' && !isNamed && !findsResult({ ...record, progress: 100 }, asked);
	if (saysNothing) throw gatewayError('answerLacks', { what }, details);
	return {
		...record,
		state: state ?? 'in_progress',
		endedBy: wordDecides || state === undefined ? undefined : 'record',
		refusal: state === 'failed' ? refusalOf(record) : {},
		errorBeside: state === 'completed' ? errorBeside(record.raw) : undefined,
	};
}

/** The service's words about a task: those of its record, or else of a part of it, or of what is around it. */
function refusalOf({ raw, refusalAround = {} }: TaskRecord): ServiceRefusal {
	const own = parseRefusal(raw);
	if (own.message !== undefined || own.code !== undefined) return own;
	return errorWithin(raw) ?? refusalAround;
}

/**
 * The state of a task. A known word decides. Under an unknown or missing one the record does: a result, and no progress but
 * 100, ends it well; an error that says something, and no result, ends it badly. Otherwise the task goes on.
 */
function stateOfRecord(record: TaskRecord, asked: AskedFor): { state?: TaskState; wordDecides: boolean } {
	const known = knownState(record.status);
	if (known !== undefined) return { state: known, wordDecides: true };
	const { progress = 100 } = record;
	const hasResult = findsResult(record, asked);
	if (hasResult && progress === 100) return { state: 'completed', wordDecides: false };
	if (!hasResult && errorBeside(record.raw) !== undefined) return { state: 'failed', wordDecides: false };
	return { wordDecides: false };
}

/**
 * True where a record has a result, read as carefully as one that may be unfinished: its inputs and previews are none. A URL
 * at an unknown place may be a link to anything, so it counts only as that of a file, or beside a progress of 100.
 */
function findsResult(
	{ raw, progress }: TaskRecord,
	{ resultPath = '', requestUrls = [], ...facts }: AskedFor,
): boolean {
	const known = locateResult({ raw, state: 'in_progress' }, resultPath, new Set(requestUrls), facts);
	if (known.urls.length > 0 || known.isInline) return true;
	if (resultPath !== '') return false;
	const inputs = urlsOfInputs(raw, (value) => parseResultUrl(value, facts.baseUrl));
	const noResults = new Set([...requestUrls, ...[...inputs].map((url) => new URL(url).href)]);
	const anywhere = locateResult({ raw, state: 'completed' }, '', noResults, facts);
	const isFound = anywhere.urls.length > 0 || anywhere.choices !== undefined;
	const isFile = ({ pathname }: URL) => typeByName(pathname)?.startsWith(`${facts.kind ?? ''}/`) === true;
	return (
		anywhere.isInline === true || (isFound && progress === 100) || anywhere.urls.some((url) => isFile(new URL(url)))
	);
}
