import { onAbort } from '../abort';
import { steady, type Clock } from '../clock';
import { gatewayError, stoppedError, type GatewayError } from '../errors';
import { roughDuration } from '../text';
import { LearnedLimit } from './learnedLimit';
import type { RunSlots, Slot, SlotRefusal, SlotRequest } from './runSlots';
import { SubmissionPause } from './submissionPause';

interface Running {
	/** The run that it counts for: of those that wait for it, the first one. */
	run: object;
	/** The runs that wait for it. */
	waits: object[];
	/** It is taken for ended after this time. */
	untilMs: number;
}

interface UnderWay {
	run: object;
	/** Takes the slot away. Absent once the request has left. */
	take?: () => void;
}

interface Waiter {
	run: object;
	begin: (slot: Slot) => void;
}

/**
 * The tasks that an account may run at once, for all runs of a process. The credential can say how many; else it is learned
 * when the service answers 429 while tasks run: then it runs as many as it can. One that waits is submitted when a task ends. After
 * a growing pause one more is tried, so that what was learned too low, or has changed, does not stay.
 *
 * Of the runs that wait, the one with the fewest slots comes next: a short run does not wait for the end of a long one.
 */
export class AccountSlots {
	/** Concurrent Tasks of the Account, as the credential says. */
	most = Infinity;

	private readonly learned: LearnedLimit;

	private readonly pause: SubmissionPause;

	/** By task ID. */
	private readonly running = new Map<string, Running>();

	/** The requests that are under way, or wait for their turn. */
	private readonly underWay = new Map<Slot, UnderWay>();

	private readonly waiting = new Set<Waiter>();

	/** The one that tries if there is a slot more. */
	private probe?: Slot;

	private timer?: AbortController;

	private readonly clock: Clock;

	constructor(private readonly wallClock: Clock) {
		this.clock = steady(wallClock);
		this.learned = new LearnedLimit(this.clock);
		this.pause = new SubmissionPause(this.clock);
	}

	/** The view of one run. */
	ofRun(): RunSlots {
		const run = {};
		return {
			isBusy: () => this.isBusy(),
			isAlone: () => [...this.running.values()].every((task) => task.run === run || task.waits.includes(run)),
			nowMs: () => this.clock.now(),
			wallMs: () => this.wallClock.now(),
			take: async (request) => await this.take(run, request),
			occupy: (taskId) => this.occupy(run, taskId),
		};
	}

	private isBusy(): boolean {
		this.dropLost();
		return this.running.size > 0;
	}

	private async take(run: object, request: SlotRequest): Promise<Slot> {
		return await this.wait<Slot>(request, (begin) => {
			const waiter = { run, begin };
			this.waiting.add(waiter);
			return () => this.waiting.delete(waiter);
		});
	}

