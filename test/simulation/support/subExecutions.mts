/**
 * Executions that a node starts: the sub-workflows of Across Restarts, as n8n runs them, puts them to sleep, wakes
 * them, and hands on what came of them.
 */
import type { ExecuteWorkflowData, IDataObject, INode, INodeExecutionData, IWorkflowBase } from 'n8n-workflow';
import { contextOfStep } from './context.mts';
import { copyOf } from './copyOf.mts';
import { getPath } from '../../../core/json';
import { POLL_TASKS } from '../../../nodes/durable/subWorkflow';
import type { Click } from './cases.mts';
import type { Execution, Origin, Process } from './executions.mts';
import {
	node as product,
	NodeError,
	SOON_MS,
	STALLED_AFTER_MS,
	SWEEP_EVERY_MS,
	WAIT_BETWEEN_TRIES_MS,
	type N8n,
} from './n8n.mts';
import { paceOf, RunLog } from './runLog.mts';
import { FakeAbortController } from './signals.mts';
import {
	beginning,
	copyOfState,
	lastOutput,
	leftOf,
	noteRun,
	ran,
	sleepOf,
	takeBack,
	QUESTION,
	WAIT,
	type Contexts,
	type State,
} from './subWorkflowState.mts';
import { WORLD, type Owner } from './time.mts';

export class SubExecution {
	status: 'running' | 'waiting' | 'success' | 'error' | 'crashed' | 'canceled' = 'running';

	mode: 'integrated' | 'retry' = 'integrated';

	/** The times that a person has retried it. */
	retries = 0;

	/** Aborts when a person stops it. */
	readonly stop = new FakeAbortController() as unknown as AbortController;

	/** True where it is saved as it slept last. */
	isSavedAsleep = false;

	saved: State;

	live: State;

	/** The state in which it is for its process. */
	ending?: Pick<SubExecution, 'status' | 'error'>;

	/** It has ended with this. */
	error?: string;

	/** It was resumed: in queue mode it is a job of its own since then. */
	isJob = false;

	/** Nodes that n8n has in its log of events. True: they have ended. */
	readonly begun = new Map<string, boolean>();

	private readonly isBornLate: boolean;

	sleepsUntilMs?: number;

	/** The number of its sleeps: a timer for an earlier sleep wakes nothing. */
	sleeps = 0;

	sleepsFor?: SubExecution;

	/** Of the time in which it is awake. */
	log?: RunLog;

	constructor(
		readonly id: string,
		readonly code: IWorkflowBase,
		readonly given: INodeExecutionData[],
		readonly parent: Execution | SubExecution,
		public process: Process,
		/** After the beginning of the simulation, with what its time passes. */
		readonly startedAtMs: number,
	) {
		this.isBornLate = process.isTakenForDead === true;
		this.saved = beginning(given);
		this.live = copyOfState(this.saved);
	}

	get root(): Execution {
		return this.parent instanceof SubExecution ? this.parent.root : this.parent;
	}

	/** Of its address: n8n wakes it for nobody who does not know it. */
	get signature(): string {
		return `token-of-${this.id}`;
	}

	/** The node that runs, or that sleeps. Undefined where all have run. */
	get node(): INode | undefined {
		const [next] = this.live.stack;
		return this.code.nodes.find(({ name }) => name === next?.node);
	}

	contextOf(name: string): IDataObject {
		return (this.live.contexts[name] ??= {});
	}

	/** Its process knows that, and n8n does, unless it has taken the process for dead. */
	ends(ending: Pick<SubExecution, 'status' | 'error'>): void {
		this.ending = ending;
		if (!this.isLate) Object.assign(this, ending);
	}

	/** n8n keeps what it had of one that has been stopped. */
	save({ isAsleep = false } = {}): void {
		if (this.isStopped || this.isLate) return;
		this.saved = copyOfState(this.live);
		this.isSavedAsleep = isAsleep;
	}

	get isStopped(): boolean {
		return this.stop.signal.aborted;
	}

