/** The promises that must hold whatever has happened. Returns the broken ones, in words. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { parseOrderItem } from '../../../nodes/durable/orderItems';
import type { SandboxTask } from '../../../sandbox/state/tasks.mts';
import { BLANKS, DECLINED, FINAL_POLLS, LOCKED, STRAYS, type TaskPlan } from './cases.mts';
import { doesNotEndWell, falseAlarms, hasRows, inDoubt, isDurable } from './endsWell.mts';
import { namesIn, type Execution, type Origin } from './executions.mts';
import { judgeRows } from './judgeRows.mts';
import type { N8n } from './n8n.mts';
import { lastOutput } from './subWorkflowState.mts';
import { API_KEY, nameOf, type Post, type Service } from './service.mts';
import { marksOf, type Story, type Try } from './story.mts';

/** One start of the workflow: what was bought for it, and what its user has seen. */
interface Evidence {
	origin: Origin;
	/** All that buy under the same names: with a Purchase Key, they share what is bought. */
	family: Origin[];
	tasks: SandboxTask[];
	tries: Try[];
}

export function judge(n8n: N8n): string[] {
	const { story, service, origins } = n8n;
	const tasks = groupBy(service.tasks.list(), (task) => nameOf(task).split('-')[0]);
	const tries = groupBy(story.tries, ({ origin }) => origin);
	const logged = new Set(story.log.flatMap((line) => /: task (.+) \(.+\) was accepted/.exec(line)?.[1] ?? []));
	const problems = origins.flatMap((origin) => {
		const family = origins.filter((each) => each.family === origin.family);
		const ofFamily = family.flatMap((each) => tries.get(each) ?? []);
		const evidence = { origin, family, tasks: tasks.get(origin.family) ?? [], tries: tries.get(origin) ?? [] };
		return [
			...neverEnding(evidence),
			...paidTwice(evidence, n8n),
			...tooManyAtOnce(evidence, service),
			...boughtAfterStop(evidence, service),
			...waitedInVain(evidence),
			...tooManyWaitedFor(evidence, service),
			...lostIds({ ...evidence, tries: ofFamily }, service, logged),
			...evidence.tries.flatMap((each) => wrongItems(each, evidence.tasks)),
			...repeatedOutputs(evidence),
			...leftInLedger(evidence),
			...doesNotEndWell(origin, evidence.tries, n8n),
			...falseAlarms(origin, evidence.tries, n8n),
		];
	});
	const hasKey = story.log.join('\n').includes(API_KEY) || story.tries.some((each) => textOf(each).includes(API_KEY));
	return [
		...story.violations,
		...judgeRows(n8n),
		...unfinishedSuccesses(n8n),
		...stumbles(story),
		...problems,
		...(hasKey ? ['the key is in an output, an error or the log'] : []),
	];
}

/** The product catches some errors and goes on in another way: then what was to be simulated is not. */
function stumbles({ log }: Story): string[] {
	return log
		.filter((line) => /did not run the sub-execution|is not a function|is not defined|Cannot read prop/.test(line))
		.map((line) => `the product has stumbled: ${line}`);
}

const hasFailed = (task: SandboxTask) => task.directives.fail !== undefined;
const isStopped = ({ stop }: Origin) => stop.signal.aborted;

/** The same request would fail again, and the task says so by its code, or in words: nobody buys that again. */
const isPermanent = ({ directives: { fail = '', failAs } }: SandboxTask) =>
	fail === 'content_policy_violation' || (failAs === 'error_object' && [...DECLINED, 'invalid_request'].includes(fail));

/** It was not possible with this request, whatever it was. */
const isRefused = ({ directives: { fail, failAs } }: SandboxTask) =>
	fail === 'invalid_request' && failAs === 'error_object';

/** It has failed by then, its record names it, and another one may be made: that is the only reason to buy it again. */
const isReplaceable = (task: SandboxTask, atMs: number) =>
	hasFailed(task) && !isPermanent(task) && task.endsAt <= atMs && !['none', 'behind_end'].includes(task.directives.ids);

