/**
 * Executions that a node starts: the sub-workflows of Survive Restarts, as n8n runs them, puts them to sleep, wakes
 * them, and hands on what came of them.
 */
import type { ExecuteWorkflowData, IDataObject, INode, INodeExecutionData, IWorkflowBase } from 'n8n-workflow';
import { contextOfStep } from './context.mts';
import { copyOf } from './copyOf.mts';
import { POLL_TASKS } from '../../../nodes/durable/subWorkflow';
import type { Execution, Origin, Process } from './executions.mts';
import { node as product, SOON_MS, SWEEP_EVERY_MS, WAIT_BETWEEN_TRIES_MS, type N8n } from './n8n.mts';
import { RunLog } from './runLog.mts';
import { WORLD, type Owner } from './time.mts';

type Contexts = Record<string, IDataObject>;

/** Its state in the database. */
interface State {
	/** The node that comes next, or that sleeps. */
	next: string;
	items: INodeExecutionData[];
	contexts: Contexts;
	/** The output of the node that has run last. */
	output?: INodeExecutionData[];
}

export class SubExecution {
	status: 'running' | 'waiting' | 'success' | 'error' | 'crashed' = 'running';

	saved: State;

	live: State;

	error?: string;

	sleepsUntilMs?: number;

	/** The number of its sleeps: a timer for an earlier sleep wakes nothing. */
	sleeps = 0;

	sleepsFor?: SubExecution;

	readonly input: INodeExecutionData[];

	/** Of the time in which it is awake. */
	log?: RunLog;

	constructor(
		readonly id: string,
		readonly code: IWorkflowBase,
		items: INodeExecutionData[],
		readonly parent: Execution | SubExecution,
		public process: Process,
	) {
		this.input = copyOf(items);
		this.saved = { next: 'Start', items: copyOf(items), contexts: {} };
		this.live = copyOf(this.saved);
	}

	get root(): Execution {
		return this.parent instanceof SubExecution ? this.parent.root : this.parent;
	}

	/** Of its address: n8n wakes it for nobody who does not know it. */
	get signature(): string {
		return `token-of-${this.id}`;
	}

	/** The node that comes next, or that sleeps. */
	get node(): INode {
		const node = this.code.nodes.find(({ name }) => name === this.live.next);
		if (node === undefined) throw new Error(`There is no node ${this.live.next}`);
		return node;
	}

	contextOf(name: string): IDataObject {
		return (this.live.contexts[name] ??= {});
	}

	save(): void {
		this.saved = copyOf(this.live);
	}
}

interface Ran {
	result: ExecuteWorkflowData;
	/** It has gone to sleep, so that who waits for it has to sleep, too. */
	sleeping?: SubExecution;
}

const WAIT = 'n8n-nodes-base.wait';
const ENDED: Array<SubExecution['status']> = ['success', 'error', 'crashed'];
/** One in so many calls of an address gets lost, … */
const LOST_CALLS = 10;
/** … and one in so many savings of an execution that goes on: n8n logs that, and no more. */
const LOST_SAVINGS = 30;

/** Nothing that is saved can wait for ever for an execution that is gone. */
const MADE_UP: INodeExecutionData[] = [{ json: { isArtificialRecoveredEventItem: true } }];

export class SubExecutions {
	private readonly all = new Map<string, SubExecution>();

	/** What is saved of the last sleep of an execution, by its ID: what it has slept for. It stays there when it is awake again. */
	private readonly sleptFor = new Map<string, string>();

	constructor(private readonly n8n: N8n) {}

	/** True when something that the execution has started has not ended. */
	isIn(execution: Execution): boolean {
		return [...this.all.values()].some(({ root, status }) => root === execution && !ENDED.includes(status));
	}

	/** True when an execution that submits in waves for it is awake in the process. */
	isSubmitting(origin: Origin, process: Owner): boolean {
		const { waves } = this.n8n.story;
		if (waves.length === 0) return false;
		return this.awake(origin, process).some(({ node }) => node.name === POLL_TASKS);
	}