	/** n8n has taken its process for dead, and keeps nothing of what it does. */
	get isLate(): boolean {
		return this.process.isTakenForDead === true && !this.isBornLate;
	}

	/** A person has retried it, or the one that has started it. */
	get isOfRetry(): boolean {
		return this.mode === 'retry' || (this.parent instanceof SubExecution && this.parent.isOfRetry);
	}

	/** The name of the lease that its supervisor has written for it. */
	get lease(): string | undefined {
		const [first] = this.does === 'what polls' ? this.given : [];
		return first && (getPath(first.json, ['details', 'gateway_run', 'claim', 'lease']) as string | undefined);
	}

	/** Its steps for those that wait for it. */
	get does(): Click['on'] {
		return this.code.nodes.some(({ name }) => name === POLL_TASKS) ? 'what polls' : 'what waits';
	}
}

interface Ran {
	result: ExecuteWorkflowData;
	/** It has gone to sleep, so that who waits for it has to sleep, too. */
	sleeping?: SubExecution;
}

const ENDED: Array<SubExecution['status']> = ['success', 'error', 'crashed', 'canceled'];
/** n8n's words. */
const CANCELLED = 'The execution was cancelled manually';
/** One in so many calls of an address gets lost, … */
const LOST_CALLS = 10;
/** … and one in so many savings of an execution that goes on: n8n logs that, and no more. */
const LOST_SAVINGS = 30;
/** Milliseconds. */
const LATEST_SAVING_MS = 300;
/** An execution falls asleep within this time. */
const LONGEST_PARKING_MS = 30;

type Ended = { items: INodeExecutionData[] } | { error: string };

export class SubExecutions {
	private readonly all = new Map<string, SubExecution>();

	/** The saved reason of the last sleep of an execution, by its ID. It stays there when it is awake again. */
	private readonly sleptFor = new Map<string, string>();

	constructor(private readonly n8n: N8n) {}

	/** True when something that the execution has started has not ended. */
	isIn(execution: Execution): boolean {
		return [...this.all.values()].some(({ root, status }) => root === execution && !ENDED.includes(status));
	}

	/** True when an execution that polls for it works in the process. */
	isPolling(origin: Origin, process: Owner): boolean {
		return this.awake(origin, process).some(({ node }) => node?.name === POLL_TASKS);
	}

	/** True when the lease of a poller is there that has not been started. */
	isClaiming(origin: Origin, process: Owner): boolean {
		return this.awake(origin, process).some(
			({ id, does }) =>
				does === 'what waits' &&
				this.n8n.tables.leasesOf(id) > [...this.all.values()].filter(({ parent }) => parent.id === id).length,
		);
	}

	/** True when a poller sleeps that was started in the process and is to be woken from there. */
	isUnwoken(origin: Origin, process: Owner): boolean {
		return [...this.all.values()].some(
			(sub) =>
				sub.does === 'what polls' &&
				sub.status === 'waiting' &&
				!sub.isJob &&
				sub.process === process &&
				sub.root.origin === origin,
		);
	}

	runsIn(origin: Origin, process: Owner): boolean {
		return this.awake(origin, process).length > 0;
	}

	private awake(origin: Origin, process: Owner): SubExecution[] {
		return [...this.all.values()].filter(
			(sub) => sub.status === 'running' && sub.process === process && sub.root.origin === origin,
		);
	}

	/** Those that poll and have ended as a success. */
	polledToEnd(): SubExecution[] {
		return [...this.all.values()].filter(({ status, does }) => status === 'success' && does === 'what polls');
	}

	find(id: string): SubExecution | undefined {
		return this.all.get(id);
	}

	ofOrigin(origin: Origin): SubExecution[] {
		return [...this.all.values()].filter(({ root }) => root.origin === origin);
	}

	/** `executeWorkflow`: waits for its end, or until it sleeps. */
	async run(
		...[code, items, parent]: [
			code: IWorkflowBase | undefined,
			items: INodeExecutionData[],
			parent: Execution | SubExecution,
		]
	): Promise<Ran> {
		// Its caller takes any error for one of n8n's, and goes on without it.
		return await this.n8n.unstumbling(async () => await this.start(code, items, parent));
	}

