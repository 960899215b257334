import type { RunPlaces } from '../account/places';
import type { Clock } from '../clock';
import { gatewayError, GatewayError } from '../errors';
import { asCreationError } from '../http/connectionErrors';
import type { AttemptHooks } from '../http/types';
import { withUploads, type ImageFile, type PendingFiles } from '../models/images';
import { buyForKey } from '../journal/purchaseKey';
import { anyOf, createInSlot, timeLeftForSlot } from './createInSlot';
import type { GuardedAttempts, WriteAhead } from './writeAheadLog';
import type { LedgerEntry, OrderLedger } from './ledger';
import type { JobControls } from './jobs';
import type { Order } from './order';
import type { Bought, Product } from './product';
import type { SleepCoordinator } from './sleepCoordinator';
import { toNamedRun, type SubmitAgain } from './runs';
import { accept, beginSubmitting, dropRequest, putOff } from './states';

/** Listens to orders, and logs every ID at once. */
export interface OrderEvents {
	/** The service has accepted it. */
	accepted(order: Order): void;
	/** The outcome is unknown, and these words of the service may tell it. */
	unclear(order: Order, said: string): void;
	/** An earlier try has created it. */
	continued(order: Order): void;
	/** Nothing is left to fetch: its result was delivered, or it has failed at the service. */
	finished(order: Order): void;
}

export interface SubmitPorts {
	/** Remembers what was bought, for the retries of an execution. */
	ledger: OrderLedger;
	/** Remembers that something is about to be bought, for a retry after a crash. */
	writeAhead: WriteAhead;
	events: OrderEvents;
	clock: Clock;
	/** The files that the body refers to, which are beside the order. */
	filesOf: (order: Order) => PendingFiles;
	uploadImage: (file: ImageFile) => Promise<string>;
	/** Absent places are not limited. */
	client: { places?: RunPlaces };
	/** Decides when the execution can sleep, because no order is due soon. */
	sleep?: SleepCoordinator;
}

/**
 * Creates the thing of one order, once, however often the run is tried. Nothing else creates anything at the service.
 * `core/http/retry.ts` has the rule about sending again, `ledger.ts` remembers for retries, `writeAheadLog.ts` for
 * retries after a crash. Returns the answer; undefined where an earlier try has created it. Throws where an earlier try
 * may have created it.
 */
export async function submit<Answer extends { id: string }>(
	order: Order,
	product: Product<Answer, unknown>,
	ports: SubmitPorts,
	controls: JobControls,
): Promise<Answer | undefined> {
	const request = requestOf(order);
	const created = await createdBefore(order, product, ports);
	if (created !== undefined) return continueWith(order, created, product.status, ports);

	await upload(order, ports, controls);
	return await controls.submitting(
		async (signal, failed) =>
			await ports.writeAhead.guard(
				order,
				async (tries) => await send(order, product, ports, { ...tries, request, signal, failed }),
			),
	);
}

/** Continues an order with what an earlier try has created. Sends nothing. Throws where one may have created it. */
export async function continueKnown<Answer extends { id: string }>(
	order: Order,
	product: Pick<Product<Answer, unknown>, 'status' | 'isReusable'>,
	ports: Pick<SubmitPorts, 'ledger' | 'writeAhead' | 'events'>,
): Promise<void> {
	const created = await createdBefore(order, product, ports);
	if (created !== undefined) continueWith(order, created, product.status, ports);
}

function requestOf({ request }: Order): NonNullable<Order['request']> {
	if (request === undefined) throw gatewayError('packageBug', { words: 'an order without a request was submitted' });
	return request;
}