/** An execution that polls and that nobody waits for any more is no success. */
function unfinishedSuccesses({ subs }: N8n): string[] {
	const UNFINISHED = ['waitingInterrupted', 'submissionStopped'];
	return subs.polledToEnd().flatMap(({ id, saved }) => {
		const reasonOf = (item: INodeExecutionData) => parseOrderItem(item)?.end?.error?.details.reason?.name ?? '';
		// The supervisor of a person's retry ends itself what is not to be submitted any more.
		const given = (saved.runs.Start?.[0]?.[0] ?? []).map(reasonOf);
		const reasons = (lastOutput(saved) ?? []).map(reasonOf);
		return reasons.some((name, at) => UNFINISHED.includes(name) && given[at] !== name)
			? [`sub-execution ${id} is listed as a success, although its tasks have not finished`]
			: [];
	});
}

/** Every execution comes to an end. */
function neverEnding({ origin: { executions, name } }: Evidence): string[] {
	return executions.flatMap(({ id, status }) =>
		status === 'running' || status === 'waiting' ? [`execution ${id} (${name}) is ${status} for ever`] : [],
	);
}

/**
 * Accepted tasks, without those that have failed so that another one may be made, are at no time more than the items that were
 * to be bought: with a Purchase Key, one for all of a name.
 */
function paidTwice({ origin, family, tasks }: Evidence, n8n: N8n): string[] {
	const {
		service: { unanswered, doubted },
		tables,
	} = n8n;
	const { names, drawn } = origin;
	const crashes = family.reduce((sum, each) => sum + each.crashes, 0);
	const hasDied = ({ crashes, silences, pollerDeathsAtMs, handOverCrashes }: Origin) =>
		crashes + silences + pollerDeathsAtMs.length + handOverCrashes > 0;
	if (family.some(hasDied) && family.some((each) => knowsNothing(each, n8n))) return [];
	// Keys are known by the rows only.
	const hasKeys = drawn.purchaseKey && tables.happened.length === 0;
	const retries = family.reduce((sum, { executions, drawn: { clicks = [] } }) => {
		return sum + executions.length - 1 + clicks.filter(({ does }) => does === 'retry').length;
	}, 0);
	return [...count(names.flat())].flatMap(([name, ofName]) => {
		const wanted = hasKeys ? 1 : drawn.purchaseKey ? ofName * family.length : ofName;
		// By naming a run, a person has chosen to risk one more for each request of which nothing is known: after a crash,
		// and in a second retry of the same execution, of all. But once for each run, however long it stays in the form.
		const deaths = family.reduce((sum, { pollerDeathsAtMs }) => sum + pollerDeathsAtMs.length, crashes);
		const isRetriedTwice = drawn.retryOf === 'first' || drawn.retriesAtOnce === true;
		const again = family.flatMap(({ executions }) => (isRetriedTwice ? executions.slice(1) : []));
		const blindly = deaths + again.length;
		const ofItem = tasks.filter((task) => nameOf(task) === name);
		// A person may want again what was declined, or what is not shown for minutes.
		const wantedAgain = ofItem.some(isPermanent) || doubted.has(name) ? retries * ofName : 0;
		const unknown = (unanswered.get(name) ?? 0) + blindly * ofName + wantedAgain;
		const ofRun = drawn.purchaseKey ? 1 : Math.max(...names.map((round) => count(round).get(name) ?? 0));
		const risked = Math.min(unknown, namedRuns(family).size * ofRun);
		const most = wanted + risked + (drawn.purchaseKey ? 0 : rewritten(origin) * ofName);
		const boughtAt = ({ acceptedAt: atMs }: SandboxTask) =>
			ofItem.filter((task) => task.acceptedAt <= atMs && !isReplaceable(task, atMs)).length;
		const bought = Math.max(0, ...ofItem.map(boughtAt));
		return bought > most ? [`${name} was bought ${bought} times instead of ${most}`] : [];
	});
}

