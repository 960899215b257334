import type { IExecuteFunctions } from 'n8n-workflow';
import { realClock } from '../connection/transport';
import type { Order } from '../../core/orders/order';

/**
 * The pause between two lines, in milliseconds. Nobody reads faster, and a line costs no request: it shows what the
 * polls have seen.
 */
const REPORT_EVERY_MS = 2_000;

/** The readers of the lines. */
export interface ProgressReaders {
	console: (line: string) => void;
	/** Present where the execution streams its answer and the user wants the progress in it. */
	stream?: Pick<IExecuteFunctions, 'sendChunk'>;
	/** "Image" or "Video". */
	noun: string;
}

/** Says how far the tasks of a run are, while it waits for them. */
export class Progress {
	/** All orders of the run, as soon as they have been read. */
	orders: readonly Order[] = [];

	private last = '';

	private hasBegun = false;

	constructor(private readonly readers: ProgressReaders) {}

	/** Says what is new, until the signal aborts. */
	async reportUntil(over: AbortSignal): Promise<void> {
		while (!over.aborted) {
			await realClock.sleep(REPORT_EVERY_MS, over);
			if (!over.aborted) await this.report();
		}
		if (this.hasBegun) await this.send('end');
	}

	private async report(): Promise<void> {
		const line = this.line();
		if (line === undefined || line === this.last) return;
		this.last = line;
		this.readers.console(line);
		if (this.readers.stream === undefined) return;
		if (!this.hasBegun) await this.send('begin');
		this.hasBegun = true;
		await this.send('item', `${line}\n`);
	}

	private async send(type: 'begin' | 'item' | 'end', text?: string): Promise<void> {
		try {
			await this.readers.stream?.sendChunk(type, 0, text);
		} catch {
			// Nobody reads any more: the tasks matter, not the lines.
		}
	}

	/** "Video 40 %", or "12 of 50 done, 3 running at 40 to 80 %, 35 waiting"; undefined while there is nothing to say. */
	private line(): string | undefined {
		const items = this.orders.length;
		const ended = this.orders.flatMap(({ end }) => end?.as ?? []);
		const done = ended.filter((as) => as === 'done').length;
		const failed = ended.length - done;
		const running = this.orders.filter(({ state }) => state === 'accepted');
		const seen = running.flatMap(({ task }) => task?.progress ?? []).sort((one, other) => one - other);
		const [least, most] = [seen[0], seen.at(-1)];
		if (items === 1) return least === undefined ? undefined : `${this.readers.noun} ${least} %`;
		if (running.length === 0 && ended.length === 0) return undefined;
		const range = least === undefined ? '' : least === most ? ` at ${least} %` : ` at ${least} to ${most} %`;
		const waiting = items - ended.length - running.length;
		return [
			`${done} of ${items} done`,
			running.length > 0 && `${running.length} running${range}`,
			waiting > 0 && `${waiting} waiting`,
			failed > 0 && `${failed} failed`,
		]
			.filter(Boolean)
			.join(', ');
	}
}
