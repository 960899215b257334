/** All that can be known of a simulation afterwards, beside what the service knows. */
import type { INodeExecutionData } from 'n8n-workflow';
import type { Case, ItemPlan } from './cases.mts';
import type { Origin } from './executions.mts';
import type { Owner } from './time.mts';

/** One run of the node, as its user sees it. */
export interface Try {
	origin: Origin;
	/** 0: the first, 1: its first retry. */
	execution: number;
	round: number;
	items?: INodeExecutionData[];
	/** Message and description, as n8n shows them. */
	error?: string;
	atMs: number;
	/** n8n has taken its process for dead before, and drops its results. */
	isLate?: true;
}

export class Story {
	readonly tries: Try[] = [];

	readonly log: string[] = [];

	/** Things that may not happen, in words. */
	readonly violations: string[] = [];

	/** Executions without a mark in n8n's table, by name. */
	readonly unguarded = new Set<string>();

	/** Executions whose mark is back, although it was taken back. */
	readonly careful = new Set<string>();

	/** Executions whose retries have died while they asked for marks: to ask is to write them for a moment. */
	readonly leftByQuestions = new Set<string>();

	/** Executions whose machine stood still, before they had any row, until another one had begun in their place. */
	readonly silentBeforeRows = new Set<Origin>();

	/** The number of times that a process has died. */
	crashes = 0;

	/** The last that a process has done on its way to a request that has a row. */
	readonly phases = new WeakMap<Owner, 'rows' | 'looked'>();

	/** Rare situations of which nothing is to be seen afterwards, and how often they occurred. */
	readonly visited = new Map<string, number>();

	visit(situation: string): void {
		this.visited.set(situation, (this.visited.get(situation) ?? 0) + 1);
	}

	note(origin: Origin, execution: number, ended: Omit<Try, 'origin' | 'execution'>): void {
		this.tries.push({ origin, execution, ...ended });
	}
}

/** The words by which the marks of an execution and its retries are found. */
export function marksOf({ name, establishedAtMs, executions }: Origin): string[] {
	return [name, `established ${establishedAtMs}`, ...executions.map(({ id }) => `execution ${id}`)];
}

/** Names the items of one round; identical items share a name. */
export function itemNames({ items, sameBodies }: Case, family: string, round: number): string[] {
	return items.flatMap(({ copies }, index) =>
		Array.from({ length: copies }, () => `${family}-item-${index}${sameBodies ? '' : `-round-${round}`}`),
	);
}

/** The second of two executions meets what the first leaves: so they fare differently. */
export function planOf({ items, executions }: Case, name: string): ItemPlan {
	const [execution, , item] = name.split('-');
	const { posts, files } = items[Number(item)].plan;
	return { posts: executions > 1 ? posts.slice(Number(execution.slice(1))) : posts, files };
}
