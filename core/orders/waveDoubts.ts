import type { Order } from './order';
import { isOpen } from './states';

/** The orders on which a dead execution may have worked. */
interface Left {
	/** Those that may have been sent in waves of which they do not know, in the sequence in which they begin. */
	open: Order[];
	/** Those that run or have ended, and that Retry On Fail may have sent again. */
	others: Order[];
}

/**
 * The waves of a dead execution that only their names tell of: which orders may be in them. Orders begin in their sequence, so
 * it is the first ones. The sequence in which they are sent tells nothing: one may take longer to upload its files.
 * See `waveLog.ts`.
 */
export class WaveDoubts {
	private left: Left = { open: [], others: [] };

	/** Those of the open ones that have had a wave here, or have been counted. */
	private readonly counted = new Set<Order>();

	/**
	 * @param places the most orders in flight
	 * @param mostOfWave the most orders of a wave
	 */
	constructor(
		private readonly places: number,
		private readonly mostOfWave: number,
	) {}

	know(left: Left): void {
		this.left = left;
	}

	/**
	 * Marks what may have left in so many waves: among the first orders, those that were in flight at the last wave, and those
	 * of the waves before. Which of the others were sent again is not known.
	 */
	mark(unsaved: number): void {
		if (unsaved === 0) return;
		const { open, others } = this.left;
		const sent = this.places + (unsaved - 1) * this.mostOfWave;
		for (const { request } of [...open.slice(0, sent).filter(isOpen), ...others])
			if (request !== undefined) request.maybeSent = true;
	}

	/**
	 * Counts orders that have let others begin, and have had no wave here: in waves, so that whoever counts these comes far enough.
	 *
	 * @param members of the wave that begins
	 */
	wavesOfOthers(members: readonly Order[]): number {
		for (const order of members) this.counted.add(order);
		const others = this.left.open.filter((order) => !isOpen(order) && !this.counted.has(order));
		for (const order of others) this.counted.add(order);
		return Math.ceil(others.length / this.mostOfWave);
	}
}