	private async start(
		code: IWorkflowBase | undefined,
		items: INodeExecutionData[],
		parent: Execution | SubExecution,
	): Promise<Ran> {
		if (code === undefined) throw new Error('There is no workflow');
		await this.n8n.time.pass(SOON_MS);
		const sub = new SubExecution(this.n8n.nextId(), code, items, parent, parent.process, this.n8n.time.nowMs);
		this.all.set(sub.id, sub);
		if (parent instanceof SubExecution && parent.sleeps > 0) this.stopParking(sub);
		await this.work(sub);
		const { status, error } = sub.isStopped ? sub : (sub.ending ?? sub);
		if (status === 'error') throw new NodeError(error);
		if (status === 'canceled') throw Object.assign(new NodeError(CANCELLED), { executionId: sub.id, reason: 'manual' });
		const data = [copyOf(lastOutput(sub.live) ?? [])];
		if (status === 'waiting')
			return { result: { executionId: sub.id, data, waitTill: new Date(sub.sleepsUntilMs ?? 8.64e15) }, sleeping: sub };
		return { result: { executionId: sub.id, data } };
	}

	/** n8n is called at an address of its own, to wake an execution that sleeps in a Wait node. */
	async call(address: URL): Promise<Response> {
		const { time } = this.n8n;
		await time.pass(SOON_MS);
		if (time.random() * LOST_CALLS < 1) {
			this.n8n.story.visit('a wake-up call that gets lost');
			throw Object.assign(new TypeError('lost'), { cause: { code: 'ECONNREFUSED' } });
		}
		const { pathname, searchParams } = address;
		const sub = this.all.get(pathname.split('/').at(-1) ?? '');
		const status = statusOfCall(sub, searchParams.get('signature'));
		if (status === 200 && sub !== undefined) {
			// That is in the database before anything of it runs.
			takeBack(sub.saved);
			this.wake(sub, { items: [{ json: { query: {} } }] }, copyOfState(sub.saved));
		}
		return { status, ok: status === 200, headers: new Headers({ 'content-type': 'application/json' }) } as Response;
	}

	/** The data that n8n gives of an execution. */
	dataOf(id: string): object | undefined {
		const sub = this.all.get(id);
		const root = this.n8n.executions.get(id);
		const status = (sub ?? root)?.status;
		if (status === undefined) return undefined;
		const slept = this.sleptFor.get(id);
		const reason = status === 'canceled' && sub?.isStopped !== false ? 'manual' : undefined;
		const error = ['error', 'crashed', 'canceled', 'lost'].includes(status) ? { message: status, reason } : undefined;
		return {
			resultData: { error, runData: sub && runDataOf(sub) },
			...(status === 'waiting' || slept !== undefined ? { waitTill: new Date(4e12) } : {}),
			executionData: {
				contextData: contextDataOf(sub),
				nodeExecutionStack: [{ metadata: { waitingChildExecutionIds: slept && [slept] } }],
			},
			...(sub ? { parentExecution: { executionId: sub.parent.id, shouldResume: true } } : {}),
		};
	}

	/** The execution that waits for it sleeps now: it may have ended meanwhile. */
	fellAsleep(sub: SubExecution): void {
		this.sleptFor.set(sub.parent.id, sub.id);
		if (sub.status !== 'waiting' && sub.status !== 'running')
			this.n8n.time.after(SWEEP_EVERY_MS, () => this.handOn(sub), WORLD);
	}

	/** A process is gone, and n8n has started again. */
	recover(dead: Owner): void {
		for (const sub of this.all.values()) {
			if (sub.process !== dead || sub.status !== 'running') continue;
			const { origin } = sub.root;
			if (sub.parent instanceof SubExecution)
				origin.pollerDeathsAtMs.push(sub.process.diedAtMs ?? sub.process.silentAtMs ?? 0);
			else origin.handOverCrashes++;
			if (origin.drawn.engine === 'workers' && sub.isJob)
				this.n8n.time.after(STALLED_AFTER_MS, () => this.throwAway(sub), WORLD);
			else this.crashed(sub);
		}
	}

