import { onAbort, untilAborted } from '../abort';
import type { Clock } from '../clock';
import { asGatewayError, gatewayError, stoppedError, type GatewayError } from '../errors';
import { MAY_BE_UNDER_WAY_MS, REPEAT_FOR_MS } from '../limits';
import type { Purchase } from '../orders/order';
import { isToSubmitAgain, toNamedRun, type SubmitAgain } from '../orders/ledger';
import { keysUnderWay } from '../processMemory';
import { roughDuration, wordsOf } from '../text';
import { lastOfAttempts, meaningOf, runOf } from './replay';
import { isAttempt, LEASE, parseRow, type AttemptRow } from './row';
import { outlasting } from './table';

/** A key holds for so long after its purchase. */
export const KEY_MS = 30 * 24 * 60 * 60 * 1000;

/** The clocks of a worker and of the database differ by less than this: only an older row tells by its time that its request has ended. */
const CLOCKS_DIFFER_MS = 10 * 60_000;

/** The shortest pause before the rows of a key are read again; by chance it takes up to three times as long. */
const PAUSE_MS = 300;
/** Each pause is longer than the one before, up to this: another order may wait long for a place of the account. */
const LONGER_BY = 1.5;
const LONGEST_PAUSE_MS = 3_000;
/** Of two that meet, the later one withdraws its row within this time, unless its process is dead. */
const MEETS_FOR_MS = 3_000;

/** The claims of the orders of one run under their Purchase Keys. */
export interface KeyClaims {
	rowsOfKey: (keyHash: string) => Promise<unknown[]>;
	/** The rows of the last key could not be read for a minute. */
	isAway?: boolean;
	/** Without jumps. */
	clock: Clock;
	wallClock: Clock;
	executionId: string;
	/** The name of the run: see `core/orders/ledger.ts`. */
	run: string;
	/** See `OrderLedger`. */
	ownRuns: readonly string[];
	workflowId: string;
	/** The attempts of an order: the last one, and those that it has withdrawn. */
	own: WeakMap<Purchase, Set<string>>;
	/** Orders that have withdrawn their row, because another one has the key: they look again. */
	gaveWay: WeakSet<Purchase>;
	/**
	 * The times at which the rows of attempts without an outcome were seen first, by our clock: others may go wrong. They are kept while the
	 * execution sleeps: otherwise each awakening would wait for a dead one from the beginning.
	 */
	memory: { seenAtMs?: Record<string, number> };
}

/** The thing that another order has bought under the same Purchase Key. */
export interface Bought {
	id: string;
	/** Unix milliseconds. */
	boughtAtMs: number;
}

/** The steps of a purchase under a key. */
export interface KeySteps<Answer> {
	/** Takes a place of the account, writes the row and sends the request. */
	create: () => Promise<Answer>;
	/** The milliseconds that it may still wait for others. */
	timeLeftMs: () => number;
	/** Aborts when nothing is to be bought any more, or when the execution sleeps. */
	signal?: AbortSignal;
	/** Called when it begins to wait for another order. What it returns is called when it waits no more. */
	onWait?: () => (() => void) | undefined;
}

type Buyer = Omit<KeySteps<unknown>, 'create'> & { order: Purchase; keys: KeyClaims };

/** An attempt that has bought something under a key, may be about to, or may have. */
interface Attempt {
	is: 'bought' | 'underWay' | 'unknown';
	/** Its last row. */
	row: AttemptRow;
}

/** The outcome of an attempt, for the orders of the same process that wait for it. */
type Settled = { hash: string; executionId: string; run: string; atMs: number } & (
	| { bought: Bought; purchase: Purchase['purchase'] }
	| { error: GatewayError }
);

/**
 * Buys for a Purchase Key once, across executions and processes: calls `create` only where nothing else can have bought for
 * it. Returns the answer of `create`, or what was bought before. Throws where another request was sent under the key, where it is not
 * known whether the service has accepted it, or where the rows cannot be read.
 *
 * In one process, the orders of a key take turns, before they take a place of the account. Between processes, the rows decide: an
 * attempt writes its row, then looks for all rows of the key, and buys only where no other attempt is among them. So at most one of
 * two attempts buys, whichever the database shows first: of their two looks, the later one sees both rows.
 */
export async function buyForKey<Answer extends { id: string }>(
	order: Purchase,
	keys: KeyClaims,
	steps: KeySteps<Answer>,
): Promise<Answer | Bought> {
	const buyer: Buyer = { ...steps, order, keys };
	const key = `${keys.workflowId} ${order.request?.keyHash}`;
	for (;;) {
		assertNotStopped(buyer);
		const other = keysUnderWay.get(key);
		if (other === undefined) return await inTurn(key, buyer, steps.create);
		const settled = await waitFor(other as Promise<Settled | undefined>, buyer);
		const bought = takeOver(settled, order);
		if (bought !== undefined) return bought;
	}
}

