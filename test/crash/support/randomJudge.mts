/** The end of each item, against what the service has accepted. What must not be is a line in one of the lists. */
import type { LoggedRequest, SandboxTask } from '../../../sandbox/index.mts';
import { itemsOf, type Execution } from '../../../tools/n8n/executions.mjs';
import type { Instance } from '../../n8n/support/instance.mts';
import type { LogRow } from '../../n8n/support/purchaseLog.mts';
import { creationsOf, resultsIn, tasksOf } from './batch.mts';
import { answeredAtMs } from './outcome.mts';
import { fails, isLost, type Order } from './randomOrders.mts';

/** Until an answer that has left the service is in the purchase log, where nothing else keeps the machine busy. */
const LOGGED_WITHIN_MS = 4_000;
const IN_DOUBT = ['outcome_unknown', 'outcome_still_unknown', 'purchase_key_unclear'];
/** n8n died while it passed results on, or a later retry goes on with the run: the item names the task, or says where its ID is. */
const BY_HAND = ['waiting_interrupted', 'submitted_by_other_retry'];
/** Of the sandbox itself: nothing was accepted. */
const REFUSED = [429, 503];

/** A webhook's execution, or a sub-execution, with all its retries. The first one is the oldest. */
export type Thread = [Execution, ...Execution[]];

export interface Evidence {
	target: Pick<Instance, 'sandbox' | 'rest'>;
	order: Order;
	/** Of the order, with all sub-executions. */
	threads: Thread[];
	/** Of the workflow that gets the results. */
	received: Execution[];
	rows: LogRow[];
	log: string;
	killsAtMs: number[];
	/** IDs of executions that were seen asleep in the database. */
	asleep: ReadonlySet<string>;
	/** Times that this machine takes longer than an idle one. */
	slowdown: number;
}

export const problems = {
	boughtTwice: [] as string[],
	lost: [] as string[],
	wrongItem: [] as string[],
	notByItself: [] as string[],
};

/** The figures, for the eye. */
export const figures: Record<string, number> = {};
export const count = (name: string, by = 1) => void (figures[name] = (figures[name] ?? 0) + by);

export const isOfWebhook = ([root]: Thread) => root.record.mode === 'webhook';

/** Of a webhook, or to start the other workflow. A sub-execution that polls has a next one. */
export const isToEndWell = (thread: Thread, all: Thread[]): boolean =>
	isOfWebhook(thread) ||
	all.flat().some((execution) => resultsIn(execution).some(({ json }) => json.execution_id === thread[0].id));

const isWell = ({ status }: Execution) => status === 'success';
const text = (execution: Execution) => JSON.stringify(execution.record);

export async function judgeOrder(evidence: Evidence): Promise<void> {
	const { order, threads, target } = evidence;
	const mustEnd = threads.filter((thread) => isToEndWell(thread, threads));
	if (mustEnd.length === 0) count('never started');
	for (const thread of mustEnd) {
		if (!thread.some(isWell))
			report(evidence, 'wrongItem', order.prompts[0], `no retry of ${thread[0].id} has ended well`);
		judgeSleeper(evidence, thread);
	}
	const answers = answersTo(evidence);
	for (const prompt of order.prompts) {
		const tasks = tasksOf(target, { prompts: [prompt] });
		count('items');
		count('accepted', tasks.length);
		judgePurchases(evidence, prompt, tasks);
		const given = answers.filter(({ asked }) => asked === prompt).map(({ item }) => item);
		if (mustEnd.length > 0) await judgeItem(evidence, prompt, tasks, given);
		else if (tasks.length > 0) report(evidence, 'lost', prompt, 'n8n knows nothing of an execution that has bought');
	}
}

interface Answer {
	asked: string;
	item: ReturnType<typeof itemsOf>[number];
}

/** All items that the workflow, or the one that gets its results, has got. */
function answersTo({ order, threads, received }: Evidence): Answer[] {
	const own = threads.filter(isOfWebhook).flat().filter(isWell).flatMap(resultsIn);
	const direct = own.filter(({ json }) => !order.inBackground || json.error !== undefined);
	const later = received.flatMap((execution) => itemsOf(execution, 'Got'));
	return [
		...direct.map((item) => ({ asked: String(item.json.asked), item })),
		...later.map((item) => ({ asked: String(item.json.pass_along?.asked), item })),
	];
}

/** One request of which the service may have made a task, and another one only when that has failed. */
function judgePurchases(evidence: Evidence, prompt: string, tasks: SandboxTask[]): void {
	const sent = creationsOf(evidence.target, { prompts: [prompt] }).filter(
		({ status = 0 }) => !REFUSED.includes(status),
	);
	for (const [index, { at }] of sent.slice(1).entries()) {
		const hasFailed = tasks.some(
			({ acceptedAt, endsAt }) => fails(prompt) && acceptedAt >= Number(sent[index]?.at) && endsAt <= at,
		);
		if (hasFailed) count('bought again after a failure');
		else report(evidence, 'boughtTwice', prompt, `it was sent again, and there are ${tasks.length} tasks of it`);
	}
}

