import { endTask, taskCreation, type Ports } from './advance';
import { runJobs, SubmissionGate, type Job, type JobControls, type JobOutcome, type JobsOptions } from './jobs';
import type { Order } from '../orders/order';
import { endBadly } from '../orders/states';
import { buyOnce, continueKnown, upload } from './buyOnce';

/** The most canaries of a run: one for each scope, such as a model that the key may not be allowed to use. */
const MOST_CANARIES = 3;

/** A canary that waits so long for others is handed over, too: that the account is busy proves the key well enough. */
const WAITS_FOR_MS = 2_000;
/** The same for one that does not leave, because n8n or its database is slow. */
const LEAVES_WITHIN_MS = 10_000;

type Outcome = JobOutcome<undefined>;

interface Getting extends Pick<JobsOptions, 'continueOnError' | 'signal'> {
	/** All orders are submitted here: the other execution does not know what a person has allowed. */
	submitsAll: boolean;
}

/**
 * Gets the orders of a run ready to be handed to another execution: continues what earlier tries have created, uploads the files
 * that only this execution can read, and submits the canaries. A wrong key, an empty account or a refused model then fails in the
 * node, where n8n can retry it: n8n throws the stored error of an execution that has slept again in each retry.
 *
 * @returns the outcomes: an order without an error that has not ended goes on
 */
export async function readyToHandOver(
	orders: readonly Order[],
	ports: Ports,
	{ continueOnError, signal, submitsAll }: Getting,
): Promise<Map<Order, Outcome>> {
	const gate = new SubmissionGate();
	const outcomes = new Map<Order, Outcome>();
	const run = async (chosen: readonly Order[], work: Work, more: Partial<JobsOptions> = {}) => {
		const jobs = chosen.map((order) => toJob(order, ports, work));
		const ended = await runJobs(jobs, { concurrency: chosen.length, continueOnError, signal, gate, ...more });
		for (const [index, order] of chosen.entries()) outcomes.set(order, ended[index] as Outcome); // one for each
		return ended.every((outcome) => outcome.ok || isLater(outcome)) || continueOnError;
	};
	const left = () => orders.filter((order) => order.state === 'planned' && outcomes.get(order)?.ok !== false);
	if (!(await run(left(), toContinue))) return outcomes;
	if (!(await run(left(), upload))) return outcomes;
	if (submitsAll) {
		if (!(await run(left(), toSubmit))) return outcomes;
	} else {
		const over = new AbortController();
		const tooLate = new AbortController();
		const within = (ms: number) => void ports.clock.sleep(ms, over.signal).then(() => tooLate.abort());
		const waitsForOther = () => {
			within(WAITS_FOR_MS);
			return () => {};
		};
		within(LEAVES_WITHIN_MS);
		const sleep = { signal: tooLate.signal, waitsForOther };
		const toSubmitSoon: Work = async (order, _, controls) =>
			await buyOnce(order, taskCreation(order, ports.client), { ...ports, sleep }, controls);
		const goesOn = await run(canariesOf(left()), toSubmitSoon, { submitUntil: tooLate.signal });
		over.abort();
		if (!goesOn) return outcomes;
	}
	for (const order of orders) {
		const outcome = outcomes.get(order);
		if (order.state !== 'planned' || (outcome?.ok === false && !isLater(outcome))) continue;
		const heldBack = gate.reasonFor(order.scope);
		outcomes.set(order, heldBack === undefined ? GOES_ON : { ok: false, error: endBadly(order, heldBack) });
	}
	return outcomes;
}

const GOES_ON: Outcome = { ok: true, value: undefined };

/** A canary that has not left is submitted elsewhere. */
const isLater = (outcome: Outcome) => !outcome.ok && outcome.error.kind === 'stopped';

/** The first order of each scope. */
function canariesOf(orders: readonly Order[]): Order[] {
	const byScope = new Map<string | undefined, Order>();
	for (const order of orders) if (!byScope.has(order.scope)) byScope.set(order.scope, order);
	return [...byScope.values()].slice(0, MOST_CANARIES);
}

type Work = (order: Order, ports: Ports, controls: JobControls) => Promise<unknown>;

const toContinue: Work = async (order, ports) => {
	await continueKnown(order, taskCreation(order, ports.client), ports);
	// Throws where it may not be submitted.
	if (order.state === 'planned') await ports.writeAhead.beforeUploads(order);
};

const toSubmit: Work = async (order, ports, controls) =>
	await buyOnce(order, taskCreation(order, ports.client), ports, controls);

function toJob(order: Order, ports: Ports, work: Work): Job<undefined> {
	return {
		scope: order.scope,
		run: async (controls) => {
			try {
				await work(order, ports, controls);
				return undefined;
			} catch (thrown) {
				throw endTask(thrown, order, ports);
			}
		},
	};
}
