import { untilAborted } from '../abort';
import { steady, type Clock } from '../clock';
import { asGatewayError, gatewayError, stoppedError, type GatewayError } from '../errors';
import { REPEAT_FOR_MS } from '../limits';
import type { Order } from '../orders/order';
import type { Bought, PurchaseSteps } from '../orders/product';
import { isToSubmitAgain, toNamedRun, type SubmitAgain } from '../orders/runs';
import { keysUnderWay } from '../processMemory';
import { roughDuration, wordsOf } from '../text';
import { KeyWatch, type Attempt } from './keyWatch';
import type { PurchaseLog } from './purchaseLog';
import type { StoredRow } from './purchaseRow';

/** An attempt that takes long writes its row again after this time. */
const NEWS_MS = 60_000;

/** The shortest pause before the rows of a key are read again; by chance it takes up to three times as long. */
const PAUSE_MS = 300;
/** Each pause is longer than the one before, up to this: another one may wait hours for a slot of the account. */
const LONGER_BY = 1.5;
const LONGEST_PAUSE_MS = 3_000;

/** The outcome of an attempt, for the orders of the same process that wait for it. */
type Settled = { hash: string; executionId: string; run: string; atMs: number } & (
	| { bought: Bought; purchase: Order['purchase'] }
	| { error: GatewayError }
);

/** An order with a Purchase Key on its way to the service. */
interface Buyer {
	order: Order;
	log: PurchaseLog;
	/** Resolves when its request is near. */
	ready: () => Promise<() => void>;
	/** Called when it waits for another order. */
	waits: () => void;
	/** The milliseconds that it may still wait for others. */
	timeLeftMs: () => number;
	/** Aborts when nothing is to be bought any more. */
	signal?: AbortSignal;
	clock: Clock;
	/** Its own attempts: the last one, and those that it has given up. */
	own: Set<string>;
}

/**
 * Buys for a Purchase Key once, across executions and processes: calls `create` only where nothing else can have bought for
 * it. Returns what `create` returns, or what was bought before. Throws where another request was sent under the key, where nobody
 * knows whether the service has accepted it, or where the log cannot be used.
 *
 * In one process, the orders of a key take turns. Between processes, the rows decide: an attempt writes its row, then reads all
 * rows of the key, and buys only where no other attempt is among them. So at most one of two attempts buys, whichever
 * the database shows first: of their two readings, the later one sees both rows.
 */
export async function buyOnce<Answer extends { id: string }>(
	order: Order,
	log: PurchaseLog,
	{ create, ...steps }: PurchaseSteps<Answer>,
): Promise<Answer | Bought> {
	const buyer = { ...steps, order, log, clock: steady(log.ports.clock), own: new Set<string>() };
	const key = `${log.ports.columns.workflow_id} ${order.request?.keyHash}`;
	for (;;) {
		assertNotStopped(buyer);
		const other = keysUnderWay.get(key);
		if (other === undefined) return await inTurn(key, buyer, create);
		buyer.waits();
		const settled = await waitFor(other as Promise<Settled | undefined>, buyer);
		const bought = takeOver(settled, order);
		if (bought !== undefined) return bought;
	}
}

/** The outcome of another order of the same process. Throws when the order stops, or has waited as long as it may. */
async function waitFor(other: Promise<Settled | undefined>, buyer: Buyer): Promise<Settled | undefined> {
	const over = new AbortController();
	const timeIsUp = buyer.clock.sleep(buyer.timeLeftMs(), over.signal).then(() => undefined);
	const settled = await untilAborted(Promise.race([other, timeIsUp]), buyer.signal).finally(() => over.abort());
	if (settled === undefined) assertMayWait(buyer);
	return settled;
}

/** The purchase of another order, if it is one for this one, too. Throws where it says that there can be none. */
function takeOver(settled: Settled | undefined, order: Order): Bought | undefined {
	const { request } = order;
	if (settled === undefined || settled.hash !== request?.hash) return undefined;
	if ('bought' in settled) {
		// Its end is noted, too: the other order may be stopped before.
		order.purchase = settled.purchase;
		return settled.bought;
	}
	const { error, executionId, run, atMs } = settled;
	if (error.kind !== 'outcomeUnknown') throw error;
	// No person has seen its error yet.
	throw unclear(request, { execution: executionId, run, time: new Date(atMs).toISOString() });
}

