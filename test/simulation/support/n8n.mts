/**
 * n8n's part, as it was seen (`docs/evidence/crash.md`): processes that die and come back, executions and what the database
 * holds of them, Retry On Fail, Retry execution, Stop, and executions that sleep.
 */
import type { INodeExecutionData } from 'n8n-workflow';
import { ImageGeneration } from '../../../nodes/ImageGeneration/ImageGeneration.node';
import type { Case } from './cases.mts';
import { contextOf } from './context.mts';
import { copyOf } from './copyOf.mts';
import type { Execution, Origin, Process, State } from './executions.mts';
import { LogTables } from './logTables.mts';
import { MOMENTS, momentsOf, type Moment } from './moments.mts';
import { ProcessedData } from './processedData.mts';
import { paceOf, RunLog } from './runLog.mts';
import type { Service } from './service.mts';
import { FakeAbortController } from './signals.mts';
import { itemNames, type Story } from './story.mts';
import { SubExecutions } from './subExecutions.mts';
import { WORLD, type Owner, type Time } from './time.mts';

type NodeEnd = { items: INodeExecutionData[] } | { error: string };

const node = new ImageGeneration();
const WAIT_BETWEEN_TRIES_MS = 1000;
/** The longest time until the node ends after a stop by the user, in milliseconds. */
const STOP_WITHIN_MS = 1000;
/** Writing to the database, or a small node. */
const SOON_MS = 4;
/** The other worker notices that one is gone. */
const STALLED_AFTER_MS = 120_000;
/** n8n looks for executions that wait for nothing. */
const SWEEP_EVERY_MS = 60_000;
const RETRY_AFTER_MS = 90_000;

const fresh = (): State => ({ round: 0, runs: 0, isFirstRunMadeUp: false, store: {} });
/** Never twice in this process, because what the product remembers for all executions goes by it. */
let lives = 0;

export class N8n {
	readonly processed: ProcessedData;

	readonly subs: SubExecutions;

	readonly tables: LogTables;

	readonly origins: Origin[] = [];

	readonly executions = new Map<string, Execution>();

	/** True while the result of a run is on its way to the database. */
	isSaving = false;

	private readonly processes: Process[] = [];

	private ids = 0;

	/** Submit Again for Run in the form of the workflow. */
	private submitAgainFor?: string;

	constructor(
		readonly time: Time,
		readonly service: Service,
		readonly story: Story,
		{
			workers,
			failingRecords = [],
			tableIsFull,
			table,
		}: { workers: number } & Partial<Pick<Case, 'failingRecords' | 'tableIsFull' | 'table'>>,
	) {
		this.processes = Array.from({ length: workers }, () => newProcess());
		this.processed = new ProcessedData(time, failingRecords, story, tableIsFull);
		this.subs = new SubExecutions(this);
		this.tables = new LogTables(time, story, table);
	}

	/** The execution of the user's workflow that an execution belongs to. */
	rootOf(id: string): Execution | undefined {
		return this.executions.get(id) ?? this.subs.find(id)?.root;
	}

	nextId(): string {
		return String(++this.ids);
	}

	/** The user, or a schedule, starts the workflow. */
	begin(drawn: Case, name: string): void {
		const family = drawn.purchaseKey ? 'x0' : name;
		const origin: Origin = {
			drawn,
			name,
			establishedAtMs: this.time.clockMs,
			family,
			names: Array.from({ length: drawn.rounds }, (_, round) => itemNames(drawn, family, round)),
			retriesLeft: drawn.retryExecutions,
			stop: newController(),
			stopHere: newController(),
			crashes: 0,
			silences: 0,
			handOverCrashes: 0,
			pollerDeathsAtMs: [],
			lostSavings: 0,
			thrownAway: 0,
			subStops: 0,
			executions: [],
		};
		this.origins.push(origin);
		this.start(origin);
		if (drawn.stopAtMs !== undefined && drawn.stopDuring === undefined)
			this.time.after(drawn.stopAtMs, () => this.stop(origin), WORLD);
		for (const click of drawn.clicks ?? []) this.time.after(click.atMs, () => this.subs.click(origin, click), WORLD);
	}