	/** A person stops one, or clicks Retry on one that has not ended well. */
	click(origin: Origin, { on, does, isParking }: Click): void {
		if (isParking === true) return;
		const all = [...this.all.values()].filter((sub) => sub.root.origin === origin && sub.does === on);
		if (does === 'retry') {
			const dead = all.find(({ status, saved }) => ['crashed', 'canceled'].includes(status) && saved.stack.length > 0);
			if (dead !== undefined) this.retry(dead);
			return;
		}
		const living = all
			.filter(
				({ status, sleeps, process }) =>
					sleeps > 0 && (status === 'waiting' || (status === 'running' && process.alive)),
			)
			.at(-1);
		if (living !== undefined) this.stop(living);
	}

	/** A person who has waited for this moment stops it before it has slept for the first time. */
	private stopParking(sub: SubExecution): void {
		const { time, story } = this.n8n;
		const { drawn } = sub.root.origin;
		if (drawn.clicks?.some(({ isParking, atMs }) => isParking === true && atMs <= time.elapsedMs) !== true) return;
		const stop = () => {
			if (sub.status !== 'running' || sub.sleeps > 0 || !sub.process.alive) return;
			story.visit('a stop of what polls before it sleeps');
			this.stop(sub);
		};
		time.after(time.random() * LONGEST_PARKING_MS, stop, WORLD);
	}

	private stop(sub: SubExecution): void {
		const { time, story } = this.n8n;
		const { origin } = sub.root;
		story.visit(`a stop of ${sub.does}`);
		origin.subStops++;
		if (sub.does === 'what polls') {
			origin.pollerDeathsAtMs.push(time.nowMs);
			origin.pollerStoppedAtMs ??= time.nowMs;
		} else origin.handOverCrashes++;
		// What it sets off happens there.
		if (sub.status === 'running') time.owner = sub.process;
		sub.status = 'canceled';
		sub.stop.abort();
		time.after(time.random() * SWEEP_EVERY_MS, () => this.handOn(sub), WORLD);
	}

	/** In an execution of its own. Nobody waits for that one. */
	private retry(dead: SubExecution): void {
		const { time, story } = this.n8n;
		const process = this.n8n.livingProcess();
		if (process === undefined) return void time.after(1000, () => this.retry(dead), WORLD);
		story.visit(`a${dead.retries++ > 0 ? ' second' : ''} retry of ${dead.does}`);
		const sub = new SubExecution(this.n8n.nextId(), dead.code, [], dead.parent, process, time.nowMs);
		Object.assign(sub, { mode: 'retry', saved: copyOfState(dead.saved), isSavedAsleep: dead.isSavedAsleep });
		sub.live = dead.isSavedAsleep ? afterSleep(sub) : copyOfState(sub.saved);
		this.all.set(sub.id, sub);
		// n8n passes on what has come in to the node that had slept.
		const passes = dead.isSavedAsleep ? { items: sub.live.stack[0]?.items ?? [] } : undefined;
		time.after(0, () => this.n8n.watch(this.workAndHandOn(sub, passes)), process);
	}

	private crashed(sub: SubExecution): void {
		sub.status = 'crashed';
		const sweptInMs = this.n8n.time.random() * SWEEP_EVERY_MS;
		this.n8n.time.after(sweptInMs, () => this.handOn(sub), WORLD);
	}

	/** The queue finds a job whose worker is gone: n8n writes an error over all that was saved of it. */
	private throwAway(sub: SubExecution): void {
		const { origin } = sub.root;
		this.n8n.story.visit('data that n8n throws away with a worker');
		origin.thrownAway++;
		sub.saved = { stack: [], contexts: {}, runs: {} };
		Object.assign(sub, { status: 'error', error: 'job stalled more than maxStalledCount' });
		const sweptInMs = this.n8n.time.random() * SWEEP_EVERY_MS;
		this.n8n.time.after(sweptInMs, () => this.handOn(sub), WORLD);
	}

