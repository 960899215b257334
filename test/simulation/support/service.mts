/**
 * The service: the sandbox's own tasks, records and answers, without HTTP. What each POST, each check and each file
 * meets is planned by the case. It notes what was sent when nothing may be sent any more.
 */
import type { IHttpRequestOptions, IN8nHttpFullResponse } from 'n8n-workflow';
import { onAbort } from '../../../core/abort';
import { answerAt, parseAnswers, type FaultAction } from '../../../sandbox/faults/answers.mts';
import type { Directives } from '../../../sandbox/faults/directives.mts';
import { directivesOf } from '../../../sandbox/faults/readDirectives.mts';
import { answersItself, distort, replacement } from '../../../sandbox/http/applyFault.mts';
import { jsonAnswer, type Answer } from '../../../sandbox/http/answer.mts';
import { refusalAnswer } from '../../../sandbox/http/pipeline.mts';
import { Refusal, wordsFor } from '../../../sandbox/http/refusal.mts';
import { readImageRequest } from '../../../sandbox/rules/image/index.mts';
import { IdMaker } from '../../../sandbox/state/ids.mts';
import { createdRecord, statusRecord } from '../../../sandbox/state/taskRecord.mts';
import { TaskLedger, type SandboxTask } from '../../../sandbox/state/tasks.mts';
import { BLANKS, LOCKED, PAGES, STRAYS, type ItemPlan, type PostPlan, type TaskPlan } from './cases.mts';
import type { Process } from './executions.mts';
import type { RunLog } from './runLog.mts';
import type { Story } from './story.mts';
import { WORLD, type Owner, type Time } from './time.mts';

/** An API key so short that no answer is searched for it: that would take a twentieth of the time. */
export const API_KEY = 'sk-sim';
const FILES = 'https://files.test';
const UNREACHABLE: Record<string, string> = { refused: 'ECONNREFUSED', dns: 'ENOTFOUND' };
const FINE_TASK: TaskPlan = { directives: 'duration=8s', polls: [] };
const FINE: PostPlan = { answer: 'ok', task: FINE_TASK };
/** These say for sure that no task was made. */
const SAYS_NO = [400, 401, 402, 403, 422, 429];

/** After these the account buys nothing more. */
const REFUSES_ALL = [401, 402, 403];
/** Pages of a firewall that say so, too. */
const PAGES_IN_A_ROW = 3;

/** No image is sent. */
const ANY_LINK = { asset: () => {}, uploaded: () => {} };

/** An answer, or Node's code of a connection that gave none. */
type Reply = { status: number; headers: Record<string, string>; text: string } | { code: string };

/** One creating request, from its sending on. */
export interface Post {
	name: string;
	task?: SandboxTask;
	/** True when the node knows for sure whether it was accepted. */
	isHeard: boolean;
	/** Neither its answer nor the end of its connection has reached the node. */
	isUnderWay: boolean;
	/** The service has refused it, and will not do so for ever. */
	isRefused?: boolean;
	/** The same, because the account runs as many tasks as it can. */
	isTurnedAway?: boolean;
	/** The process that has sent it. */
	owner: Owner;
	sentAtMs: number;
	heardAtMs?: number;
	/** The time in which its execution is awake. */
	log: RunLog;
}

/** A poll that was answered. */
export interface Poll extends Pick<Post, 'sentAtMs' | 'log'> {
	heardAtMs: number;
	status: number;
	/** The wait may end by it, or by several such, before the task has ended. */
	mayEndWait: boolean;
}

/** Refusals that may end a wait. */
const REFUSALS = [400, 401, 402, 403, 404, 409, 422, 423, 425, 429];
/** Waits that end so may be given up: then Submit Again buys another task. */
const GIVEN_UP = [400, 404, 409, 422, 423, 425];

export class Service {
	readonly tasks: TaskLedger;

	/** IDs that were in an answer which has reached the node. */
	readonly delivered = new Set<string>();

	readonly posts: Post[] = [];

	/** By task ID. */
	readonly polls = new Map<string, Poll[]>();

