import { AvatarClient } from './avatars/client';
import { unknownOutcome } from './http/connectionErrors';
import { GatewayError } from './errors';
import { explained } from './http/explained';
import { isPlainObject } from './json';
import { exactId, readTaskRecord, readUploadUrl, salvageId, userBalanceSchema, type TaskRecord } from './records/taskRecord';
import { encodeId, GatewayRequests, readBody, type RequestContext } from './http/requests';
import { parseJson, retryAfterMs } from './http/retry';
import { explainRefusal } from './http/serviceErrors';
import { readTokenRecord, type TokenRecord } from './account/tokens';

export type MediaKind = 'image' | 'video';

/** The generation endpoints (contract 4.4, 4.5). */
const CREATE_PATHS: Record<MediaKind, string> = {
	image: '/v1/images/generations',
	video: '/v1/videos/generations',
};

const UPLOAD_TIMEOUT_MS = 300_000;

const NO_BALANCE = {
	notFound: 'There is no balance at this address',
	advice: 'Check the Base URL in the credential: something else than the service seems to answer there.',
};

export interface ImageFile {
	fileName: string;
	mimeType: string;
	bytes: Uint8Array;
}

/** One method per endpoint. Every answer is checked here; what comes out can be relied on. */
export class GatewayClient {
	private readonly requests: GatewayRequests;

	/** The endpoints of avatars (contract 4.6, 4.7). */
	readonly avatars: AvatarClient;

	constructor(private readonly context: RequestContext) {
		this.requests = new GatewayRequests(context);
		this.avatars = new AvatarClient(this.requests);
	}

	/**
	 * Submits a generation task (contract 4.4, 4.5): one POST, repeated only where the service surely did not
	 * accept it. Throws `outcomeUnknown` when it may have been accepted without the id having reached us.
	 * `signal` ends the repeating; a request under way is not cut off.
	 */
	async createTask(
		kind: MediaKind,
		body: Record<string, unknown>,
		signal?: AbortSignal,
	): Promise<TaskRecord & { id: string }> {
		const response = await this.requests.create({ path: CREATE_PATHS[kind], body, thing: 'task', signal });
		const record = readTaskRecord(parseJson(response.text));
		const id = exactId(record?.id, response.text) ?? salvageId(response.text, 'id|task_id');
		if (id === undefined) throw unknownOutcome('task', 'it answered without a task ID', explainRefusal(response));
		return {
			...(record ?? { state: 'queued', status: 'queued', urls: [], refusal: {}, raw: {} }),
			id,
		};
	}

	/** Reads a task once (contract 4.8). Throws what the answer stands for; transient or not is for the caller. */
	async readTask(kind: MediaKind, taskId: string): Promise<TaskRecord> {
		const { imageStatusPath, videoStatusPath } = this.context.settings;
		const template = kind === 'image' ? imageStatusPath : videoStatusPath;
		const response = await this.requests.get(template.replaceAll('{task_id}', () => encodeId(taskId)));
		const record = readTaskRecord(parseJson(response.text));
		// `success: false` next to the task's own ID and a final status: the task did not succeed, the reading did.
		const hasFailed = record?.state === 'failed' && record.id === taskId;
		if (!hasFailed) readBody(response); // throws what the answer stands for
		// Without a status word there is nothing to go by, not even that it is still running.
		if (!record || record.status === '') {
			throw new GatewayError('unavailable', 'The service answered without the state of the task', {
				httpStatus: response.status,
			});
		}
		record.retryAfterMs = retryAfterMs(response, this.context.clock.now());
		return record;
	}

	/** Reads a task, riding out short trouble. An unknown id is answered at once. */
	async getTask(kind: MediaKind, taskId: string): Promise<TaskRecord> {
		return await this.requests.withRetries(async () => await this.readTask(kind, taskId));
	}

	/** Uploads an image (contract 4.8) and returns its URL. Costs nothing, so it may be sent again. */
	async uploadImage(file: ImageFile): Promise<string> {
		return await this.requests.withRetries(async () => {
			const response = await this.requests.read({
				method: 'POST',
				url: this.requests.url(this.context.settings.imageUploadPath),
				file: { field: 'file', ...file },
				timeoutMs: UPLOAD_TIMEOUT_MS,
			});
			const url = readUploadUrl(readBody(response));
			if (url === undefined) {
				throw new GatewayError('unexpectedAnswer', 'The service took the image but gave no URL for it', {
					description: 'Check the Image Upload Path in the credential.',
				});
			}
			return url;
		});
	}

	/** The balance of the account (contract 4.1), every field as it came. */
	async getUserBalance(): Promise<Record<string, unknown>> {
		return await this.requests.withRetries(async () => {
			const response = await explained(this.requests.get('/v1/user/balance'), NO_BALANCE);
			const balance = userBalanceSchema.safeParse(readBody(response));
			if (!balance.success) {
				throw new GatewayError('unexpectedAnswer', 'The answer is not an account balance', {
					description: 'Check the Base URL in the credential.',
				});
			}
			return balance.data;
		});
	}

	/** The balance of one token (contract 4.2): its shape is not shown, so whatever comes is passed on. */
	async getTokenBalance(): Promise<Record<string, unknown>> {
		const body = await explained(this.requests.getJson('/v1/balance'), NO_BALANCE);
		return isPlainObject(body) ? body : { balance: body };
	}

	/** Creates a token (contract 4.3). Its key is in this answer and nowhere else. */
	async createToken(body: Record<string, unknown>, signal?: AbortSignal): Promise<TokenRecord> {
		const response = await this.requests.create({ path: '/v1/tokens', body, thing: 'token', signal });
		const record = readTokenRecord(parseJson(response.text));
		if (record === undefined) throw unknownOutcome('token', 'it answered without the key of the token', explainRefusal(response));
		return record;
	}
}
