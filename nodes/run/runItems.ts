import type { IExecuteFunctions } from 'n8n-workflow';
import { untilAborted } from '../../core/abort';
import { takingBreaks } from '../../core/clock';
import { gatewayError, GatewayError } from '../../core/errors';
import { isOwn } from '../../core/errors/kinds';
import { advanceAll, type Ports } from '../../core/engine/advance';
import { readyToHandOver } from '../../core/engine/canary';
import type { OrderLedger } from '../../core/orders/ledger';
import type { Order, Purchase } from '../../core/orders/order';
import { endBadly, hasEnded, promptOf } from '../../core/orders/states';
import { toRanges } from '../../core/text';
import { SubmissionGate, type Job, type JobOutcome } from '../../core/engine/jobs';
import { realClock } from '../connection/transport';
import { unreadable, toNodeError, summarizeAccepted, listOtherMistakes } from '../errors/toNodeError';
import type { ErrorContext } from '../errors/toNodeError';
import type { TimeAlone } from './whereItRuns';
import { claimManualRun, reuseTasks } from './building';
import { isOrder, Item, Parameters, type JobOutput, type Work } from './inputItem';
import { StoredSize } from './storedSize';
import { toPassOn, isNoFailure, outcomeOf, type ItemContext, type Worked } from './toItem';
import { buyPortsOf, executionOf, type Run } from './nodeRun';
import type { Durable, Operation } from './operation';
import { readCreditsBefore } from './runCredits';

export interface ItemsToRun {
	operation: Operation;
	durable?: Durable;
	errorContext: Omit<ErrorContext, 'itemIndex'> & ItemContext;
}

/** An item whose form has been read, or the error of its form. */
interface Prepared {
	index: number;
	work: Work | GatewayError;
	/** For the error of an item that is not worked on. */
	prompt?: string;
}

/**
 * The item loop of every operation: checks all items before anything is sent, works on them side by side, and throws n8n's
 * error for the first one that has failed, unless the node continues. Undefined where the user has stopped it.
 */
export async function runItems(run: Run, items: ItemsToRun): Promise<Worked[] | undefined> {
	const { context, ledger } = run;
	const { prepare, promptOf } = items.operation;
	const signal = context.getExecutionCancelSignal();
	const prepared = await prepareAll(context, { prepare: async (item) => await prepare(item, run), promptOf }, signal);
	if (signal?.aborted) return undefined;
	refuseSharedKeys(prepared, ledger);
	// First the claim: what another execution is buying has no ID to be reused yet.
	const { refusal, handOver, release } = claimManualRun(run, purchasesOf(prepared));
	try {
		const unreadable = await reuseTasks(run, ordersOf(prepared));
		refusePlanned(prepared, refusal ?? unreadable);
		if (!purchasesOf(prepared).some(isPlanned)) release();
		const worked = await workOnPrepared(run, prepared, items);
		if (worked?.some(goesOn)) handOver();
		return worked;
	} finally {
		release();
	}
}

/** Ends all that is still to be submitted with this error, if there is one. */
function refusePlanned(prepared: Prepared[], error?: GatewayError): void {
	if (error === undefined) return;
	for (const each of prepared) if (isPlanned(purchaseOf(each))) each.work = error;
}

const ordersOf = (prepared: Prepared[]) => prepared.flatMap(({ work }) => (isOrder(work) ? [work] : []));

const purchasesOf = (prepared: Prepared[]) => prepared.flatMap((each) => purchaseOf(each) ?? []);

/** The thing that an item buys, or that exists already; undefined where it is about none. */
function purchaseOf({ work }: Pick<Prepared, 'work'>): Purchase | undefined {
	if (isOrder(work)) return work;
	return work instanceof GatewayError ? undefined : work.about;
}

const isPlanned = (purchase?: Purchase) => purchase?.state === 'planned';

