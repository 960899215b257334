import type { RowBudget } from './account/rowBudget';
import type { RunPlaces } from './account/places';
import type { FileRules } from './addresses';
import { AvatarClient } from './avatars/client';
import type { AvatarKind } from './avatars/records';
import { asGatewayError, gatewayError, type GatewayError, type GatewayErrorDetails } from './errors';
import { answerLacks, mapError, parseBody, refusalError, toKeep } from './http/answers';
import type { Pace } from './account/pace';
import { encodeId, GatewayRequests, type RequestContext } from './http/requests';
import { retryAfterMs } from './http/retry';
import type { HttpResponse, CreateAttempt } from './http/types';
import { isPlainObject, type JsonObject } from './json';
import type { ImageFile } from './models/images';
import { REPEAT_FOR_MS } from './limits';
import { SurvivalTable } from './polling/survivalTable';
import { keepAsLast, survivalTables } from './processMemory';
import { parseTokenRecord, parseUserBalance, type TokenRecord } from './records/accountRecords';
import { parseUploadUrl } from './records/locateResult';
import { createdTaskId } from './records/ids';
import { refusesOutright } from './records/refusals';
import { isRecordOfFailure, knownState, NEW_TASK, parseTaskRecord, type TaskRecord } from './records/taskRecord';

export type MediaKind = 'image' | 'video';

/** The generation endpoints (contract 4.4, 4.5). */
const CREATE_PATHS: Record<MediaKind, string> = {
	image: '/v1/images/generations',
	video: '/v1/videos/generations',
};

/** More tables of durations would be an attack, or a mistake. */
const MOST_TABLES = 200;

/** The timeout of an upload: a large image over a slow line. */
export const UPLOAD_TIMEOUT_MS = 900_000;

const noUpload = (details: GatewayErrorDetails) => gatewayError('uploadEndpointNotFound', {}, details);

/** The client of the service: one method per endpoint. Every answer is checked here; callers can rely on its result. */
export class GatewayClient {
	private readonly requests: GatewayRequests;

	/** The endpoints of avatars (contract 4.6, 4.7). */
	readonly avatars: AvatarClient;

	constructor(private readonly context: RequestContext) {
		this.requests = new GatewayRequests(context);
		this.avatars = new AvatarClient(this.requests);
	}

	/** The rules for the files of results. */
	get fileRules(): FileRules {
		return this.context.settings;
	}

	/** Tells services apart: another Base URL is another one. */
	get service(): string | undefined {
		return this.context.service;
	}

	/** The number of requests sent to the service, repeated ones included. */
	get requestsSent(): number {
		return this.requests.sent;
	}

	/** Holds back all requests of the account, which the service has refused with 429. */
	holdBack(delayMs: number): void {
		this.context.pace.holdBack(delayMs);
	}

	/** Notes that a request is sent again after a pause. */
	onRetry(error: GatewayError, waitMs: number): void {
		this.context.onRetry?.(error, waitMs);
	}

	/** Milliseconds that a request would now wait for its turn. */
	get backlogMs(): number {
		return this.context.pace.backlogMs;
	}

	/** The places of the account; undefined where nothing is bought. */
	get places(): RunPlaces | undefined {
		return this.context.places;
	}

	/** The rows of the account in the journal, and the pace by which they are written; undefined where nothing is bought. */
	get rows(): { budget: RowBudget; pace: Pace } | undefined {
		const { rows, pace } = this.context;
		return rows && { budget: rows, pace };
	}

	/** The durations of such tasks that this process has seen at this service. */
	survivalTable(kind: MediaKind | `${AvatarKind} asset` | 'verification', model = ''): SurvivalTable {
		const name = JSON.stringify([this.context.settings.baseUrl, kind, model]);
		const table = survivalTables.get(name) ?? new SurvivalTable();
		keepAsLast(survivalTables, name, table, MOST_TABLES);
		return table;
	}

	/**
	 * Submits a generation task (contract 4.4, 4.5): one POST, repeated only where the service surely did not accept it.
	 * Throws `outcomeUnknown` when it may have been accepted without its ID having reached us.
	 */
	async createTask(kind: MediaKind, body: JsonObject, attempt?: CreateAttempt): Promise<TaskRecord & { id: string }> {
		const parse = (answer: unknown, response: HttpResponse) => {
			const created = createdTaskId(answer);
			if (created === undefined) return undefined;
			const { id, level = {} } = created;
			// Only the status beside its ID is the one of the task.
			const record = parseTaskRecord(level);
			const raw = toKeep(response, level);
			return record?.status ? { ...record, raw, id } : { ...NEW_TASK, raw, id };
		};
		const withModel = (details: GatewayErrorDetails) =>
			details.reason?.name === 'modelNotFound'
				? gatewayError('modelNotFound', { model: String(body.model) }, details)
				: undefined;
		return await mapError(
			this.requests.create({ path: CREATE_PATHS[kind], body, thing: 'task', parse, wanted: 'a task ID', attempt }),
			{ rejected: withModel },
		);
	}

