/** The rare situations that a simulation must have visited, and how often it has. */
import { hasRows } from './endsWell.mts';
import type { Execution, Origin, Process } from './executions.mts';
import { MOMENTS } from './moments.mts';
import type { N8n } from './n8n.mts';
import type { Owner } from './time.mts';

type CountIn = (n8n: N8n) => number;

/** A new situation is one line. In words of what happens: a simulation without it fails by them. */
const OTHERS: Record<string, CountIn> = {
	'a retry of a retry': inOrigins(({ executions, drawn }) => drawn.retryOf === 'latest' && executions.length > 2),
	'two retries of the same execution': inOrigins(
		({ executions, drawn }) => drawn.retryOf === 'first' && executions.length > 2,
	),
	'two retries at once': inOrigins(({ executions, drawn }) => drawn.retriesAtOnce === true && executions.length > 2),
	'a retry after a crash': inExecutions(({ number, origin }) => number > 0 && origin.crashes > 0),
	'a retry after a crash that names a run': inExecutions(
		({ submitAgainFor, origin: { crashes } }) => submitAgainFor !== undefined && crashes > 0,
	),
	'a run that stays named in a further retry': inExecutions(
		({ submitAgainFor, number, origin: { executions } }) =>
			submitAgainFor !== undefined &&
			executions.some((each) => each.number < number && each.submitAgainFor === submitAgainFor),
	),
	'a process that comes back while a retry works': comesBack,
	'a group of orders that is refused at once': refusedAtOnce,
	'a task that had failed before a death': ({ service }) => service.failedBeforeDeath,
	'an execution that dies before its first row, beside one of the same millisecond': diesBeforeRow,
	'a second crash of the same workflow': inOrigins(({ crashes }) => crashes > 1),
	'a run of the node that n8n makes up after a crash': inExecutions(({ saved }) => saved.isFirstRunMadeUp),
	'an execution of a dead worker that the other one takes over': inExecutions(({ wasHandedOn }) => wasHandedOn),
	'an execution that is lost with its worker': inExecutions(({ status }) => status === 'lost'),
	'a death of what polls while all around it sleep': inOrigins(({ pollerDeathsAtMs }) => pollerDeathsAtMs.length > 0),
	'a death of what passes the results on': inOrigins(({ handOverCrashes }) => handOverCrashes > 0),
	'a save of an execution that fails': inOrigins(({ lostSavings }) => lostSavings > 0),
	'data that n8n throws away with a worker': visited('data that n8n throws away with a worker'),
	'a wake-up call that gets lost': visited('a wake-up call that gets lost'),
	'a sleep in the database': visited('a sleep in the database'),
	'two runs with one Purchase Key': ({ origins }) =>
		Math.max(0, origins.filter(({ drawn }) => drawn.purchaseKey).length - 1),
	'a task that another execution has bought under the same key': ({ story }) =>
		story.tries.filter(({ items }) => items?.some(({ json }) => json.reused === true)).length,
	'a retry with the log continues': continuedByLog,
	'a retry with items at other places': visited('a retry with items at other places'),
	...Object.fromEntries(
		[
			'a table that is full from the start',
			'a table that gets full',
			'a table that does not answer',
			'a table that takes long',
			'an insert behind what was written after it',
			...['clear', 'clear half', 'rename', 'restore'].flatMap((does) => [
				`a table: ${does}`,
				`a table: ${does} after a death`,
			]),
		].map((name) => [name, visited(name)]),
	),
	'a run beside a table with other columns': inOrigins(({ drawn }) => drawn.table?.hasOtherColumns === true),
	'a mark that cannot be written': visited('a mark that cannot be written'),
	'a run without its mark': ({ story }) => story.unguarded.size,
	'a full table of marks': visited('a full table of marks'),
	'two runs at once': ({ origins }) => Number(origins.length > 1),
	'a 429 while another run holds the slots': visited('a 429 while another run holds the slots'),
	'a clock set back while a task runs': visited('a clock set back while a task runs'),
	'a retry of the node that buys again what has failed': ({ service }) => service.replaced,
	'a stop of what waits in the database': visited('a stop of what waits'),
	'a stop of what polls': visited('a stop of what polls'),
	'a stop of what polls before it sleeps': visited('a stop of what polls before it sleeps'),
	'a retry of what waits in the database': visited('a retry of what waits'),
	'a second retry of it': visited('a second retry of what waits'),
	'a retry of what polls': visited('a retry of what polls'),
	...Object.fromEntries(
		[
			'a submission that gets a page',
			'a check that gets a page',
			'an answer that names no task',
			'the record of another task',
			'a record with the ID of the service behind',
			'a check of a task that is locked',
		].map((name) => [name, visited(name)]),
	),
	'submissions that end after pages in a row': saying('no answer came from the service itself'),
	'a task that is not shown': saying('but does not say how it is'),
	'a task whose content is declined': saying('declined the content of task'),
	'a stop while it sleeps': visited('a stop while it sleeps'),
};