	/** Its parent, if it sleeps, gets what it has put out last, or its error. */
	private handOn(sub: SubExecution): void {
		const { parent, status, error, saved } = sub;
		if (parent.status !== 'waiting' || parent.sleepsFor !== sub) return;
		const left =
			status === 'crashed'
				? leftOf(saved, sub.code, sub.begun)
				: { error: sub.isStopped ? CANCELLED : error, items: lastOutput(saved) };
		// Then n8n asks again and again, in vain.
		if (left.error === undefined && left.items === undefined) return;
		const ended = left.error === undefined ? { items: copyOf(left.items ?? []) } : { error: left.error };
		if (parent instanceof SubExecution) this.wake(parent, ended);
		else this.n8n.resume(parent, ended);
	}

	/** @param ended what has come of what it has slept for. Absent: its time was over, and what came in passes */
	private wake(sub: SubExecution, ended?: Ended, live = afterSleep(sub)): void {
		const { time } = this.n8n;
		const process = this.n8n.livingProcess();
		if (process === undefined) return void time.after(1000, () => this.wake(sub, ended, live), WORLD);
		if (sub.status !== 'waiting') return;
		Object.assign(sub, {
			status: 'running',
			isJob: true,
			process,
			live,
			sleepsFor: undefined,
			sleepsUntilMs: undefined,
		});
		const passes = ended ?? { items: live.stack[0]?.items ?? [] };
		time.after(0, () => this.n8n.watch(this.workAndHandOn(sub, passes)), process);
	}

	private async workAndHandOn(sub: SubExecution, passes?: Ended): Promise<void> {
		await this.work(sub, passes);
		if (sub.status === 'waiting' || sub.isLate) return;
		this.n8n.time.after(SOON_MS, () => this.handOn(sub), WORLD);
	}

	private async work(sub: SubExecution, passes?: Ended): Promise<void> {
		await this.workOn(sub, passes);
		if (sub.log !== undefined) sub.log.hasEnded = true;
		sub.log = undefined;
	}

	/** Node after node, until it ends or sleeps. */
	private async workOn(sub: SubExecution, passes?: Ended): Promise<void> {
		const { time } = this.n8n;
		const { code, live } = sub;
		let passing = passes;
		for (let { node } = sub; node !== undefined; { node } = sub) {
			sub.begun.set(node.name, false);
			const outputs = await this.outputsOf(sub, node, passing);
			passing = undefined;
			if (sub.isStopped) return;
			if ('error' in outputs) {
				await time.pass(SOON_MS);
				if (sub.isStopped) return;
				sub.save();
				// n8n goes by this word.
				const status = outputs.error.includes('canceled') ? 'canceled' : 'error';
				return sub.ends({ status, error: outputs.error });
			}
			if (sub.sleepsUntilMs !== undefined || sub.sleepsFor !== undefined) {
				noteRun(live, node.name, outputs);
				return await this.fallAsleep(sub);
			}
			ran(live, code, outputs);
			if (code.settings?.saveExecutionProgress === true) {
				if (node.name === QUESTION) void this.saveLate(sub, sub.log);
				else await this.saveProgress(sub);
			}
			sub.begun.set(node.name, true);
		}
		await time.pass(SOON_MS);
		if (sub.isStopped) return;
		sub.save();
		sub.ends({ status: 'success' });
	}

	private async saveProgress(sub: SubExecution): Promise<void> {
		const { time } = this.n8n;
		await time.pass(SOON_MS);
		if (time.random() * LOST_SAVINGS >= 1) sub.save();
		else sub.root.origin.lostSavings++;
	}

	/** Behind this node n8n has been seen to write what it saves when the next node works already. */
	private async saveLate(sub: SubExecution, log: SubExecution['log']): Promise<void> {
		const { time } = this.n8n;
		await time.pass(time.random() * LATEST_SAVING_MS);
		if (sub.log === log && sub.status === 'running') await this.saveProgress(sub);
	}