	/** @param repeated the execution that a retry repeats, and as what it had ended when its user asked for that */
	private start(origin: Origin, repeated?: Pick<Execution, 'saved' | 'moved'>, repeats?: Execution['status']): void {
		const process = this.livingProcess();
		if (process === undefined) return void this.time.after(1000, () => this.start(origin, repeated, repeats), WORLD);
		const saved = copyOf(repeated?.saved ?? fresh());
		// n8n has saved nothing of it: the nodes before run again.
		const isFromTrigger = (saved.runs === 0 || saved.isFirstRunMadeUp) && Object.keys(saved.store).length === 0;
		const moves = origin.drawn.itemsMove === true && (repeats === 'crashed' || repeats === 'lost') && isFromTrigger;
		if (moves) this.story.visit('a retry with items at other places');
		const execution: Execution = {
			origin,
			id: this.nextId(),
			number: origin.executions.length,
			mode: repeats === undefined ? 'trigger' : 'retry',
			repeats,
			moved: (repeated?.moved ?? 0) + (moves ? 1 : 0),
			status: 'running',
			process,
			saved,
			live: copyOf(saved),
			startedAtMs: this.time.nowMs,
			hasBegun: false,
			...(repeats !== undefined && { submitAgainFor: this.enterRun(origin) }),
			wasHandedOn: false,
		};
		origin.executions.push(execution);
		this.executions.set(execution.id, execution);
		this.schedule(execution);
	}

	/** A person who reads the errors enters the run that they name: for all executions, as long as it is in the form. */
	private enterRun(origin: Origin): string | undefined {
		const { submitAgainFor: which } = origin.drawn;
		const own = this.story.tries.filter((each) => each.origin === origin);
		const last = own.flatMap(({ error = '' }) => /enter (\S+) as Submit Again for Run/.exec(error)?.[1] ?? []).at(-1);
		if (which === 'the last run') this.submitAgainFor = last ?? this.submitAgainFor;
		if (which === 'the first run') this.submitAgainFor ??= last;
		return this.submitAgainFor;
	}

	/** Those that n8n has, and that do something. */
	get living(): Process[] {
		return this.processes.filter(isAwake);
	}

	livingProcess(): Process | undefined {
		const { living } = this;
		return living[Math.floor(this.time.random() * living.length)];
	}

	/** Watches work that nobody waits for. */
	watch(work: Promise<unknown>): void {
		this.unstumbling(async () => await work).catch(() => {});
	}

	/** Work of the model: its own errors are no errors of n8n's, whoever would catch them. */
	async unstumbling<T>(work: () => Promise<T>): Promise<T> {
		try {
			return await work();
		} catch (thrown) {
			if (!(thrown instanceof NodeError))
				this.story.violations.push(
					`the simulation itself has stumbled: ${thrown instanceof Error ? thrown.stack : String(thrown)}`,
				);
			throw thrown;
		}
	}

	/** kill -9. */
	kill(process: Owner | undefined, downMs: number): void {
		const index = this.processes.findIndex((each) => each === process);
		if (process === undefined || index < 0) return;
		for (const moment of momentsOf(this, process)) this.story.visit(`a kill ${moment}`);
		process.alive = false;
		(process as Process).diedAtMs = this.time.nowMs;
		this.isGone(process, index, downMs);
	}

	/**
	 * The machine of a process stands still, and goes on as if nothing had been.
	 *
	 * @param noticedInMs n8n takes it for dead then, and goes on in its place. Absent: it does not notice
	 */
	silence(process: Owner, { forMs, noticedInMs }: { forMs: number; noticedInMs?: number }): void {
		const index = this.processes.findIndex((each) => each === process);
		if (index < 0) return;
		for (const moment of momentsOf(this, process)) this.story.visit(`a silence ${moment}`);
		for (const origin of this.origins) if (this.runsIn(origin, process)) origin.silences++;
		(process as Process).silentAtMs = this.time.nowMs;
		this.time.silence(process, forMs);
		if (noticedInMs === undefined) return;
		(process as Process).isTakenForDead = true;
		for (const { origin, id, status, process: own } of this.executions.values())
			if (status === 'running' && own === process && !this.tables.written.some(({ row }) => row.execution === id))
				this.story.silentBeforeRows.add(origin);
		this.isGone(process, index, noticedInMs);
	}

	private isGone(process: Owner, index: number, noticedInMs: number): void {
		for (const origin of this.origins) if (this.runsIn(origin, process)) origin.stopHere = newController();
		this.isSaving = false;
		this.story.crashes++;
		this.tables.hasDied();
		this.time.after(noticedInMs, () => this.recover(this.processes[index], index), WORLD);
	}

	private recover(dead: Process, index: number): void {
		this.processes[index] = newProcess();
		for (const execution of this.executions.values())
			if (execution.process === dead && execution.status === 'running') this.crashed(execution);
		this.subs.recover(dead);
	}

