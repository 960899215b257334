import type { Clock } from '../clock';
import { asGatewayError, gatewayError, GatewayError } from '../errors';
import type { Batch } from './batch';
import type { Order } from './order';
import { endBadly, putOff } from './states';
import { INTERRUPTED, notRecorded, UNREADABLE, type GuardedTries, type WriteAhead } from './writeAheadLog';

/** The memory that survives a crash, as n8n gives it to an execution that submits in waves. */
export interface WaveStore {
	/** Resolves when n8n has saved what the orders say. Rejects when nobody goes on with them. */
	save: () => Promise<void>;
	/** Called when it is known what came of a request: n8n is to save that soon. */
	changed: () => void;
	/** Writes the names of waves. Returns the waves whose names were written before. */
	record: (waves: number[]) => Promise<number[]>;
	/** False where names of this run may have been dropped. */
	isComplete: () => Promise<boolean>;
	forget: (waves: number[]) => Promise<void>;
}

/** Orders that want to be submitted gather for this long, because each wave costs two savings of the execution. */
const GATHER_MS = 250;
/**
 * A run keeps the names of its last waves, this many, until it ends. Of earlier waves it keeps only every one whose number is
 * a multiple of this: they are enough to find the last wave, and do not push the names of other runs out of n8n's table.
 */
const KEPT_WAVES = 1000;
/** This many names are written again with the next one: a write of another process at the same moment may have undone them. */
const REPEATED_WAVES = 10;
/** More orders than any run has: all of them. */
const ALL = Number.MAX_SAFE_INTEGER;
/** A wave is as large as what can be sent within this time: so long does a crash leave it open which requests were sent. */
const LONGEST_WAVE_MS = 500;

interface Waiting {
	order: Order;
	resolve: () => void;
	reject: (reason: GatewayError) => void;
}

/**
 * The write-ahead log of an execution that n8n saves while it submits (Survive Restarts). Orders are submitted in waves:
 *
 * 1. Each order of a wave notes the number of the wave.
 * 2. n8n saves the execution, and with it these numbers.
 * 3. The name of the wave is written, right before its first request is sent.
 *
 * After a crash, an order whose wave has no name was surely not sent; nor was one without a wave. An order whose wave has a
 * name may have been sent: its outcome is unknown.
 *
 * The numbers of step 2 can be lost: n8n only logs that it could not save, and it throws away an execution whose worker has
 * died. Then there are names of waves of which no order knows. No number is left out, so whoever takes over counts these
 * names. The orders that were sent are among the next ones: as many of them as those waves can have had are in doubt.
 *
 * Names say nothing by being absent where others of the run have been dropped: then all orders are in doubt.
 */
export class WaveLog implements WriteAhead {
	private isGathering = false;

	private readonly waiting: Waiting[] = [];

	/** Orders whose wave has begun, and whose requests wait for their turn. */
	private readonly leaving = new Set<Order>();

	/** The writing of the names of the last waves. */
	private readonly named = new Map<number, Promise<void>>();

	/** The first wave of which this execution has not written the name. */
	private unnamed?: number;

	/** The most requests of a wave. */
	private readonly waveSize: number;

	/** @param batch the same object for all orders */
	constructor(
		private readonly store: WaveStore,
		private readonly clock: Clock,
		private readonly batch: Pick<Batch, 'places' | 'requestsPerSecond' | 'waves' | 'inDoubt' | 'isTakenOver'>,
	) {
		this.waveSize = Math.max(1, Math.floor((batch.requestsPerSecond * LONGEST_WAVE_MS) / 1000));
	}

	/** Decides about orders of waves that a crash has interrupted. The others may be submitted. */
	async settle(orders: readonly Order[]): Promise<void> {
		const waves = new Map<number, Promise<boolean | undefined>>();
		for (const order of orders) {
			const { request, thing, state } = order;
			if (state === 'ended' || state === 'accepted' || request === undefined) continue;
			const { wave } = request;
			const asked = wave === undefined ? undefined : (waves.get(wave) ?? this.wasNamed(wave));
			if (wave !== undefined && asked !== undefined) {
				waves.set(wave, asked);
				this.batch.waves = Math.max(this.batch.waves, wave + 1);
			}
			const isKnown = await asked?.catch(() => undefined);
			const wasSent = state === 'submitting' || (asked === undefined ? false : isKnown);
			// Submit Again is for retries, and nobody has asked for one.
			if (wasSent === false) putOff(order);
			else endBadly(order, gatewayError('outcomeStillUnknown', { thing, what: wasSent ? INTERRUPTED : UNREADABLE }));
		}
		if (!orders.some(({ state }) => state === 'planned')) return;
		// Where that is not possible now, it is done before the first wave.
		await this.countUnsaved().catch(() => {});
	}

	/** Undefined where nobody can say. */
	private async wasNamed(wave: number): Promise<boolean | undefined> {
		if (await this.isNamed(wave)) return true;
		return (await this.store.isComplete()) ? false : undefined;
	}

	private async isNamed(wave: number): Promise<boolean> {
		return (await this.store.record([wave])).length > 0;
	}

