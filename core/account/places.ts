import { onAbort } from '../abort';
import { steady, type Clock } from '../clock';
import { gatewayError, stoppedError } from '../errors';
import { roughDuration } from '../text';

/**
 * The pauses before one more task is tried than the service has taken last, and those after a limit of requests where the
 * service names none: each is twice as long as the one before it.
 */
const SHORTEST_PAUSE_MS = 1_000;
/** No pause holds back the submissions of an account for longer, whatever the service asks for. */
const LONGEST_PAUSE_MS = 60_000;

const twice = (pauseMs: number) => Math.min(LONGEST_PAUSE_MS, pauseMs * 2);

/** The limit that a 429 is about: of the requests in a time, or of the tasks that run at the same time. */
export type Limit = 'requests' | 'tasks';

/** A request for a place, and how long it waits. */
export interface PlaceRequest {
	/** The longest time until it ends, in milliseconds. */
	timeoutMs: number;
	/** The time of the first such request, by the clock of the places. */
	sinceMs: number;
	/** All that the service may refuse together, e.g. one model. */
	scope?: string;
	signal?: AbortSignal;
	/** Called when there is none at once. What it returns is called as soon as the wait is over. */
	onWait?: () => (() => void) | undefined;
}

/** An answer of 429. */
export interface PlaceRefusal {
	/** The limit that was reached, where the service says which. */
	limit?: Limit;
	/** The pause that the service asks for. */
	askedMs?: number;
}

/** The place of a task that is about to be submitted. */
export interface Place {
	/** Aborts when the account turns out to have fewer places, before the request has left. */
	readonly taken: AbortSignal;
	/** The request leaves: the place is not taken away any more. */
	leaves(): void;
	/** The service has accepted the task. The place stays taken for so long, or until its wait begins. */
	accepted(taskId: string, forMs: number): void;
	/** Nothing was accepted. */
	free(): void;
	/**
	 * The service has answered 429. Returns true where tasks of this process run: then the request can be sent again in
	 * another place, which is free when one of them has ended, and when the pause is over.
	 */
	refused(answer?: PlaceRefusal): boolean;
}

/** The places of an account, as one run sees them. */
export interface RunPlaces {
	nowMs(): number;
	/** The clock of the computer, which other processes have, too. Unix milliseconds. */
	wallMs(): number;
	/** Resolves when a task may be submitted. Rejects when that takes too long, or when the signal aborts. */
	take(request: PlaceRequest): Promise<Place>;
	/** Notes that a task runs and is waited for. Call what it returns when it does not any more, with the time for which it goes on unseen. */
	occupy(taskId: string): (goesOnForMs?: number) => void;
}

/** The orders of one scope of a run. */
interface Line {
	run: object;
}

interface Running {
	run: object;
	/** The number of those that wait for it. */
	waits: number;
	/** It is taken for ended after this time. */
	untilMs: number;
}

interface UnderWay {
	run: object;
	taken: AbortController;
	hasLeft: boolean;
}

/** The turn of a line. */
interface Turn {
	line: Line;
	taken: number;
	/** Of the one that has waited longest. */
	number: number;
}

/** Lets one that waits begin. */
type Waiter = (place: Place) => void;

/**
 * The tasks that an account may run at once, for all runs of a process. The credential can say how many; else it is learned
 * when the service answers 429 while tasks run: then it runs as many as it can. One that waits is submitted when a task ends. After
 * a growing pause one more is tried, so that what was learned too low, or has changed, does not stay.
 *
 * Of the runs that wait, the one with the fewest places comes next: a short run does not wait for the end of a long one.
 */
export class AccountPlaces {
	/** Concurrent Tasks of the Account, as the credential says. */
	most = Infinity;

	/** The places, as far as the answers tell. */
	private learned = Infinity;

	/** One more can be tried from this time. */
	private trialAtMs = 0;

	private trialPauseMs = SHORTEST_PAUSE_MS;

	/** The request that tries whether there is a place more. */
	private trial?: Place;

	/** The tasks that are tried at once after a trial that has fitted: twice as many each time, until one is refused. */
	private trials = 1;

	/** Nothing is submitted before: the account takes no more requests for now. */
	private pausedUntilMs = 0;

	private nextPauseMs = SHORTEST_PAUSE_MS;

	/** By task ID. */
	private readonly running = new Map<string, Running>();

	/** The requests that are under way, or wait for their turn. */
	private readonly underWay = new Map<Place, UnderWay>();

	/**
	 * The lines that were answered 429, and have got no task since, come last until then: one whose model is refused whatever runs would
	 * else get each place that becomes free, because its run has the fewest, or because it is the first of its run.
	 */
	private readonly lastUntilMs = new WeakMap<Line, number>();

	/** Those that wait, by their line, each with its number. */
	private readonly waiting = new Map<Line, Map<Waiter, number>>();

