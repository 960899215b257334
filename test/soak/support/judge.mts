/** The outcome of each execution, each item and each purchase. What must not be is a line in one of the lists. */
import type { SandboxTask } from '../../../sandbox/index.mts';
import { resultsIn } from '../../crash/support/batch.mts';
import { answeredAtMs, ON_ITS_WAY_MS } from '../../crash/support/outcome.mts';
import type { Cluster } from '../../queue/support/cluster.mts';
import { askedIn, handedOverBy, isIn, LONGEST_MS, type Answer, type Run } from './runs.mts';
import type { Event } from './events.mts';
import { endingOf, intentsOf, ITEMS } from './workload.mts';

export interface Problems {
	boughtTwice: string[];
	withoutIntent: string[];
	lost: string[];
	takenForFinished: string[];
	wrongEnd: string[];
}

export const noProblems = (): Problems => ({
	boughtTwice: [],
	withoutIntent: [],
	lost: [],
	takenForFinished: [],
	wrongEnd: [],
});

/**
 * Each intent has at most one purchase, beside those that had failed before the next one; and each purchase has an intent.
 * Returns how many were bought again because they had failed.
 */
export function judgePurchases(tasks: SandboxTask[], runs: Run[], problems: Problems): number {
	let again = 0;
	for (const prompt of new Set(tasks.map(({ body }) => String(body.prompt)))) {
		const bought = tasks.filter(({ body }) => body.prompt === prompt);
		for (const [index, task] of bought.slice(0, -1).entries()) {
			const hadFailed = endingOf(prompt) === 'failed' && task.endsAt <= Number(bought[index + 1]?.acceptedAt);
			if (hadFailed) again++;
			else problems.boughtTwice.push(`${prompt}: ${bought.map(({ id }) => id).join(' and ')}`);
		}
		if (!runs.some(({ intents }) => intents === intentsOf(prompt))) problems.withoutIntent.push(prompt);
	}
	return again;
}

/** An execution that has succeeded has one item for each input, in the same order. */
export function judgeShape({ execution }: Run, problems: Problems): void {
	const asked = askedIn(execution);
	const answered = resultsIn(execution).map(({ json }) => json.asked);
	if (asked.length !== ITEMS || JSON.stringify(answered) !== JSON.stringify(asked))
		problems.wrongEnd.push(`execution ${execution.id} has ${answered.length} items for ${asked.length}`);
}

const SAYS_UNKNOWN = /The service may or may not have accepted th(is|e) task/;

/**
 * An answer is a result with the file of its own task, or says that it is none.
 * Returns the ID of the task, if it is a result.
 */
export async function judgeAnswer(
	{ rest, sandbox }: Cluster,
	{ asked, item: { json, binary }, executionId, isHit }: Answer,
	problems: Problems,
): Promise<string | undefined> {
	const ending = endingOf(asked);
	const bought = sandbox.tasks.filter(({ body }) => body.prompt === asked);
	const task = bought.at(-1);
	const what = `execution ${executionId}: ${JSON.stringify(json)}`;
	if (json.error === undefined) {
		const isWhole =
			json.task_id === task?.id &&
			json.status === 'completed' &&
			binary !== undefined &&
			(await rest.readBinary(binary.data.id)).length > 0;
		// After a crash, n8n may have saved fewer tries than there were, and one more sees the end.
		if (isWhole && (ending === 'result' || (isHit && ending === 'late'))) return task?.id;
		problems.takenForFinished.push(what);
		return undefined;
	}
	const saysUnknown = SAYS_UNKNOWN.test(String(json.error));
	// The other workflow with the same keys may have bought it again since: `placeOf` looks for each task.
	const names = bought.length === 0 || bought.some(({ id }) => what.includes(JSON.stringify(id).slice(1, -1)));
	// Of one that was hit, the ID is in a log: its place is judged, too.
	if (ending === 'unknown' ? !saysUnknown : !names && !(isHit && saysUnknown)) problems.lost.push(what);
	if (ending === 'result' && !isHit) problems.wrongEnd.push(what);
	return undefined;
}

/** Results that were handed over arrive once; those that were hit, at most once. */
export function judgeHandOver(runs: Run[], received: Answer[], events: Event[], problems: Problems): void {
	for (const run of runs) {
		for (const asked of handedOverBy(run)) {
			const count = received.filter((answer) => answer.asked === asked).length;
			const isHit = isIn(events, run.startMs, run.startMs + LONGEST_MS);
			if (count > 1 || (count === 0 && !isHit)) problems.wrongEnd.push(`${asked}: handed over ${count} times`);
		}
	}
}

export interface Traces {
	/** IDs of tasks whose results have arrived. */
	results: Set<string>;
	/** As text: the items that the workflows have got, and all else in which a person finds an ID: outputs and errors, sub-executions, purchase log, n8n's log. */
	items: string;
	elsewhere: string;
	events: Event[];
}

/**
 * Where a person finds a task. `arrived`: the workflow has got the result, or an item that names the task and says why there is
 * none. `byHand`: its ID is somewhere else. Undefined: nowhere.
 */
export function placeOf(task: SandboxTask, { results, items, elsewhere, events }: Traces) {
	const ending = endingOf(String(task.body.prompt));
	// The service never said which ID it has; the item says that it is not known whether a task exists.
	if (ending === 'unknown') return 'lostAnswer';
	const inJson = JSON.stringify(task.id).slice(1, -1);
	if (ending === 'result' ? results.has(task.id) : items.includes(inJson)) return 'arrived';
	if (elsewhere.includes(inJson) || elsewhere.includes(`task ${task.id} `)) return 'byHand';
	const isOnItsWay = events.some(
		({ fromMs, untilMs }) => task.acceptedAt <= untilMs && answeredAtMs(task) > fromMs - ON_ITS_WAY_MS,
	);
	return isOnItsWay ? 'onItsWay' : undefined;
}
