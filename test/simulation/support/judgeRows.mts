/** The promises of the purchase log: what its rows say, when they are written, and what a retry makes of them. */
import { DECLINED, type Case } from './cases.mts';
import { hasRows, isLogged, LOGGED_WITHIN_MS } from './endsWell.mts';
import { namesIn, type Execution, type Origin, type Process } from './executions.mts';
import type { Written } from './logTables.mts';
import type { N8n } from './n8n.mts';
import { nameOf, type Post } from './service.mts';
import { marksOf, type Try } from './story.mts';

/** One attempt of a request, as its rows tell it. */
export interface Attempt {
	/** Of the item. */
	name: string;
	execution: Execution;
	/** The ID of the one that has written it: that of an execution, or of one that polls for it. */
	by: string;
	begun: Written;
	/** Its other rows. */
	later: Written[];
	/** The requests that were sent under it. */
	post?: Post;
}

/** Rows are written and not sent for so long at the most: n8n needs so long to write, to look and to mark. */
const UNSENT_MS = 5000;
/** The outcome of a request of this age cannot come any more. */
const OPEN_MS = 152_000;
/** An execution has read its rows so long after it has begun. */
const SOON_MS = 2000;
const IN_DOUBT = ['outcome_still_unknown', 'created_from_other_request'];

export function judgeRows(n8n: N8n): string[] {
	const attempts = attemptsOf(n8n);
	return [
		...rowsWithoutLog(n8n),
		...sentWithoutRow(n8n, attempts),
		...sentAfterAll(n8n, attempts),
		...wrongSuccessors(n8n),
		...rowsOfOrdersThatWait(n8n, attempts),
		...tooManyUnsent(n8n, attempts),
		...tooManyWhileFull(n8n, attempts),
		...gaps(n8n),
		...withoutLease(n8n),
		...sentWithoutLease(n8n, attempts),
		...keptOpen(n8n, attempts),
		...n8n.origins.flatMap((origin) => [
			...idsMissing(origin, n8n),
			...forgottenByRetry(origin, n8n),
			...wrongDoubts(origin, n8n, attempts),
			...wrongEnds(origin, n8n),
		]),
	];
}

const stateOf = ({ row }: Written) => String(row.state);

/** True where no process was killed in which it was written, or has stood still. */
const isAlive = (owner: object) => (owner as Process).alive && (owner as Process).isTakenForDead !== true;

function attemptsOf(n8n: N8n): Attempt[] {
	const { tables, service } = n8n;
	const byAttempt = new Map<string, Written[]>();
	for (const written of tables.written) {
		const { attempt, state } = written.row;
		if (state === 'lease' || state === 'run') continue;
		byAttempt.set(String(attempt), [...(byAttempt.get(String(attempt)) ?? []), written]);
	}
	const attempts = [...byAttempt.values()].flatMap((rows): Attempt[] => {
		const begun = rows.find((row) => stateOf(row) === 'submitting');
		const by = String(begun?.row.execution);
		const execution = n8n.rootOf(by);
		if (begun === undefined || execution === undefined) return [];
		const { runIndex = '0' } = /^\d+\.(?<runIndex>\d+) /.exec(String(begun.row.run))?.groups ?? {};
		const name = namesIn(execution, Number(runIndex))[Number(begun.row.item)] ?? '';
		return [{ name, execution, by, begun, later: rows.filter((row) => row !== begun) }];
	});
	for (const post of service.posts) {
		const own = attempts.filter((each) => each.post === undefined && isFor(each, post));
		const open = own.filter((each) => !isWithdrawn(each, post.sentAtMs));
		// Identical items have attempts of the same name.
		const fits = ({ later }: Attempt) =>
			post.task === undefined
				? !later.some(({ row }) => row.state === 'accepted')
				: later.some(({ row }) => row.task_id === post.task?.id);
		const attempt = open.find(fits) ?? open.find((each) => !isWithdrawn(each)) ?? open[0];
		if (attempt !== undefined) attempt.post = post;
	}
	return attempts;
}

/** True where the request may have left under it. */
const isFor = ({ name, by, begun: { owner, committedAtMs = Infinity } }: Attempt, post: Post) =>
	name === post.name && by === post.log.execution && owner === post.owner && committedAtMs <= post.sentAtMs;

const isWithdrawn = ({ later }: Attempt, atMs = Infinity) =>
	later.some((row) => stateOf(row) === 'not_accepted' && row.issuedAtMs <= atMs);