async function inTurn<Answer extends { id: string }>(
	key: string,
	buyer: Buyer,
	create: () => Promise<Answer>,
): Promise<Answer | Bought> {
	const { order, log } = buyer;
	let settle: (settled?: Settled) => void = () => {};
	keysUnderWay.set(key, new Promise<Settled | undefined>((resolve) => (settle = resolve)));
	const atMs = log.ports.clock.now();
	const { executionId, columns } = log.ports;
	const about = { hash: order.request?.hash ?? '', executionId, run: columns.run, atMs };
	let settled: Settled | undefined;
	try {
		const earlier = await claim(buyer);
		const answer = earlier ?? (await withNews(buyer, create()));
		const bought = earlier ?? { id: answer.id, boughtAtMs: log.ports.clock.now() };
		settled = { ...about, bought, purchase: order.purchase };
		return answer;
	} catch (thrown) {
		const error = asGatewayError(thrown);
		if (!saysNothingOfOthers(error)) settled = { ...about, error };
		throw error;
	} finally {
		keysUnderWay.delete(key);
		settle(settled);
	}
}

/** Nothing was sent, for a reason that may not hold for the next one: it may name another run, or have more time. */
function saysNothingOfOthers({ kind, details: { reason } }: GatewayError): boolean {
	if (kind === 'stopped' || kind === 'notSubmitted') return true;
	return reason?.name === 'noFreePlace' || reason?.name === 'purchaseKeyUnclear';
}

/** Resolves when the order may be bought: with nothing, or with what was bought before. */
async function claim(buyer: Buyer): Promise<Bought | undefined> {
	const { order, log, own } = buyer;
	const watch = new KeyWatch(buyer.clock);
	for (let pauses = 0; ; pauses++) {
		const { others } = await readAttempts(buyer, watch);
		const [other] = others;
		if (other?.is === 'bought') return continueWith(order, other);
		if (other === undefined) {
			const notReady = await buyer.ready();
			await log.claim(order).catch((why: unknown) => giveUp(buyer, unavailable(why)));
			own.add(String(order.purchase?.attempt));
			if (await isAlone(buyer, watch)) return undefined;
			// It may wait for long now: others of its run get ready meanwhile.
			notReady();
		}
		buyer.waits();
		await pause(buyer, pauses);
	}
}

/** True when no other attempt is to be seen beside its own. Of two that meet, the one with the later row gives way. */
async function isAlone(buyer: Buyer, watch: KeyWatch): Promise<boolean> {
	const { order, log } = buyer;
	for (;;) {
		const { others, ownId } = await readAttempts(buyer, watch).catch((error: unknown) => giveUp(buyer, error));
		if (ownId === undefined) return giveUp(buyer, unavailable('the row of this item is not there'));
		if (others.length === 0) return true;
		if (others.some(({ is, row }) => is === 'bought' || row.id < ownId)) break;
		await pause(buyer).catch((error: unknown) => giveUp(buyer, error));
	}
	log.note(order, 'not_accepted');
	delete order.purchase;
	return false;
}

/**
 * Reads what the other attempts of the key are: first one that has bought, if there is one. Throws where nothing may be bought
 * because of them.
 */
