import type { Clock } from '../clock';
import { asGatewayError, gatewayError, GatewayError } from '../errors';
import type { Batch, Order } from './order';
import { endBadly, putOff } from './states';
import { INTERRUPTED, UNREADABLE, type GuardedTries, type WriteAhead } from './writeAheadLog';

/** The memory that survives a crash, as n8n gives it to an execution that submits in waves. */
export interface WaveStore {
	/** Resolves when n8n has saved what the orders say. Rejects when nobody goes on with them. */
	save: () => Promise<void>;
	/** Called when it is known what came of a request: n8n is to save that soon. */
	changed: () => void;
	/** Writes the name of a wave. Returns true when it was written before. */
	record: (wave: number) => Promise<boolean>;
	forget: (wave: number) => Promise<void>;
}

/** Orders that want to be submitted gather for this long, because each wave costs two savings of the execution. */
const GATHER_MS = 250;
/** Waves whose names are looked for at a beginning: more are not sent while n8n cannot save. */
const MOST_UNSAVED = 1000;
/** The requests of a wave leave within about this time: until then a crash leaves it open whether they did. */
const LONGEST_WAVE_MS = 500;

interface Waiting {
	order: Order;
	resolve: () => void;
	reject: (reason: GatewayError) => void;
}

/**
 * The write-ahead log of an execution that n8n saves while it submits. Orders go out in waves: each notes the number of its
 * wave, then n8n saves that, then, right before the first of its requests, the name of the wave is written. So after a crash an order
 * without a wave, or with a wave whose name was not written, was surely not sent; one with a written name may have been. Where
 * n8n could not save (it only logs that), the name is known already: then as many of the next orders are in doubt as a wave
 * can have.
 */
export class WaveLog implements WriteAhead {
	private isGathering = false;

	private readonly waiting: Waiting[] = [];

	/** Orders whose wave has begun, and whose requests wait for their turn. */
	private readonly leaving = new Set<Order>();

	/** The writing of the names of the last waves. */
	private readonly named = new Map<number, Promise<void>>();

	/** @param batch the same object for all orders */
	constructor(
		private readonly store: WaveStore,
		private readonly clock: Clock,
		private readonly batch: Pick<Batch, 'places' | 'requestsPerSecond' | 'waves' | 'inDoubt'>,
	) {}

	/** Decides about orders of waves that a crash has interrupted. The others may be submitted. */
	async settle(orders: readonly Order[]): Promise<void> {
		const waves = new Map<number, Promise<boolean>>();
		for (const order of orders) {
			const { request, thing, state } = order;
			if (state === 'ended' || state === 'accepted' || request === undefined) continue;
			const { wave } = request;
			const asked = wave === undefined ? undefined : (waves.get(wave) ?? this.store.record(wave));
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
		if (orders.some(({ state }) => state === 'planned')) await this.findUnsaved();
	}

	/** The names of waves that n8n could not save are known already. A name that is looked for and is not there is taken back. */
	private async findUnsaved(): Promise<void> {
		try {
			for (let looked = 0; looked < MOST_UNSAVED; looked++) {
				const wave = this.batch.waves;
				if (!(await this.store.record(wave))) return await this.store.forget(wave).catch(() => void this.batch.waves++);
				this.batch.waves++;
				this.doubt();
			}
		} catch {
			// It is looked at again before the first request of each wave.
		}
	}

	private doubt(): void {
		this.batch.inDoubt = (this.batch.inDoubt ?? 0) + this.batch.places;
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
		const most = Math.max(1, Math.floor((this.batch.requestsPerSecond * LONGEST_WAVE_MS) / 1000));
		while (this.waiting.length > 0) {
			await this.clock.sleep(GATHER_MS);
			if (this.leaving.size > 0) continue;
			const members = this.waiting.splice(0, most);
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

	private async record(wave: number): Promise<void> {
		try {
			if (await this.store.record(wave)) this.doubt();
		} catch (thrown) {
			throw notRecorded(thrown);
		}
	}
}

function notRecorded(thrown: unknown): GatewayError {
	const cause = thrown instanceof GatewayError ? (thrown.details.cause ?? thrown) : thrown;
	return gatewayError('submissionNotRecorded', { words: cause instanceof Error ? cause.message : String(cause) });
}