/** Only these are drawn: a run that n8n saves is never silent. */
const WITH_SILENCE = [
	...['while n8n saves', 'between POST and answer', 'between row and look', 'between look and mark'],
];

export const SITUATIONS: Record<string, CountIn> = {
	...Object.fromEntries(
		Object.keys(MOMENTS).flatMap((moment) =>
			[`a kill ${moment}`, `a stop ${moment}`, ...(WITH_SILENCE.includes(moment) ? [`a silence ${moment}`] : [])].map(
				(name) => [name, visited(name)],
			),
		),
	),
	...OTHERS,
};

/** Counted when it happens, because nothing shows it afterwards. */
function visited(name: string): CountIn {
	return ({ story }) => story.visited.get(name) ?? 0;
}

/** Counted in the errors that users see. */
function saying(words: string): CountIn {
	return ({ story }) =>
		story.tries.filter(({ error, items = [] }) =>
			[error, ...items.map(({ json }) => json.error)].join().includes(words),
		).length;
}

/** The number of tries of a retry that put out what a dead process has bought. */
function continuedByLog({ story, service }: N8n): number {
	const ofDead = new Set(service.posts.flatMap(({ task, owner }) => (task && !owner.alive ? [task.id] : [])));
	return story.tries.filter(
		({ execution, origin, items }) =>
			execution > 0 && hasRows(origin.drawn) && items?.some(({ json }) => ofDead.has(String(json.task_id))),
	).length;
}

/** Requests and rows of processes that n8n had taken for dead, while another execution of the same workflow had begun. */
function comesBack({ service, origins, tables }: N8n): number {
	const begunAtMs = Math.min(...origins.flatMap(({ executions: [, retry] }) => retry?.startedAtMs ?? []));
	const isLate = (owner: Owner, atMs: number) => (owner as Process).isTakenForDead === true && atMs > begunAtMs;
	return (
		service.posts.filter(({ owner, sentAtMs }) => isLate(owner, sentAtMs)).length +
		tables.written.filter(({ owner, issuedAtMs }) => isLate(owner, issuedAtMs)).length
	);
}

/** At least three requests that had rows, and were refused within a second. */
function refusedAtOnce({ service, tables }: N8n): number {
	const times = service.posts.flatMap(({ isRefused, heardAtMs }) => (isRefused && heardAtMs ? [heardAtMs] : []));
	const isGroup = times.some((atMs) => times.filter((other) => other >= atMs && other < atMs + 1000).length >= 3);
	return Number(isGroup && tables.written.length > 0);
}

function diesBeforeRow({ origins, tables }: N8n): number {
	if (origins.length < 2) return 0;
	const hasRow = new Set(tables.written.map(({ row }) => String(row.execution)));
	return origins.filter(({ crashes, executions: [first] }) => crashes > 0 && first && !hasRow.has(first.id)).length;
}

function inOrigins(isIt: (origin: Origin) => boolean): CountIn {
	return ({ origins }) => origins.filter(isIt).length;
}

function inExecutions(isIt: (execution: Execution) => boolean): CountIn {
	return ({ executions }) => [...executions.values()].filter(isIt).length;
}