/** An attempt that was withdrawn is not sent any more, because its row may still be in the table. */
function sentAfterAll(n8n: N8n, attempts: Attempt[]): string[] {
	const known = new Set(attempts.map(({ post }) => post));
	return n8n.service.posts.flatMap((post) => {
		const { table, log } = n8n.rootOf(post.log.execution)?.origin.drawn ?? {};
		if (known.has(post) || log !== 'on' || table?.fullAfter !== undefined || table?.hasOtherColumns) return [];
		const own = attempts.filter((each) => each.post === undefined && isFor(each, post));
		return own.some((each) => isWithdrawn(each, post.sentAtMs)) ? [`a withdrawn attempt of ${post.name} was sent`] : [];
	});
}

/** An execution gives way to one that has taken the run over after it, and to no other. */
function wrongSuccessors({ story, executions }: N8n): string[] {
	return story.tries.flatMap(({ origin, execution, error = '', items = [] }) => {
		const own = origin.executions[execution];
		const texts = [error, ...items.map(({ json }) => String(json.error))];
		return texts.flatMap((text) => {
			const [, id] = /because execution (\d+) goes on with this run/.exec(text) ?? [];
			const other = executions.get(id ?? '');
			// A lease whose insert n8n had reported as failed may come when a poller works: then it stops, which costs a retry.
			if (other === own && origin.drawn.table?.failing !== undefined) return [];
			return other !== undefined && (other === own || other.mode !== 'retry')
				? [`execution ${own?.id} gives way to execution ${id}, which has taken nothing over`]
				: [];
		});
	});
}

function rowsWithoutLog({ origins, tables }: N8n): string[] {
	const [first] = origins;
	return tables.written.length > 0 && first !== undefined && !hasRows(first.drawn)
		? ['rows are written by a run that has none']
		: [];
}

/** No row, no purchase: and a row for each request. */
function sentWithoutRow(n8n: N8n, attempts: Attempt[]): string[] {
	const known = new Set(attempts.map(({ post }) => post));
	return n8n.service.posts.flatMap((post) => {
		const origin = n8n.rootOf(post.log.execution)?.origin;
		if (origin === undefined || !hasRows(origin.drawn) || known.has(post)) return [];
		const { failing, slow, fullAfter } = origin.drawn.table ?? {};
		// Where the table cannot be found, or is full, when a run begins, it has no rows.
		return failing || slow || fullAfter !== undefined ? [] : [`${post.name} was sent without a row`];
	});
}

/** An order has a row only when it is about to be sent; where that takes longer, the row is withdrawn. */
function rowsOfOrdersThatWait({ origins, time }: N8n, attempts: Attempt[]): string[] {
	if (!areCalm(origins)) return [];
	return attempts.flatMap(({ name, begun, later, post }) => {
		const { diedAtMs = time.nowMs, silentAtMs } = begun.owner as Process;
		// A stop has ended its executions before.
		if (silentAtMs !== undefined) return [];
		const withdrawn = later.find((row) => stateOf(row) === 'not_accepted');
		const untilMs = Math.min(post?.sentAtMs ?? Infinity, withdrawn?.issuedAtMs ?? Infinity, diedAtMs);
		// Checks of other tasks may have the turns before it.
		const { requestsPerSecond, rounds } = origins[0].drawn;
		const checksMs = (1000 * origins.length * rounds * origins[0].names.flat().length) / requestsPerSecond;
		return untilMs - begun.issuedAtMs > UNSENT_MS + checksMs
			? [`${name} has a row ${untilMs - begun.issuedAtMs} ms before its request is sent or withdrawn`]
			: [];
	});
}

/** At most so many rows as may leave in half a second, but one. */
function tooManyUnsent({ origins }: N8n, attempts: Attempt[]): string[] {
	// After a stop, n8n does not say when what is withdrawn is written.
	if (!areCalm(origins) || origins.some(({ stop }) => stop.signal.aborted)) return [];
	const [{ drawn }] = origins as [Origin];
	const most = Math.max(1, Math.ceil(drawn.requestsPerSecond / 2));
	const ends = attempts.map(({ begun, later, post }) => {
		const withdrawn = later.find((row) => stateOf(row) === 'not_accepted');
		const untilMs = Math.min(post?.sentAtMs ?? Infinity, withdrawn?.issuedAtMs ?? Infinity);
		return { owner: begun.owner, fromMs: begun.issuedAtMs, untilMs };
	});
	const unsentAt = ({ owner, fromMs }: (typeof ends)[number]) =>
		ends.filter((other) => other.owner === owner && other.fromMs <= fromMs && other.untilMs > fromMs).length;
	const unsent = Math.max(0, ...ends.map(unsentAt));
	return unsent > most ? [`${unsent} rows were written and not yet sent, instead of ${most}`] : [];
}