async function judgeItem(evidence: Evidence, prompt: string, tasks: SandboxTask[], given: Array<Answer['item']>) {
	const { target, threads, rows, log } = evidence;
	const codes = given.map(({ json }) => (json.error === undefined ? 'result' : codeOf(json)));
	const isInDoubt = codes.some((code) => IN_DOUBT.includes(code));
	const wrong = (what: string) => report(evidence, 'wrongItem', prompt, what);

	for (const task of tasks) {
		const isLogged = rows.some(({ task_id: id }) => id === task.id);
		const isNamed = threads.flat().some((execution) => text(execution).includes(task.id));
		if (!isLogged && (isNamed || log.includes(`task ${task.id} `))) count('IDs outside of the table only');
		else if (!isLogged && !isInDoubt) report(evidence, 'lost', prompt, `the ID ${task.id} is nowhere`);
	}

	const result = given.find(({ json }) => json.error === undefined);
	if (result !== undefined) {
		const { json, binary } = result;
		const isOwn = json.task_id === tasks.at(-1)?.id && json.status === 'completed' && !fails(prompt);
		const isWhole = binary !== undefined && (await target.rest.readBinary(binary.data.id)).length > 0;
		if (!isOwn || !isWhole) wrong('its result is not that of its own task');
		count('results');
		count('results that came twice', given.filter(({ json: each }) => each.error === undefined).length - 1);
	} else if (isInDoubt) {
		count('needs a person: in doubt');
		count('in doubt, and never sent', creationsOf(target, { prompts: [prompt] }).length === 0 ? 1 : 0);
		if (!isLost(prompt) && !isHit(evidence, prompt, tasks)) wrong('it is in doubt, and n8n was not killed then');
		const known = tasks.find(({ id }) => rows.some((row) => row.task_id === id));
		if (known && !fails(prompt)) wrong(`it is in doubt, and the table has ${known.id}`);
	} else if (codes.includes('task_failed') && fails(prompt)) {
		count('failed at the service');
		if (!tasks.some(({ id }) => JSON.stringify(given).includes(id))) wrong('it does not name the task that failed');
	} else if (codes.some((code) => BY_HAND.includes(code))) {
		count(`needs a person: ${codes.join()}`);
		// What was submitted after the hand-over is in the table, as the item says.
		const isFound = ({ id }: SandboxTask) =>
			JSON.stringify(given).includes(id) || rows.some((row) => row.task_id === id);
		if (!tasks.every(isFound)) wrong('nothing names its task');
	} else wrong('it is neither a result nor a known error');
}

/** Where n8n could not pass a result on, the code is where the error output has it. */
const codeOf = ({ code, details }: Answer['item']['json']) =>
	String(code ?? (details as { code?: unknown } | undefined)?.code);

/** n8n was killed between the request and the moment when its outcome was in the table. */
function isHit({ target, killsAtMs, slowdown }: Evidence, prompt: string, tasks: SandboxTask[]): boolean {
	const sent = creationsOf(target, { prompts: [prompt] }) as LoggedRequest[];
	if (sent.length === 0) return killsAtMs.length > 0;
	const fromMs = Math.min(...sent.map(({ at }) => at));
	const untilMs = Math.max(...sent.map(({ at }) => at), ...tasks.map(answeredAtMs)) + LOGGED_WITHIN_MS * slowdown;
	return killsAtMs.some((killedAtMs) => killedAtMs >= fromMs && killedAtMs <= untilMs);
}

/** An execution that was asleep ends well without a retry, unless all had arrived when n8n was killed. */
function judgeSleeper(evidence: Evidence, [first]: Thread): void {
	const { order, threads, asleep } = evidence;
	if (!asleep.has(first.id)) return;
	count('executions seen asleep');
	if (isWell(first)) {
		const byHand = resultsIn(first).filter(({ json }) => BY_HAND.includes(String(json.code)));
		count('items of them that a person gets', byHand.length);
		return;
	}
	const hadArrived = threads.some((thread) => !isToEndWell(thread, threads) && thread.some(isWell));
	if (hadArrived) count('killed when all had arrived');
	else
		report(
			evidence,
			'notByItself',
			order.prompts[0],
			`execution ${first.id} was asleep and ended with ${first.status}`,
		);
}

/** All that is needed to find the cause. */
function report(evidence: Evidence, list: keyof typeof problems, prompt = '', what = ''): void {
	const { target, order, threads, rows, killsAtMs } = evidence;
	const time = (ms: number) => new Date(ms).toISOString().slice(11, 23);
	const executions = threads.flat().map(({ id, status, error, record: { mode, retryOf, startedAt, stoppedAt } }) => {
		const kind = retryOf ? `retry of ${retryOf}` : mode;
		return `execution ${id} (${kind}) ${status} ${startedAt} ${stoppedAt} ${error?.message ?? ''}`;
	});
	const ids = threads.flat().map(({ id }) => id);
	const runs = new Set(rows.flatMap(({ run, execution }) => (ids.includes(execution) ? [run] : [])));
	const ofItem = rows.filter(
		({ run, item, state }) => runs.has(run) && (state === 'lease' || item === order.prompts.indexOf(prompt)),
	);
	const tasks = tasksOf(target, { prompts: [prompt] });
	problems[list].push(
		[
			`${order.words}, ${prompt}: ${what}`,
			...executions,
			...answersTo(evidence).flatMap(({ asked, item }) =>
				asked === prompt ? [`item ${JSON.stringify(item.json)}`] : [],
			),
			...ofItem.map((row) => `row ${JSON.stringify(row)}`),
			...creationsOf(target, { prompts: [prompt] }).map(({ at, status }) => `request ${time(at)} ${status}`),
			...tasks.map((task) => `task ${task.id} ${time(task.acceptedAt)}, answered ${time(answeredAtMs(task))}`),
			`kills ${killsAtMs.map(time).join(' ')}`,
		].join('\n  '),
	);
}