	private async fallAsleep(sub: SubExecution): Promise<void> {
		const { time } = this.n8n;
		await time.pass(SOON_MS);
		if (sub.isStopped) return;
		sub.save({ isAsleep: true });
		sub.ends({ status: 'waiting' });
		if (sub.isLate) return;
		const { sleepsUntilMs, sleepsFor } = sub;
		const sleep = ++sub.sleeps;
		if (sleepsUntilMs !== undefined)
			time.after(sleepsUntilMs - time.clockMs, () => sub.sleeps === sleep && this.wake(sub), WORLD);
		if (sleepsFor !== undefined) this.fellAsleep(sleepsFor);
	}

	private async outputsOf(
		sub: SubExecution,
		node: INode,
		passing: Ended | undefined,
	): Promise<INodeExecutionData[][] | { error: string }> {
		const ended = passing ?? (await this.runNode(sub, node));
		if (!('error' in ended)) {
			const outputs = 'items' in ended ? [ended.items] : ended;
			return outputs[0]?.length === 0 && node.alwaysOutputData === true ? [[{ json: {} }]] : outputs;
		}
		return node.onError === undefined ? ended : [[{ json: { error: ended.error } }]];
	}

	private async runNode(sub: SubExecution, node: INode): Promise<INodeExecutionData[][] | { error: string }> {
		const { items = [] } = sub.live.stack[0] ?? {};
		const { time } = this.n8n;
		if (node.type === WAIT) {
			const sleepMs = sleepOf(node, sub.live.runs[node.name]?.length ?? 0);
			if (sleepMs === undefined) await time.pass(0);
			else sub.sleepsUntilMs = time.clockMs + sleepMs;
		}
		return node.parameters.operation === undefined ? [items] : await this.runOurs(sub, node, items);
	}

	private async runOurs(sub: SubExecution, node: INode, items: INodeExecutionData[]) {
		const { time, story } = this.n8n;
		const { drawn } = sub.root.origin;
		const { signal } = sub.stop;
		// What a node has begun may go on while n8n saves, until the execution sleeps or ends.
		const log = (sub.log ??= new RunLog(
			time,
			paceOf(drawn),
			signal,
			story.violations,
			drawn.maxTries > 1 ? WAIT_BETWEEN_TRIES_MS : Infinity,
		));
		log.execution = sub.id;
		log.buysNothing = sub.isOfRetry;
		const context = contextOfStep(this.n8n, sub, node, copyOf(items), log, signal);
		try {
			return copyOf(await product.execute.call(context));
		} catch (thrown) {
			const { message, description, messages = [] } = thrown as Thrown;
			return { error: node.onError === undefined ? [message, description, ...messages].join(' ') : message };
		}
	}
}

interface Thrown {
	message: string;
	description?: string;
	messages?: string[];
}

/** The state after the time of a sleep is over, or after what it has slept for has ended: n8n takes its output back in memory only. */
function afterSleep({ saved }: SubExecution): State {
	const live = copyOfState(saved);
	takeBack(live);
	return live;
}

function runDataOf({ saved: { runs } }: SubExecution): object {
	const toTask = (outputs: INodeExecutionData[][]) => ({ data: { main: copyOf(outputs) } });
	const kept = { Start: runs.Start, [POLL_TASKS]: runs[POLL_TASKS]?.slice(-1) };
	return Object.fromEntries(
		Object.entries(kept).flatMap(([name, ofNode]) => (ofNode ? [[name, ofNode.map(toTask)]] : [])),
	);
}

/** The contexts of its nodes, as n8n keeps them. */
function contextDataOf(sub?: SubExecution): Contexts {
	const contexts = Object.entries(copyOf(sub?.saved.contexts ?? {}));
	return Object.fromEntries(contexts.map(([name, kept]) => [name === 'flow' ? name : `node:${name}`, kept]));
}

/** n8n's answer to a call that is to wake the execution. */
function statusOfCall(sub: SubExecution | undefined, signature: string | null): number {
	if (sub === undefined) return 404;
	if (signature !== sub.signature) return 401;
	if (sub.status !== 'waiting') return 409;
	return sub.node?.type === WAIT ? 200 : 404;
}
