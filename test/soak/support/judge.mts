/** The outcome of each execution, each item and each purchase. What must not be is a line in one of the lists. */
import { readFileSync } from 'node:fs';
import type { SandboxTask } from '../../../sandbox/index.mts';
import { itemsOf, readExecution, type Execution } from '../../../tools/n8n/executions.mjs';
import { resultsIn } from '../../crash/support/batch.mts';
import { answeredAtMs, ON_ITS_WAY_MS } from '../../crash/support/outcome.mts';
import { listExecutions } from '../../n8n/support/production.mts';
import type { Cluster } from '../../queue/support/cluster.mts';
import type { Event } from './events.mts';
import { endingOf, intentsOf, ITEMS, type Scheduled } from './workload.mts';

/** An execution that the trigger has started. */
export interface Run {
	/** As `intentsOf` a prompt. */
	intents: string;
	execution: Execution;
	/** n8n was restarted, or a worker killed, while it ran; of one that has not succeeded: it ran on that worker. */
	isHit: boolean;
}

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

/** The trigger starts an execution right away, and the next one a minute later. */
const STARTED_WITHIN_MS = 25_000;

/** n8n makes up an output for nodes of which it has saved none, so the last run counts. */
const askedIn = (execution: Execution) =>
	itemsOf(execution, 'Split', { run: (execution.runData.Split?.length ?? 0) - 1 }).flatMap(({ json }) =>
		json.prompt === undefined ? [] : [String(json.prompt)],
	);

/** The executions that the triggers have started, and the sub-executions. */
export async function readRuns({ rest, sandbox, workers }: Cluster, scheduled: Scheduled[], events: Event[]) {
	const runs: Run[] = [];
	const others: Execution[] = [];
	const ranOnFirst = (id: string) =>
		readFileSync(String(workers[0]?.logFile), 'utf8').includes(`Worker started execution ${id} `);
	const known = [...new Set(sandbox.tasks.map(({ body }) => intentsOf(String(body.prompt)) ?? ''))];
	for (const { name, workflowId } of scheduled) {
		for (const { id, mode } of await listExecutions({ rest }, workflowId)) {
			const execution = await readExecution(rest, id);
			if (mode !== 'trigger') {
				others.push(execution);
				continue;
			}
			const startMs = Date.parse(execution.record.startedAt ?? execution.record.createdAt);
			const endMs = Date.parse(execution.record.stoppedAt);
			const prompt = askedIn(execution)[0];
			// n8n may have thrown away all data.
			const near = known.find(
				(each) => each.startsWith(`${name} `) && Math.abs(Number(each.split(' ')[1]) - startMs) < STARTED_WITHIN_MS,
			);
			runs.push({
				intents: (prompt === undefined ? near : intentsOf(prompt)) ?? `${name} ${startMs}`,
				execution,
				// When one has ended that did not succeed, n8n does not know.
				isHit:
					execution.status === 'success'
						? events.some(({ fromMs, untilMs }) => startMs <= untilMs && endMs >= fromMs)
						: ranOnFirst(id),
			});
		}
	}
	return { runs, others };
}

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

/**
 * The items of an execution that has succeeded: one for each input, and each is a result with the file of its own task, or says that it is none.
 * Returns the IDs of the tasks whose results are there.
 */
export async function judgeItems(
	{ rest, sandbox }: Cluster,
	{ execution, isHit }: Run,
	isRetry: boolean,
	problems: Problems,
): Promise<string[]> {
	const items = resultsIn(execution);
	const asked = askedIn(execution);
	if (asked.length !== ITEMS || JSON.stringify(items.map(({ json }) => json.asked)) !== JSON.stringify(asked)) {
		problems.wrongEnd.push(`execution ${execution.id} has ${items.length} items for ${asked.length}`);
	}
	const results: string[] = [];
	for (const { json, binary } of items) {
		const prompt = String(json.asked);
		const ending = endingOf(prompt);
		const task = sandbox.tasks.findLast(({ body }) => body.prompt === prompt);
		const what = `execution ${execution.id}: ${JSON.stringify(json)}`;
		if (json.error === undefined) {
			const isWhole =
				json.task_id === task?.id &&
				json.status === 'completed' &&
				binary !== undefined &&
				(await rest.readBinary(binary.data.id)).length > 0;
			if (ending === 'result' && isWhole) results.push(String(json.task_id));
			else problems.takenForFinished.push(what);
			continue;
		}
		const saysUnknown = /The service may or may not have accepted this task/.test(String(json.error));
		if (
			ending === 'unknown'
				? !saysUnknown
				: task !== undefined && !isRetry && !what.includes(JSON.stringify(task.id).slice(1, -1))
		)
			problems.lost.push(what);
		if (ending === 'result' && !isHit && !isRetry) problems.wrongEnd.push(what);
	}
	return results;
}

export type Place = 'result' | 'execution' | 'sub-execution' | 'log' | 'lostAnswer' | 'onItsWay';

interface Traces {
	/** IDs of tasks whose results are in an execution. */
	results: Set<string>;
	/** The output of the executions, errors included, as text. */
	outputs: string;
	/** The input of the sub-executions, as text. */
	inputs: string;
	log: string;
	events: Event[];
}

/** The place where a user finds the task; undefined where there is none. */
export function placeOf(task: SandboxTask, { results, outputs, inputs, log, events }: Traces): Place | undefined {
	const inJson = JSON.stringify(task.id).slice(1, -1);
	if (results.has(task.id)) return 'result';
	if (outputs.includes(inJson)) return 'execution';
	if (inputs.includes(inJson)) return 'sub-execution';
	if (log.includes(`task ${task.id} `)) return 'log';
	// The service never said which ID it has; the item says that it is not known whether a task exists.
	if (endingOf(String(task.body.prompt)) === 'unknown') return 'lostAnswer';
	const answeredMs = answeredAtMs(task);
	return events.some(({ fromMs, untilMs }) => task.acceptedAt <= untilMs && answeredMs > fromMs - ON_ITS_WAY_MS)
		? 'onItsWay'
		: undefined;
}
