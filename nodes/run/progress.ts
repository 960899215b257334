import { realClock } from '../connection/transport';
import type { GatewayError } from '../../core/errors';
import type { Purchase } from '../../core/orders/order';
import type { TimeLeft } from '../../core/polling/planner';
import type { WaitWatcher } from '../../core/polling/waitForTask';
import { roughDuration } from '../../core/text';

/** Between two lines, in milliseconds. People do not read faster, and a line costs no request. */
const REPORT_EVERY_MS = 2_000;

/** The pause until a line that only the estimate has changed. */
const ESTIMATE_EVERY_MS = 10_000;

/** The readers of the lines. */
export interface ProgressReaders {
	console: (line: string) => void;
	/** "Image" or "Video"; absent where nothing is waited for, and only trouble is worth a line. */
	noun?: string;
}

/** Says how far the tasks of a run are while it waits for them, and which requests are tried again. */
export class Progress {
	/** All orders of the run, as soon as they have been read. */
	orders: readonly Purchase[] = [];

	private readonly timesLeft = new WeakMap<Purchase, () => TimeLeft>();

	/** The last request that got no good answer, until it has been said. */
	private trouble?: { error: GatewayError; nextAtMs: number };

	private last?: { words: string; left: string; atMs: number };

	constructor(private readonly readers: ProgressReaders) {}

	/** For the wait for an order. */
	readonly watch = (order: Purchase): WaitWatcher => ({
		begun: (timeLeft) => this.timesLeft.set(order, timeLeft),
		retrying: this.retrying,
	});

	/** For any other request. */
	readonly retrying = (error: GatewayError, waitMs: number) => {
		this.trouble = { error, nextAtMs: realClock.now() + waitMs };
	};

	/** Says what is new, until the signal aborts. */
	async reportUntil(over: AbortSignal): Promise<void> {
		while (!over.aborted) {
			await realClock.sleep(REPORT_EVERY_MS, over);
			if (over.aborted) break;
			const line = this.sayTrouble() ?? this.sayProgress();
			if (line !== undefined) this.readers.console(line);
		}
	}

	/** "The service is not available at the moment (503), next try in 8 s"; undefined where the next try has been made. */
	private sayTrouble(): string | undefined {
		const { trouble } = this;
		this.trouble = undefined;
		if (trouble === undefined) return undefined;
		const waitMs = trouble.nextAtMs - realClock.now();
		if (waitMs <= 0) return undefined;
		const { message, details } = trouble.error;
		const isSaid = details.httpStatus === undefined || details.reason?.name === 'refusedInBetween';
		const status = isSaid ? '' : ` (${details.httpStatus})`;
		return `${message}${status}, next try in ${roughDuration(waitMs)}`;
	}

	/** Undefined while there is nothing new. */
	private sayProgress(): string | undefined {
		if (this.readers.noun === undefined) return undefined;
		const words = this.orders.length === 1 ? this.wordsOfOne(this.readers.noun) : this.wordsOfMany();
		if (words === undefined) return undefined;
		const left = this.leftOfLast();
		const { last } = this;
		const atMs = realClock.now();
		if (words === last?.words && (left === last.left || atMs - last.atMs < ESTIMATE_EVERY_MS)) return undefined;
		this.last = { words, left, atMs };
		return left === '' ? words : `${words}, ${left}`;
	}

	private wordsOfOne(noun: string): string | undefined {
		const { state, task } = this.orders[0] as Purchase;
		if (state === 'submitting') return 'The request was sent, and the service has not answered yet';
		if (state !== 'accepted') return undefined;
		if (task?.progress !== undefined) return `${noun} ${task.progress} %`;
		return `${noun} ${task?.status === 'queued' ? 'queued' : 'in progress'}`;
	}

	/** "12 of 50 done, 3 running at 40 to 80 %, 35 waiting". */
	private wordsOfMany(): string | undefined {
		const items = this.orders.length;
		const ended = this.orders.flatMap(({ end }) => end?.as ?? []);
		const done = ended.filter((as) => as === 'done').length;
		const failed = ended.length - done;
		const running = this.orders.filter(({ state }) => state === 'accepted');
		if (running.length === 0 && ended.length === 0) return undefined;
		const seen = running.flatMap(({ task }) => task?.progress ?? []).sort((one, other) => one - other);
		const [least, most] = [seen[0], seen.at(-1)];
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

	/** The estimate of the only task, or of the one that has come least far; empty while others have not begun. */
	private leftOfLast(): string {
		if (this.orders.some(({ state }) => state === 'planned' || state === 'submitting')) return '';
		const running = this.orders.filter(({ state }) => state === 'accepted');
		const [last] = running.sort((one, other) => progressOf(one) - progressOf(other));
		const timeLeft = last && this.timesLeft.get(last)?.();
		if (timeLeft === undefined) return '';
		const words = inWords(timeLeft);
		return this.orders.length === 1 || words === '' ? words : `slowest: ${words}`;
	}
}

const progressOf = ({ task }: Purchase) => task?.progress ?? 0;

/** An interval that is wider says nothing. */
const WIDEST = 10;
/** One that is narrower need not be shown. */
const NARROW = 2;

/** "about 9 min left", "4 to 12 min left". Empty while it is not known. */
function inWords({ aboutMs, fromMs, toMs }: TimeLeft): string {
	const width = toMs / Math.max(fromMs, 1_000);
	if (!(width <= WIDEST)) return '';
	if (width <= NARROW) return `about ${roughDuration(aboutMs)} left`;
	return `${roughDuration(fromMs)} to ${roughDuration(toMs)} left`;
}