	runsIn(origin: Origin, process: Owner): boolean {
		return this.awake(origin, process).length > 0;
	}

	private awake(origin: Origin, process: Owner): SubExecution[] {
		return [...this.all.values()].filter(
			(sub) => sub.status === 'running' && sub.process === process && sub.root.origin === origin,
		);
	}

	get count(): number {
		return this.all.size;
	}

	/** `executeWorkflow`: waits for its end, or until it sleeps. */
	async run(
		code: IWorkflowBase | undefined,
		items: INodeExecutionData[],
		parent: Execution | SubExecution,
	): Promise<Ran> {
		if (code === undefined) throw new Error('There is no workflow');
		await this.n8n.time.pass(SOON_MS);
		const sub = new SubExecution(this.n8n.nextId(), code, items, parent, parent.process);
		this.all.set(sub.id, sub);
		await this.work(sub);
		if (sub.status === 'error') throw new Error(sub.error);
		const data = [copyOf(sub.live.output ?? [])];
		if (sub.status === 'waiting')
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
		if (status === 200 && sub !== undefined) this.wake(sub, { items: [{ json: { query: {} } }] });
		return { status, ok: status === 200, headers: new Headers({ 'content-type': 'application/json' }) } as Response;
	}

	/** The data that n8n gives of an execution. */
	dataOf(id: string): object | undefined {
		const sub = this.all.get(id);
		const root = this.n8n.executions.get(id);
		const status = (sub ?? root)?.status;
		if (status === undefined) return undefined;
		const slept = this.sleptFor.get(id);
		const error = ['error', 'crashed', 'canceled', 'lost'].includes(status) ? { message: status } : undefined;
		return {
			resultData: { error, runData: sub && { Start: [{ data: { main: [copyOf(sub.input)] } }] } },
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
			sub.status = 'crashed';
			const { origin } = sub.root;
			if (sub.parent instanceof SubExecution) origin.pollerDeathsAtMs.push(sub.process.diedAtMs ?? 0);
			else origin.handOverCrashes++;
			sub.live = copyOf(sub.saved);
			const sweptInMs = this.n8n.time.random() * SWEEP_EVERY_MS;
			this.n8n.time.after(sweptInMs, () => this.handOn(sub), WORLD);
		}
	}

	/** Its parent, if it sleeps, gets what it has put out last, or its error. */
	private handOn(sub: SubExecution): void {
		const { parent, status, error, live } = sub;
		if (parent.status !== 'waiting' || parent.sleepsFor !== sub) return;
		const output = copyOf(live.output ?? MADE_UP);
		const ended = status === 'error' ? { error: error ?? '' } : { items: output };
		if (parent instanceof SubExecution) this.wake(parent, ended);
		else this.n8n.resume(parent, ended);
	}

	private wake(sub: SubExecution, ended?: { items: INodeExecutionData[] } | { error: string }): void {
		const { time } = this.n8n;
		const process = this.n8n.livingProcess();
		if (process === undefined) return void time.after(1000, () => this.wake(sub, ended), WORLD);
		if (sub.status !== 'waiting') return;
		Object.assign(sub, {
			status: 'running',
			process,
			live: copyOf(sub.saved),
			sleepsFor: undefined,
			sleepsUntilMs: undefined,
		});
		// A node that sleeps lets its input pass, or what came of what it has waited for.
		const passes =
			ended === undefined ? sub.live.items : 'error' in ended ? [{ json: { error: ended.error } }] : ended.items;
		time.after(0, () => this.n8n.watch(this.workAndHandOn(sub, passes)), process);
	}

	private async workAndHandOn(sub: SubExecution, passes: INodeExecutionData[]): Promise<void> {
		await this.work(sub, passes);
		if (sub.status === 'waiting') return;
		this.n8n.time.after(SOON_MS, () => this.handOn(sub), WORLD);
	}

	private async work(sub: SubExecution, passes?: INodeExecutionData[]): Promise<void> {
		await this.workOn(sub, passes);
		if (sub.log !== undefined) sub.log.hasEnded = true;
		sub.log = undefined;
	}