/** Nothing has told a retry, or what has come back, what was bought before. */
function knowsNothing(origin: Origin, { story, tables: { happened }, subs }: N8n): boolean {
	const { unguarded, silentBeforeRows } = story;
	const { drawn, executions } = origin;
	const isUnguarded = marksOf(origin).some((mark) => unguarded.has(mark));
	// Marks alone do not stop what comes back.
	if (!hasRows(drawn)) return !drawn.purchaseKey && (isUnguarded || origin.silences > 0);
	const begins = (atMs: number) =>
		executions.some(({ startedAtMs, wasHandedOn }) => startedAtMs >= atMs || wasHandedOn) ||
		subs.ofOrigin(origin).some(({ startedAtMs }) => startedAtMs >= atMs);
	// The database was restored from a backup.
	if (happened.some(({ does, atMs }) => does === 'restore' && begins(atMs))) return true;
	// A retry finds the rows of another execution of the same millisecond, and takes them for those of the one that has none yet.
	const areRowsGone = happened.some(({ does }) => does !== 'restore');
	// Nor are there any where the table could not be made.
	const mayHaveNone = areRowsGone || drawn.table?.failing !== undefined;
	return mayHaveNone && (isUnguarded || silentBeforeRows.has(origin));
}

/** The runs of a family that a person has named in one of its retries. */
function namedRuns(family: Origin[]): Set<string> {
	const ids = family.flatMap(({ executions, establishedAtMs }) => [establishedAtMs, ...executions.map(({ id }) => id)]);
	const isOwn = (run: string) => ids.some((id) => run.startsWith(`${id}.`));
	const named = family.flatMap(({ executions }) => executions.flatMap(({ submitAgainFor: run }) => run ?? []));
	return new Set(named.filter(isOwn));
}

/** Retries of executions that have ended by themselves, with other prompts: each is another order of its user. */
function rewritten({ drawn, executions }: Origin): number {
	return drawn.volatilePrompt ? executions.filter(({ repeats }) => repeats === 'error').length : 0;
}

/** A task that is found later is given up before. */
const LONGEST_HIDDEN_MS = 12_000;

/**
 * As long as all goes well, no more tasks run at once than Concurrent Tasks says. Nobody sees the end of one that is given up:
 * its place is free, and a try more may go on with it.
 */
function tooManyAtOnce(
	{ origin: { drawn, crashes, silences, pollerDeathsAtMs, name }, family, tasks, tries }: Evidence,
	{ delivered }: Service,
): string[] {
	const polls = drawn.items.flatMap(({ plan }) =>
		plan.posts.flatMap(({ task }) => [...task.polls, task.further ?? 'ok']),
	);
	const endsEarly =
		polls.some((poll) => [...FINAL_POLLS, ...STRAYS, ...BLANKS, ...LOCKED].includes(poll)) ||
		tasks.some(({ directives }) => directives.ids !== 'own' || directives.hiddenMs > LONGEST_HIDDEN_MS);
	const isCalm =
		drawn.clockSetBack === undefined &&
		!endsEarly &&
		family.length === 1 &&
		crashes === 0 &&
		silences === 0 &&
		pollerDeathsAtMs.length === 0 &&
		tries.length === drawn.rounds;
	// After a stop there are none.
	const hasResults = tries.every(({ items = [] }) => items.length > 0 && items.every(isCompleted));
	// What outlasts its timeout is given up, and a try in the database may go on with it.
	const isSeen = tasks.every(
		({ id, acceptedAt, endsAt }) => delivered.has(id) && endsAt - acceptedAt < drawn.timeoutMinutes * 60_000,
	);
	if (!isCalm || !hasResults || !isSeen || drawn.wait === 'dontWait') return [];
	const atOnce = tasks.map(
		({ acceptedAt }) => tasks.filter((other) => other.acceptedAt <= acceptedAt && other.endsAt > acceptedAt).length,
	);
	const most = Math.max(0, ...atOnce);
	return most > drawn.concurrentTasks
		? [`${most} tasks of ${name} ran at once instead of ${drawn.concurrentTasks}`]
		: [];
}