/** Nothing but n8n's own time lies between a row and its request. */
const areCalm = (origins: Origin[]) =>
	origins.every(({ drawn, silences }) => isLogged(drawn) && silences === 0 && drawn.clockSetBack === undefined);

const MINUTE_MS = 60_000;
/** The pauses between the questions of a full house have grown to their longest by then. */
const GROWN_MS = 70_000;

/** While an account is full, few requests of a process ask whether it still is. */
function tooManyWhileFull({ origins, service }: N8n, attempts: Attempt[]): string[] {
	if (!areCalm(origins)) return [];
	return [...new Set(attempts.map(({ begun }) => begun.owner))].flatMap((owner) => {
		const posts = service.posts.filter((post) => post.owner === owner);
		const accepted = service.posts.filter(({ task }) => task !== undefined).map(({ sentAtMs }) => sentAtMs);
		const isFullFrom = (atMs: number) =>
			posts.some(({ isTurnedAway, sentAtMs }) => isTurnedAway && sentAtMs <= atMs - GROWN_MS) &&
			!accepted.some((sentAtMs) => sentAtMs > atMs - GROWN_MS && sentAtMs < atMs + MINUTE_MS);
		const times = attempts.filter(({ begun }) => begun.owner === owner).map(({ begun }) => begun.issuedAtMs);
		const most = Math.max(
			0,
			...times
				.filter(isFullFrom)
				.map((fromMs) => times.filter((atMs) => atMs >= fromMs && atMs < fromMs + MINUTE_MS).length),
		);
		// Each try asks anew.
		const tries = origins.reduce((sum, { drawn, executions }) => sum + drawn.maxTries * executions.length, 0);
		return most > Math.max(MOST_A_MINUTE, tries)
			? [`${most} rows were written within a minute, while the account was full`]
			: [];
	});
}

/** Another try, and a task that is given up, begin with the shortest pause again: 1, 2, 4, 8, 16 and 32 s. */
const MOST_A_MINUTE = 7;

/** The numbers of the attempts of a run tell whether rows were removed. */
function gaps({ tables }: N8n): string[] {
	if (tables.happened.length > 0) return [];
	const byRun = new Map<string, Set<number>>();
	for (const { row, tableId, committedAtMs } of tables.written) {
		if (row.state !== 'submitting' || committedAtMs === undefined) continue;
		const run = `${tableId} ${String(row.run)}`;
		byRun.set(run, (byRun.get(run) ?? new Set<number>()).add(Number(row.number)));
	}
	return [...byRun].flatMap(([run, numbers]) => {
		const missing = Array.from({ length: numbers.size }, (_, number) => number).filter((each) => !numbers.has(each));
		return missing.length > 0 ? [`no attempt of ${run} has the number ${missing.join()}`] : [];
	});
}

/** Who finds that the own lease was removed sends nothing more: rows of others may be gone, too. */
function sentWithoutLease({ tables, subs }: N8n, attempts: Attempt[]): string[] {
	return attempts.flatMap(({ name, post, by, begun: { row, issuedAtMs } }) => {
		if (post === undefined) return [];
		const lease = subs.find(by)?.lease;
		const leases = tables.written.filter(
			({ row: other }) =>
				other.state === 'lease' && other.run === row.run && (other.execution === by || other.attempt === lease),
		);
		return leases.every(({ goneAtMs = Infinity }) => goneAtMs < issuedAtMs)
			? [`${name} was sent after the lease of execution ${by} was removed`]
			: [];
	});
}

