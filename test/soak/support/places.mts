/** The place where a user finds a task, and what is left to do by hand. */
import type { SandboxTask } from '../../../sandbox/index.mts';
import { answeredAtMs, ON_ITS_WAY_MS } from '../../crash/support/outcome.mts';
import type { Event } from './events.mts';
import { endingOf } from './workload.mts';

/** Of tasks whose workflow did not get their result, or the reason why there is none, by itself. */
export const BY_HAND = ['retry', 'item', 'sub-execution', 'purchaseLog', 'log'] as const;
/** `arrived`: the workflow got the result, or an item that names the task and says why there is none. */
export type Place = 'arrived' | (typeof BY_HAND)[number] | 'lostAnswer' | 'onItsWay';

export interface Traces {
	/** IDs of tasks whose results have arrived by themselves, and of those that a retry of the execution got. */
	results: Set<string>;
	retried: Set<string>;
	/** As text: the items that have arrived by themselves; all output of the executions, errors included; the input of the sub-executions; the purchase log; n8n's log. */
	items: string;
	outputs: string;
	inputs: string;
	purchases: string;
	log: string;
	events: Event[];
}

/** Undefined where there is none. */
export function placeOf(task: SandboxTask, traces: Traces): Place | undefined {
	const ending = endingOf(String(task.body.prompt));
	// The service never said which ID it has; the item says that it is not known whether a task exists.
	if (ending === 'unknown') return 'lostAnswer';
	const inJson = JSON.stringify(task.id).slice(1, -1);
	if (ending === 'result' ? traces.results.has(task.id) : traces.items.includes(inJson)) return 'arrived';
	if (traces.retried.has(task.id)) return 'retry';
	if (traces.outputs.includes(inJson)) return 'item';
	if (traces.inputs.includes(inJson)) return 'sub-execution';
	if (traces.purchases.includes(inJson)) return 'purchaseLog';
	if (traces.log.includes(`task ${task.id} `)) return 'log';
	const answeredMs = answeredAtMs(task);
	return traces.events.some(({ fromMs, untilMs }) => task.acceptedAt <= untilMs && answeredMs > fromMs - ON_ITS_WAY_MS)
		? 'onItsWay'
		: undefined;
}
