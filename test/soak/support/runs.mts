/** The executions that the triggers have started, and what they have put out: in the workflow, or in the one that gets the results. */
import { readFileSync } from 'node:fs';
import { itemsOf, readExecution, type Execution } from '../../../tools/n8n/executions.mjs';
import { resultsIn } from '../../crash/support/batch.mts';
import { listExecutions } from '../../n8n/support/production.mts';
import type { Cluster } from '../../queue/support/cluster.mts';
import type { Event } from './events.mts';
import { intentsOf, type Scheduled } from './workload.mts';

/** The longest execution takes four minutes, and n8n needs two to notice a dead one. */
export const LONGEST_MS = 360_000;

/** An execution that a trigger has started. */
export interface Run {
	/** As `intentsOf` a prompt. */
	intents: string;
	execution: Execution;
	/** n8n was restarted, or a worker killed, while it ran; of one that has not succeeded: it ran on that worker, or was to run then. */
	isHit: boolean;
	/** Another workflow gets its results. */
	inBackground: boolean;
	startMs: number;
}

/** An item that tells how a purchase has ended. */
export interface Answer {
	asked: string;
	item: ReturnType<typeof itemsOf>[number];
	executionId: string;
	isHit: boolean;
}

/** The trigger starts an execution right away, and the next one two minutes later. */
const STARTED_WITHIN_MS = 25_000;

/** n8n makes up an output for nodes of which it has saved none, so the last run counts. */
export const askedIn = (execution: Execution) =>
	itemsOf(execution, 'Split', { run: (execution.runData.Split?.length ?? 0) - 1 }).flatMap(({ json }) =>
		json.prompt === undefined ? [] : [String(json.prompt)],
	);

/** True where one of them happened in this time. */
export const isIn = (events: Event[], startMs: number, endMs: number) =>
	events.some(({ fromMs, untilMs }) => startMs <= untilMs && endMs >= fromMs);

/** The executions that the triggers have started, and the sub-executions. */
export async function readRuns({ rest, sandbox, workers }: Cluster, scheduled: Scheduled[], events: Event[]) {
	const runs: Run[] = [];
	const others: Execution[] = [];
	const log = readFileSync(String(workers[0]?.logFile), 'utf8');
	const known = [...new Set(sandbox.tasks.map(({ body }) => intentsOf(String(body.prompt)) ?? ''))];
	for (const { name, workflowId, inBackground } of scheduled) {
		for (const { id, mode } of await listExecutions({ rest }, workflowId)) {
			const execution = await readExecution(rest, id);
			if (mode !== 'trigger') {
				others.push(execution);
				continue;
			}
			const startMs = Date.parse(execution.record.startedAt ?? execution.record.createdAt);
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
						? isIn(events, startMs, Date.parse(execution.record.stoppedAt))
						: log.includes(`Worker started execution ${id} `) || isIn(events, startMs, startMs + LONGEST_MS),
				inBackground,
				startMs,
			});
		}
	}
	return { runs, others };
}

/** In the background, only what cannot be handed over any more is in the workflow itself. */
export const answersOf = ({ execution, isHit, inBackground }: Run): Answer[] =>
	resultsIn(execution)
		.filter(({ json }) => !inBackground || json.error !== undefined)
		.map((item) => ({ asked: String(item.json.asked), item, executionId: execution.id, isHit }));

/** The items that another workflow is to get. */
export const handedOverBy = ({ execution, inBackground }: Run): string[] =>
	inBackground
		? resultsIn(execution)
				.filter(({ json }) => json.error === undefined)
				.map(({ json }) => String(json.asked))
		: [];

/** The results that the workflow for them has got. */
export async function readReceived({ rest }: Cluster, receiverId: string, runs: Run[], events: Event[]) {
	const answers: Answer[] = [];
	for (const { id, status } of await listExecutions({ rest }, receiverId)) {
		if (status !== 'success') continue;
		const execution = await readExecution(rest, id);
		for (const item of itemsOf(execution, 'Got')) {
			const asked = String(item.json.pass_along?.asked);
			const startMs = runs.find(({ intents }) => intents === intentsOf(asked))?.startMs ?? Infinity;
			const isHit = isIn(events, startMs, Date.parse(execution.record.stoppedAt));
			answers.push({ asked, item, executionId: id, isHit });
		}
	}
	return answers;
}
