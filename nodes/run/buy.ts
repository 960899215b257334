/** The steps from the form of an item to a thing: its request, the work that buys it once, and the wait for it. */
import { invalidInput, type TaskReference } from '../../core/errors';
import { mergeDeep, type JsonObject } from '../../core/json';
import type { SurvivalTable } from '../../core/polling/survivalTable';
import { waitForTask, type PollTarget, type Waited } from '../../core/polling/waitForTask';
import { buyThing, type Creation } from '../../core/engine/buyOnce';
import type { JobControls } from '../../core/engine/jobs';
import { MAX_REQUEST_URLS, type OrderWait, type Purchase } from '../../core/orders/order';
import { realClock } from '../connection/transport';
import { readSubmitAgain, additionalFieldsOption, pollIntervalOption } from '../form/options';
import { hashOf } from './requestHash';
import type { DirectWork, Item, JobOutput } from './inputItem';
import { buyPortsOf, type Run } from './nodeRun';
import type { Chosen } from '../../core/models/body';
import type { PollPlan } from '../../core/polling/planner';
import { urlsOfRequest } from '../../core/records/locateResult';
import type { FieldReader, NumberField } from '../form/fieldReader';
import { isInN8nAgents, MOST_AGENT_MINUTES } from './whereItRuns';

/** The default timeout in n8n's database, where waiting costs nothing: services keep a result about as long. */
export const DURABLE_TIMEOUT_MINUTES = 1440;

/**
 * The request of a form whose body is written in code: its values by their names in the body, with Additional Fields merged in
 * last. The caller checks it as it is sent.
 *
 * @param constants are sent with every request, and no choice
 */
export function toRequest(item: Item, values: Record<string, FormValue>, constants: JsonObject = {}): FormRequest {
	// What they were to say, such as a limit or the URL of a callback, would be missing.
	item.options.assertNotLost(additionalFieldsOption);
	const additionalFields = item.options.json(additionalFieldsOption);
	const body: JsonObject = { ...constants };
	const form: JsonObject = {};
	for (const [name, { value = '', default: untouched = '' }] of Object.entries(values)) {
		if (value !== '') body[name] = value;
		if (value !== untouched) form[name] = value === '' ? null : value;
	}
	return { body: mergeDeep(body, additionalFields), chosen: { form, additionalFields } };
}

/** The request of a form. */
export interface FormRequest {
	body: JsonObject;
	chosen: Chosen;
}

/** A value of the form, as the body has it. Nothing and an empty text are not sent. */
interface FormValue {
	value: unknown;
	/** The default of the form: a release that changes it makes no other request of a form that does not choose it. */
	default?: unknown;
}

/** True where a body has a value of its form: one that Additional Fields do not give. */
export const isOfForm = ({ chosen }: FormRequest, name: string) => chosen.additionalFields[name] === undefined;

/**
 * A thing that is to be bought for an item.
 *
 * @param request.chosen what the user has chosen: by that, a retry knows the request again
 */
export function toBuy(
	item: Item,
	thing: Purchase['thing'],
	{ body, chosen }: { body: JsonObject; chosen: unknown },
): Purchase {
	const request = { body, hash: hashOf(thing, chosen), ...readSubmitAgain(item.options) };
	return { item: item.index, thing, state: 'planned', request };
}

/**
 * The work that buys a thing once, however often the run is tried, and then shows it.
 *
 * @param show makes the output item. Throws where the thing is no success
 */
export function buying<Answer extends { id: string }>(
	run: Run,
	thing: Purchase,
	creation: Creation<Answer>,
	show: (existing: Existing<Answer>) => JobOutput | Promise<JobOutput>,
): DirectWork {
	return {
		about: thing,
		scope: thing.scope,
		run: async (controls) =>
			await buyThing(thing, creation, { ports: buyPortsOf(run), controls }, (answer) =>
				show({ task: thing.task ?? { taskId: '', elapsedMs: 0 }, answer, controls }),
			),
	};
}

/** A thing that another node, or execution, has created. */
export function existing(item: Item, thing: Purchase['thing'], taskId: string): Purchase & { task: TaskReference } {
	return { item: item.index, thing, state: 'accepted', task: { taskId, elapsedMs: 0 } };
}

/** A thing that exists by now. */
interface Existing<Answer> {
	/** Its ID is empty for a token. */
	task: TaskReference;
	/** Absent where an earlier try has created it. */
	answer?: Answer;
	controls: JobControls;
}

/** Polls until it has ended. Throws where it has failed. */
export async function waitFor<Rec>(
	{ client, progress }: Run,
	{ signal }: JobControls,
	{ about, target, wait, survivalTable, createdAtMs }: WaitFor<Rec>,
): Promise<Waited<Rec>> {
	return await waitForTask(target, {
		...wait,
		acceptedAtMs: createdAtMs,
		startedAtMs: realClock.now(),
		survivalTable: () => survivalTable,
		backlogMs: () => client.backlogMs,
		watcher: progress.watch(about),
		clock: realClock,
		signal,
	});
}

/** A wait for a thing that is no task: it ends with the execution. */
interface WaitFor<Rec> {
	about: Purchase;
	target: PollTarget<Rec>;
	wait: OrderWait;
	survivalTable: SurvivalTable;
	/** Unix milliseconds, where it is known. */
	createdAtMs?: number;
}

/** The way to wait for one item. */
export function readWait({ options }: Item, timeoutOption: NumberField, run: Run): OrderWait {
	const option = run.handsOver ? { ...timeoutOption, default: DURABLE_TIMEOUT_MINUTES } : timeoutOption;
	const most = isInN8nAgents(run.context) ? MOST_AGENT_MINUTES : Infinity;
	return { plan: run.pollPlan, timeoutMs: Math.min(options.number(option), most) * 60_000 };
}

/** The option of a run that says when its tasks are polled. */
export function readPollPlan(options: FieldReader): PollPlan {
	if (options.value(pollIntervalOption) === undefined) return { kind: 'automatic' };
	return { kind: 'fixed', intervalMs: options.number(pollIntervalOption) * 1000 };
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
