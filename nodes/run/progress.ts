import type { IExecuteFunctions } from 'n8n-workflow';
import { realClock } from '../connection/transport';
import type { Item, Job } from './item';

/** Milliseconds. Nobody reads faster, and it costs no request: it says what the checks have seen. */
const TELL_EVERY_MS = 2_000;

/** Where the lines go. */
export interface ProgressReaders {
	console: (line: string) => void;
	/** Present where the execution streams its answer and the user wants the progress in it. */
	stream?: Pick<IExecuteFunctions, 'sendChunk'>;
	/** "Image" or "Video". */
	noun: string;
}

/** Says how far the tasks of a run are, while it waits for them. */
export class Progress {
	private items = 0;

	private readonly underWay = new Set<Item>();

	private done = 0;

	private failed = 0;

	private last = '';

	private hasBegun = false;

	constructor(private readonly readers: ProgressReaders) {}

	/** The same job, counted. */
	count(item: Item, job: Job): Job {
		this.items++;
		return async (controls) => {
			this.underWay.add(item);
			let outcome: 'done' | 'failed' = 'failed';
			try {
				const output = await job(controls);
				outcome = 'done';
				return output;
			} finally {
				this[outcome]++;
				this.underWay.delete(item);
			}
		};
	}

	/** Says what is new, until the signal aborts. */
	async tellUntil(over: AbortSignal): Promise<void> {
		while (!over.aborted) {
			await realClock.sleep(TELL_EVERY_MS, over);
			if (!over.aborted) await this.tell();
		}
		if (this.hasBegun) await this.send('end');
	}

	private async tell(): Promise<void> {
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
		const running = [...this.underWay].flatMap(({ task }) => task ?? []);
		const seen = running.flatMap(({ progress }) => progress ?? []);
		const least = seen.reduce((lowest, percent) => Math.min(lowest, percent), 100);
		const most = seen.reduce((highest, percent) => Math.max(highest, percent), 0);
		if (this.items === 1) return seen.length === 0 ? undefined : `${this.readers.noun} ${least} %`;
		if (running.length === 0 && this.done + this.failed === 0) return undefined;
		const range = seen.length === 0 ? '' : least === most ? ` at ${least} %` : ` at ${least} to ${most} %`;
		const waiting = this.items - this.done - this.failed - running.length;
		return [
			`${this.done} of ${this.items} done`,
			running.length > 0 && `${running.length} running${range}`,
			waiting > 0 && `${waiting} waiting`,
			this.failed > 0 && `${this.failed} failed`,
		]
			.filter(Boolean)
			.join(', ');
	}
}