/**
 * As long as an execution is awake, it submits nothing while it waits for as many tasks as Concurrent Tasks says: also where
 * it has taken up again what it had given up.
 */
function tooManyWaitedFor({ origin, family, tasks }: Evidence, { posts, polls }: Service): string[] {
	const { drawn, silences } = origin;
	const lasts = tasks.some(({ acceptedAt, endsAt }) => endsAt - acceptedAt >= drawn.timeoutMinutes * 60_000);
	if (drawn.clockSetBack !== undefined || family.length > 1 || drawn.wait === 'dontWait' || lasts || silences > 0)
		return [];
	const isWaitedFor = (id: string, { log, sentAtMs }: Post) => {
		const ofTask = polls.get(id)?.filter((poll) => poll.log === log) ?? [];
		const last = ofTask.filter(({ heardAtMs }) => heardAtMs <= sentAtMs).at(-1);
		return (
			last !== undefined &&
			!last.mayEndWait &&
			ofTask.some((poll) => poll.sentAtMs > sentAtMs || poll.heardAtMs > sentAtMs)
		);
	};
	return posts
		.filter(({ name }) => name.startsWith(`${origin.family}-`))
		.flatMap((post) => {
			const { sentAtMs, name } = post;
			const waited = tasks.filter(
				({ id, acceptedAt, endsAt }) => acceptedAt < sentAtMs && endsAt > sentAtMs && isWaitedFor(id, post),
			);
			return waited.length >= drawn.concurrentTasks
				? [
						`${name} was submitted while ${waited.length} tasks were waited for, instead of ${drawn.concurrentTasks} with it`,
					]
				: [];
		});
}

/** After a stop of what polls, nobody goes on buying in its place. */
function boughtAfterStop({ origin, family }: Evidence, { posts }: Service): string[] {
	const { pollerStoppedAtMs: stoppedAtMs, drawn, executions } = origin;
	// Another round, and another execution, buy what is theirs.
	if (stoppedAtMs === undefined || drawn.rounds > 1 || family.length > 1 || executions.length > 1) return [];
	return posts
		.filter(({ name, sentAtMs }) => name.startsWith(`${origin.family}-`) && sentAtMs > stoppedAtMs)
		.map(({ name }) => `${name} was submitted after a stop of what polls`);
}

/** Some checks of the longest interval. */
const LONGEST_IN_VAIN_SECONDS = 1800;

/** A task that is never shown is waited for some minutes, and not until the timeout. */
function waitedInVain({ origin: { drawn, silences }, tasks, tries }: Evidence): string[] {
	const isLong = drawn.timeoutMinutes >= 60 || (drawn.timeoutMinutes >= 10 && (drawn.pollIntervalSeconds ?? 0) === 10);
	if (!isLong || drawn.clockSetBack !== undefined || silences > 0) return [];
	const items = tries.flatMap(({ items = [] }) => items).map(({ json }) => flattened(json));
	return items.flatMap(({ task_id: id, code, waited_seconds: seconds }) => {
		const { further, polls = [] } = (tasks.find((task) => task.id === id)?.body ?? {}) as Partial<TaskPlan>;
		if (further === undefined) return [];
		// Across restarts, the timeout counts for all tries.
		const isTooLong = code === 'timed_out' && !(isDurable(drawn) && drawn.maxTries > 1);
		const times = isDurable(drawn) ? drawn.maxTries : 1;
		const isCalm = polls.every((poll) => poll === 'ok') && polls.length <= 1;
		return isTooLong || (isCalm && Number(seconds) > LONGEST_IN_VAIN_SECONDS * times)
			? [`${String(id)} was waited for ${String(seconds)} s, although each answer was ${further}`]
			: [];
	});
}

