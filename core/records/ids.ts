import { isPlainObject, valuesBelow, type JsonObject } from '../json';
import { idsUnder, isName, looseText } from './loose';
import { errorBeside } from './refusals';
import { isUnderWay, parseTaskRecord } from './taskRecord';

/** The ID of what a creating request has created, and the object of the answer that has it; none where it is anywhere. */
export interface CreatedId {
	id: string;
	level?: JsonObject;
}

/** Objects inside each other that an answer is searched in. */
const MOST_LEVELS = 4;

/** The objects that may hold the record, besides `data` and the name of the thing. */
const WRAPPERS = ['result', 'output', 'response'];

/** The ID of a new task: `id` in the contract's record (2.3); anywhere else, that may be the request's, or a user's. */
export function createdTaskId(answer: unknown): CreatedId | undefined {
	const levels = levelsOf(answer).filter((level) => idAt(level, 'task_id') ?? idAt(level, 'id'));
	const record =
		levels.find(({ object }) => object === 'generation.task') ??
		levels.slice(0, 1).find(hasStatus) ??
		levels.find((level) => hasStatus(level) && isUnderWay(looseText(level.status)));
	return (record && idAt(record, 'id')) ?? createdId(answer, 'task_id');
}

/**
 * The ID of something new under its own name, such as `group_id`, or else under `id`: of the inner object before the one
 * around it. The name alone counts anywhere, as long as it stands for one ID; `id` does not count beside an error.
 */
export function createdId(answer: unknown, name: string): CreatedId | undefined {
	const levels = levelsOf(answer);
	for (const each of isErrorOnly(levels) ? [name] : [name, 'id'])
		for (const level of levels) {
			const found = idAt(level, each);
			if (found !== undefined) return found;
		}
	const wrapped = levels.flatMap((level) => [name.replace('_id', ''), ...WRAPPERS].map((wrapper) => level[wrapper]));
	for (const inner of wrapped.flatMap(levelsOf)) {
		const found = idAt(inner, name) ?? idAt(inner, 'id');
		if (found !== undefined) return found;
	}
	return idAnywhere(answer, name);
}

/** An object, and those in its `data`, the innermost first. A list of one is what it holds: of two, one would be lost. */
function levelsOf(answer: unknown): JsonObject[] {
	const levels: JsonObject[] = [];
	for (let inner = answer; levels.length < MOST_LEVELS; inner = levels[0]?.data) {
		const level: unknown = Array.isArray(inner) && inner.length === 1 ? inner[0] : inner;
		if (!isPlainObject(level)) break;
		levels.unshift(level);
	}
	return levels;
}

/** True for an error without any status: an `id` beside it is that of the request, and no task would ever be found under it. */
function isErrorOnly(levels: JsonObject[]): boolean {
	const hasWord = levels.some((level) => parseTaskRecord(level)?.status);
	return !hasWord && levels.some((level) => errorBeside(level) !== undefined);
}

function hasStatus({ id, status }: JsonObject): boolean {
	return typeof id === 'string' && looseText(status) !== undefined;
}

function idAt(level: JsonObject, name: string): CreatedId | undefined {
	const [id] = idsUnder(level, name);
	return id === undefined ? undefined : { id, level };
}

function idAnywhere(answer: unknown, name: string): CreatedId | undefined {
	const ids = new Set<string>();
	// An error may name a task that was there before.
	const searched = isPlainObject(answer) ? { ...answer, error: undefined } : answer;
	for (const [key, value] of valuesBelow(searched)) {
		const id = key !== undefined && isName(name)(key) ? looseText(value) : undefined;
		if (id !== undefined) ids.add(id);
	}
	const [id, another] = ids;
	return id === undefined || another !== undefined ? undefined : { id };
}
