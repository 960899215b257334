import { invalidInput } from '../../core/errors';
import type { JsonObject } from '../../core/json';
import { MAX_REQUEST_URLS, type OrderWait } from '../../core/orders/order';
import type { PollPlan } from '../../core/polling/planner';
import { urlsOfRequest } from '../../core/records/locateResult';
import type { FieldReader, NumberField } from '../form/fieldReader';
import { pollIntervalOption } from '../form/options';
import type { Item } from './inputItem';
import type { Run } from './nodeRun';
import { isInN8nAgents, MOST_AGENT_MINUTES } from './whereItRuns';

/**
 * The default timeout of a wait in n8n's database: it costs nothing, and services usually keep a result for about as
 * long.
 */
export const DURABLE_TIMEOUT_MINUTES = 1440;

/** The option of a run that says when its tasks are polled. */
export function readPollPlan(options: FieldReader): PollPlan {
	if (options.value(pollIntervalOption) === undefined) return { kind: 'automatic' };
	return { kind: 'fixed', intervalMs: options.number(pollIntervalOption) * 1000 };
}

/** The way to wait for one item. */
export function readWait({ options }: Item, timeoutOption: NumberField, run: Run): OrderWait {
	const option = run.handsOver ? { ...timeoutOption, default: DURABLE_TIMEOUT_MINUTES } : timeoutOption;
	const most = isInN8nAgents(run.context) ? MOST_AGENT_MINUTES : Infinity;
	return { plan: run.options.pollPlan, timeoutMs: Math.min(options.number(option), most) * 60_000 };
}

/** The mark of an order to which the execution that goes on applies Retry On Fail: it keeps what another try needs. */
export const retriedThere = ({ handsOver, retryOnFail }: Run) =>
	handsOver && retryOnFail !== undefined ? { isRetried: true } : {};

/** Throws where an item cannot be waited for in another execution. */
export function assertCanBeDeferred({ background }: Run, body: JsonObject): void {
	const choice = background ? 'In Another Workflow' : 'Across Restarts';
	const urls = urlsOfRequest(body).size;
	if (urls > MAX_REQUEST_URLS)
		throw invalidInput(
			`The request contains ${urls} URLs: with ${choice}, at most ${MAX_REQUEST_URLS} are allowed`,
			'Remove URLs from the prompt or the body of the request.',
		);
}