async function workOnPrepared(run: Run, prepared: Prepared[], items: ItemsToRun): Promise<Worked[] | undefined> {
	const { context } = run;
	const { errorContext, durable } = items;
	const signal = context.getExecutionCancelSignal();
	const continueOnError = context.continueOnFail();
	const [mistake, ...others] = firstOfEachError(prepared.filter(isMistake));
	if (mistake !== undefined && !continueOnError) {
		const last = listOtherMistakes(others.map(({ index }) => index));
		throw toNodeError(mistake.work, { ...errorContext, itemIndex: mistake.index }, { last });
	}
	const purchases = purchasesOf(prepared);
	if (purchases.some(isPlanned)) await run.openJournal();
	if (run.background !== undefined) await durable?.findHandedOver(run, ordersOf(prepared));
	const here = purchases.filter((each) => executionOf(run, each) === undefined);
	run.progress.orders = purchases;
	const reading = purchases.some(isPlanned) ? readCreditsBefore(run) : undefined;
	// A stop does not wait for n8n's database.
	await untilAborted(Promise.all([reading, run.journal?.takeOver(here)]), signal);
	const working = { ...items, run, prepared, purchases, continueOnError, signal };
	const handedOver = run.handsOver ? await handOverAll(working) : undefined;
	return handedOver ?? (await finish(working, await advanceHere(working)));
}

interface Working extends ItemsToRun {
	run: Run;
	prepared: Prepared[];
	purchases: Purchase[];
	continueOnError: boolean;
	signal?: AbortSignal;
}

/** The ports of the engine for the orders of a run. Undefined for an operation that makes none. */
const portsOf = (run: Run, { deliver }: Operation): Ports | undefined =>
	deliver && { ...buyPortsOf(run), deliver: new StoredSize().bounded(deliver(run)), watch: run.progress.watch };

/** Works on all items until all have ended. Returns one outcome for each. */
async function advanceHere({ run, prepared, operation, continueOnError, signal }: Working) {
	const { journal, alone } = run;
	const ports = portsOf(run, operation);
	const unsettled = prepared.filter((each) => isUnsettled(journal, each));
	const works = prepared.map((each) => toStart(run, each));
	const options = {
		concurrency: run.concurrency,
		continueOnError,
		// A key that is refused is refused for those that begin later, too.
		gate: new SubmissionGate(),
		submitUntil: alone?.submitUntil,
		signal: alone === undefined ? signal : AbortSignal.any([alone.end, ...(signal ? [signal] : [])]),
	};
	const { outcomes } = await advanceAll(works, ports, options);
	const endsHere = !continueOnError && outcomes.some(({ ok }) => !ok);
	if (alone !== undefined) return outcomes.map((outcome, index) => endedAlone(outcome, prepared[index], alone));
	if (journal === undefined || unsettled.length === 0 || endsHere) return outcomes;
	await journal.settle(signal);
	const settled = await advanceAll(
		unsettled.map((each) => toStart(run, each)),
		ports,
		options,
	);
	for (const [at, { index }] of unsettled.entries()) {
		const outcome = settled.outcomes[at];
		if (outcome !== undefined) outcomes[index] = outcome;
	}
	return outcomes;
}

/** True where a retry has still to learn what became of the request of an item. */
function isUnsettled(journal: Run['journal'], prepared: Pick<Prepared, 'work'>): boolean {
	const purchase = purchaseOf(prepared);
	return purchase !== undefined && journal?.isUnsettled(purchase) === true;
}

/** The work that is to be done now: nothing for an order that is elsewhere, or for what is not settled. */
function toStart(run: Run, prepared: Prepared): Order | Job<JobOutput | undefined> {
	const { work } = prepared;
	if (work instanceof GatewayError) return { run: async () => await Promise.reject(work) };
	const isLater = isUnsettled(run.journal, prepared) || (isOrder(work) && executionOf(run, work) !== undefined);
	return isLater ? { run: async () => await Promise.resolve(undefined) } : work;
}