	private waiters = 0;

	private timer?: { atMs: number; over: AbortController };

	private readonly clock: Clock;

	constructor(private readonly wallClock: Clock) {
		this.clock = steady(wallClock);
	}

	/** Changes Concurrent Tasks of the Account, for those that wait, too: else they would wait until a task ends. */
	limitTo(most: number): void {
		this.most = most;
		this.serve();
	}

	/** The view of one run. */
	ofRun(): RunPlaces {
		const run = {};
		const lines = new Map<string | undefined, Line>();
		const lineOf = (scope: string | undefined) => {
			const line = lines.get(scope) ?? { run };
			lines.set(scope, line);
			return line;
		};
		return {
			nowMs: () => this.clock.now(),
			wallMs: () => this.wallClock.now(),
			take: async (request) => await this.take(lineOf(request.scope), request),
			occupy: (taskId) => this.occupy(run, taskId),
		};
	}

	/** True while tasks of the account run that this process waits for. */
	isBusy(): boolean {
		this.dropEnded();
		return this.running.size > 0;
	}

	private async take(line: Line, { timeoutMs, sinceMs, signal, onWait }: PlaceRequest): Promise<Place> {
		if (signal?.aborted) throw stoppedError();
		return await new Promise((resolve, reject) => {
			const over = new AbortController();
			const inLine = this.waiting.get(line) ?? new Map<Waiter, number>();
			const end = () => {
				inLine.delete(waiter);
				if (inLine.size === 0) this.waiting.delete(line);
				over.abort();
				forget();
			};
			const fail = (error: Error) => {
				end();
				reject(error);
			};
			const waiter = (place: Place) => {
				end();
				resolve(place);
			};
			const forget = onAbort(signal, () => fail(stoppedError()));
			this.waiting.set(line, inLine.set(waiter, this.waiters++));
			this.serve();
			if (over.signal.aborted) return;
			const tooLate = () => fail(gatewayError('noFreePlace', { time: roughDuration(timeoutMs) }));
			const leftMs = sinceMs + timeoutMs - this.clock.now();
			if (leftMs <= 0) return tooLate();
			onAbort(over.signal, onWait?.() ?? (() => {}));
			void this.clock.sleep(leftMs, over.signal).then(() => over.signal.aborted || tooLate());
		});
	}

	private occupy(run: object, taskId: string): (goesOnForMs?: number) => void {
		const known = this.running.get(taskId);
		const task = known !== undefined && known.waits > 0 ? known : { run, waits: 0, untilMs: Infinity };
		task.waits++;
		this.running.set(taskId, task);
		return (goesOnForMs = 0) => {
			task.waits--;
			if (task.waits === 0) task.untilMs = this.clock.now() + goesOnForMs;
			this.serve(task.run);
		};
	}

	/**
	 * Lets those go on that can.
	 *
	 * @param ended the run whose task has just ended: without it, that run would have the fewest places each time, and get its own again
	 */
	private serve(ended?: object): void {
		this.dropEnded();
		let taken: Map<object, number> | undefined;
		while (this.waiting.size > 0) {
			const limit = this.limitedBy();
			if (limit === 'full') break;
			// In one line, thousands may wait, and thousands be under way.
			if (this.waiting.size > 1) taken ??= this.takenByRun(ended);
			const line = this.next(taken);
			const [begin] = this.waiting.get(line)?.keys() ?? [];
			const place = this.begin(line);
			taken?.set(line.run, (taken.get(line.run) ?? 0) + 1);
			if (limit === 'learned') this.trial = place;
			begin?.(place);
		}
		void this.serveLater();
	}

	/** Nothing, where a place is free; `learned`, where one more can be tried. */
	private limitedBy(): 'full' | 'learned' | undefined {
		const nowMs = this.clock.now();
		const taken = this.running.size + this.underWay.size;
		if (taken >= this.most || nowMs < this.pausedUntilMs) return 'full';
		if (taken < this.learned) return undefined;
		return this.trial === undefined && nowMs >= this.trialAtMs ? 'learned' : 'full';
	}

	/** The line whose run has the fewest places, unless it was just refused; of several, that in which one has waited longest. */
	private next(taken?: ReadonlyMap<object, number>): Line {
		const nowMs = this.clock.now();
		const turns = [...this.waiting].map(([line, inLine]) => {
			const isLast = nowMs < (this.lastUntilMs.get(line) ?? 0);
			const [number = 0] = inLine.values();
			return { line, number, taken: isLast ? Infinity : (taken?.get(line.run) ?? 0) };
		});
		const isBefore = (one: Turn, other: Turn) =>
			one.taken < other.taken || (one.taken === other.taken && one.number < other.number);
		return turns.reduce((next, each) => (isBefore(each, next) ? each : next)).line;
	}

