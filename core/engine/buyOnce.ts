import type { Place, RunPlaces } from '../account/places';
import { isAhead, steady, type Clock } from '../clock';
import { asGatewayError, gatewayError, type GatewayError } from '../errors';
import { asCreationError } from '../http/answers';
import type { CreateAttempt } from '../http/types';
import { backoffMs, limitOf } from '../http/retry';
import { withUploads, type ImageFile, type PendingFiles } from '../models/images';
import { buyForKey, type Bought } from '../journal/purchaseKey';
import type { WriteAhead } from '../journal/marks';
import type { JsonObject } from '../json';
import { REPEAT_FOR_MS, SHORTEST_PAUSE_MS } from '../limits';
import { toNamedRun, type LedgerEntry, type OrderLedger, type SubmitAgain } from '../orders/ledger';
import type { JobControls } from './jobs';
import type { Purchase } from '../orders/order';
import type { SleepCoordinator } from './sleepCoordinator';
import { accept, beginSubmitting, dropRequest, putOff, endBadly, isGivenUp, isReplacedByRetry } from '../orders/states';

/** Tries when no connection could be made: a wrong address must be reported soon. */
const CONNECTION_TRIES = 4;

/**
 * An accepted task keeps its place for so long until its wait begins, in another execution maybe. Milliseconds. Afterwards
 * the service refuses the task that is one too many, which costs nothing.
 */
const UNTIL_WAIT_BEGINS_MS = 60_000;

/**
 * Creates the thing of one order, once, however often the run is tried: nothing else creates anything at the service.
 * Returns the answer; undefined where an earlier try, or its Purchase Key, has bought it. Throws where that is unknown.
 */
export async function buyOnce<Answer extends { id: string }>(
	order: Purchase,
	creation: Creation<Answer>,
	ports: BuyPorts,
	controls: JobControls,
): Promise<Answer | undefined> {
	const known = await createdBefore(order, creation, ports);
	if (known !== undefined) return continueWith(order, known, { status: creation.status, events: ports.events });
	await upload(order, ports, controls);
	return await controls.submitting(async (signal, failed) => {
		const buying = new Buying(order, creation, ports, { signal, failed });
		const { keyHash } = requestOf(order);
		const { keys } = ports.writeAhead;
		if (keyHash === undefined || keys === undefined) return await buying.create();
		const bought = await buyForKey(order, keys, {
			create: async () => await buying.create(),
			timeLeftMs: () => buying.timeLeftMs,
			signal: buying.signal,
			onWait: buying.onWait,
		});
		return 'boughtAtMs' in bought ? reuse(order, bought, ports) : bought;
	});
}

/** The creating request of one kind of thing. A new kind of purchase is one more of these: CONTRIBUTING has the recipe. */
export interface Creation<Answer extends { id: string }> {
	/** The status of a new thing, for messages. */
	status: string;
	/** Sends the request once. `body` has the URLs of uploaded files in it. */
	send: (body: JsonObject, attempt: CreateAttempt) => Promise<Answer>;
	/** True when the thing of an earlier try can still be used. Absent: always. */
	isReusable?: (entry: LedgerEntry) => boolean;
}

export interface BuyPorts {
	/** Remembers what was bought, for the retries of an execution. */
	ledger: OrderLedger;
	writeAhead: WriteAhead;
	events: OrderEvents;
	clock: Clock;
	/** The files that the body refers to, which are beside the order. */
	filesOf: (order: Purchase) => PendingFiles;
	uploadImage: (file: ImageFile) => Promise<string>;
	client: {
		/** Absent places are not limited. */
		places?: RunPlaces;
		/** The service has answered 429, and no task of the account runs here: all requests hold back. */
		holdBack?: (delayMs: number) => void;
		/** A request is sent again after a pause. */
		onRetry?: (error: GatewayError, waitMs: number) => void;
	};
	/** Ends the waits of orders for others: when the execution sleeps, or hands them over. */
	sleep?: Pick<SleepCoordinator, 'signal' | 'waitsForOther'>;
}