/** The outcome of an item whose time was over, where n8n runs the node alone: its task goes on, and the error names it. */
function endedAlone(
	outcome: JobOutcome<JobOutput | undefined>,
	prepared: Prepared | undefined,
	{ time }: TimeAlone,
): JobOutcome<JobOutput | undefined> {
	const purchase = prepared && purchaseOf(prepared);
	if (outcome.ok || outcome.error.kind !== 'stopped' || purchase === undefined) return outcome;
	const { thing, task, state } = purchase;
	if (state === 'planned') return { ok: false, error: endBadly(purchase, gatewayError('notSubmittedAlone', { time })) };
	// The answer to its request has not come: what comes of it is in n8n's log.
	if (task === undefined) {
		const what = 'The service had not answered yet when the time that n8n gives a single node was over';
		return { ok: false, error: gatewayError('outcomeUnknown', { thing, what }) };
	}
	const { taskId: id, status, progress } = task;
	return {
		ok: false,
		error: endBadly(purchase, gatewayError('timedOutAlone', { thing, id, time, status, progress }, { task })),
	};
}

/** Hands all orders that have not ended to another execution. Undefined where the node has to go on with them in memory. */
async function handOverAll(working: Working): Promise<Worked[] | undefined> {
	const { run, prepared, operation, durable, continueOnError, signal } = working;
	const { journal } = run;
	const ports = portsOf(run, operation);
	if (ports === undefined) return undefined;
	const orders = ordersOf(prepared);
	if (orders.some((order) => journal?.isUnsettled(order))) await journal?.settle(signal);
	// The execution that goes on would not know of a doubt that a person has overruled here.
	const submitsAll = journal?.isInDoubt === true;
	const ready = await readyToHandOver(
		orders.filter((order) => executionOf(run, order) === undefined),
		ports,
		{ continueOnError, signal, submitsAll },
	);
	const outcomes = prepared.map(({ work }): JobOutcome<undefined> => {
		if (work instanceof GatewayError) return { ok: false, error: work };
		return (isOrder(work) && ready.get(work)) || { ok: true, value: undefined };
	});
	const worked = await finish(working, outcomes);
	if (worked === undefined || !worked.some(goesOn)) return worked;
	if (journal?.isWithoutRows !== true) run.asleep = await durable?.handOver(run, worked);
	if (run.asleep !== undefined) return worked;
	// To go back to memory is to take over: a supervisor may have written a lease.
	if (journal !== undefined && !journal.isWithoutRows) run.journal = journal.takenBack();
	await untilAborted(run.journal?.takeOver(orders) ?? Promise.resolve(), signal);
	return undefined;
}

/** The end of the work in this execution. Throws where the node stops at errors. Undefined where the user has stopped it. */
async function finish(working: Working, outcomes: ReadonlyArray<JobOutcome<JobOutput | undefined>>) {
	const { run, prepared, purchases, errorContext, continueOnError, signal } = working;
	await untilAborted(run.journal?.end(purchases) ?? Promise.resolve(), signal);
	await run.marks.end(signal);
	if (signal?.aborted) {
		run.log.stopped();
		return undefined;
	}
	const worked = outcomes.map((outcome, index) => toWorked(outcome, prepared[index] as Prepared)); // one outcome for each
	const first = firstFailure(worked, errorContext);
	if (first === undefined || continueOnError) return worked;
	const summary = summarizeAccepted(purchases, run.ledger.ids, first.error, errorContext);
	throw toNodeError(first.error, { ...errorContext, itemIndex: first.itemIndex }, summary);
}

/** Of items that share an error, which names them all, the first. */
function firstOfEachError(mistakes: Array<Prepared & { work: GatewayError }>) {
	const seen = new Set<GatewayError>();
	return mistakes.filter(({ work }) => !seen.has(work) && seen.add(work));
}

