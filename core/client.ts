import { unknownOutcome, unreachable } from './connectionErrors';
import { GatewayError, stoppedError } from './errors';
import { ConnectionError, type Clock, type HttpRequest, type HttpResponse, type Send } from './http';
import { readTaskRecord, readUploadUrl, salvageTaskId, userBalanceSchema, type TaskRecord } from './records';
import type { RequestLimiter } from './requestLimiter';
import {
	backoffMs,
	isTransientStatus,
	parseJson,
	postOutcomeOfAnswer,
	postOutcomeOfConnection,
	retryAfterMs,
} from './retry';
import { explainRefusal, saysNoSuccess } from './serviceErrors';
import type { GatewaySettings } from './settings';

export type MediaKind = 'image' | 'video';

/** The generation endpoints (contract 4.4, 4.5). */
const CREATE_PATHS: Record<MediaKind, string> = {
	image: '/v1/images/generations',
	video: '/v1/videos/generations',
};

/** A creating POST may take long where the service checks the images first; a read may not. */
const CREATE_TIMEOUT_MS = 120_000;
const READ_TIMEOUT_MS = 30_000;
const UPLOAD_TIMEOUT_MS = 300_000;

/** How long a submission is repeated after 429 and 503. */
const REPEAT_FOR_MS = 120_000;
/** How often it is repeated when no connection could be made: a wrong address must be heard of soon. */
const CONNECTION_TRIES = 4;
const READ_TRIES = 4;
/** A single read does not wait longer than this for the service, whatever it asks for. */
const LONGEST_READ_PAUSE_MS = 30_000;

export interface ClientContext {
	send: Send;
	clock: Clock;
	limiter: RequestLimiter;
	settings: GatewaySettings;
	/** Aborts when the user stops the execution. */
	signal?: AbortSignal;
}

export interface ImageFile {
	fileName: string;
	mimeType: string;
	bytes: Uint8Array;
}

/** One method per endpoint. Every answer is checked here; what comes out can be relied on. */
export class GatewayClient {
	constructor(private readonly context: ClientContext) {}

	/**
	 * Submits a generation task (contract 4.4, 4.5): one POST, repeated only where the service surely did not
	 * accept it. Throws `outcomeUnknown` when it may have been accepted without the id having reached us.
	 */
	async createTask(kind: MediaKind, body: Record<string, unknown>): Promise<TaskRecord & { id: string }> {
		const response = await this.post({
			method: 'POST',
			url: this.url(CREATE_PATHS[kind]),
			body,
			timeoutMs: CREATE_TIMEOUT_MS,
			mustFinish: true,
		});
		const answer = parseJson(response.text);
		if (saysNoSuccess(answer)) throw explainRefusal(response);
		const record = readTaskRecord(answer);
		const id = record?.id ?? salvageTaskId(response.text);
		if (id === undefined) throw unknownOutcome('it answered without a task ID');
		return {
			...(record ?? { state: 'queued', status: 'queued', urls: [], refusal: {}, raw: {} }),
			id,
		};
	}

	/** Reads a task once (contract 4.8). Throws what the answer stands for; transient or not is for the caller. */
	async readTask(kind: MediaKind, taskId: string): Promise<TaskRecord> {
		const { imageStatusPath, videoStatusPath } = this.context.settings;
		const template = kind === 'image' ? imageStatusPath : videoStatusPath;
		const path = template.replaceAll('{task_id}', () => encodeURIComponent(taskId));
		const response = await this.read({ method: 'GET', url: this.url(path), timeoutMs: READ_TIMEOUT_MS });
		const record = readTaskRecord(this.readBody(response));
		// Without a status word there is nothing to go by, not even that it is still running.
		if (!record || record.status === '') {
			throw new GatewayError('unavailable', 'The service answered without the state of the task', {
				httpStatus: response.status,
			});
		}
		return record;
	}

	/** Reads a task, riding out short trouble. An unknown id is answered at once. */
	async getTask(kind: MediaKind, taskId: string): Promise<TaskRecord> {
		return await this.withReadRetries(async () => await this.readTask(kind, taskId));
	}