	/**
	 * Reads a task once (contract 4.8). Throws for an answer that is no success; the caller may try again.
	 *
	 * @param beforeSend called right before it is sent; not where it shares the read of another run
	 */
	async fetchTask(kind: MediaKind, taskId: string, beforeSend?: () => void): Promise<TaskRecord> {
		const read = async () =>
			await mapError(this.readTask(kind, taskId, beforeSend), {
				notFound: (details) => gatewayError('taskUnknown', { id: taskId }, details),
			});
		const readOrRenew = async () => {
			const { send } = this.context;
			return await read().catch(async (thrown: unknown) => {
				if (!(await this.requests.renews(asGatewayError(thrown), send))) throw thrown;
				return await read();
			});
		};
		const { reads, signal } = this.context;
		// Each reader has a record of its own: who delivers it removes what it does not need any more.
		return { ...((await reads?.read(`${kind} ${taskId}`, readOrRenew, signal)) ?? (await readOrRenew())) };
	}

	private async readTask(kind: MediaKind, taskId: string, beforeSend?: () => void): Promise<TaskRecord> {
		const { imageStatusPath, videoStatusPath } = this.context.settings;
		const template = kind === 'image' ? imageStatusPath : videoStatusPath;
		const path = template.replaceAll('{task_id}', () => encodeId(taskId));
		// A body decides before a status. Others than these speak of the request, or say that the task is there.
		const answersAnyway = ({ status, body }: HttpResponse) =>
			[400, 422, 500].includes(status) && isRecordOfFailure(body, taskId);
		const response = await this.requests.get(path, { answersAnyway, beforeSend });
		const record = parseTaskRecord(response.body, taskId);
		// `success: false` next to the task's own ID, and nothing that goes on: the task did not succeed, the reading did.
		const isNamed = record?.ids.includes(taskId) === true;
		const saysHowItEnded = isNamed && (knownState(record.status) ?? 'failed') === 'failed';
		if (!saysHowItEnded) parseBody(response); // throws the error of a refusal
		if (record === undefined) throw answerLacks('a task status', response);
		return { ...record, retryAfterMs: retryAfterMs(response, this.context.clock.now()) };
	}

	/**
	 * Reads a task, again while the trouble may pass. An unknown ID fails at once.
	 *
	 * @param judge throws where the answer is not believed
	 */
	async getTask(kind: MediaKind, taskId: string, judge = (record: TaskRecord) => record): Promise<TaskRecord> {
		return await this.requests.withRetries(async () => judge(await this.fetchTask(kind, taskId)));
	}

	/**
	 * Uploads an image (contract 4.8) and returns its URL. Costs nothing, so it may be sent again; it waits as long as a
	 * creating request, because the rest of its batch depends on it.
	 */
	async uploadImage(file: ImageFile): Promise<string> {
		const { baseUrl, imageUploadPath, imageUploadField, imageUploadFields } = this.context.settings;
		const upload = async () => {
			const request = this.requests.fetch({
				method: 'POST',
				url: this.requests.url(imageUploadPath),
				file: { field: imageUploadField, fields: imageUploadFields, ...file },
				timeoutMs: UPLOAD_TIMEOUT_MS,
			});
			const response = await mapError(request, {
				notFound: noUpload,
				noSuchPage: noUpload,
				rejected: (details) => (details.httpStatus === 413 ? gatewayError('uploadTooLarge', {}, details) : undefined),
			});
			const url = parseUploadUrl(parseBody(response), baseUrl);
			if (url === undefined)
				throw refusesOutright(response.body) ? refusalError(response) : gatewayError('noUploadUrl', {});
			return url;
		};
		return await this.requests.withRetries(upload, { longestPauseMs: REPEAT_FOR_MS });
	}

	/** The balance of the account (contract 4.1), every field as it came. */
	async getUserBalance(): Promise<JsonObject> {
		return await this.readBalance('/v1/user/balance', parseUserBalance);
	}

	/** The balance of one token (contract 4.2): its shape is not shown, so whatever comes is passed on, unless it is a refusal. */
	async getTokenBalance(): Promise<JsonObject> {
		return await this.readBalance('/v1/balance', (body) => {
			if (!isPlainObject(body)) return { balance: body };
			// A text under this name may be a field of the record.
			return isPlainObject(body.error) ? undefined : body;
		});
	}

	private async readBalance(path: string, parse: (body: unknown) => JsonObject | undefined): Promise<JsonObject> {
		const isWrong = (details: GatewayErrorDetails) => gatewayError('endpointNotFound', { path }, details);
		return await this.requests.withRetries(async () => {
			const response = await mapError(this.requests.get(path), { notFound: isWrong, noSuchPage: isWrong });
			const balance = parse(parseBody(response));
			if (balance === undefined) throw answerLacks('an account balance', response);
			return balance;
		});
	}

	/** Creates a token (contract 4.3). Its key is in this answer and nowhere else. */
	async createToken(body: JsonObject, attempt?: CreateAttempt): Promise<TokenRecord> {
		const what = { path: '/v1/tokens', thing: 'token', wanted: 'the API key' } as const;
		return await this.requests.create({ ...what, body, parse: parseTokenRecord, attempt });
	}
}