/** Each executor has a lease: the first try with its first rows, all others before they read. */
function withoutLease({ tables, executions, subs, origins }: N8n): string[] {
	const rowsOf = (id: string) => tables.written.filter(({ row }) => row.execution === id);
	const firstOf = (id: string) => rowsOf(id).find((row) => stateOf(row) === 'submitting');
	const ofExecutions = [...executions.values()].flatMap(({ id, mode }) => {
		const first = firstOf(id);
		if (first === undefined) return [];
		const isInTime = ({ row, issuedAtMs, committedAtMs = Infinity }: Written) =>
			mode === 'retry' ? committedAtMs <= first.issuedAtMs : issuedAtMs <= first.issuedAtMs && String(row.first) === id;
		const leases = rowsOf(id).filter((row) => stateOf(row) === 'lease');
		return leases.some(isInTime) ? [] : [`execution ${id} has rows, and no lease before them`];
	});
	const pollers = origins.flatMap((origin) => subs.ofOrigin(origin)).filter(({ does }) => does === 'what polls');
	const ofPollers = pollers.flatMap(({ id, lease, startedAtMs }) => {
		const isInTime = ({ row, committedAtMs = Infinity }: Written) =>
			row.state === 'lease' && row.attempt === lease && committedAtMs <= startedAtMs;
		return firstOf(id) === undefined || tables.written.some(isInTime)
			? []
			: [`poller ${id} has rows, and no lease from before its start`];
	});
	const names = pollers.flatMap(({ lease }) => lease ?? []);
	return [
		...ofExecutions,
		...ofPollers,
		...(new Set(names).size < names.length ? ['two pollers have leases of the same name'] : []),
	];
}

/** Rows that are not written at once are written soon after: each is tried three times. */
const MOST_FAILURES = 2;

/** Nothing is lost of the rows: but for uses that fail, or take long, all goes well with the table. */
function isKept({ table, ...drawn }: Case): boolean {
	const { failing = [], slow: _, isSqlite: __, ...others } = table ?? {};
	const isWhole = failing.length <= MOST_FAILURES && Object.keys(others).length === 0;
	return isWhole && isLogged({ ...drawn, table: undefined });
}

/** Rows tell the outcome of a request, where its process lives. */
function keptOpen({ origins }: N8n, attempts: Attempt[]): string[] {
	// What is withdrawn at a stop is written once.
	const isTold = ({ drawn, stop }: Origin) => (stop.signal.aborted ? isLogged(drawn) : isKept(drawn));
	if (!origins.every(isTold)) return [];
	return attempts.flatMap(({ name, begun, later, post }) =>
		later.length === 0 && isAlive(begun.owner) && begun.committedAtMs !== undefined
			? [`the attempt of ${name} (${post ? 'sent' : 'not sent'}) stays open for ever`]
			: [],
	);
}

/** Every ID that a process has got, and has lived to write, is in the purchase log. */
function idsMissing({ family, drawn }: Origin, { tables, service }: N8n): string[] {
	if (!isLogged(drawn)) return [];
	const rows = new Set(tables.written.map(({ row }) => row.task_id));
	return service.posts.flatMap((post) => {
		const { name, task } = post;
		return task && name.startsWith(`${family}-`) && isHeardInTime(post) && !rows.has(task.id)
			? [`${task.id} is not in the purchase log`]
			: [];
	});
}

function isHeardInTime({ isHeard, heardAtMs, owner }: Post): boolean {
	if (!isHeard || heardAtMs === undefined) return false;
	const { diedAtMs, silentAtMs = Infinity } = owner as Process;
	return diedAtMs === undefined || Math.min(diedAtMs, silentAtMs) - heardAtMs > LOGGED_WITHIN_MS;
}

/** A retry goes on with every ID that the log had when it began. */
function forgottenByRetry(origin: Origin, { tables, service, story }: N8n): string[] {
	const { drawn, stop, executions } = origin;
	const isPlain =
		!drawn.volatilePrompt && drawn.rounds === 1 && !drawn.purchaseKey && drawn.submitAgainFor === 'nothing';
	if (!isPlain || !isLogged(drawn) || stop.signal.aborted) return [];
	return executions.slice(1).flatMap(({ number, status, startedAtMs, live: { resumeError } }) => {
		// n8n throws an error again that an execution has slept for.
		if ((status !== 'success' && status !== 'error') || resumeError !== undefined) return [];
		const ofOrigin = story.tries.filter((each) => each.origin === origin);
		const own = ofOrigin.filter(({ execution }) => execution === number);
		// Without a run of the node, it passes on what n8n has saved of the execution before.
		const text = textOf(own.length > 0 ? own : ofOrigin.filter(({ execution }) => execution < number));
		return tables.written.flatMap(({ row: { task_id: id, state }, committedAtMs = Infinity }) => {
			const task = service.tasks.find(String(id));
			const isOwn = task !== undefined && nameOf(task).startsWith(`${origin.family}-`);
			const isWanted = isOwn && state === 'accepted' && committedAtMs <= startedAtMs;
			return isWanted && task.directives.fail === undefined && !text.includes(String(id))
				? [`${String(id)} is in the purchase log, and retry ${number} does not go on with it`]
				: [];
		});
	});
}