	/** Node after node, until it ends or sleeps. */
	private async workOn(sub: SubExecution, passes?: INodeExecutionData[]): Promise<void> {
		const { time } = this.n8n;
		const { code, live } = sub;
		let passing = passes;
		for (;;) {
			const { node } = sub;
			try {
				live.output = passing ?? (await this.runNode(sub, node));
			} catch (thrown) {
				const {
					message,
					description,
					messages = [],
				} = thrown as { message: string; description?: string; messages?: string[] };
				await time.pass(SOON_MS);
				sub.save();
				Object.assign(sub, { status: 'error', error: [message, description, ...messages].join(' ') });
				return;
			}
			passing = undefined;
			if (sub.sleepsUntilMs !== undefined || sub.sleepsFor !== undefined) {
				await time.pass(SOON_MS);
				sub.save();
				sub.status = 'waiting';
				const { sleepsUntilMs, sleepsFor } = sub;
				const sleep = ++sub.sleeps;
				if (sleepsUntilMs !== undefined)
					time.after(sleepsUntilMs - time.clockMs, () => sub.sleeps === sleep && this.wake(sub), WORLD);
				if (sleepsFor !== undefined) this.fellAsleep(sleepsFor);
				return;
			}
			const next = nextOf(sub.code, node, live.output);
			if (code.settings?.saveExecutionProgress === true) await time.pass(SOON_MS);
			if (next !== undefined) Object.assign(live, { next, items: live.output });
			if (code.settings?.saveExecutionProgress === true) {
				if (time.random() * LOST_SAVINGS >= 1) sub.save();
				else sub.root.origin.lostSavings++;
			}
			if (next === undefined) break;
		}
		await time.pass(SOON_MS);
		sub.save();
		sub.status = 'success';
	}

	private async runNode(sub: SubExecution, node: INode): Promise<INodeExecutionData[]> {
		const { items } = sub.live;
		const { time, story } = this.n8n;
		if (node.type === WAIT) sub.sleepsUntilMs = time.clockMs + Number(node.parameters.resumeAmount) * 1000;
		if (node.parameters.operation === undefined) return items;
		const { drawn } = sub.root.origin;
		const { signal } = new AbortController(); // nobody stops a sub-execution
		// What a node has begun may go on while n8n saves, until the execution sleeps or ends.
		const log = (sub.log ??= new RunLog(
			time,
			drawn.requestsPerSecond,
			signal,
			story.violations,
			drawn.maxTries > 1 ? WAIT_BETWEEN_TRIES_MS : Infinity,
		));
		try {
			const [output] = await product.execute.call(contextOfStep(this.n8n, sub, node, copyOf(items), log, signal));
			return copyOf(output);
		} catch (thrown) {
			if (node.onError === undefined) throw thrown;
			return [{ json: { error: (thrown as Error).message } }];
		}
	}
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
	return sub.node.type === WAIT ? 200 : 404;
}

function nextOf({ connections }: IWorkflowBase, node: INode, output: INodeExecutionData[]): string | undefined {
	const [whenTrue, otherwise] = connections[node.name]?.main ?? [];
	const branch = node.type === 'n8n-nodes-base.if' && !isTrue(node, output) ? otherwise : whenTrue;
	return branch?.[0]?.node;
}

/** The condition of an If node, as it is written there. */
function isTrue({ parameters }: INode, items: INodeExecutionData[]): boolean {
	const {
		conditions: [{ leftValue }],
	} = parameters.conditions as unknown as { conditions: [{ leftValue: string }] };
	let condition = conditionsByText.get(leftValue);
	if (condition === undefined) {
		const expression = leftValue.replace(/^=\{\{(.*)\}\}$/, '$1');
		// eslint-disable-next-line @typescript-eslint/no-implied-eval
		condition = new Function('$input', `return ${expression}`) as Condition;
		conditionsByText.set(leftValue, condition);
	}
	return condition({ all: () => items });
}

type Condition = ($input: object) => boolean;
const conditionsByText = new Map<string, Condition>();