async function readAttempts(
	{ order, log, own }: Buyer,
	watch: KeyWatch,
): Promise<{ others: Attempt[]; ownId?: number }> {
	const { request = {} as Partial<NonNullable<Order['request']>> } = order;
	const { hash, keyHash = '' } = request;
	const rows = await log.ports.table.rowsOfKey(keyHash).catch((why: unknown) => {
		throw unavailable(why);
	});
	const attempts = watch.read(rows);
	if (attempts === undefined)
		throw unavailable(
			'a row of this key cannot be read: it was changed, or another version of this package has written it',
		);
	const ownRow = attempts.find(({ row }) => row.attempt === order.purchase?.attempt);
	// A person has given up the last unclear one by the name of its run, and the task that the ledger replaces. Those
	// before it were given up when it was sent.
	const unclearOnes = attempts.filter(({ row, is }) => is === 'unknown' && !own.has(row.attempt));
	const areGivenUp = isToSubmitAgain(request, unclearOnes.at(-1)?.row.run, log.ports.columns.run);
	const replaced = request.submitAgainFor === undefined ? [] : (order.earlierTaskIds ?? []);
	const isGivenUp = ({ row, is }: Attempt) =>
		(is === 'unknown' && areGivenUp) || (is === 'bought' && replaced.includes(row.task_id));
	const others = attempts.filter((attempt) => !own.has(attempt.row.attempt) && !isGivenUp(attempt));
	// One that is under way may still be refused, and then it has not used the key.
	const conflict = others.find(({ row, is }) => is !== 'underWay' && row.request_hash !== hash);
	if (conflict !== undefined) throw gatewayError('purchaseKeyConflict', about(conflict.row));
	// The newest one: those before were given up.
	const bought = others.filter(({ is }) => is === 'bought').sort((a, b) => b.row.id - a.row.id);
	const last = others.filter(({ is }) => is === 'unknown').at(-1);
	if (bought.length === 0 && last !== undefined) throw unclear(request, last.row);
	return { others: bought.length > 0 ? bought : others, ownId: ownRow?.row.id };
}

/** @param other the attempt of which it is not known whether it has bought something */
function unclear(request: SubmitAgain, other: Pick<StoredRow, 'execution' | 'run' | 'time'>): GatewayError {
	return gatewayError('purchaseKeyUnclear', { ...about(other), ...toNamedRun(request, other.run) });
}

function about({ execution, time, task_id: id }: Pick<StoredRow, 'execution' | 'time'> & { task_id?: string }) {
	return { execution, time, ...(id ? { id } : {}) };
}

/** Its end is noted in the rows of the attempt that has bought it. */
function continueWith(order: Order, { row }: Attempt): Bought {
	const { hash = '', keyHash } = order.request ?? {};
	order.purchase = { attempt: row.attempt, hash, keyHash };
	return { id: row.task_id, boughtAtMs: Date.parse(row.time) };
}

function unavailable(why: unknown): GatewayError {
	return gatewayError('purchaseLogUnavailable', { why: wordsOf(why) });
}

/** Withdraws an attempt that has surely sent nothing. */
function giveUp({ order, log }: Buyer, error: unknown): never {
	log.note(order, 'not_accepted', { error: asGatewayError(error) });
	delete order.purchase;
	throw error;
}

/** Tells others that a request which takes long is still under way. */
export async function withNews<T>(
	{ order, log, clock }: Pick<Buyer, 'order' | 'log' | 'clock'>,
	work: Promise<T>,
): Promise<T> {
	const over = new AbortController();
	const tell = async () => {
		for (;;) {
			await clock.sleep(NEWS_MS, over.signal);
			if (over.signal.aborted) return;
			log.note(order, 'submitting');
		}
	};
	void tell();
	return await work.finally(() => over.abort());
}

/** @param before the pauses before this one */
async function pause(buyer: Buyer, before = 0): Promise<void> {
	const shortestMs = Math.min(PAUSE_MS * LONGER_BY ** before, LONGEST_PAUSE_MS);
	const pauseMs = shortestMs * (1 + 2 * buyer.clock.random());
	await buyer.clock.sleep(Math.min(pauseMs, Math.max(0, buyer.timeLeftMs())), buyer.signal);
	assertMayWait(buyer);
}

function assertNotStopped({ signal }: Buyer): void {
	if (signal?.aborted) throw stoppedError();
}

/** An order that holds the key for longer than a request takes is waiting for a place itself. */
function assertMayWait(buyer: Buyer): void {
	assertNotStopped(buyer);
	if (buyer.timeLeftMs() > 0) return;
	const time = roughDuration(buyer.order.wait?.timeoutMs ?? REPEAT_FOR_MS);
	throw gatewayError('noFreePlace', { time, sameKey: true });
}