/** The items and messages of tries, in words. */
function textOf(tries: Try[]): string {
	return tries.map(({ items, error }) => `${JSON.stringify(items?.map(({ json }) => json))} ${error ?? ''}`).join('\n');
}

/** A retry says that something is in doubt only where a row says so, whose outcome cannot come any more. */
function wrongDoubts(origin: Origin, n8n: N8n, attempts: Attempt[]): string[] {
	const { story, executions } = n8n;
	if (!isKept(origin.drawn) || origin.drawn.clockSetBack !== undefined) return [];
	// Nothing tells the retries of two executions of the same millisecond apart: each is as careful as the rows of both ask for.
	if (origin.drawn.executions > 1) return [];
	const isWhole = isLogged(origin.drawn);
	const tries = story.tries.filter((each) => each.origin === origin && each.isLate !== true);
	return tries.flatMap(({ execution, round, items = [], atMs }) => {
		const each = origin.executions[execution];
		if (each === undefined) return [];
		const names = namesIn(each, round);
		return items.flatMap(({ json }, index) => {
			const text = JSON.stringify(json);
			if (!IN_DOUBT.includes(String(json.code)) || text.includes('could not read')) return [];
			const name = names[index] ?? '';
			const own = attempts.filter((attempt) => attempt.name === name);
			// Where the table could not be made, the run has none: its marks, and its memory of the try before, tell.
			const hasNone = text.includes('before it could record') || own.length === 0;
			if (origin.drawn.table?.failing !== undefined && hasNone) return [];
			if (marksOf(origin).some((mark) => story.leftByQuestions.has(mark)) && text.includes('before it could record'))
				return [];
			// That one has its task.
			if (json.code === 'created_from_other_request' && own.length > 0) return [];
			// It reads its rows when it begins, and again those of which an outcome may come.
			const startedAtMs = Math.max(each.startedAtMs, lastTakeOver(n8n, each, atMs));
			const readAtMs = ({ begun: { committedAtMs = 0 } }: Attempt) =>
				isWhole && startedAtMs + SOON_MS - committedAtMs < OPEN_MS
					? Math.min(atMs, committedAtMs + OPEN_MS)
					: startedAtMs;
			const open = own.filter((attempt) => isOpen(attempt, readAtMs(attempt)));
			if (open.length === 0) return [`${name} is in doubt in execution ${each.id}, and no row says so`];
			const isYoung = open.every(
				({ later, begun }) =>
					later.length === 0 && begun.row.execution !== each.id && atMs - (begun.committedAtMs ?? 0) < OPEN_MS,
			);
			// After a stop, nothing waits for an outcome.
			return isYoung && isWhole && executions.size > 1 && origin.subStops === 0
				? [`${name} is said to be in doubt too early`]
				: [];
		});
	});
}

/** The time at which the last of its pollers has taken over. */
function lastTakeOver({ subs }: N8n, execution: Execution, atMs: number): number {
	const ofExecution = subs.ofOrigin(execution.origin).filter(({ root }) => root === execution);
	return Math.max(0, ...ofExecution.map(({ startedAtMs }) => startedAtMs).filter((startedAtMs) => startedAtMs <= atMs));
}

/** Its outcome was not known then, or the row said that it is unknown. */
const isOpen = ({ later }: Attempt, atMs: number) => {
	const known = later.filter(({ committedAtMs = Infinity }) => committedAtMs <= atMs);
	return !known.some((row) => ['not_accepted', 'accepted', 'failed'].includes(stateOf(row)));
};

/** A row says that a task has failed only where it has; and that another one would be declined, too. */
function wrongEnds({ family }: Origin, { tables, service }: N8n): string[] {
	return tables.written.flatMap(({ row: { task_id: id, state, more }, issuedAtMs }) => {
		const task = state === 'failed' ? service.tasks.find(String(id)) : undefined;
		if (task === undefined || !nameOf(task).startsWith(`${family}-`)) return [];
		const { fail = '', failAs } = task.directives;
		const isDeclined =
			fail === 'content_policy_violation' ||
			(failAs === 'error_object' && [...DECLINED, 'invalid_request'].includes(fail));
		const isSaid = String(more).includes('"permanent":true');
		const isTrue = fail !== '' && task.endsAt <= issuedAtMs && isSaid === isDeclined;
		return isTrue ? [] : [`a row of ${task.id} says that it has failed${isSaid ? ' for ever' : ''}`];
	});
}