	/** Names of items whose task is not found, or not shown, at times: a wait may be given up, and a person may buy again. */
	readonly doubted = new Set<string>();

	/** The number of creating requests whose answer, or lack of one, leaves open whether the task exists. By item name. */
	readonly unanswered = new Map<string, number>();

	/** The number of times that each fault was met. */
	readonly met = new Map<string, number>();

	private readonly pagesInARow = new Map<Owner, number>();

	private readonly used = new Map<string, number>();

	/** @param planOf by item name, which is the first word of the prompt */
	constructor(
		private readonly time: Time,
		private readonly planOf: (name: string) => ItemPlan | undefined,
		private readonly account: { slots?: number; story: Story },
	) {
		this.tasks = new TaskLedger(new IdMaker(time.random), { image: 8000, video: 8000 }, () => time.nowMs, time.random);
	}

	/** The fake of n8n's `helpers.httpRequestWithAuthentication`. */
	async api(log: RunLog, options: IHttpRequestOptions, signal?: AbortSignal): Promise<IN8nHttpFullResponse> {
		log.sends(options.method ?? 'GET', options.url);
		if (options.method !== 'POST') return await this.check(log, options, signal);
		return await this.create(log, options, signal);
	}

	/** The fake of n8n's `helpers.httpRequest`. */
	async file(log: RunLog, { url, timeout, abortSignal }: IHttpRequestOptions): Promise<IN8nHttpFullResponse> {
		log.fetches(url);
		const answer = await this.exchange(timeout, abortSignal as AbortSignal, (reply) => {
			const task = this.tasks.find(decodeURIComponent(url.split('/').at(-2) ?? ''));
			const planned = task && this.planOf(nameOf(task))?.files[this.use(`file ${task.id}`)];
			this.meet('file', planned);
			if (planned === 'reset') return reply({ code: 'ECONNRESET' });
			const isPage = planned === 'html';
			reply({
				status: planned === undefined || isPage ? 200 : Number(planned),
				headers: { 'content-type': isPage ? 'text/html' : 'image/png' },
				text: '',
			});
		});
		return { statusCode: answer.status, headers: answer.headers, body: { url } as never };
	}

	private async create(log: RunLog, options: IHttpRequestOptions, signal?: AbortSignal): Promise<IN8nHttpFullResponse> {
		const body = options.body as { prompt: string };
		const name = body.prompt.split(' ')[0];
		const { answer, task: plan } = this.planOf(name)?.posts[this.use(`create ${name}`)] ?? FINE;
		const post: Post = {
			name,
			isHeard: false,
			isUnderWay: true,
			owner: this.time.owner,
			sentAtMs: this.time.nowMs,
			log,
		};
		this.posts.push(post);
		this.account.story.phases.delete(this.time.owner);
		const accept = () => {
			const directives = readDirectives(plan.directives);
			post.task = this.tasks.accept(
				readImageRequest(body as never, ANY_LINK),
				{ ...body, polls: plan.polls, further: plan.further },
				1,
				directives,
			);
			return jsonAnswer(createdRecord(post.task));
		};
		const isUnanswered = () => this.unanswered.set(name, (this.unanswered.get(name) ?? 0) + 1);
		try {
			let served = answer;
			const response = await this.exchange(options.timeout, signal, (reply) => {
				post.isTurnedAway = this.isFull(name);
				if (post.isTurnedAway) served = '429';
				this.serve(served, accept, reply);
			});
			const id = post.task?.id;
			if (id !== undefined && response.text.includes(JSON.stringify(id))) this.delivered.add(id);
			post.heardAtMs = this.time.nowMs;
			post.isRefused = response.status === 429;
			const isPage = PAGES.includes(served);
			if (isPage) this.account.story.visit('a submission that gets a page');
			if (this.refusesAll(response.status, isPage)) log.isRefused();
			post.isHeard = id === undefined ? isPage || SAYS_NO.includes(response.status) : this.delivered.has(id);
			if (!post.isHeard) isUnanswered();
			// Another one may be accepted before it is heard of.
			const isOneOnItsWay = this.posts.some((other) => other !== post && other.heardAtMs === undefined);
			return log.hears(response, this.time, isOneOnItsWay || this.tasks.list().length > 0);
		} catch (thrown) {
			post.isHeard = answer in UNREACHABLE;
			isUnanswered();
			throw thrown;
		} finally {
			post.isUnderWay = false;
		}
	}

