import type { TaskReference } from '../../core/errors';
import type { JsonObject } from '../../core/json';
import type { SurvivalTable } from '../../core/polling/survivalTable';
import { waitForTask, type PollTarget, type Waited } from '../../core/polling/waitForTask';
import { buyThing, type Creation } from '../../core/engine/buyOnce';
import type { JobControls } from '../../core/engine/jobs';
import type { OrderWait, Purchase } from '../../core/orders/order';
import { realClock } from '../connection/transport';
import { readSubmitAgain } from '../form/options';
import { hashOf } from './requestHash';
import type { DirectWork, Item, JobOutput } from './inputItem';
import { buyPortsOf, type Run } from './nodeRun';

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

/** A wait for a thing that is no task: it ends with the execution. */
interface WaitFor<Rec> {
	about: Purchase;
	target: PollTarget<Rec>;
	wait: OrderWait;
	survivalTable: SurvivalTable;
	/** Unix milliseconds, where it is known. */
	createdAtMs?: number;
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