/** Every ID that has reached the node is in the log, and in what the user sees at the end. */
function lostIds(
	{ origin, family, tasks, tries }: Evidence,
	{ delivered, posts }: Service,
	logged: ReadonlySet<string>,
): string[] {
	const unsaved = new Set(family.flatMap((each) => inDoubt(each, posts)).map(({ task }) => task));
	const lasts = [
		...new Map(tries.map((each) => [`${each.origin.name} ${each.execution} ${each.round}`, each])).values(),
	];
	const atTheEnd = lasts.map(textOf).join('\n');
	const anywhere = lasts.length === tries.length ? atTheEnd : tries.map(textOf).join('\n');
	return tasks.flatMap((task) => {
		const { id } = task;
		if (!delivered.has(id)) return [];
		if (!logged.has(id)) return [`${id} is not in the log`];
		// What passes results on has died with what was to be passed on: the execution that has submitted it has the ID.
		const isPassedOn = family.some(({ handOverCrashes, drawn }) => handOverCrashes > 0 && isDurable(drawn));
		if (family.some((each) => isStopped(each) || each.crashes > 0) || isPassedOn || unsaved.has(task)) return [];
		// What has taken over from a silent machine goes on with the task that was bought in its place. The row has the ID.
		if (hasFailed(task) && family.some(({ silences }) => silences > 0)) return [];
		// A task that was given up, and made again, may be named by the try that gave it up.
		const where = hasFailed(task) || origin.drawn.submitAgainFor !== 'nothing' ? anywhere : atTheEnd;
		return where.includes(id) ? [] : [`${id} is in no output and in no error`];
	});
}

const isCompleted = ({ json }: INodeExecutionData) => json.status === 'completed';

function textOf({ items, error }: Try): string {
	const words = (value: unknown) => (typeof value === 'object' ? Object.values(value ?? {}).join(' ') : String(value));
	return `${items?.map(({ json }) => Object.values(json).map(words).join(' ')).join('\n') ?? ''} ${error ?? ''}`;
}

/** Each output belongs to its input item, and says of its task what is true. */
function wrongItems({ origin, execution, round, items, error, atMs }: Try, tasks: SandboxTask[]): string[] {
	const { drawn, executions } = origin;
	const problems: string[] = [];
	const messages = [error ?? '', ...(items ?? []).map(({ json }) => String(json.error ?? ''))].join('\n');
	for (const task of tasks) {
		if (!messages.includes(task.id)) continue;
		if (!isReplaceable(task, atMs) && messages.includes(`could not finish task ${task.id}`) && !isRefused(task))
			problems.push(`${task.id} is reported as failed`);
		if (!(isPermanent(task) && task.endsAt <= atMs) && messages.includes(`declined the content of task ${task.id}`))
			problems.push(`the content of ${task.id} is reported as declined`);
		if (task.directives.result !== 'none' && messages.includes(`Task ${task.id} is complete, but`))
			problems.push(`the result of ${task.id} was not found`);
	}
	if (messages.includes('ran into something unexpected')) problems.push(`the product has stumbled: ${messages}`);
	if (items === undefined || items.length === 0) return problems;
	const ofRound = namesIn(executions[execution] as Execution, round);
	if (items.length !== ofRound.length) problems.push(`${items.length} outputs for ${ofRound.length} items`);
	items.forEach(({ json: raw, binary, pairedItem, error: mark }, index) => {
		const json = flattened(raw);
		const paired = typeof pairedItem === 'object' && !Array.isArray(pairedItem) ? pairedItem.item : pairedItem;
		// What n8n itself hands on of an execution that has died says so, and has no pairs.
		if (paired !== index && !String(json.error).includes('has not arrived yet'))
			problems.push(`output ${index} is paired with item ${String(paired)}`);
		const isResult = json.error === undefined && mark === undefined;
		if (json.task_id === undefined) {
			if (isResult) problems.push(`output ${index} has neither task nor error`);
			const named = tasks.find(({ id }) => String(json.error).includes(id));
			if (named !== undefined) problems.push(`output ${index} names ${named.id} in its message only`);
			return;
		}
		const task = tasks.find(({ id }) => id === json.task_id);
		// Nothing tells the retries of two executions of the same millisecond apart: the item may warn of the task of the other.
		const isWarning = !isResult && drawn.executions > 1 && json.code === 'created_from_other_request';
		if (task === undefined && isWarning) return;
		if (task === undefined || nameOf(task) !== ofRound[index])
			return void problems.push(`output ${index} has the task ${String(json.task_id)} of another item`);
		if (json.status === (hasFailed(task) ? 'completed' : 'failed'))
			problems.push(`${task.id} is reported as ${String(json.status)}`);
		if (json.status === 'completed' && task.endsAt > atMs)
			problems.push(`${task.id} is handed out as completed before it is`);
		if (isResult && drawn.wait !== 'dontWait') {
			if (json.status !== 'completed')
				problems.push(`${task.id} is handed out as a result with the status ${String(json.status)}`);
			if (drawn.downloadResult && task.directives.result !== 'none' && binary === undefined)
				problems.push(`${task.id} is handed out without its file`);
		}
		const addresses = [
			...((json.urls as string[]) ?? []),
			...Object.values(binary ?? {}).map(({ data }) => data),
		].filter((text) => text.startsWith('http'));
		if (addresses.some((address) => !address.includes(encodeURIComponent(task.id))))
			problems.push(`output ${index} has a file of another task`);
	});
	return problems;
}