/**
 * Refuses all items that have one Purchase Key for different requests: only the first of them would be bought. A request that
 * an earlier try has bought goes on.
 */
function refuseSharedKeys(prepared: Prepared[], ledger: OrderLedger): void {
	const byKey = new Map<string, Array<Prepared & { work: Order }>>();
	for (const each of prepared) {
		const { work } = each;
		const { keyHash, hash = '' } = (isOrder(work) && work.request) || {};
		if (!isOrder(work) || keyHash === undefined || ledger.find(each.index, hash)?.taskId !== undefined) continue;
		byKey.set(keyHash, [...(byKey.get(keyHash) ?? []), { ...each, work }]);
	}
	for (const sharing of byKey.values()) {
		if (new Set(sharing.map(({ work }) => work.request?.hash)).size === 1) continue;
		const items = toRanges(sharing.map(({ index }) => index));
		const error = gatewayError('purchaseKeyShared', { items });
		for (const { index } of sharing) Object.assign(prepared[index] ?? {}, { work: error });
	}
}

const isMistake = (prepared: Prepared): prepared is Prepared & { work: GatewayError } =>
	prepared.work instanceof GatewayError;

/** The first item that has failed by itself, or else the first that was not sent because of another. */
function firstFailure(worked: Worked[], place: ItemContext): { error: GatewayError; itemIndex: number } | undefined {
	const failures = worked.flatMap(({ error }, itemIndex) =>
		error === undefined || isNoFailure(error, place) ? [] : [{ error, itemIndex }],
	);
	return failures.find(({ error }) => isOwn(error)) ?? failures[0];
}

/** True where an order is to go on in another execution. */
function goesOn({ order, error }: Worked): boolean {
	return order !== undefined && !hasEnded(order) && error === undefined;
}

/** The outcomes of a run that could not begin: all items have its error, but for those that have one of their own. */
export async function refuseAll(
	context: IExecuteFunctions,
	thrown: unknown,
	promptOf?: Operation['promptOf'],
): Promise<Worked[]> {
	const prepare = async () => await Promise.reject(thrown);
	const prepared = await prepareAll(context, { prepare, promptOf });
	return prepared.filter(isMistake).map(({ work, prompt }) => ({ error: work, prompt }));
}

/** Reads the forms of all items, until the user stops the execution: n8n's Retry On Fail runs a stopped node again. */
async function prepareAll(context: IExecuteFunctions, work: Reading, signal?: AbortSignal): Promise<Prepared[]> {
	const parameters = new Parameters(context, context.getNode());
	const prepared: Prepared[] = [];
	const breakIfDue = takingBreaks(realClock);
	for (const [index, input] of context.getInputData().entries()) {
		if (signal?.aborted) break;
		prepared.push(await prepareItem(new Item(parameters, index, input), work));
		await breakIfDue();
	}
	return prepared;
}

interface Reading extends Pick<Operation, 'promptOf'> {
	prepare: (item: Item) => Promise<Work>;
}

async function prepareItem(item: Item, { prepare, promptOf: promptInForm }: Reading): Promise<Prepared> {
	const { index } = item;
	try {
		const work = await prepare(item);
		return { index, work, prompt: isOrder(work) ? promptOf(work) : undefined };
	} catch (thrown) {
		return { index, prompt: promptInForm?.(item), work: unreadable(thrown) };
	}
}

function toWorked(outcome: JobOutcome<JobOutput | undefined>, { work, prompt }: Prepared): Worked {
	const error = outcome.ok ? undefined : outcome.error;
	// One that has ended before the work began has its error itself.
	if (isOrder(work)) return { ...outcomeOf(work), order: work, ...(error && { error }) };
	if (outcome.ok) return { output: outcome.value };
	const { passedOn, about } = work instanceof GatewayError ? {} : work;
	return {
		error,
		task: about?.task,
		prompt,
		...(passedOn && { input: toPassOn(passedOn.json), inputFiles: passedOn.binary }),
	};
}