/** Listens to orders, and logs every ID at once. */
export interface OrderEvents {
	/** The service has accepted it. */
	accepted(order: Purchase): void;
	/** The outcome is unknown, and these words of the service may tell it. */
	unclear(order: Purchase, said: string): void;
	/** An earlier try has created it. */
	continued(order: Purchase): void;
	/** Nothing is left to fetch: its result was delivered, or it has failed at the service. */
	finished(order: Purchase): void;
}

type Request = NonNullable<Purchase['request']>;

type KnownEntry = LedgerEntry & { taskId: string };

/** Continues an order with what an earlier try has created. Sends nothing. Throws where one may have created it. */
export async function continueKnown<Answer extends { id: string }>(
	order: Purchase,
	{ status, isReusable }: Pick<Creation<Answer>, 'status' | 'isReusable'>,
	ports: Pick<BuyPorts, 'ledger' | 'writeAhead' | 'events'>,
): Promise<void> {
	const known = await createdBefore(order, { isReusable }, ports);
	if (known !== undefined) continueWith(order, known, { status, events: ports.events });
}

/** Uploads the files of an order, which costs nothing, and puts their URLs into its request. Not called where the thing exists. */
export async function upload(
	order: Purchase,
	{ filesOf, uploadImage, writeAhead }: Pick<BuyPorts, 'filesOf' | 'uploadImage' | 'writeAhead'>,
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

/**
 * One order on its way to the service: place of the account → row and fence → one request → outcome noted, and again from the
 * beginning as long as the service has surely not accepted it, and another try is worth it (`core/http/retry.ts`).
 */
class Buying<Answer extends { id: string }> {
	/** Aborts when nothing more is to be submitted, or when the execution sleeps. */
	readonly signal: AbortSignal;

	private readonly clock: Clock;

	/** The requests so far that got the same kind of refusal: pauses grow with them. */
	private refusals = 0;

	private connectionTries = 0;

	/** From then on, a refusal is the end. */
	private giveUpAtMs?: number;

	/** The last try has left. */
	private isSent = false;

	private sentAtMs: number;

	/** The last answer of 429. */
	private tooMany?: GatewayError;

	/** The first wish for a place, in another execution maybe, by the clock of the places. */
	private readonly wantedSinceMs?: number;

	constructor(
		private readonly order: Purchase,
		private readonly creation: Creation<Answer>,
		private readonly ports: BuyPorts,
		private readonly ending: { signal: AbortSignal; failed?: (error: GatewayError) => void },
	) {
		const { sleep, clock, client } = ports;
		this.signal = sleep === undefined ? ending.signal : AbortSignal.any([ending.signal, sleep.signal]);
		this.clock = steady(clock);
		this.sentAtMs = clock.now();
		if (client.places !== undefined && order.thing === 'task') this.wantedSinceMs = sinceWhen(order, client.places);
	}

	/** The milliseconds that the order may still wait for a place, or for another order. */
	get timeLeftMs(): number {
		const { places } = this.ports.client;
		if (this.wantedSinceMs === undefined || places === undefined) return Infinity;
		return this.wantedSinceMs + timeoutOf(this.order) - places.nowMs();
	}

	/** An order that waits because the service is busy, or the account is full, waits for others, too. */
	readonly onWait = () => this.ports.sleep?.waitsForOther(this.order);

	/** Throws where the service has refused it, or may have accepted it. */
	async create(): Promise<Answer> {
		for (;;) {
			const place = await this.takePlace();
			const outcome = await this.tryIn(place).catch((thrown: unknown) => this.refused(thrown, place));
			if (!('pauseMs' in outcome)) return this.accepted(outcome, place);
			if (outcome.pauseMs > 0) await this.pause(outcome.pauseMs);
		}
	}

	private async pause(pauseMs: number): Promise<void> {
		const goesOn = this.onWait();
		await this.clock.sleep(pauseMs, this.signal);
		goesOn?.();
	}

	/** Undefined where the account has no places for such things. */
	private async takePlace(): Promise<Place | undefined> {
		const { order, signal, ports, onWait, wantedSinceMs } = this;
		if (wantedSinceMs === undefined) return undefined;
		const { scope } = order;
		return await ports.client.places?.take({
			sinceMs: wantedSinceMs,
			timeoutMs: timeoutOf(order),
			scope,
			signal,
			onWait,
		});
	}

	/** Sends the request once, when its row is written and it is its turn. */
	private async tryIn(place: Place | undefined): Promise<Answer> {
		const { order, creation, ports } = this;
		const { writeAhead } = ports;
		const signal = place === undefined ? this.signal : AbortSignal.any([this.signal, place.taken]);
		this.isSent = false;
		await writeAhead.begin(order, signal, this.onWait);
		return await creation.send(requestOf(order).body, {
			signal,
			turnWithinMs: writeAhead.turnWithinMs,
			beforeSend: () => {
				writeAhead.leaves?.(order);
				place?.leaves();
				beginSubmitting(order);
				this.sentAtMs = ports.clock.now();
				this.isSent = true;
			},
		});
	}

	private accepted(answer: Answer, place: Place | undefined): Answer {
		const { order, ports, creation } = this;
		const { hash, uploads = [] } = requestOf(order);
		const acceptedAtMs = ports.clock.now();
		// Not behind the wait: an answer that arrives after a stop must be written down, too.
		ports.ledger.accepted(order.item, {
			...{ taskId: answer.id, hash, acceptedAtMs, uploads, attempt: order.purchase?.attempt },
		});
		ports.writeAhead.note(order, 'accepted', { taskId: answer.id });
		accept(order, { taskId: answer.id, status: creation.status, elapsedMs: 0 }, acceptedAtMs);
		// A task that an earlier try has created has the whole timeout again; Retry On Fail in the database has one for all tries.
		const { wait, isRetried } = order;
		if (wait) wait.startedAtMs = isRetried ? (wait.startedAtMs ?? acceptedAtMs) : acceptedAtMs;
		ports.events.accepted(order);
		// No execution sees the end of a task that is not waited for.
		if (order.then === 'poll') place?.accepted(answer.id, UNTIL_WAIT_BEGINS_MS);
		else place?.free();
		return answer;
	}

	/** Returns the pause before the next try. Throws the error where there is none. */
	private refused(thrown: unknown, place: Place | undefined): { pauseMs: number } {
		const { order, ports, ending } = this;
		// What was not sent has created nothing, whatever the error says about earlier tries.
		const error = this.isSent ? asCreationError(thrown, order.thing) : this.unsent(asGatewayError(thrown));
		if (error.kind === 'rateLimited') this.tooMany = error;
		const pauseMs = this.pauseAfter(error, place);
		if (pauseMs !== undefined) {
			putOff(order);
			const { again } = error.details;
			const answer = again !== undefined && again.lateByMs === undefined ? error : undefined;
			ports.writeAhead.note(order, 'not_accepted', { error: answer, pauseMs });
			delete order.purchase;
			place?.free();
			return { pauseMs };
		}
		const isUnknown = this.isSent && error.kind === 'outcomeUnknown';
		ports.writeAhead.note(order, isUnknown ? 'unknown' : 'not_accepted', { error });
		if (error.kind === 'stopped') putOff(order);
		// The next one leaves at once: by then, it is known what the error means for it.
		if (error.kind !== 'stopped') ending.failed?.(error);
		place?.free();
		delete error.details.again;
		throw isUnknown ? this.inDoubt(error) : error;
	}

	/** The account was full for as long as its row may wait: where it was sent before, it has an answer of its own. */
	private unsent(error: GatewayError): GatewayError {
		return error.kind === 'rateLimited' ? (this.tooMany ?? error) : error;
	}

	/** The pause before the next try, in milliseconds; undefined where this one was the last. */
	private pauseAfter(error: GatewayError, place: Place | undefined): number | undefined {
		const { again, httpStatus, retryAfterMs } = error.details;
		// The execution that goes on sends it again, after a sleep or a hand-over: a refusal that may pass is no end.
		const isForLater = again !== undefined && this.ports.sleep?.signal.aborted === true;
		if (this.signal.aborted) return isForLater ? this.pauseForLater(error, place) : undefined;
		// The account has turned out to have fewer places, before the request has left.
		if (place?.taken.aborted) return 0;
		// The answers of the account are known already, and its places are those of others.
		if (!this.isSent && error.kind === 'rateLimited') return this.pauseOfSleeper();
		if (again === undefined) return undefined;
		// Not before: among many others, a request may wait for minutes until it is its turn.
		this.giveUpAtMs ??= this.clock.now() + REPEAT_FOR_MS;
		// A pause has come in between.
		if (again.lateByMs !== undefined) return Math.max(1, again.lateByMs);
		// Each time that it wakes up, it has a place, and minutes for tries: it would ask for ever.
		if (this.ports.sleep !== undefined && this.timeLeftMs <= 0) return undefined;
		if (again.isConnection && ++this.connectionTries >= CONNECTION_TRIES) return undefined;
		const pauseMs = Math.max(SHORTEST_PAUSE_MS, retryAfterMs ?? backoffMs(++this.refusals, this.clock.random));
		if (httpStatus === 429) {
			const refusal = { limit: limitOf(error.details), askedMs: retryAfterMs };
			// Another one becomes free when a task ends, and when the pause is over.
			if (place?.refused(refusal)) {
				this.ports.client.onRetry?.(error, pauseMs);
				return 0;
			}
			this.ports.client.holdBack?.(pauseMs);
		}
		if (this.clock.now() + pauseMs > (this.giveUpAtMs ?? Infinity))
			return httpStatus === 429 ? this.pauseOfSleeper() : undefined;
		this.ports.client.onRetry?.(error, pauseMs);
		return pauseMs;
	}

	/** Nothing waits any more here, but the account goes by the answer. */
	private pauseForLater({ details }: GatewayError, place: Place | undefined): number {
		const { httpStatus, retryAfterMs = 0 } = details;
		if (httpStatus !== 429) return 0;
		if (place?.refused({ limit: limitOf(details), askedMs: details.retryAfterMs })) return 0;
		this.ports.client.holdBack?.(Math.max(SHORTEST_PAUSE_MS, retryAfterMs));
		// The account takes nothing: that is what a pause says.
		return 1;
	}

	/** In n8n's database, an order waits for a full account as long as for a place: it is due when the execution wakes up. */
	private pauseOfSleeper(): number | undefined {
		if (this.ports.sleep === undefined || this.timeLeftMs <= 0) return undefined;
		return Math.min(REPEAT_FOR_MS, this.timeLeftMs);
	}

	/** The error of a request that may have been accepted, which the ledger then remembers. */
	private inDoubt(error: GatewayError): GatewayError {
		const { order, ports, sentAtMs } = this;
		const { serviceMessage: said } = error.details;
		if (error.task !== undefined) ports.events.accepted({ ...order, task: error.task });
		else if (said) ports.events.unclear(order, said);
		// The list of the account shows it at the time of the request, however late the answer was missed.
		const { hash } = requestOf(order);
		ports.ledger.outcomeUnknown(order.item, { hash, acceptedAtMs: sentAtMs, said, attempt: order.purchase?.attempt });
		return error.about({ atMs: sentAtMs, run: ports.ledger.run });
	}
}

const timeoutOf = ({ wait }: Pick<Purchase, 'wait'>) => wait?.timeoutMs ?? REPEAT_FOR_MS;

/** The first wish for a place, by the clock of the places. Another process, or this one before a restart, may have noted it. */
function sinceWhen({ wait }: Pick<Purchase, 'wait'>, places: RunPlaces): number {
	const [nowMs, wallMs] = [places.nowMs(), places.wallMs()];
	if (wait === undefined) return nowMs;
	if (wait.wantedAtMs === undefined || isAhead(wait.wantedAtMs, wallMs)) wait.wantedAtMs = wallMs;
	return nowMs - (wallMs - wait.wantedAtMs);
}

function requestOf({ request }: Purchase): Request {
	if (request === undefined) throw gatewayError('packageBug', { words: 'an order without a request was submitted' });
	return request;
}

/** The thing that an earlier try has created for an order. Throws where one may have created it. */
async function createdBefore<Answer extends { id: string }>(
	order: Purchase,
	{ isReusable }: Pick<Creation<Answer>, 'isReusable'>,
	{ ledger, writeAhead }: Pick<BuyPorts, 'ledger' | 'writeAhead'>,
): Promise<KnownEntry | undefined> {
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
	return (isReusable?.(known) ?? true) ? known : undefined;
}

function isCreated(entry: LedgerEntry): entry is KnownEntry {
	return entry.taskId !== undefined;
}

/** The reason why it is not known whether this order has been bought, if there is one. */
function doubtAbout(
	{ thing }: Purchase,
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
	order: Purchase,
	{ taskId, hash, acceptedAtMs, handedOver, attempt, reusedKey, boughtIn, uploads, otherIds }: KnownEntry,
	{ status, events }: Pick<BuyPorts, 'events'> & { status: string },
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
	events.continued(order);
}

/** Continues with what another order has bought under the same Purchase Key. */
function reuse(
	order: Purchase,
	{ id, boughtAtMs }: Bought,
	{ ledger, events }: Pick<BuyPorts, 'ledger' | 'events'>,
): undefined {
	const { item, purchase } = order;
	const { hash, keyHash: reusedKey } = requestOf(order);
	ledger.accepted(item, { taskId: id, hash, acceptedAtMs: boughtAtMs, attempt: purchase?.attempt, reusedKey });
	accept(order, { taskId: id, status: 'in_progress', elapsedMs: 0 }, boughtAtMs);
	order.reused = true;
	events.continued(order);
}

/**
 * Buys a thing that is no task, which cannot sleep, and makes its output. Throws the error that the purchase ends with.
 *
 * @param finish called when the thing exists. The answer is absent where an earlier try has created it
 */
export async function buyThing<Answer extends { id: string }, Output>(
	thing: Purchase,
	creation: Creation<Answer>,
	{ ports, controls }: { ports: BuyPorts; controls: JobControls },
	finish: (answer?: Answer) => Promise<Output> | Output,
): Promise<Output> {
	// It loses its request as soon as it is accepted.
	const { submitAgainFor } = thing.request ?? {};
	let answer: Answer | undefined;
	try {
		answer = await buyOnce(thing, creation, ports, controls);
		return await finish(answer);
	} catch (thrown) {
		// One that was just created is not what the form has named.
		throw endPurchase(thrown, thing, ports, answer === undefined ? { submitAgainFor } : {});
	}
}

/** Ends a purchase with what was thrown, unless that is a stop. Returns the error to throw. */
export function endPurchase(
	thrown: unknown,
	order: Purchase,
	{ events, ledger }: Pick<BuyPorts, 'events' | 'ledger'>,
	{ hints, explain = (error) => error, ...named }: Ending = {},
): GatewayError {
	const error = asGatewayError(thrown);
	const { otherIds = [] } = order.wait ?? {};
	if (otherIds.length > 0) ledger.isCalled(order.item, otherIds);
	// A stop says nothing about the thing: another execution may go on with it.
	if (error.kind === 'stopped') return error;
	if (error.kind === 'taskFailed') events.finished(order);
	const explained = explain(error);
	if (isGivenUp(order, explained))
		return endBadly(order, explained.about(toNamedRun(named, ledger.givenUp(order.item))), hints);
	const ended = endBadly(order, explained, hints);
	if (isReplacedByRetry(order)) ledger.forget(order.item);
	return ended;
}

interface Ending extends SubmitAgain {
	hints?: ReadonlySet<string>;
	/** Replaces an error where the purchase tells more about it than the answer. */
	explain?: (error: GatewayError) => GatewayError;
}