	/** @param join puts it in a line, and returns a function that takes it out again */
	private async wait<T>(
		{ timeoutMs, sinceMs, signal, onWait }: SlotRequest,
		join: (begin: (value: T) => void) => () => void,
	): Promise<T> {
		if (signal?.aborted) throw stoppedError();
		return await new Promise((resolve, reject) => {
			const over = new AbortController();
			const end = () => {
				leave();
				over.abort();
				forget();
			};
			const fail = (error: GatewayError) => {
				end();
				reject(error);
			};
			const leave = join((value) => {
				end();
				resolve(value);
			});
			const forget = onAbort(signal, () => fail(stoppedError()));
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
		const waits = this.running.get(taskId)?.waits ?? [];
		const running = { run: waits[0] ?? run, waits: [...waits, run], untilMs: Infinity };
		this.running.set(taskId, running);
		return (goesOnForMs = 0) => this.release(run, taskId, goesOnForMs);
	}

	private release(run: object, taskId: string, goesOnForMs: number): void {
		const running = this.running.get(taskId);
		if (running === undefined) return;
		const index = running.waits.indexOf(run);
		if (index >= 0) running.waits.splice(index, 1);
		running.run = running.waits[0] ?? running.run;
		if (running.waits.length === 0) running.untilMs = this.clock.now() + goesOnForMs;
		this.serve();
		// Where nobody asks for a slot, nothing else would forget it.
		if (running.waits.length === 0 && goesOnForMs <= 0) this.running.delete(taskId);
	}

	/** Lets those go on that can. */
	private serve(): void {
		for (let waiter = this.next(); waiter !== undefined; waiter = this.next()) {
			const limit = this.limitedBy();
			if (limit === 'full') break;
			const slot = this.begin(waiter.run);
			if (limit === 'learned') this.probe = slot;
			waiter.begin(slot);
		}
		void this.serveLater();
	}

	/** Nothing, where a slot is free; `learned`, where one more can be tried. */
	private limitedBy(): 'full' | 'learned' | undefined {
		this.dropLost();
		if (this.pause.isOn) return 'full';
		const taken = this.running.size + this.underWay.size;
		if (taken >= this.most) return 'full';
		if (taken < this.learned.tasks) return undefined;
		return this.probe === undefined && this.clock.now() >= this.learned.probeAtMs ? 'learned' : 'full';
	}

	/** The first of the run that has the fewest slots. */
	private next(): Waiter | undefined {
		if (this.waiting.size <= 1) return [...this.waiting][0];
		const taken = new Map<object, number>();
		for (const { run } of [...this.running.values(), ...this.underWay.values()])
			taken.set(run, (taken.get(run) ?? 0) + 1);
		let next: Waiter | undefined;
		let fewest = Infinity;
		for (const waiter of this.waiting) {
			const has = taken.get(waiter.run) ?? 0;
			if (has < fewest) [next, fewest] = [waiter, has];
			if (fewest === 0) break;
		}
		return next;
	}

	private begin(run: object): Slot {
		const end = () => this.end(slot);
		const taken = new AbortController();
		const underWay: UnderWay = { run, take: () => taken.abort() };
		const slot: Slot = {
			taken: taken.signal,
			leaves: () => delete underWay.take,
			accepted: (taskId, forMs) => {
				const wasProbe = this.probe === slot;
				end();
				this.running.set(taskId, { run, waits: [], untilMs: this.clock.now() + forMs });
				this.learned.fitted(this.running.size);
				this.pause.accepted();
				if (wasProbe) this.learned.grow();
				this.serve();
			},
			free: () => {
				end();
				this.serve();
			},
			refused: (answer = {}) => {
				const isBusy = this.isBusy();
				const wasProbe = this.probe === slot;
				end();
				if (isBusy) this.learnFrom(answer, wasProbe);
				this.serve();
				return isBusy;
			},
		};
		this.underWay.set(slot, underWay);
		return slot;
	}

	private end(slot: Slot): void {
		this.underWay.delete(slot);
		if (this.probe === slot) this.probe = undefined;
	}

	/**
	 * A 429 while tasks run: the account has fewer slots than was thought, or takes no more requests for now, or both where
	 * the service does not say which. Requests that have not left lose their slots.
	 */
	private learnFrom({ limit, askedMs }: SlotRefusal, wasProbe: boolean): void {
		if (limit !== 'requests') {
			if (wasProbe) this.learned.probeRefused();
			this.learned.refused(this.running.size, askedMs ?? 0);
		}
		if (limit === 'requests' || (limit === undefined && askedMs !== undefined)) this.pause.begin(askedMs);
		for (const [slot, { take }] of this.underWay) {
			if (take === undefined) continue;
			this.end(slot);
			take();
		}
	}

	/** Tasks whose end nobody saw in time. */
	private dropLost(): void {
		const nowMs = this.clock.now();
		for (const [taskId, { untilMs }] of this.running) if (untilMs <= nowMs) this.running.delete(taskId);
	}

	/** Serves again when a pause is over or a task is taken for ended, without an event of its own. */
	private async serveLater(): Promise<void> {
		this.timer?.abort();
		if (this.waiting.size === 0) return;
		const ends = [...this.running.values()].map(({ untilMs }) => untilMs);
		const isProbing = this.probe !== undefined || this.running.size + this.underWay.size >= this.most;
		const whenFreeMs = Math.min(...ends, isProbing ? Infinity : this.learned.probeAtMs);
		const nextMs = this.pause.isOn ? this.pause.untilMs : whenFreeMs;
		if (nextMs === Infinity) return;
		const timer = (this.timer = new AbortController());
		await this.clock.sleep(Math.max(1, nextMs - this.clock.now()), timer.signal);
		if (!timer.signal.aborted) this.serve();
	}
}
