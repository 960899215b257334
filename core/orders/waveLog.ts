import type { Clock } from '../clock';
import { asGatewayError, gatewayError, GatewayError } from '../errors';
import type { Batch } from './batch';
import type { Order } from './order';
import { outlasting } from './outlasting';
import { endBadly, isOpen, putOff } from './states';
import { WaveDoubts } from './waveDoubts';
import { WaveNames, type WaveNameStore } from './waveNames';
import { INTERRUPTED, notRecorded, UNREADABLE, type GuardedAttempts, type WriteAhead } from './writeAheadLog';

/** The memory that survives a crash, as n8n gives it to an execution that submits in waves. */
export interface WaveStore extends WaveNameStore {
	/** Resolves when n8n has saved what the orders say. Rejects when nobody goes on with them. */
	save: () => Promise<void>;
	/** Called when it is known what came of a request: n8n is to save that soon. */
	changed: () => void;
}

/** Orders that want to be submitted gather for this long, because each wave costs two savings of the execution. */
const GATHER_MS = 250;
/** A wave is as large as what can be sent within this time: so long does a crash leave it open which requests were sent. */
const LONGEST_WAVE_MS = 500;

interface Waiting {
	order: Order;
	resolve: () => void;
	reject: (reason: GatewayError) => void;
}

/**
 * The write-ahead log of an execution that n8n saves while it submits (Across Restarts). Orders are submitted in waves:
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
 * names. The orders that were sent are among the first ones: as many of them as those waves can have had are in doubt. An order that ends without a wave lets another one begin, so it takes a number
 * as well. With Retry On Fail, any order that had been accepted before may have been sent again: if its task fails, it is in
 * doubt as well.
 *
 * n8n takes a worker for dead that is silent for too long. When it goes on, the name of its next wave is there already,
 * because whoever has taken over has written it, and nothing of that wave is sent.
 */
export class WaveLog implements WriteAhead {
	private isGathering = false;

	private readonly waiting: Waiting[] = [];

	/** Orders whose wave has begun, and whose requests wait for their turn. */
	private readonly leaving = new Set<Order>();

	/** The writing of the names of the last waves. */
	private readonly named = new Map<number, Promise<void>>();

	/** The first number that the last wave has taken. */
	private firstNumber = 0;

	private readonly names: WaveNames;

	private readonly doubts: WaveDoubts;

	/** The most requests of a wave. */
	private readonly waveSize: number;

	/** @param batch the same object for all orders */
	constructor(
		private readonly store: WaveStore,
		private readonly clock: Clock,
		private readonly batch: Pick<Batch, 'places' | 'requestsPerSecond' | 'waves' | 'inDoubt' | 'isTakenOver'>,
	) {
		this.names = new WaveNames(store, batch);
		this.waveSize = Math.max(1, Math.floor((batch.requestsPerSecond * LONGEST_WAVE_MS) / 1000));
		this.doubts = new WaveDoubts(batch.places, Math.min(batch.places, this.waveSize));
	}

	/** Decides about orders of waves that a crash has interrupted. The others may be submitted. */
	async resolveInterrupted(orders: readonly Order[]): Promise<void> {
		const open = orders.filter(isOpen);
		// A dead execution may have sent those again whose tasks had failed (Retry On Fail).
		const others = orders.filter((order) => order.request !== undefined && !isOpen(order));
		if (open.length === 0 && others.length === 0) return;
		const wasNamed = await this.askForNames(open);
		this.doubts.know({ open: open.filter((order) => wasNamed.get(order) !== true), others });
		// Where that is not possible now, it is done before the first wave.
		const unsaved = await this.names.countUnsaved().catch(() => undefined);
		for (const order of open) {
			const { thing } = order;
			const wasSent = wasNamed.has(order) ? wasNamed.get(order) : false;
			const what = wasSent === undefined ? UNREADABLE : INTERRUPTED;
			if (wasSent === false) putOff(order);
			// Nothing is submitted again here: that is up to a person who retries the node.
			else endBadly(order, gatewayError('outcomeStillUnknown', { thing, what }));
		}
		if (unsaved === undefined) return;
		this.doubts.mark(unsaved);
		delete this.batch.isTakenOver;
		// At once: an order that another one holds back would end as one that was not sent.
		for (const order of open) {
			if (!order.request?.maybeSent) continue;
			delete order.request.maybeSent;
			// It may have got an end above.
			if (isOpen(order))
				endBadly(order, gatewayError('outcomeStillUnknown', { thing: order.thing, what: INTERRUPTED }));
		}
	}

	/** The orders that were being sent, or are in a wave: whether that has a name. Undefined where nobody can say. */
	private async askForNames(orders: readonly Order[]): Promise<Map<Order, boolean | undefined>> {
		const waves = new Map<number, Promise<boolean | undefined>>();
		const wasNamed = new Map<Order, boolean | undefined>();
		for (const order of orders) {
			const wave = order.request?.wave;
			if (order.state === 'submitting') wasNamed.set(order, true);
			if (wave === undefined) continue;
			const asked = waves.get(wave) ?? this.names.wasSent(wave).catch(() => undefined);
			waves.set(wave, asked);
			this.batch.waves = Math.max(this.batch.waves, wave + 1);
			const wasSent = await asked;
			if (order.state === 'planned') wasNamed.set(order, wasSent);
		}
		return wasNamed;
	}

	async beforeUploads(): Promise<void> {}

	async guard<T>(order: Order, send: (tries: GuardedAttempts) => Promise<T>): Promise<T> {
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
		if (request?.wave === undefined)
			throw gatewayError('packageBug', { words: 'an order without a wave was submitted' });
		const naming = this.named.get(request.wave) ?? this.record(request.wave);
		this.named.set(request.wave, naming);
		await naming;
		const { inDoubt = 0 } = this.batch;
		if (inDoubt === 0 && !request.maybeSent) return;
		if (!request.maybeSent) this.batch.inDoubt = inDoubt - 1;
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
		// It touches the database only where another execution has died.
		const [{ thing } = { thing: 'task' as const }] = members;
		const unsaved = await this.names.countUnsaved().catch(() => {
			throw gatewayError('outcomeStillUnknown', { thing, what: UNREADABLE });
		});
		this.doubts.mark(unsaved);
		delete this.batch.isTakenOver;
		this.firstNumber = this.batch.waves;
		this.batch.waves += this.doubts.wavesOfOthers(members);
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

	/** Writes the name of a wave. */
	private async record(wave: number): Promise<void> {
		const write = async () => await this.names.write(wave, this.firstNumber);
		const wasThere = await outlasting(this.clock, write).catch((thrown) => {
			throw notRecorded(thrown);
		});
		// Another execution goes on in the place of this one.
		if (wasThere) this.batch.inDoubt = (this.batch.inDoubt ?? 0) + this.batch.places;
	}
}
