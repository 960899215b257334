import type { RunSlots } from './account/runSlots';
import type { FileRules } from './addresses';
import { AvatarClient } from './avatars/client';
import type { AvatarKind } from './avatars/records';
import { gatewayError, type GatewayErrorDetails } from './errors';
import { idTooLong } from './http/connectionErrors';
import { encodeId, GatewayRequests, parseBody, type RequestContext } from './http/requests';
import { retryAfterMs } from './http/retry';
import { mapError } from './http/serviceErrors';
import type { HttpResponse, InlineFiles, AttemptHooks } from './http/types';
import { isPlainObject, parseJson, type JsonObject } from './json';
import type { ImageFile } from './models/images';
import { REPEAT_FOR_MS } from './limits';
import { MAX_ID_LENGTH } from './orders/order';
import type { SurvivalTable } from './polling/survivalTable';
import { survivalTableOf } from './polling/survivalTables';
import { parseTokenRecord, parseUserBalance, type TokenRecord } from './records/accountRecords';
import { parseUploadUrl } from './records/locateResult';
import { salvageId } from './records/ids';
import { NEW_TASK, parseTaskRecord, type TaskRecord } from './records/taskRecord';

export type MediaKind = 'image' | 'video';

/** The generation endpoints (contract 4.4, 4.5). */
const CREATE_PATHS: Record<MediaKind, string> = {
	image: '/v1/images/generations',
	video: '/v1/videos/generations',
};

/** The timeout of an upload: a large image over a slow line. */
const UPLOAD_TIMEOUT_MS = 900_000;

const noBalanceHere = (details: GatewayErrorDetails) => gatewayError('balanceNotFound', {}, details);

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

	/** The number of requests sent to the service, repeated ones included. */
	get requestsSent(): number {
		return this.requests.sent;
	}

	/** Milliseconds that a request would now wait for its turn. */
	get backlogMs(): number {
		return this.context.limiter.backlogMs;
	}

	/** The most that this run may send. */
	get requestsPerSecond(): number {
		return this.context.limiter.requestsPerSecond;
	}

	/** The slots of the account; undefined where nothing is bought. */
	get slots(): RunSlots | undefined {
		return this.context.slots;
	}

	/** The durations of such tasks that this process has seen at this service. */
	survivalTable(kind: MediaKind | `${AvatarKind} asset` | 'verification', model = ''): SurvivalTable {
		return survivalTableOf(this.context.settings.baseUrl, kind, model);
	}

	/**
	 * Submits a generation task (contract 4.4, 4.5): one POST, repeated only where the service surely did not accept it.
	 * Throws `outcomeUnknown` when it may have been accepted without its ID having reached us.
	 */
	async createTask(kind: MediaKind, body: JsonObject, tries?: AttemptHooks): Promise<TaskRecord & { id: string }> {
		const parse = ({ text }: HttpResponse) => {
			const record = parseTaskRecord(parseJson(text));
			const id = record?.id ?? salvageId(text, 'id|task_id');
			if (id !== undefined && id.length > MAX_ID_LENGTH) throw idTooLong('task', id);
			if (id === undefined) return undefined;
			// The status of an answer that names no task where it should is not surely the one of the task.
			return record?.id === undefined ? { ...NEW_TASK, raw: record?.raw ?? {}, id } : { ...record, id };
		};
		const isUnknownModel = ({ serviceCode }: GatewayErrorDetails) => /^model_not_found$/i.test(serviceCode ?? '');
		const modelNotFound = (details: GatewayErrorDetails) =>
			isUnknownModel(details) ? gatewayError('modelNotFound', { model: String(body.model) }, details) : undefined;
		return await mapError(
			this.requests.create({ path: CREATE_PATHS[kind], body, thing: 'task', parse, wanted: 'a task ID', tries }),
			{
				notFound: modelNotFound,
				rejected: modelNotFound,
			},
		);
	}

	/**
	 * Reads a task once (contract 4.8). `inline`: the record may hold whole files. Throws the error of an answer that is
	 * no success; the caller decides if it tries again.
	 */
	async fetchTask(kind: MediaKind, taskId: string, inline: InlineFiles = 'possible'): Promise<TaskRecord> {
		const read = async () =>
			await mapError(this.readTask(kind, taskId, inline), {
				notFound: (details) => gatewayError('taskUnknown', { id: taskId }, details),
			});
		const { reads, signal } = this.context;
		return (await reads?.read(`${kind} ${taskId} ${inline}`, read, signal)) ?? (await read());
	}

	private async readTask(kind: MediaKind, taskId: string, inline: InlineFiles): Promise<TaskRecord> {
		const { imageStatusPath, videoStatusPath } = this.context.settings;
		const template = kind === 'image' ? imageStatusPath : videoStatusPath;
		const path = template.replaceAll('{task_id}', () => encodeId(taskId));
		const response = await this.requests.get(path, undefined, inline);
		const body = parseJson(response.text);
		const record = parseTaskRecord(body);
		// `success: false` next to the task's own ID and a final status: the task did not succeed, the reading did.
		const hasFailed = record?.state === 'failed' && record.id === taskId;
		if (!hasFailed) parseBody(response, body); // throws the error of a refusal
		// Without a status word there is nothing to go by, not even that it is still running.
		if (!record || record.status === '') throw gatewayError('noTaskStatus', {}, { httpStatus: response.status });
		return { ...record, retryAfterMs: retryAfterMs(response, this.context.clock.now()) };
	}

	/** Reads a task, again while the trouble may pass. An unknown ID fails at once. */
	async getTask(kind: MediaKind, taskId: string): Promise<TaskRecord> {
		return await this.requests.withRetries(async () => await this.fetchTask(kind, taskId));
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
				notFound: (details) => gatewayError('uploadEndpointNotFound', {}, details),
				rejected: (details) => (details.httpStatus === 413 ? gatewayError('uploadTooLarge', {}, details) : undefined),
			});
			const url = parseUploadUrl(parseBody(response), baseUrl);
			if (url === undefined) throw gatewayError('noUploadUrl', {});
			return url;
		};
		return await this.requests.withRetries(upload, { longestPauseMs: REPEAT_FOR_MS });
	}

	/** The balance of the account (contract 4.1), every field as it came. */
	async getUserBalance(): Promise<JsonObject> {
		return await this.requests.withRetries(async () => {
			const response = await mapError(this.requests.get('/v1/user/balance'), { notFound: noBalanceHere });
			const balance = parseUserBalance(parseBody(response));
			if (balance === undefined) throw gatewayError('notAnAccountBalance', {});
			return balance;
		});
	}

	/** The balance of one token (contract 4.2): its shape is not shown, so whatever comes is passed on. */
	async getTokenBalance(): Promise<JsonObject> {
		const body = await mapError(this.requests.getJson('/v1/balance'), { notFound: noBalanceHere });
		return isPlainObject(body) ? body : { balance: body };
	}

	/** Creates a token (contract 4.3). Its key is in this answer and nowhere else. */
	async createToken(body: JsonObject, tries?: AttemptHooks): Promise<TokenRecord> {
		const parse = ({ text }: HttpResponse) => parseTokenRecord(parseJson(text));
		return await this.requests.create({
			path: '/v1/tokens',
			body,
			thing: 'token',
			parse,
			wanted: 'the API key',
			tries,
		});
	}
}