	/**
	 * Counts the waves of a dead execution of which the orders know nothing. To ask for a name is to write it, so the search
	 * writes the first name that is not there. No wave gets that number: even if the name were removed, a write of another
	 * process could bring it back, and it would look like a wave that was sent.
	 */
	private async countUnsaved(): Promise<void> {
		const { batch, store } = this;
		if (!batch.isTakenOver) return;
		if (!(await store.isComplete())) this.doubt(ALL);
		let wave = batch.waves;
		let landmark = (Math.floor(wave / KEPT_WAVES) + 1) * KEPT_WAVES;
		for (; await this.isNamed(landmark); landmark += KEPT_WAVES) wave = landmark;
		await store.forget([landmark]).catch(() => {});
		while (await this.isNamed(wave)) wave++;
		const unsaved = wave - batch.waves;
		// Whatever has left was among the first so many: those that were in flight at the last wave, and those of the others.
		if (unsaved > 0) this.doubt(batch.places + (unsaved - 1) * Math.min(batch.places, this.waveSize));
		batch.waves = wave + 1;
		delete batch.isTakenOver;
	}

	private doubt(orders: number): void {
		this.batch.inDoubt = (this.batch.inDoubt ?? 0) + orders;
	}

	async beforeUploads(): Promise<void> {}

	async guard<T>(order: Order, send: (tries: GuardedTries) => Promise<T>): Promise<T> {
		const left = () => this.left(order);
		try {
			return await send({
				begin: async () => await this.waveOf(order),
				sending: async () => await this.name(order).finally(left),
				putOff: () => {
					left();
					this.store.changed();
				},
			});
		} finally {
			left();
			this.store.changed();
		}
	}

	/** Resolves when the name of its wave is written, right before its first request. Throws where the request may not be sent. */
	private async name({ request, thing }: Order): Promise<void> {
		const wave = request?.wave;
		if (wave === undefined) throw gatewayError('packageBug', { words: 'an order without a wave was submitted' });
		const naming = this.named.get(wave) ?? this.record(wave);
		this.named.set(wave, naming);
		await naming;
		const { inDoubt = 0 } = this.batch;
		if (inDoubt === 0) return;
		this.batch.inDoubt = inDoubt - 1;
		throw gatewayError('outcomeStillUnknown', { thing, what: INTERRUPTED });
	}

	/** Resolves when the wave that the order is in may be sent. */
	private async waveOf(order: Order): Promise<void> {
		await new Promise<void>((resolve, reject) => {
			this.waiting.push({ order, resolve, reject });
			if (!this.isGathering) void this.gather();
		});
	}

	/** Lets those that wait go, wave after wave: one begins when all requests of the last one have left. */
	private async gather(): Promise<void> {
		this.isGathering = true;
		while (this.waiting.length > 0) {
			await this.clock.sleep(GATHER_MS);
			if (this.leaving.size > 0) continue;
			const members = this.waiting.splice(0, this.waveSize);
			try {
				await this.begin(members.map(({ order }) => order));
				for (const { resolve } of members) resolve();
			} catch (thrown) {
				for (const { order, reject } of members) {
					this.left(order);
					putOff(order);
					reject(asGatewayError(thrown));
				}
			}
		}
		this.isGathering = false;
	}

	private async begin(members: Order[]): Promise<void> {
		await this.countUnsaved().catch((thrown) => {
			throw notRecorded(thrown);
		});
		const wave = this.batch.waves++;
		for (const order of members) {
			this.leaving.add(order);
			if (order.request !== undefined) order.request.wave = wave;
		}
		this.named.delete(wave - 2);
		await this.store.save();
	}

	/** Notes that nothing of an order waits for its turn. */
	private left(order: Order): void {
		this.leaving.delete(order);
	}

	/** Writes the name of a wave, and those before it that may be missing: no number is left out. */
	private async record(wave: number): Promise<void> {
		const first = Math.max(0, wave + 1 - KEPT_WAVES, Math.min(this.unnamed ?? 0, wave - REPEATED_WAVES));
		const outdated = numbers(Math.max(0, (this.unnamed ?? wave) - KEPT_WAVES), wave + 1 - KEPT_WAVES);
		try {
			const known = await this.store.record([wave, ...numbers(first, wave)]);
			if (known.includes(wave)) this.doubt(this.batch.places);
		} catch (thrown) {
			throw notRecorded(thrown);
		}
		this.unnamed = wave + 1;
		const removed = outdated.filter((old) => old % KEPT_WAVES !== 0);
		if (removed.length > 0) await this.store.forget(removed).catch(() => {});
	}
}

/** The waves of a run with so many of them whose names are there. */
export function namesKept(waves: number): number[] {
	return numbers(0, waves).filter((wave) => wave % KEPT_WAVES === 0 || wave + KEPT_WAVES >= waves);
}

/** The numbers from the first to the one before the end. */
function numbers(first: number, end: number): number[] {
	return Array.from({ length: Math.max(0, end - first) }, (_, index) => first + index);
}