/** An item for the error output after a sleep has its fields below `details`. */
function flattened({ error, details, ...rest }: IDataObject): IDataObject {
	return {
		...(typeof details === 'object' && details !== null && !Array.isArray(details) ? details : {}),
		...rest,
		...(error === undefined ? {} : { error }),
	};
}

/** Task IDs in more than one output item of the last tries: what is put out twice must have been bought twice. */
function repeatedOutputs({ origin, tries }: Evidence): string[] {
	// Items with the same key get the same task.
	if (origin.drawn.purchaseKey) return [];
	const lastOfRound = new Map(tries.filter(isHeardOf).map((each) => [each.round, each]));
	const ids = [...lastOfRound.values()]
		.flatMap(({ items }) => items ?? [])
		.flatMap(({ json }) => (json.task_id === undefined ? [] : [String(json.task_id)]));
	return [...count(ids)].flatMap(([id, times]) => (times > 1 ? [`${id} was handed out ${times} times`] : []));
}

/** An execution that has ended well leaves nothing behind. */
function leftInLedger({ origin, tries }: Evidence): string[] {
	const last = origin.executions.at(-1);
	if (last?.status !== 'success' || origin.drawn.wait === 'acrossRestarts') return [];
	const isGood = ({ items }: Try) =>
		items?.every(({ json, error }) => json.error === undefined && error === undefined) ?? false;
	// Of two retries at once, the first one may end last.
	const inSequence = tries.filter(isHeardOf).sort((one, other) => one.execution - other.execution);
	const lastOfRound = new Map(inSequence.map((each) => [each.round, each]));
	const isClean = [...lastOfRound.values()].every(isGood);
	return isClean && Object.keys(last.live.store).length > 0
		? [`the ledger of ${origin.name} keeps ${JSON.stringify(last.live.store)}`]
		: [];
}

/** n8n keeps what has come of it. */
const isHeardOf = ({ isLate }: Try) => isLate !== true;

function count(keys: string[]): Map<string, number> {
	const counts = new Map<string, number>();
	for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
	return counts;
}

function groupBy<T, K>(values: Iterable<T>, keyOf: (value: T) => K): Map<K, T[]> {
	const groups = new Map<K, T[]>();
	for (const value of values) {
		const group = groups.get(keyOf(value));
		if (group === undefined) groups.set(keyOf(value), [value]);
		else group.push(value);
	}
	return groups;
}
