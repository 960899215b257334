/**
 * The sandbox in this process behind the request helpers of n8n, with the weather of a case between the two:
 * what each POST and each look meets, and a record of what was sent and what came back.
 */
import type { IHttpRequestOptions, IN8nHttpFullResponse } from 'n8n-workflow';
import { onAbort } from '../../../core/abort';
import { createSandbox, type Sandbox } from '../../../sandbox/index.mts';
import type { SandboxTask } from '../../../sandbox/state/tasks.mts';
import type { ItemPlan, PostPlan, TaskPlan } from './cases';
import { inRealTime, sleepInFakeTime } from './fakeTime.mts';

/** One run of the node: what n8n calls a try. */
export interface TryLog {
	signal: AbortSignal;
	/** The service has refused the key or the balance, and the node has heard it. */
	refused: boolean;
	/** What left although nothing may have, in words. */
	violations: string[];
}

const UNREACHABLE: Record<string, string> = { refused: 'ECONNREFUSED', dns: 'ENOTFOUND' };
const FINE_TASK: TaskPlan = { directives: 'duration=8s', polls: [] };
const FINE: PostPlan = { answer: 'ok', task: FINE_TASK };
/** These say for sure that no task was made. */
const SAYS_NO = [400, 401, 402, 403, 422, 429];
/** After these the account buys nothing more. */
const REFUSALS = [401, 402, 403];

export class Weather {
	readonly sandbox: Sandbox = createSandbox({
		now: () => Date.now(),
		random: () => Math.random(),
		sleep: sleepInFakeTime,
	});

	/** IDs that were in an answer which has reached the node. */
	readonly delivered = new Set<string>();

	/** POSTs by item name whose answer told nothing about the task. */
	readonly unanswered = new Map<string, number>();

	private plans = new Map<string, ItemPlan>();

	private used = new Map<string, number>();

	/** `plans`: by item name, which is the first word of the prompt. */
	begin(plans: Map<string, ItemPlan>): void {
		this.sandbox.reset();
		this.delivered.clear();
		this.unanswered.clear();
		this.used.clear();
		this.plans = plans;
	}

	/** What stands in for `helpers.httpRequestWithAuthentication` and `helpers.httpRequest`. */
	helpers(log: TryLog) {
		const { api } = this;
		return {
			async httpRequestWithAuthentication(this: object, _credential: string, options: IHttpRequestOptions) {
				// As n8n does it: cut off on stop, unless called with a `this` that has no cancel signal.
				const signal = 'getExecutionCancelSignal' in this ? log.signal : (options.abortSignal as AbortSignal | undefined);
				return await limited(options.timeout, signal, async () => await api(log, options));
			},
			httpRequest: async (options: IHttpRequestOptions) =>
				await limited(options.timeout, options.abortSignal as AbortSignal, async () => await this.file(log, options)),
			/** Keeps the address of a file, to see later whose it is. */
			prepareBinaryData: async (body: { url: string }, fileName: string, mimeType: string) => ({
				data: body.url,
				fileName,
				mimeType,
			}),
		};
	}

	private api = async (log: TryLog, options: IHttpRequestOptions): Promise<IN8nHttpFullResponse> => {
		if (log.signal.aborted) log.violations.push(`${options.method} ${options.url} left after the stop`);
		if (options.method !== 'POST') return await this.look(log, options);
		if (log.refused) log.violations.push('a POST left after the key or the balance was refused');
		return await this.create(log, options);
	};

	private async create(log: TryLog, options: IHttpRequestOptions): Promise<IN8nHttpFullResponse> {
		const body = options.body as { prompt: string };
		const name = body.prompt.split(' ')[0];
		const attempt = this.use(`create ${name}`);
		const { answer, task } = this.planOf(name, attempt);
		if (answer in UNREACHABLE) throw broken(UNREACHABLE[answer]);
		const existing = () => this.sandbox.tasks.find((each) => nameOf(each) === name && each.body.attempt === attempt);
		try {
			const response = await this.inject(log, {
				...options,
				body: { ...body, attempt, sandbox: `create=${answer}*all ${task.directives}` },
			});
			const id = existing()?.id;
			if (id !== undefined && String(response.body).includes(JSON.stringify(id))) this.delivered.add(id);
			else if (!SAYS_NO.includes(response.statusCode)) this.countUnanswered(name);
			return response;
		} catch (thrown) {
			this.countUnanswered(name);
			throw thrown;
		}
	}

