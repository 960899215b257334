import { unknownOutcome, unreachable } from './connectionErrors';
import { asGatewayError, GatewayError, stoppedError } from './errors';
import { ConnectionError, type Clock, type HttpRequest, type HttpResponse, type Send } from './http';
import { isPlainObject } from './model/paths';
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
	/** How often a single read is tried. */
	readTries?: number;
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
	 * `signal` ends the repeating; a request under way is not cut off.
	 */
	async createTask(
		kind: MediaKind,
		body: Record<string, unknown>,
		signal?: AbortSignal,
	): Promise<TaskRecord & { id: string }> {
		const response = await this.post({
			method: 'POST',
			url: this.url(CREATE_PATHS[kind]),
			body,
			timeoutMs: CREATE_TIMEOUT_MS,
			mustFinish: true,
		}, signal);
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
		record.retryAfterMs = retryAfterMs(response, this.context.clock.now());
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

	/** The balance of one token (contract 4.2): its shape is not shown, so whatever comes is passed on. */
	async getTokenBalance(): Promise<Record<string, unknown>> {
		return await this.withReadRetries(async () => {
			const body = this.readBody(await this.read({ method: 'GET', url: this.url('/v1/balance'), timeoutMs: READ_TIMEOUT_MS }));
			return isPlainObject(body) ? body : { balance: body };
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
	private async post(request: HttpRequest, signal = this.context.signal): Promise<HttpResponse> {
		const { clock, limiter } = this.context;
		const giveUpAtMs = clock.now() + REPEAT_FOR_MS;
		for (let attempt = 1; ; attempt++) {
			await limiter.acquire(signal);
			if (signal?.aborted) throw stoppedError();
			const answer = await this.sendOnce(request);
			const { outcome, error, askedMs } = this.judgePost(answer, request);
			if (outcome === 'answered') return answer as HttpResponse;
			if (outcome === 'unknown' || outcome === 'refused') throw error;
			if (answer instanceof ConnectionError && attempt >= CONNECTION_TRIES) throw error;
			const waitMs = askedMs ?? backoffMs(attempt, clock.random);
			if (error.details.httpStatus === 429) limiter.holdBack(waitMs);
			if (clock.now() + waitMs > giveUpAtMs) throw error;
			await clock.sleep(waitMs, signal);
		}
	}

	/** What the end of a creating request means, and the error to raise if it is not sent again. */
	private judgePost(answer: HttpResponse | ConnectionError, request: HttpRequest) {
		if (answer instanceof ConnectionError) {
			const outcome = postOutcomeOfConnection(answer.code);
			const unknown = outcome === 'unknown';
			const error = unknown ? unknownOutcome(`the connection ended (${answer.code})`) : unreachable(answer, request.url);
			return { outcome, error, askedMs: undefined };
		}
		const outcome = postOutcomeOfAnswer(answer);
		if (outcome !== 'tryAgain') this.context.limiter.recover();
		const askedMs = retryAfterMs(answer, this.context.clock.now());
		const refusal = explainRefusal(answer, askedMs);
		const error = outcome === 'unknown' ? unknownOutcome(`it answered with HTTP ${answer.status}`, refusal) : refusal;
		return { outcome, error, askedMs };
	}

	/** Sends a request that may be repeated. Throws for anything but 2xx. */
	private async read(request: HttpRequest): Promise<HttpResponse> {
		const { clock, limiter, signal } = this.context;
		await limiter.acquire(signal);
		if (signal?.aborted) throw stoppedError();
		const answer = await this.sendOnce(request);
		if (signal?.aborted) throw stoppedError();
		if (answer instanceof ConnectionError) throw unreachable(answer, request.url);
		const askedMs = retryAfterMs(answer, clock.now());
		if (answer.status === 429) limiter.holdBack(askedMs ?? backoffMs(1, clock.random));
		else limiter.recover();
		if (answer.status < 200 || answer.status >= 300) throw explainRefusal(answer, askedMs);
		return answer;
	}

	private async sendOnce(request: HttpRequest): Promise<HttpResponse | ConnectionError> {
		try {
			return await this.context.send(request);
		} catch (thrown) {
			return thrown instanceof ConnectionError ? thrown : new ConnectionError('UNKNOWN');
		}
	}

	private readBody(response: HttpResponse): unknown {
		const body = parseJson(response.text);
		if (body === undefined || saysNoSuccess(body)) throw explainRefusal(response);
		return body;
	}

	private async withReadRetries<T>(read: () => Promise<T>): Promise<T> {
		const { clock, signal, readTries = READ_TRIES } = this.context;
		for (let attempt = 1; ; attempt++) {
			try {
				return await read();
			} catch (thrown) {
				const error = asGatewayError(thrown);
				if (!isTransient(error) || attempt >= readTries) throw error;
				const waitMs = error.details.retryAfterMs ?? backoffMs(attempt, clock.random);
				if (waitMs > LONGEST_READ_PAUSE_MS) throw error;
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
	if (status === undefined) return false;
	// A 200 that is no record, or that says no without saying why, may be followed by a good one.
	const unclear = error.kind === 'unexpectedAnswer' || (error.kind === 'rejected' && !error.details.permanent);
	return isTransientStatus(status) || (status < 300 && unclear);
}
