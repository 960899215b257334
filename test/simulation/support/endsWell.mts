/** The results that must come out: it would be easy to lose nothing and to pay for nothing twice by doing nothing. */
import { BLANKS, LOCKED, STRAYS, type Case, type ItemPlan, type PostPlan } from './cases.mts';
import type { Origin, Process } from './executions.mts';
import type { N8n } from './n8n.mts';
import type { Post } from './service.mts';
import { marksOf, type Try } from './story.mts';

/** The service has not accepted it, or it has and the answer comes: the node goes on by itself. */
const RIDDEN_OUT = /^(ok|refused|dns|429(:\d|:date7)?|503(:2|:5|:date4)?|slow:20s(!after)?)$/;
/** One try ends by it, and the next one mends it. */
const MENDED_ANSWER =
	/^(429:90|429:200|503:date150|400.*|401.*|402.*|403|422.*|success_false|40[34]html|404text|403proxy)$/;
const MENDED_POLL = /^(401|402|403|400|422|409|423|425|429:4000)$/;
/** The most of the same answers that are ridden out. */
const LONGEST_RUN = 4;
/** A timeout is longer than so many checks. */
const MOST_POLLS = 8;
/** The service asks to be left alone for longer than the timeout: the wait ends as by its timeout. */
const MENDED_END = /fail=(generation_failed|internal_error|timeout)/;
const NOT_MENDED = /fail=|result=none|created=no_id|duration=never|hidden=50s/;
/** Shorter waits may end before the task does. */
const LONG_ENOUGH_MINUTES = { survives: 60, otherwise: 10 };
const DOWNLOAD_TRIES = 4;

/** All items must come out in the end, where nothing has happened that a try more would not mend. */
export function doesNotEndWell(origin: Origin, tries: readonly Try[], n8n: N8n): string[] {
	const { story } = n8n;
	const {
		drawn,
		names,
		stop,
		crashes,
		silences,
		handOverCrashes,
		subStops,
		executions: [first],
	} = origin;
	const triesNeeded = 1 + endsOfTries(drawn);
	const { survives, otherwise } = LONG_ENOUGH_MINUTES;
	const isCareful = marksOf(origin).some((mark) => story.careful.has(mark));
	const mayEndBadly =
		crashes > 0 ||
		silences > 0 ||
		isCareful ||
		handOverCrashes > 0 ||
		subStops > 0 ||
		mayBeInDoubt(origin, n8n) ||
		stop.signal.aborted ||
		drawn.accountSlots !== undefined ||
		// A retry of another execution of the same millisecond takes over what has no row of this one.
		n8n.origins.some((other) => other !== origin && other.executions.length > 1) ||
		drawn.clockSetBack !== undefined ||
		// Nothing is submitted where n8n's other table cannot be written: each mark is tried twice.
		(hasRows(drawn) && drawn.failingRecords.length > 1) ||
		(hasRows(drawn) && refusalsOf(drawn) > MOST_REFUSALS) ||
		isTroubled(drawn) ||
		// What another execution has bought, or a prompt that was rewritten, is its own story.
		(drawn.purchaseKey &&
			(drawn.executions > 1 || drawn.volatilePrompt || drawn.table !== undefined || !hasRows(drawn))) ||
		drawn.timeoutMinutes < (drawn.wait === 'acrossRestarts' ? survives : otherwise);
	// n8n does not try again what has slept, or what hands on the error of another item than the first.
	const isTriedAgain = drawn.onError === 'stopWorkflow' && !isDurable(drawn);
	if (first === undefined || mayEndBadly || triesNeeded > (isTriedAgain ? drawn.maxTries : 1)) return [];
	if (first.status !== 'success')
		return [
			`execution ${first.id} has ended with ${first.status}, although ${drawn.maxTries} tries can mend what happens`,
		];
	return names.flatMap((_, round) => {
		const ofRound = tries.filter((each) => each.round === round && each.execution === 0);
		const isGood = ofRound.at(-1)?.items?.every(({ json }) => json.error === undefined && json.task_id !== undefined);
		return isGood ? [] : [`round ${round} has not come out as it could have`];
	});
}

/** An account that answers 429 is asked by one order at a time, after longer and longer pauses: more refusals in a row take minutes. */
const MOST_REFUSALS = 5;

const refusalsOf = ({ items, rounds }: Case) =>
	items.reduce(
		(sum, { copies, plan: { posts } }) =>
			sum + copies * rounds * posts.filter(({ answer }) => answer.startsWith('429')).length,
		0,
	);

/** Its requests have rows in the table of the purchase log. */
export const hasRows = ({ log, table }: Pick<Case, 'log' | 'table'>) =>
	log === 'on' && !table?.hasOtherColumns && table?.fullAfter !== 0;

/** Its orders go on in an execution that sleeps. */
export const isDurable = (drawn: Pick<Case, 'log' | 'wait' | 'table'>) =>
	drawn.wait === 'acrossRestarts' && hasRows(drawn);

/** The table cannot be used at times, or a person changes it. One that is renamed stays the table of its runs. */
const isTroubled = ({ table, ...drawn }: Pick<Case, 'log' | 'table'>) => {
	if (table === undefined || !hasRows({ table, ...drawn })) return false;
	const { events = [], isSqlite: _, ...others } = table;
	return Object.keys(others).length > 0 || events.some(({ does }) => does !== 'rename');
};