	private crashed(execution: Execution): void {
		const { origin, saved, hasBegun } = execution;
		origin.crashes++;
		if (origin.stop.signal.aborted) return void (execution.status = 'canceled');
		if (origin.drawn.engine === 'one process' || execution.wasHandedOn) {
			execution.status = 'crashed';
			// Without any run of the node n8n makes one up, from its own log of events.
			if (hasBegun && saved.runs === 0) execution.saved = { ...saved, runs: 1, isFirstRunMadeUp: true };
			return this.mayRetry(origin);
		}
		if (origin.drawn.engine === 'workers') {
			execution.status = 'lost'; // n8n throws away what it had saved
			return;
		}
		execution.wasHandedOn = true;
		const handOn = () => {
			// Its worker was silent only, and has ended it.
			if (execution.status !== 'running') return;
			const process = this.livingProcess();
			if (process === undefined) return void this.time.after(1000, handOn, WORLD);
			Object.assign(execution, { process, live: copyOf(saved) });
			this.schedule(execution);
		};
		this.time.after(STALLED_AFTER_MS, handOn, WORLD);
	}

	private stop(origin: Origin): void {
		const execution = origin.executions.at(-1);
		const isStoppable = (each: Execution) =>
			each.status === 'waiting' || (each.status === 'running' && isAwake(each.process));
		if (execution === undefined || !isStoppable(execution)) return;
		// The model has one signal for all executions of an origin: it cannot stop one of two that run in different processes.
		const isBeside = (each: Execution) => each.status === 'running' && each.process !== execution.process;
		if (origin.executions.some(isBeside)) return;
		const isAsleep = execution.status === 'waiting';
		const awakeIn = this.processes.filter((process) => this.runsIn(origin, process));
		const moments = new Set(awakeIn.flatMap((process) => momentsOf(this, process, [origin])));
		for (const moment of [...moments, ...(isAsleep ? ['while it sleeps'] : [])]) this.story.visit(`a stop ${moment}`);
		origin.stoppedAtMs = this.time.elapsedMs;
		// What it sets off happens there.
		if (!isAsleep) this.time.owner = execution.process;
		origin.stop.abort();
		origin.stopHere.abort();
		if (execution.status === 'waiting') execution.status = 'canceled';
	}

	/** A stop by the user who has waited for such a moment. Returns true when it is now. */
	stopIn(moment: Moment, process: Owner): boolean {
		let isNow = false;
		for (const origin of this.origins) {
			const { stop, drawn } = origin;
			if (stop.signal.aborted || this.time.elapsedMs < (drawn.stopAtMs ?? 0) || !this.runsIn(origin, process)) continue;
			if (!MOMENTS[moment](this, origin, process)) continue;
			this.stop(origin);
			isNow = true;
		}
		return isNow;
	}

	/** True when an execution that belongs to it is awake in the process. */
	runsIn(origin: Origin, process: Owner): boolean {
		const isAwake = (each: Execution) => each.status === 'running' && each.process === process;
		return origin.executions.some(isAwake) || this.subs.runsIn(origin, process);
	}

	setClockBack({ atMs, byMs }: NonNullable<Case['clockSetBack']>): void {
		const setBack = () => {
			this.time.setBackMs += byMs;
			const isRunning = ({ endsAt }: { endsAt: number }) => endsAt > this.time.nowMs;
			if (this.service.tasks.list().some(isRunning)) this.story.visit('a clock set back while a task runs');
		};
		this.time.after(atMs, setBack, WORLD);
	}

	private mayRetry(origin: Origin): void {
		if (origin.retriesLeft-- <= 0) return;
		const { executions } = origin;
		const from = origin.drawn.retryOf === 'first' ? executions[0] : executions.at(-1);
		if (from === undefined) return;
		this.time.after(RETRY_AFTER_MS, () => this.start(origin, from, from.status), WORLD);
		if (!origin.drawn.retriesAtOnce || origin.retriesLeft-- <= 0) return;
		const secondMs = RETRY_AFTER_MS + this.time.random() * 1000;
		this.time.after(secondMs, () => this.start(origin, from, from.status), WORLD);
	}

	/** A sub-execution has ended, and the execution is asleep. */
	resume(execution: Execution, ended: NodeEnd): void {
		const process = this.livingProcess();
		if (process === undefined) return void this.time.after(1000, () => this.resume(execution, ended), WORLD);
		if (execution.status !== 'waiting') return;
		Object.assign(execution, { status: 'running', process, live: copyOf(execution.saved), sleepsFor: undefined });
		if ('error' in ended) execution.live.resumeError = ended.error;
		this.schedule(execution, ended);
	}

	/** In its process, and with what that has in memory: where it is silent before, another one may have the execution by then. */
	private schedule(execution: Execution, wokenWith?: NodeEnd): void {
		const { process, live } = execution;
		this.time.after(0, () => this.watch(this.work(execution, { process, live }, wokenWith)), process);
	}