	/**
	 * True where nothing more is to be bought: the key or the balance is refused, or the last answers that the process has got
	 * are pages of a firewall or the like.
	 */
	private refusesAll(status: number, isPage: boolean): boolean {
		const { owner } = this.time;
		const pages = isPage && status !== 404 ? (this.pagesInARow.get(owner) ?? 0) + 1 : 0;
		this.pagesInARow.set(owner, pages);
		return isPage ? pages >= PAGES_IN_A_ROW : REFUSES_ALL.includes(status);
	}

	/** True when the account runs as many tasks as it can. */
	private isFull(name: string): boolean {
		const { slots, story } = this.account;
		if (slots === undefined) return false;
		const running = this.tasks.list().filter(({ endsAt }) => endsAt > this.time.nowMs);
		if (running.length < slots) return false;
		const [run] = name.split('-');
		if (running.some((task) => !nameOf(task).startsWith(`${run}-`)))
			story.visit('a 429 while another run holds the slots');
		return true;
	}

	/** The number of tasks that were created because the one before them has failed. */
	get replaced(): number {
		const failed = new Map<string, number>();
		for (const task of this.tasks.list()) if (task.directives.fail !== undefined) failed.set(nameOf(task), task.endsAt);
		return this.posts.filter(({ name, sentAtMs }) => sentAtMs > (failed.get(name) ?? Infinity)).length;
	}

	/** The number of tasks that had failed, as the node has heard, when the process that had made them died. */
	get failedBeforeDeath(): number {
		return this.posts.filter(({ task, owner }) => {
			const { diedAtMs = 0 } = owner as Process;
			const polls = this.polls.get(task?.id ?? '') ?? [];
			return (
				task?.directives.fail !== undefined &&
				polls.some(({ heardAtMs }) => heardAtMs >= task.endsAt && heardAtMs < diedAtMs)
			);
		}).length;
	}

	private async check(
		log: RunLog,
		{ url, timeout }: IHttpRequestOptions,
		signal?: AbortSignal,
	): Promise<IN8nHttpFullResponse> {
		const id = decodeURIComponent(url.split('/').at(-1) ?? '');
		const sentAtMs = this.time.nowMs;
		let answer = 'ok';
		const response = await this.exchange(timeout, signal, (reply) => {
			const task = this.tasks.find(id);
			const { polls, further } = (task?.body ?? {}) as Partial<TaskPlan>;
			answer = polls?.[this.use(`check ${id}`)] ?? further ?? 'ok';
			this.serve(answer, async () => await this.record(task), reply);
		});
		const { status } = response;
		const task = this.tasks.find(id);
		const isPage = PAGES.includes(answer);
		const isStray = [...STRAYS, ...BLANKS].includes(answer) || task?.directives.ids !== 'own';
		this.visitPoll(answer, task);
		const mayEndWait = !isPage && (isStray || REFUSALS.includes(status));
		const poll = { sentAtMs, heardAtMs: this.time.nowMs, status, mayEndWait, log };
		this.polls.set(id, [...(this.polls.get(id) ?? []), poll]);
		if (task && !isPage && (isStray || GIVEN_UP.includes(status))) this.doubted.add(nameOf(task));
		return log.hears(response, this.time, false);
	}

	private visitPoll(answer: string, task?: SandboxTask): void {
		const { story } = this.account;
		if (PAGES.includes(answer)) story.visit('a check that gets a page');
		if (answer.endsWith('_other')) story.visit('the record of another task');
		else if (STRAYS.includes(answer)) story.visit('an answer that names no task');
		if (LOCKED.includes(answer)) story.visit('a check of a task that is locked');
		if (task?.directives.ids === 'behind') story.visit('a record with the ID of the service behind');
	}