	private async look(log: TryLog, options: IHttpRequestOptions): Promise<IN8nHttpFullResponse> {
		const id = decodeURIComponent(options.url.split('/').at(-1) ?? '');
		const task = this.sandbox.tasks.find((each) => each.id === id);
		if (task) {
			const answer = this.planOf(nameOf(task), Number(task.body.attempt)).task.polls[this.use(`look ${id}`)] ?? 'ok';
			if (answer in UNREACHABLE) throw broken(UNREACHABLE[answer]);
			if (answer !== 'ok') this.sandbox.faults.add({ on: 'status', match: { taskId: id }, do: answer });
		}
		const response = await this.inject(log, options);
		// The node may take an ID for wrong that is not found for long, and then buy anew if the user said so.
		if (task && response.statusCode === 404) this.countUnanswered(nameOf(task));
		return response;
	}

	private async inject(log: TryLog, { method, url, body, timeout }: IHttpRequestOptions): Promise<IN8nHttpFullResponse> {
		const sentAtMs = Date.now();
		const response = await inRealTime(() =>
			this.sandbox.api.inject({
				method: method as 'GET' | 'POST',
				url,
				headers: { authorization: `Bearer ${this.sandbox.apiKey}`, 'content-type': 'application/json' },
				...(method === 'POST' ? { payload: JSON.stringify(body) } : {}),
			}),
		);
		// Nobody hears an answer that comes behind the time limit.
		if (timeout !== undefined && Date.now() - sentAtMs >= timeout) throw broken('ECONNABORTED');
		if (REFUSALS.includes(response.statusCode)) log.refused = true;
		return { statusCode: response.statusCode, headers: response.headers as never, body: response.payload };
	}

	private async file(log: TryLog, { url }: IHttpRequestOptions): Promise<IN8nHttpFullResponse> {
		if (log.signal.aborted) log.violations.push(`${url} was fetched after the stop`);
		const task = this.sandbox.tasks.find(({ id }) => url.includes(encodeURIComponent(id)));
		const answer = task && this.plans.get(nameOf(task))?.files[this.use(`file ${task.id}`)];
		if (answer === 'reset') throw broken('ECONNRESET');
		const html = answer === 'html';
		return {
			statusCode: answer === undefined || html ? 200 : Number(answer),
			headers: { 'content-type': html ? 'text/html' : 'image/png' },
			body: { url } as never,
		};
	}

	private planOf(name: string, attempt: number): PostPlan {
		return this.plans.get(name)?.posts[attempt] ?? FINE;
	}

	private use(key: string): number {
		const count = this.used.get(key) ?? 0;
		this.used.set(key, count + 1);
		return count;
	}

	private countUnanswered(name: string): void {
		this.unanswered.set(name, (this.unanswered.get(name) ?? 0) + 1);
	}
}

/** The item that a task was made for. */
export function nameOf(task: SandboxTask): string {
	return String(task.body.prompt).split(' ')[0];
}

async function limited<T>(timeoutMs: number | undefined, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
	if (signal?.aborted) throw broken('ERR_CANCELED');
	return await new Promise<T>((resolve, reject) => {
		const timer = setTimeout(() => reject(broken('ECONNABORTED')), timeoutMs);
		const forget = onAbort(signal, () => reject(broken('ERR_CANCELED')));
		work()
			.then(resolve, reject)
			.finally(() => {
				forget();
				clearTimeout(timer);
			});
	});
}

function broken(code: string): Error {
	return Object.assign(new Error(code), { code });
}
