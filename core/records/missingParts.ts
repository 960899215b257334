import { isContainer, isPlainObject, isUnset, valuesBelow } from '../json';
import { beginningOf } from '../text';
import { isFileContent } from '../urls';
import { parseRefusal } from './refusals';
import { looseText } from './loose';
import { MOST_ENTRIES } from './resultPath';
import type { ToUrl } from './resultSearch';
import { stateOf } from './taskRecord';

/** The parts of a result that a completed record lists, and that the service has not made. */
export interface MissingParts {
	count: number;
	/** In the service's words. */
	reason?: string;
}

/** The values of one entry that are looked at. */
const MOST_VALUES = 1_000;
const MOST_REASONS = 3;
const LONGEST_REASON = 300;

/**
 * The entries without a result in the lists that have the result, such as the third one of
 * `[{url}, {url}, {error: {message}}]`: a part of a batch must not pass for all of it. Undefined where nothing is missing.
 */
export function missingParts(lists: unknown[][], urls: ReadonlySet<string>, toUrl: ToUrl): MissingParts | undefined {
	const missing = lists
		.map((list) => list.slice(0, MOST_ENTRIES).filter((entry) => !hasResult(entry, urls, toUrl)))
		.reduce((most, entries) => (entries.length > most.length ? entries : most), []);
	if (missing.length === 0) return undefined;
	const reasons = new Set(missing.map(reasonOf).filter((reason) => reason !== undefined));
	const reason = [...reasons].slice(0, MOST_REASONS).join('; ');
	return { count: missing.length, ...(reason === '' ? {} : { reason }) };
}

/** True also for an entry that is meant as something else: a text beside the pictures, or the file itself. */
function hasResult(entry: unknown, urls: ReadonlySet<string>, toUrl: ToUrl): boolean {
	if (!isContainer(entry))
		return !isUnset(entry) && (typeof entry !== 'string' || toUrl(entry) !== undefined || isFileContent(entry));
	let seen = 0;
	let hasAny = false;
	for (const [, value] of valuesBelow(entry)) {
		if (isContainer(value)) continue;
		const url = toUrl(value);
		if ((url !== undefined && urls.has(url)) || isFileContent(value)) return true;
		hasAny ||= url !== undefined;
		if (++seen === MOST_VALUES) return true;
	}
	return reasonOf(entry) === undefined && (hasAny || (isPlainObject(entry) && typeof entry.text === 'string'));
}

/** The reason that an entry gives, in the service's words. */
function reasonOf(entry: unknown): string | undefined {
	if (typeof entry === 'string') return entry.trim() === '' ? undefined : beginningOf(entry.trim(), LONGEST_REASON);
	if (!isPlainObject(entry)) return undefined;
	const { message, code } = parseRefusal(entry);
	const status = looseText(entry.status);
	const hasFailed = status !== undefined && stateOf(status) === 'failed';
	const reason = message ?? code ?? looseText(entry.finish_reason) ?? (hasFailed ? status : undefined);
	return reason === undefined ? undefined : beginningOf(reason, LONGEST_REASON);
}
