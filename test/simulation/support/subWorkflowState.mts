/** n8n's engine, as far as our sub-workflows use it: which node comes next, what expressions mean, what is kept of each run. */
import type { IDataObject, INode, INodeExecutionData, IWorkflowBase } from 'n8n-workflow';
import { copyOf } from './copyOf.mts';

type Items = INodeExecutionData[];
export type Contexts = Record<string, IDataObject>;

/** The state of a sub-execution, in memory or in the database. Items are never changed once they are in it. */
export interface State {
	/** Nodes that are still to run, the next one first: it is running, or asleep. */
	stack: Array<{ node: string; items: Items }>;
	contexts: Contexts;
	/** The outputs of each run of each node. */
	runs: Record<string, Items[][]>;
	/** The node that has run last. */
	last?: string;
}

/** The remains of an execution: n8n hands on an error rather than items. Neither: nobody is woken. */
export interface Left {
	items?: Items;
	error?: string;
}

export const WAIT = 'n8n-nodes-base.wait';
/** The node of ours that parts what has ended from the rest. */
export const QUESTION = 'All Finished?';
/** n8n puts these out for a node that it knows from its log of events only. */
const MADE_UP: Items = [{ json: { isArtificialRecoveredEventItem: true } }];
const CRASHED = 'Workflow did not finish, possible out-of-memory issue';

export const beginning = (items: Items): State => ({
	stack: [{ node: 'Start', items: copyOf(items) }],
	contexts: {},
	runs: {},
});

export function copyOfState({ stack, contexts, runs, last }: State): State {
	const copies = Object.fromEntries(Object.entries(runs).map(([name, ofNode]) => [name, [...ofNode]]));
	return { stack: stack.map((each) => ({ ...each })), contexts: copyOf(contexts), runs: copies, last };
}

/** The output of the node that has run last. n8n looks at its first one only. */
export function lastOutput({ runs, last = '' }: State): Items | undefined {
	return runs[last]?.at(-1)?.[0];
}

/** n8n takes back what the sleeping node has put out: it runs on as if it were switched off, and passes on what came in. */
export function takeBack({ runs, last = '' }: State): void {
	runs[last]?.pop();
}

/** The node at the top has run. Those that get something of it are next, the upper ones first. */
export function ran(state: State, { nodes, connections }: IWorkflowBase, outputs: Items[]): void {
	const [{ node }] = state.stack.splice(0, 1);
	noteRun(state, node, outputs);
	const yOf = (name: string) => nodes.find((each) => each.name === name)?.position[1] ?? 0;
	const next = (connections[node]?.main ?? []).flatMap((targets, output) =>
		(targets ?? []).flatMap((target) => {
			const items = outputs[output] ?? [];
			return items.length > 0 ? [{ node: target.node, items }] : [];
		}),
	);
	state.stack.unshift(...next.sort((one, other) => yOf(one.node) - yOf(other.node)));
}

/** The same for a node that has put the execution to sleep: it stays at the top. */
export function noteRun(state: State, node: string, outputs: Items[]): void {
	(state.runs[node] ??= []).push(outputs);
	state.last = node;
}

/** The time that the Wait node sleeps, in milliseconds; undefined where it lets everything pass. */
export function sleepOf({ parameters }: INode, runIndex: number): number | undefined {
	const { resume, amount, resumeAmount, limitWaitTime } = parameters;
	const how = evaluate(String(resume), { $runIndex: runIndex });
	if (how === 'timeInterval' && amount === 0) return undefined;
	if (how !== 'webhook' || limitWaitTime !== true)
		throw new Error(`The model has no Wait node like this: ${String(how)}`);
	return Number(resumeAmount) * 1000;
}

/**
 * The state that n8n has of an execution that has died: the saved one. Of a node that it knows from its log of events only, it makes
 * up an output, or an error where it had not ended.
 *
 * @param begun by node: true where it had ended
 */
export function leftOf(saved: State, { nodes }: IWorkflowBase, begun: ReadonlyMap<string, boolean>): Left {
	const known = copyOfState(saved);
	let error: string | undefined;
	for (const { name } of nodes) {
		const hasEnded = begun.get(name);
		if (hasEnded === undefined || known.runs[name] !== undefined) continue;
		noteRun(known, name, hasEnded ? [MADE_UP] : []);
		if (!hasEnded) error = CRASHED;
	}
	return { error, items: lastOutput(known) };
}

/** An expression as it is written in a node; other text is itself. What it does not know throws, unlike in n8n: the model lacks it then. */
function evaluate(text: string, known: Record<string, unknown>): unknown {
	const [, expression] = /^=\{\{(.*)\}\}$/s.exec(text) ?? [];
	if (expression === undefined) return text;
	const names = Object.keys(known);
	const key = `${names.join()} ${text}`;
	let run = expressions.get(key);
	if (run === undefined) {
		// eslint-disable-next-line @typescript-eslint/no-implied-eval
		run = new Function(...names, `return ${expression}`) as (...values: unknown[]) => unknown;
		expressions.set(key, run);
	}
	return run(...Object.values(known));
}

const expressions = new Map<string, (...values: unknown[]) => unknown>();