	/** From its beginning, or from where it wakes up, until it ends or sleeps. */
	private async work(
		execution: Execution,
		{ process, live }: Pick<Execution, 'process' | 'live'>,
		wokenWith?: NodeEnd,
	): Promise<void> {
		const { origin } = execution;
		const { drawn, stop } = origin;
		let woken = wokenWith ?? (live.resumeError === undefined ? undefined : { error: live.resumeError });
		if (woken === undefined) await this.time.pass(SOON_MS);
		// What a process does that n8n has taken for dead changes nothing of the execution.
		const ends = (status: Execution['status'], saved = execution.saved) => {
			const isOver = execution.process === process && execution.status === 'running';
			if (isOver) Object.assign(execution, { status, saved });
			return isOver;
		};
		while (live.round < drawn.rounds) {
			execution.hasBegun = true;
			const ended = woken ?? (await this.runWithRetries(execution, live));
			if (stop.signal.aborted) return void ends('canceled');
			if (execution.sleepsFor !== undefined && woken === undefined) {
				await this.reachDatabase();
				ends('waiting', copyOf(live));
				this.story.visit('a sleep in the database');
				return this.subs.fellAsleep(execution.sleepsFor);
			}
			if (woken !== undefined || 'error' in ended) this.note(execution, ended, live);
			woken = undefined;
			if ('error' in ended) {
				await this.reachDatabase();
				if (ends('error', copyOf(live))) this.mayRetry(origin);
				return;
			}
			live.round++;
			live.runs++;
			if (drawn.savesProgress) {
				await this.reachDatabase();
				if (execution.process === process && execution.status === 'running') execution.saved = copyOf(live);
			}
		}
		// A later node, and the end.
		await this.reachDatabase();
		ends('success');
	}

	private async reachDatabase(): Promise<void> {
		this.isSaving = true;
		await this.time.pass(SOON_MS);
		this.isSaving = false;
	}

	/** Retry On Fail: the node runs again when it throws, and when its first item carries an error. */
	private async runWithRetries(execution: Execution, live: State): Promise<NodeEnd> {
		const { maxTries } = execution.origin.drawn;
		for (let attempt = 1; ; attempt++) {
			execution.sleepsFor = undefined;
			const ended = await this.runOnce(execution, live);
			const isBad = 'error' in ended || Boolean(ended.items[0]?.json.error);
			if (execution.sleepsFor === undefined && 'items' in ended) this.note(execution, ended, live);
			if (!isBad || attempt >= maxTries) return ended;
			if ('error' in ended) this.note(execution, ended, live);
			await this.time.pass(WAIT_BETWEEN_TRIES_MS);
		}
	}

	private async runOnce(execution: Execution, live: State): Promise<NodeEnd> {
		const { origin } = execution;
		const {
			drawn,
			stopHere: { signal },
		} = origin;
		const log = new RunLog(this.time, paceOf(drawn), signal, this.story.violations);
		log.execution = execution.id;
		const startedAtMs = this.time.elapsedMs;
		try {
			const [items] = await node.execute.call(contextOf(this, execution, live, log));
			return { items: items.map((item) => ({ ...item })) };
		} catch (thrown) {
			const {
				message,
				description,
				messages = [],
			} = thrown as { message: string; description?: string; messages?: string[] };
			return { error: [message, description, ...messages].join(' ') };
		} finally {
			log.hasEnded = true;
			const ranOnMs = this.time.elapsedMs - Math.max(startedAtMs, origin.stoppedAtMs ?? 0);
			if (signal.aborted && ranOnMs > STOP_WITHIN_MS && origin.silences === 0)
				this.story.violations.push(`the node ran on for ${ranOnMs} ms after the stop`);
		}
	}

	private note({ origin, number, process, status }: Execution, ended: NodeEnd, { round }: State): void {
		const isLate = process !== this.time.owner || status !== 'running';
		this.story.note(origin, number, { round, ...ended, atMs: this.time.nowMs, ...(isLate && { isLate: true }) });
	}
}

/** It is there, and its machine does not stand still. */
const isAwake = ({ alive, held }: Owner) => alive && held === undefined;

/** n8n throws it: a node has failed. */
export class NodeError extends Error {}

const newController = () => new FakeAbortController() as unknown as AbortController;

function newProcess(): Process {
	return { alive: true, name: `p${++lives}` };
}

export { node, STALLED_AFTER_MS, SWEEP_EVERY_MS, SOON_MS, WAIT_BETWEEN_TRIES_MS };