	private takenByRun(ended?: object): Map<object, number> {
		const taken = new Map<object, number>();
		const all = [...this.running.values(), ...this.underWay.values(), ...(ended ? [{ run: ended }] : [])];
		for (const { run } of all) taken.set(run, (taken.get(run) ?? 0) + 1);
		return taken;
	}

	private begin(line: Line): Place {
		const { run } = line;
		const taken = new AbortController();
		const underWay: UnderWay = { run, taken, hasLeft: false };
		const place: Place = {
			taken: taken.signal,
			leaves: () => {
				underWay.hasLeft = true;
			},
			accepted: (taskId, forMs) => {
				const wasTrial = this.end(place);
				this.lastUntilMs.delete(line);
				this.running.set(taskId, { run, waits: 0, untilMs: this.clock.now() + forMs });
				this.hasFitted(wasTrial);
				this.serve();
			},
			free: () => {
				this.end(place);
				this.serve();
			},
			refused: (answer = {}) => {
				const isBusy = this.isBusy();
				const wasTrial = this.end(place);
				// A refused trial says nothing about the model of its line, and each would be its turn again.
				if (!wasTrial) this.lastUntilMs.set(line, this.clock.now() + LONGEST_PAUSE_MS);
				if (isBusy) this.learnFrom(answer, wasTrial);
				this.serve();
				return isBusy;
			},
		};
		this.underWay.set(place, underWay);
		return place;
	}

	/** Returns true where it was the one that tries. */
	private end(place: Place): boolean {
		this.underWay.delete(place);
		if (this.trial !== place) return false;
		this.trial = undefined;
		return true;
	}

	/** One task more runs. */
	private hasFitted(wasTrial: boolean): void {
		this.learned = Math.max(this.learned, this.running.size);
		this.nextPauseMs = SHORTEST_PAUSE_MS;
		if (!wasTrial) return;
		// The next trial is one of them.
		this.learned += this.trials - 1;
		this.trials *= 2;
		this.trialPauseMs = SHORTEST_PAUSE_MS;
		this.trialAtMs = this.clock.now();
	}

	/**
	 * A 429 while tasks run: the account has fewer places than was thought, or takes no more requests for now, or both where
	 * the service does not say which. Requests that have not left lose their places.
	 */
	private learnFrom({ limit, askedMs }: PlaceRefusal, wasTrial: boolean): void {
		const nowMs = this.clock.now();
		if (limit !== 'requests') {
			if (wasTrial) this.trialPauseMs = twice(this.trialPauseMs);
			this.trials = 1;
			this.learned = this.running.size;
			this.trialAtMs = nowMs + Math.min(LONGEST_PAUSE_MS, Math.max(this.trialPauseMs, askedMs ?? 0));
		}
		const isOfRequests = limit === 'requests' || (limit === undefined && askedMs !== undefined);
		// Answers to requests that left before the pause say the same once more.
		if (isOfRequests && (askedMs !== undefined || nowMs >= this.pausedUntilMs)) {
			const pauseMs = Math.min(LONGEST_PAUSE_MS, askedMs ?? this.nextPauseMs);
			this.pausedUntilMs = Math.max(this.pausedUntilMs, nowMs + pauseMs);
			this.nextPauseMs = twice(this.nextPauseMs);
		}
		for (const [place, { taken, hasLeft }] of this.underWay) {
			if (hasLeft) continue;
			this.end(place);
			taken.abort();
		}
	}

	/** Forgets tasks that have ended, or whose end was not seen in time. */
	private dropEnded(): void {
		const nowMs = this.clock.now();
		for (const [taskId, { untilMs }] of this.running) if (untilMs <= nowMs) this.running.delete(taskId);
	}

	/** Serves again when a pause is over or a task is taken for ended, without an event of its own. */
	private async serveLater(): Promise<void> {
		const atMs = this.nextChangeMs();
		// Each of thousands that begin to wait comes here.
		if (atMs === this.timer?.atMs) return;
		this.timer?.over.abort();
		this.timer = undefined;
		if (atMs === Infinity) return;
		const over = new AbortController();
		this.timer = { atMs, over };
		await this.clock.sleep(Math.max(1, atMs - this.clock.now()), over.signal);
		if (over.signal.aborted) return;
		this.timer = undefined;
		this.serve();
	}

	/** The time of the next change for those that wait; Infinity where there is none. */
	private nextChangeMs(): number {
		if (this.waiting.size === 0) return Infinity;
		if (this.clock.now() < this.pausedUntilMs) return this.pausedUntilMs;
		const isTrying = this.trial !== undefined || this.running.size + this.underWay.size >= this.most;
		let nextMs = isTrying ? Infinity : this.trialAtMs;
		for (const { untilMs } of this.running.values()) nextMs = Math.min(nextMs, untilMs);
		return nextMs;
	}
}
