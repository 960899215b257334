/** What can be known of a simulation afterwards, beside what the service knows. */
import type { INodeExecutionData } from 'n8n-workflow';
import type { Case, ItemPlan } from './cases.mts';
import type { Origin } from './executions.mts';

/** How one run of the node has ended, as its user sees it. */
export interface Try {
	origin: Origin;
	/** 0: the first, 1: its first retry. */
	execution: number;
	round: number;
	items?: INodeExecutionData[];
	/** Message and description, as n8n shows them. */
	error?: string;
	atMs: number;
}

export class Story {
	readonly tries: Try[] = [];

	readonly log: string[] = [];

	/** What may not happen, in words. */
	readonly violations: string[] = [];

	/** Executions without a note in n8n's table, by name. */
	readonly unguarded = new Set<string>();

	/** How often a process has died. */
	crashes = 0;

	note(origin: Origin, execution: number, round: number, ended: Pick<Try, 'items' | 'error'>, atMs: number): void {
		this.tries.push({ origin, execution, round, ...ended, atMs });
	}
}

/** Names the items of one round; identical items share a name. */
export function itemNames({ items, sameBodies }: Case, name: string, round: number): string[] {
	return items.flatMap(({ copies }, index) => Array.from({ length: copies }, () => `${name}-item-${index}${sameBodies ? '' : `-round-${round}`}`));
}

export function planOf({ items }: Case, name: string): ItemPlan {
	return items[Number(name.split('-')[2])].plan;
}