/** The outcome of another order of the same process. Throws when the order stops, or has waited as long as it may. */
async function waitFor(other: Promise<Settled | undefined>, buyer: Buyer): Promise<Settled | undefined> {
	const over = new AbortController();
	onAbort(over.signal, buyer.onWait?.() ?? (() => {}));
	const timeIsUp = buyer.keys.clock.sleep(buyer.timeLeftMs(), over.signal).then(() => undefined);
	const settled = await untilAborted(Promise.race([other, timeIsUp]), buyer.signal).finally(() => over.abort());
	if (settled === undefined) assertMayWait(buyer);
	return settled;
}

/** The purchase of another order, if it is one for this one, too. Throws where it says that there can be none. */
function takeOver(settled: Settled | undefined, order: Purchase): Bought | undefined {
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
	throw unclear(request, { execution: executionId, run, atMs });
}

async function inTurn<Answer extends { id: string }>(
	key: string,
	buyer: Buyer,
	create: () => Promise<Answer>,
): Promise<Answer | Bought> {
	const { order, keys } = buyer;
	let settle: (settled?: Settled) => void = () => {};
	keysUnderWay.set(key, new Promise<Settled | undefined>((resolve) => (settle = resolve)));
	const atMs = keys.wallClock.now();
	const about = { hash: order.request?.hash ?? '', executionId: keys.executionId, run: keys.run, atMs };
	let settled: Settled | undefined;
	try {
		const answer = await findOrCreate(buyer, create);
		const bought = 'boughtAtMs' in answer ? answer : { id: answer.id, boughtAtMs: keys.wallClock.now() };
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

/** Resolves with what was bought before, or what `create` has bought; asks again as long as another order may be buying. */
async function findOrCreate<Answer extends { id: string }>(
	buyer: Buyer,
	create: () => Promise<Answer>,
): Promise<Answer | Bought> {
	const { order, keys } = buyer;
	for (let pauses = 0; ; pauses++) {
		const rows = await untilAborted(rowsOutlasting(buyer), buyer.signal);
		if (rows === undefined) throw stoppedError();
		const [other] = othersIn(buyer, rows).others;
		if (other?.is === 'bought') return continueWith(order, other);
		if (other === undefined) {
			try {
				return await create();
			} catch (thrown) {
				const error = asGatewayError(thrown);
				if (!keys.gaveWay.delete(order)) throw error;
			}
		}
		const goesOn = buyer.onWait?.();
		await pause(buyer, pauses).finally(goesOn);
	}
}

async function rowsOf({ order, keys }: Buyer): Promise<unknown[]> {
	return await keys.rowsOfKey(order.request?.keyHash ?? '').catch((why: unknown) => {
		throw unavailable(why);
	});
}

/**
 * The same, where the database may be away for a moment: that holds the item up, as it does one without a key. Where it stays away, the
 * next items ask once, or each of a thousand would wait a minute.
 */
async function rowsOutlasting(buyer: Buyer): Promise<readonly unknown[]> {
	const { keys } = buyer;
	const read = async () => {
		const rows = await rowsOf(buyer);
		keys.isAway = false;
		return rows;
	};
	if (keys.isAway === true) return await read();
	return await outlasting(keys.clock, read).catch((thrown: unknown) => {
		keys.isAway = true;
		throw asGatewayError(thrown);
	});
}

/**
 * Resolves when no other attempt is to be seen beside the row of an order, which is in the table. Of two that meet, the one with
 * the later row withdraws it: rejects, and the order is in `gaveWay`. Rejects, too, where nothing may be bought because of others.
 *
 * @param found the rows that a look has found after the order's own row was there
 * @param signal aborts when the row is withdrawn for another reason: then the order has not given way
 */
export async function claimOthers(
	keys: KeyClaims,
	order: Purchase,
	found: readonly unknown[],
	signal?: AbortSignal,
): Promise<void> {
	const buyer: Buyer = { order, keys, timeLeftMs: () => MAY_BE_UNDER_WAY_MS, signal };
	const untilMs = keys.clock.now() + MEETS_FOR_MS;
	let rows = found;
	for (;;) {
		assertNotStopped(buyer);
		const { others, ownId } = othersIn(buyer, rows);
		if (ownId === undefined) throw unavailable('the row of this item is not there');
		if (others.length === 0) return;
		const isFirst = others.every(({ is, row }) => is !== 'bought' && row.id > ownId);
		// Otherwise, where the process of the other one is dead, the row would keep the account's other orders from writing theirs.
		if (!isFirst || keys.clock.now() >= untilMs) {
			keys.gaveWay.add(order);
			throw stoppedError();
		}
		await keys.clock.sleep(PAUSE_MS * (1 + 2 * keys.clock.random()), signal);
		rows = await rowsOf(buyer);
	}
}

/** The other attempts of the key, first one that has bought. Throws where nothing may be bought because of them. */
function othersIn({ order, keys }: Buyer, rows: readonly unknown[]): { others: Attempt[]; ownId?: number } {
	const { request = {} as Partial<NonNullable<Purchase['request']>>, purchase } = order;
	const { hash, keyHash } = request;
	const own = keys.own.get(order) ?? new Set();
	const attempts = readAttempts(keys, rows, { keyHash, own });
	if (attempts === undefined)
		throw unavailable(
			'a row of this key cannot be read: it was changed, or another version of this package has written it',
		);
	const ownRow = attempts.find(({ row }) => row.attempt === purchase?.attempt);
	// A person has given up the last unclear one by the name of its run, and the task that the ledger replaces. Those
	// before it were given up when it was sent.
	const last = attempts.filter(({ is }) => is === 'unknown').at(-1);
	const areGivenUp = isToSubmitAgain(request, last && runOf(last.row), keys.ownRuns);
	const replaced = request.submitAgainFor === undefined ? [] : (order.earlierTaskIds ?? []);
	const isGivenUp = ({ row, is }: Attempt) =>
		(is === 'unknown' && areGivenUp) || (is === 'bought' && replaced.includes(row.task_id));
	const others = attempts.filter((attempt) => !own.has(attempt.row.attempt) && !isGivenUp(attempt));
	// One that is under way may still be refused, and then it has not used the key.
	const conflict = others.find(({ row, is }) => is !== 'underWay' && row.request_hash !== hash);
	if (conflict !== undefined) throw gatewayError('purchaseKeyConflict', about(conflict.row));
	// The newest one: those before were given up.
	const bought = others.filter(({ is }) => is === 'bought').sort((a, b) => b.row.id - a.row.id);
	const unknown = others.filter(({ is }) => is === 'unknown').at(-1);
	if (bought.length === 0 && unknown !== undefined)
		throw unclear(request, { ...unknown.row, run: runOf(unknown.row), atMs: unknown.row.createdAt });
	return { others: bought.length > 0 ? bought : others, ownId: ownRow?.row.id };
}

/**
 * The attempts of the last 30 days, in the sequence in which they began. Those that have surely bought nothing are not
 * among them, nor those whose task has failed. Undefined where a row cannot be read: it may mean a purchase.
 */
function readAttempts(
	keys: KeyClaims,
	values: readonly unknown[],
	{ keyHash, own }: { keyHash?: string; own: ReadonlySet<string> },
): Attempt[] | undefined {
	const parsed = values.map(parseRow);
	if (!parsed.every((row) => row !== undefined)) return undefined;
	const rows = parsed.filter((row) => row.state !== LEASE && row.key_hash === keyHash).filter(isAttempt);
	const nowMs = keys.wallClock.now();
	const young = new Set(rows.flatMap(({ createdAt, attempt }) => (nowMs - createdAt < KEY_MS ? attempt : [])));
	return [...lastOfAttempts(rows).values()]
		.filter((row) => meaningOf(row) !== 'free' && young.has(row.attempt))
		.map((row) => ({ is: own.has(row.attempt) ? 'underWay' : meaningNow(keys, row, nowMs), row }));
}

function meaningNow(keys: KeyClaims, row: AttemptRow, nowMs: number): Attempt['is'] {
	if (meaningOf(row) === 'created' && row.task_id !== '') return 'bought';
	return isUnderWay(keys, row, nowMs) ? 'underWay' : 'unknown';
}

function isUnderWay({ memory, clock }: KeyClaims, row: AttemptRow, nowMs: number): boolean {
	if (row.state !== 'submitting') {
		delete memory.seenAtMs?.[row.attempt];
		return false;
	}
	memory.seenAtMs ??= {};
	const seen = (memory.seenAtMs[row.attempt] ??= clock.now());
	return clock.now() - seen < MAY_BE_UNDER_WAY_MS && nowMs - row.createdAt < CLOCKS_DIFFER_MS;
}

/** @param other the attempt of which it is not known whether it has bought something */
function unclear(request: SubmitAgain, other: { execution: string; run: string; atMs: number }): GatewayError {
	const time = new Date(other.atMs).toISOString();
	return gatewayError('purchaseKeyUnclear', {
		...{ execution: other.execution, time },
		...toNamedRun(request, other.run),
	});
}

function about({ execution, createdAt, task_id: id }: AttemptRow) {
	return { execution, time: new Date(createdAt).toISOString(), ...(id ? { id } : {}) };
}

/** Its end is noted in the rows of the attempt that has bought it. */
function continueWith(order: Purchase, { row }: Attempt): Bought {
	const { hash = '', keyHash } = order.request ?? {};
	order.purchase = { attempt: row.attempt, hash, keyHash };
	return { id: row.task_id, boughtAtMs: row.createdAt };
}

function unavailable(why: unknown): GatewayError {
	return gatewayError('purchaseLogUnavailable', { why: wordsOf(why) });
}

/** @param before the pauses before this one */
async function pause(buyer: Buyer, before = 0): Promise<void> {
	const { clock } = buyer.keys;
	const shortestMs = Math.min(PAUSE_MS * LONGER_BY ** before, LONGEST_PAUSE_MS);
	const pauseMs = shortestMs * (1 + 2 * clock.random());
	await clock.sleep(Math.min(pauseMs, Math.max(0, buyer.timeLeftMs())), buyer.signal);
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