	/** Uploads an image (contract 4.8) and returns its URL. Costs nothing, so it may be sent again. */
	async uploadImage(file: ImageFile): Promise<string> {
		return await this.withReadRetries(async () => {
			const response = await this.read({
				method: 'POST',
				url: this.url(this.context.settings.imageUploadPath),
				file: { field: 'file', ...file },
				timeoutMs: UPLOAD_TIMEOUT_MS,
			});
			const url = readUploadUrl(this.readBody(response));
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
		return await this.withReadRetries(async () => {
			const response = await this.read({
				method: 'GET',
				url: this.url('/v1/user/balance'),
				timeoutMs: READ_TIMEOUT_MS,
			});
			const body = this.readBody(response);
			const balance = userBalanceSchema.safeParse(body);
			if (!balance.success) {
				throw new GatewayError('unexpectedAnswer', 'The answer is not an account balance', {
					description: 'Check the Base URL in the credential.',
				});
			}
			return balance.data;
		});
	}

	private url(path: string): string {
		const { baseUrl } = this.context.settings;
		const url = new URL(`${baseUrl}${path}`);
		// The last guard of the key: whatever was configured, it goes to the host of the base URL only.
		if (url.origin !== new URL(baseUrl).origin) {
			throw new GatewayError('badInput', 'A path in the credential leads to another host');
		}
		return url.toString();
	}

	/** Sends a creating request under the rule of `retry.ts`. Returns a 2xx answer. */
	private async post(request: HttpRequest): Promise<HttpResponse> {
		const { clock, limiter, signal } = this.context;
		const giveUpAtMs = clock.now() + REPEAT_FOR_MS;
		for (let attempt = 1; ; attempt++) {
			await limiter.acquire(signal);
			if (signal?.aborted) throw stoppedError();
			let waitMs = backoffMs(attempt, clock.random);
			let refusal: GatewayError;
			try {
				const response = await this.context.send(request);
				const outcome = postOutcomeOfAnswer(response);
				if (outcome !== 'tryAgain') limiter.recover();
				if (outcome === 'answered') return response;
				const askedMs = retryAfterMs(response, clock.now());
				refusal = explainRefusal(response, askedMs);
				if (outcome === 'unknown') throw unknownOutcome(`it answered with HTTP ${response.status}`, refusal);
				if (outcome === 'refused') throw refusal;
				waitMs = askedMs ?? waitMs;
				if (response.status === 429) limiter.holdBack(waitMs);
			} catch (thrown) {
				if (!(thrown instanceof ConnectionError)) throw thrown;
				const outcome = postOutcomeOfConnection(thrown.code);
				if (outcome === 'unknown') throw unknownOutcome(`the connection ended (${thrown.code})`);
				refusal = unreachable(thrown, request.url);
				if (outcome === 'refused' || attempt >= CONNECTION_TRIES) throw refusal;
			}
			if (clock.now() + waitMs > giveUpAtMs) throw refusal;
			await clock.sleep(waitMs, signal);
		}
	}

	/** Sends a request that may be repeated. Throws for anything but 2xx. */
	private async read(request: HttpRequest): Promise<HttpResponse> {
		const { clock, limiter, signal } = this.context;
		await limiter.acquire(signal);
		if (signal?.aborted) throw stoppedError();
		try {
			const response = await this.context.send(request);
			const askedMs = retryAfterMs(response, clock.now());
			if (response.status === 429) limiter.holdBack(askedMs ?? backoffMs(1, clock.random));
			else limiter.recover();
			if (response.status < 200 || response.status >= 300) throw explainRefusal(response, askedMs);
			return response;
		} catch (thrown) {
			if (signal?.aborted) throw stoppedError();
			if (thrown instanceof ConnectionError) throw unreachable(thrown, request.url);
			throw thrown;
		}
	}

	private readBody(response: HttpResponse): unknown {
		const body = parseJson(response.text);
		if (body === undefined || saysNoSuccess(body)) throw explainRefusal(response);
		return body;
	}

	private async withReadRetries<T>(read: () => Promise<T>): Promise<T> {
		const { clock, signal } = this.context;
		for (let attempt = 1; ; attempt++) {
			try {
				return await read();
			} catch (thrown) {
				if (!(thrown instanceof GatewayError) || !isTransient(thrown) || attempt >= READ_TRIES) throw thrown;
				const waitMs = thrown.details.retryAfterMs ?? backoffMs(attempt, clock.random);
				if (waitMs > LONGEST_READ_PAUSE_MS) throw thrown;
				await clock.sleep(waitMs, signal);
				if (signal?.aborted) throw stoppedError();
			}
		}
	}
}

/** Whether a read that ended so may end otherwise a moment later (design 3.7). */
export function isTransient(error: GatewayError): boolean {
	if (error.kind === 'unreachable' || error.kind === 'unavailable' || error.kind === 'rateLimited') return true;
	const status = error.details.httpStatus;
	return status !== undefined && (isTransientStatus(status) || (error.kind === 'unexpectedAnswer' && status < 300));
}