	private async record(task: SandboxTask | undefined): Promise<Answer> {
		if (task !== undefined && this.time.nowMs - task.acceptedAt >= task.directives.hiddenMs)
			return jsonAnswer(await statusRecord(task, { api: FILES, files: FILES }));
		const { message, code } = wordsFor(404);
		throw new Refusal(404, message, code);
	}

	/** A request on its way, and its answer. Only the process that has sent it can hear it. */
	private async exchange(
		timeoutMs = 300_000,
		signal: AbortSignal | undefined,
		arrive: (reply: (reply: Reply) => void) => void,
	) {
		const { time } = this;
		return await new Promise<Exclude<Reply, { code: string }>>((resolve, reject) => {
			const fail = (code: string) => reject(Object.assign(new Error(code), { code }));
			// It is not sent.
			if (signal?.aborted) return fail('ERR_CANCELED');
			const end = (code: string) => {
				forget();
				giveUp();
				fail(code);
			};
			const giveUp = time.after(timeoutMs, () => end('ECONNABORTED'));
			const forget = onAbort(signal, () => end('ERR_CANCELED'));
			const { owner } = time;
			const answered = (reply: Reply) => {
				const arrives = () => {
					if ('code' in reply) return end(reply.code);
					forget();
					giveUp();
					resolve(reply);
				};
				time.after(this.latencyMs(), arrives, owner);
			};
			time.after(this.latencyMs(), () => arrive(answered), WORLD);
		});
	}

	private latencyMs(): number {
		return 5 + Math.floor(this.time.random() * 40);
	}

	/** The way of a request through the service, as in the sandbox's pipeline. */
	private serve(answer: string, handle: () => Answer | Promise<Answer>, reply: (reply: Reply) => void): void {
		if (answer !== 'ok') this.meet('api', answer);
		if (answer in UNREACHABLE) return reply({ code: UNREACHABLE[answer] });
		const fault = actionOf(answer);
		const afterwards = fault.when === 'after';
		const replace = () =>
			fault.reset
				? reply({ code: 'ECONNRESET' })
				: reply(toReply(replacement(fault, undefined, this.time.nowMs, FILES)));
		const work = async () => {
			if (!afterwards && answersItself(fault)) return replace();
			let ordinary: Answer;
			try {
				ordinary = await handle();
			} catch (thrown) {
				return reply(toReply(refusalAnswer(thrown)));
			}
			if (!afterwards)
				return fault.truncate === 'connection'
					? reply({ code: 'ECONNRESET' })
					: reply(toReply(distort(ordinary, fault)));
			this.late(fault.delayMs, () => (answersItself(fault) ? replace() : reply(toReply(ordinary))));
		};
		this.late(afterwards ? 0 : fault.delayMs, () => void work());
	}

	private late(delayMs = 0, go: () => void): void {
		if (delayMs === 0) go();
		else if (delayMs !== Infinity) this.time.after(delayMs, go, WORLD);
	}

	private meet(where: string, fault: string | undefined): void {
		if (fault !== undefined) this.met.set(`${where} ${fault}`, (this.met.get(`${where} ${fault}`) ?? 0) + 1);
	}

	private use(key: string): number {
		const count = this.used.get(key) ?? 0;
		this.used.set(key, count + 1);
		return count;
	}
}

/** The item that a task was made for. */
export function nameOf(task: SandboxTask): string {
	return String(task.body.prompt).split(' ')[0];
}

function toReply({ status, headers, body }: Answer): Reply {
	return { status, headers, text: String(body) };
}

const actions = new Map<string, FaultAction>();
function actionOf(answer: string): FaultAction {
	const known = actions.get(answer) ?? answerAt(parseAnswers(answer), 0) ?? {};
	actions.set(answer, known);
	return known;
}

const parsed = new Map<string, Directives>();
function readDirectives(text: string): Directives {
	const known = parsed.get(text) ?? directivesOf({ sandbox: text });
	if (parsed.size < 10_000) parsed.set(text, known);
	return known;
}