/** The thing that an earlier try has created for an order. Throws where one may have created it. */
async function createdBefore<Answer extends { id: string }>(
	order: Order,
	{ isReusable }: Pick<Product<Answer, unknown>, 'isReusable'>,
	{ ledger, writeAhead }: Pick<SubmitPorts, 'ledger' | 'writeAhead'>,
): Promise<CreatedEntry | undefined> {
	const request = requestOf(order);
	const known = ledger.find(order.item, request.hash);
	if (known === undefined) return undefined;
	const isToSubmitAgain = ledger.isToSubmitAgain(request, known);
	const doubt = doubtAbout(order, known, request);
	// What a dead try has left may be all that an earlier one has left.
	if (doubt !== undefined && !isToSubmitAgain && !(await writeAhead.isOverruled?.(order))) throw doubt;
	if (doubt !== undefined || !isCreated(known)) return undefined;
	// Nothing was bought for this item. Another key is the way to buy it.
	if (known.reusedKey !== undefined && known.reusedKey !== request.keyHash) return undefined;
	if (known.isGivenUp && isToSubmitAgain) {
		if (order.thing === 'task') order.earlierTaskIds = [known.taskId];
		return undefined;
	}
	return (isReusable?.(order, known) ?? true) ? known : undefined;
}

/** Uploads the files of an order, which costs nothing, and puts their URLs into its request. Not called where the thing exists. */
export async function upload(
	order: Order,
	{ filesOf, uploadImage, writeAhead }: Pick<SubmitPorts, 'filesOf' | 'uploadImage' | 'writeAhead'>,
	{ uploading }: Pick<JobControls, 'uploading'>,
): Promise<void> {
	const request = requestOf(order);
	const files = filesOf(order);
	if (request.uploads !== undefined || files.size === 0) return;
	await writeAhead.beforeUploads(order);
	const urls = new Map<string, string>();
	for (const [reference, { read }] of files) {
		urls.set(reference, await uploading(async () => await uploadImage(await read())));
	}
	request.body = withUploads(request.body, urls);
	request.uploads = [...urls.values()];
}

interface Sending extends GuardedAttempts {
	request: NonNullable<Order['request']>;
	signal: AbortSignal;
	failed: AttemptHooks['failed'];
}

type CreatedEntry = LedgerEntry & { taskId: string };

function isCreated(entry: LedgerEntry | undefined): entry is CreatedEntry {
	return entry?.taskId !== undefined;
}

/** The reason why nobody knows whether this order has been bought, if there is one. */
function doubtAbout(
	{ thing }: Order,
	{ taskId, ...known }: LedgerEntry,
	request: SubmitAgain & { hash: string },
): GatewayError | undefined {
	const named = toNamedRun(request, known.run);
	if (taskId === undefined)
		return gatewayError(
			'outcomeStillUnknown',
			{ thing, atMs: known.acceptedAtMs || undefined, ...named },
			{ serviceMessage: known.said },
		);
	if (!known.lost || known.hash === request.hash) return undefined;
	const task = taskId === '' ? undefined : { taskId, elapsedMs: 0 };
	return gatewayError('createdFromOtherRequest', { thing, id: taskId, ...named }, { task });
}

/** Continues with what an earlier try has created. */
function continueWith(
	order: Order,
	{ taskId, hash, acceptedAtMs, handedOver, attempt, reusedKey, boughtIn, uploads, otherIds }: CreatedEntry,
	status: string,
	ports: Pick<SubmitPorts, 'events'>,
): undefined {
	const { keyHash } = order.request ?? {};
	if (boughtIn !== undefined && attempt !== undefined) order.purchase = { attempt, hash, boughtIn };
	else if (attempt !== undefined) order.purchase = { attempt, hash, ...(keyHash === undefined ? {} : { keyHash }) };
	if (reusedKey !== undefined || boughtIn !== undefined) order.reused = true;
	if (order.wait !== undefined && otherIds !== undefined) order.wait.otherIds = otherIds;
	const task = { taskId, status: order.thing === 'task' ? 'in_progress' : status, elapsedMs: 0 };
	accept(order, task, acceptedAtMs, uploads);
	// Another execution may have created the next one already, where this one fails.
	if (handedOver) dropRequest(order);
	ports.events.continued(order);
}