/** Rows are in the table so soon after the service has answered. */
export const LOGGED_WITHIN_MS = 3000;

/** It has rows, and nothing happens to these. */
export const isLogged = ({ failingRecords, ...drawn }: Pick<Case, 'log' | 'table' | 'failingRecords'>) =>
	hasRows(drawn) && drawn.table === undefined && failingRecords.length === 0;

/** True where an execution that polls has died, and its rows do not tell what has come of a request. */
function mayBeInDoubt(origin: Origin, { service, tables }: N8n): boolean {
	if (origin.pollerDeathsAtMs.length === 0) return false;
	const known = new Set(tables.written.flatMap(({ row }) => (row.state === 'submitting' ? [] : String(row.attempt))));
	const isOpen = tables.written.some(
		({ row: { state, attempt }, owner }) =>
			state === 'submitting' && !known.has(String(attempt)) && hasGone(owner as Process),
	);
	return isOpen || inDoubt(origin, service.posts).length > 0;
}

const hasGone = ({ diedAtMs, silentAtMs }: Process) => diedAtMs !== undefined || silentAtMs !== undefined;

/** Requests that were under way when an execution that submits has died, or whose row had not been written by then. */
export function inDoubt({ family, pollerDeathsAtMs, drawn }: Origin, posts: readonly Post[]): Post[] {
	const keptWithinMs = isLogged(drawn) ? LOGGED_WITHIN_MS : Infinity;
	// One that stood still has looked before, or has another table than the next one: what it does afterwards is as unknown.
	const isUnread = ({ owner, sentAtMs }: Post) =>
		hasGone(owner as Process) && (drawn.table !== undefined || sentAtMs >= ((owner as Process).silentAtMs ?? Infinity));
	return posts.filter(
		(post) =>
			post.name.split('-')[0] === family &&
			pollerDeathsAtMs.some(
				(atMs) =>
					(post.sentAtMs <= atMs || isUnread(post)) &&
					(post.heardAtMs === undefined || post.heardAtMs >= atMs - keptWithinMs),
			),
	);
}

/** The number of tries that can end by what is planned. */
function endsOfTries({ items, rounds }: Case): number {
	const ends = items.flatMap(({ copies, plan: { posts, files } }: { copies: number; plan: ItemPlan }) => [
		...posts.map(endsByPost),
		copies * Math.floor(files.length / DOWNLOAD_TRIES),
	]);
	return rounds * ends.reduce((sum, each) => sum + each, 0);
}

function endsByPost({ answer, task: { directives, polls, further } }: PostPlan): number {
	// The next try waits for two minutes as well, and ends.
	if (answer === '429:200') return 2;
	if (MENDED_ANSWER.test(answer)) return 1;
	if (!RIDDEN_OUT.test(answer)) return Infinity;
	const isMended = MENDED_END.test(directives);
	if ((!isMended && NOT_MENDED.test(directives)) || polls.includes('404')) return Infinity;
	if (further !== undefined || polls.length > MOST_POLLS || hasLongRun(polls) || isNeverNamed(directives, polls))
		return Infinity;
	const isAlone = (index: number) => ![polls[index - 1], polls[index + 1]].some((poll = '') => MENDED_POLL.test(poll));
	const isPassing = (poll: string, index: number) => poll !== '400' && LOCKED.includes(poll) && isAlone(index);
	return Number(isMended) + polls.filter((poll, index) => MENDED_POLL.test(poll) && !isPassing(poll, index)).length;
}

/** The same answer, which names no task, comes so often that the wait may end by it. */
function hasLongRun(polls: readonly string[]): boolean {
	let length = 0;
	return polls.some((poll, index) => {
		length = poll === polls[index - 1] ? length + 1 : 1;
		return length > LONGEST_RUN && [...STRAYS, ...BLANKS].includes(poll);
	});
}

/**
 * The end of the task may have an ID that no record before had. A long task is seen before, and then its failure counts, too: but with
 * long pauses between the checks, only once, and that may be the one with another answer.
 */
function isNeverNamed(directives: string, polls: readonly string[]): boolean {
	if (/ids=(behind_end|none)/.test(directives))
		return directives.includes('fail=') || directives.includes('behind_end');
	return directives.includes('ids=behind') && (polls.length > 0 || !/duration=(45|100|300|1000)s/.test(directives));
}

/** Nobody is told that a try was interrupted when none was. */
export function falseAlarms(origin: Origin, tries: readonly Try[], n8n: N8n): string[] {
	const { drawn, crashes, stop, subStops, executions } = origin;
	const { unguarded } = n8n.story;
	const mayBeTrue =
		crashes > 0 ||
		subStops > 0 ||
		mayBeInDoubt(origin, n8n) ||
		stop.signal.aborted ||
		drawn.executions > 1 ||
		drawn.table !== undefined ||
		drawn.failingRecords.length > 0 ||
		unguarded.size > 0;
	const isRetriedTwice = drawn.retryOf === 'first' || drawn.retriesAtOnce === true;
	if (mayBeTrue || (isRetriedTwice && executions.length > 2)) return [];
	const isAlarm = ({ error, items }: Try) =>
		`${error ?? ''} ${items?.map(({ json }) => `${String(json.error)} ${String(json.details)}`).join(' ') ?? ''}`.includes(
			'was interrupted before it could record',
		);
	return tries.some(isAlarm) ? ['a try is said to have been interrupted, although none was'] : [];
}