async function send<Answer extends { id: string }>(
	order: Order,
	{ create, status }: Product<Answer, unknown>,
	{ ledger, writeAhead, events, clock, client: { places }, sleep }: SubmitPorts,
	{ request: { body, hash, keyHash, uploads = [] }, ...guarded }: Sending,
): Promise<Answer | undefined> {
	let sentAtMs = clock.now();
	const sending = async () => {
		await guarded.sending();
		sentAtMs = clock.now();
	};
	const tries = notingTries(order, { ...guarded, sending });
	try {
		const buy = async () =>
			await createInSlot(order, { places, sleep }, tries, async (each) => await create(order, body, each));
		const { keys } = writeAhead;
		const timeLeftMs = timeLeftForSlot(order, places);
		const answer =
			keyHash === undefined || keys === undefined
				? await buy()
				: await buyForKey(order, keys, {
						create: buy,
						timeLeftMs,
						signal: anyOf(tries.signal, sleep?.signal),
						onWait: () => sleep?.waitsForOther(order),
					});
		if ('boughtAtMs' in answer) return reuse(order, answer, { ledger, events });
		const acceptedAtMs = clock.now();
		// Here, not behind the wait: an answer that arrives after a stop must be written down, too.
		const { attempt } = order.purchase ?? {};
		ledger.accepted(order.item, { taskId: answer.id, hash, acceptedAtMs, uploads, attempt });
		writeAhead.note?.(order, 'accepted', { taskId: answer.id });
		accept(order, { taskId: answer.id, status, elapsedMs: 0 }, acceptedAtMs);
		// A task that an earlier try has created has the whole timeout again.
		if (order.wait) order.wait.startedAtMs = order.isRetried ? (order.wait.startedAtMs ?? acceptedAtMs) : acceptedAtMs;
		events.accepted(order);
		return answer;
	} catch (thrown) {
		throw noteRefusal(order, thrown, { hash, ledger, writeAhead, events, sentAtMs });
	}
}

/** Notes each try of a request in its order, too. */
function notingTries(order: Order, guarded: Omit<Sending, 'request'>): AttemptHooks {
	return {
		...guarded,
		sending: async () => {
			await guarded.sending();
			beginSubmitting(order);
		},
		putOff: (pauseMs, answer) => {
			putOff(order);
			guarded.putOff(pauseMs, answer);
		},
	};
}

/**
 * The error of a request that was not accepted, or may not have been, which the ledger then remembers.
 *
 * @param sentAtMs when it was sent: the list of the account shows it at that time, however late the answer was missed
 */
function noteRefusal(
	order: Order,
	thrown: unknown,
	{
		hash,
		ledger,
		writeAhead,
		events,
		sentAtMs,
	}: Pick<SubmitPorts, 'ledger' | 'writeAhead' | 'events'> & { hash: string; sentAtMs: number },
): GatewayError {
	const error = asCreationError(thrown, order.thing);
	const isUnknown = error.kind === 'outcomeUnknown';
	if (order.purchase !== undefined) writeAhead.note?.(order, isUnknown ? 'unknown' : 'not_accepted', { error });
	if (error.kind === 'stopped') putOff(order);
	if (!isUnknown) return error;
	if (error.task !== undefined) events.accepted({ ...order, task: error.task });
	else if (error.details.serviceMessage) events.unclear(order, error.details.serviceMessage);
	const { serviceMessage: said } = error.details;
	ledger.outcomeUnknown(order.item, { hash, acceptedAtMs: sentAtMs, said, attempt: order.purchase?.attempt });
	return error.about({ atMs: sentAtMs, run: ledger.run });
}

/** Continues with what another order has bought under the same Purchase Key. */
function reuse(
	order: Order,
	{ id, boughtAtMs }: Bought,
	{ ledger, events }: Pick<SubmitPorts, 'ledger' | 'events'>,
): undefined {
	const { item, purchase } = order;
	const { hash, keyHash: reusedKey } = requestOf(order);
	ledger.accepted(item, { taskId: id, hash, acceptedAtMs: boughtAtMs, attempt: purchase?.attempt, reusedKey });
	accept(order, { taskId: id, status: 'in_progress', elapsedMs: 0 }, boughtAtMs);
	order.reused = true;
	events.continued(order);
}
