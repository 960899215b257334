import { asGatewayError, gatewayError, invalidInput, isTransient, stoppedError, GatewayError } from '../errors';
import type { CreatedThing } from '../errors';
import { refusesAccess } from '../errors/kinds';
import type { Clock } from '../clock';
import { parseJson } from '../json';
import { classifyPost, isSuccess, isUsable, mapError, parseCreated, refusalError, unreachable } from './answers';
import { ANSWER_LIMITS, breakAfter } from './readAnswer';
import { ConnectionError, NO_ROOM, TOO_LARGE } from './types';
import type { CreateAttempt, CreateRequest, HttpAnswer, HttpRequest, HttpResponse, Send } from './types';
import { CREATE_TIMEOUT_MS, SHORTEST_PAUSE_MS } from '../limits';
import type { RowBudget } from '../account/rowBudget';
import type { RunPlaces } from '../account/places';
import type { SubmissionLog, SharedReads } from '../account/accounts';
import type { Pace } from '../account/pace';
import { isPathPart } from '../urls';
import { backoffMs, retryAfterMs } from './retry';
import type { GatewaySettings } from '../settings';

/** A read may not take as long as a creating request. */
export const READ_TIMEOUT_MS = 30_000;

const READ_TRIES = 4;
/** The credential is read again at most once in this time. */
const RENEW_EVERY_MS = 1_000;
/** The longest pause before another try of a read that stands alone. One that the service asks for and that is longer ends it. */
const LONGEST_READ_PAUSE_MS = 30_000;

/** The parts of it that come from the credential. */
export type Connection = Pick<
	RequestContext,
	'send' | 'pace' | 'places' | 'rows' | 'submissions' | 'reads' | 'settings' | 'service'
>;

export interface RequestContext {
	send: Send;
	/** Tells services apart: a hash of the Base URL. */
	service?: string;
	/** Reads the credential again. Undefined where it has not changed, or cannot be read. */
	renew?: () => Promise<Connection | undefined>;
	clock: Clock;
	/** The pace of this run among those of the account. */
	pace: Pace;
	/** The places of the account. Absent where nothing is bought. */
	places?: RunPlaces;
	/** The rows that the account may have written and not sent. Absent where nothing is bought. */
	rows?: RowBudget;
	/** The latest submissions of the account. Absent where nothing is bought. */
	submissions?: SubmissionLog;
	/** Reads of the same account. Absent where no other run reads. */
	reads?: SharedReads;
	settings: GatewaySettings;
	/** Aborts when the user stops the execution. */
	signal?: AbortSignal;
	/** Gets to know that a request is sent again after a pause. */
	onRetry?: (error: GatewayError, waitMs: number) => void;
	/** Tries of a single read. */
	readTries?: number;
	/** The timeout of a read, if another one than usual. */
	readTimeoutMs?: number;
}

/** One read. */
interface Reading {
	/** True for what it was asked for, although the status says something else. */
	answersAnyway?: (answer: HttpResponse) => boolean;
	/** Called right before it is sent. */
	beforeSend?: () => void;
}

interface RetryOptions {
	also?: (error: GatewayError) => boolean;
	longestPauseMs?: number;
}

/** Sends requests under the rules about money, the key and politeness. Every endpoint goes through here. */
export class GatewayRequests {
	/** The number of requests sent, repeated ones included. */
	sent = 0;

	private renewing?: Promise<void>;

	private renewedAtMs = -Infinity;

	constructor(readonly context: RequestContext) {}

	/**
	 * Sends a creating POST once. Where the service surely did not accept it, and another try is worth it (`retry.ts`), the error
	 * says so in `details.again`: `core/engine/buyOnce.ts` sends it again. Throws `outcomeUnknown` when the request may have been
	 * accepted, also when a mistake of our own keeps it from reading the answer.
	 */
	async create<T extends { id: string }>({
		path,
		body,
		thing,
		parse,
		wanted,
		attempt = {},
	}: CreateRequest<T>): Promise<T> {
		const request: HttpRequest = {
			method: 'POST',
			url: this.url(path),
			body,
			timeoutMs: CREATE_TIMEOUT_MS,
			mustFinish: true,
		};
		const response = await mapError(this.post(request, thing, attempt), {
			// No ID was given here, so it is the address that is wrong.
			notFound: (details) => gatewayError('endpointNotFound', { path }, details),
		});
		return parseCreated(response, { thing, parse, wanted });
	}

	/**
	 * Sends one GET. Throws the error of an answer that is no success; the caller decides if it tries again.
	 */
	async get(path: string, { query, ...reading }: Reading & Pick<HttpRequest, 'query'> = {}): Promise<HttpResponse> {
		const timeoutMs = this.context.readTimeoutMs ?? READ_TIMEOUT_MS;
		return await this.fetch({ method: 'GET', url: this.url(path), query, timeoutMs }, reading);
	}

	url(path: string): string {
		const { baseUrl } = this.context.settings;
		const url = new URL(`${baseUrl}${path}`);
		// The last guard of the key: whatever was configured, it goes to the host of the base URL only.
		if (url.origin !== new URL(baseUrl).origin) {
			throw invalidInput(
				'A custom path leads to another host',
				'Turn off Custom Paths in the credential, or enter paths that begin with a slash.',
			);
		}
		return url.toString();
	}

	/** Sends a creating request once, when it is its turn. Returns a 2xx answer. */
	private async post(request: HttpRequest, thing: CreatedThing, attempt: CreateAttempt): Promise<HttpResponse> {
		const { pace, submissions, send } = this.context;
		const { signal = this.context.signal, turnWithinMs } = attempt;
		if (!(await pace.acquire(signal, turnWithinMs))) {
			const lateByMs = pace.turnInMs - (turnWithinMs ?? 0);
			throw new GatewayError('stopped', 'The request was not sent, because the service asks for a pause', {
				again: { lateByMs },
			});
		}
		if (signal?.aborted) throw stoppedError();
		attempt.beforeSend?.();
		const answer = await this.sendOnce(request, send);
		const verdict = classifyPost(answer, { thing, url: request.url, nowMs: this.context.clock.now() });
		if (isUsable(answer) && verdict.outcome !== 'tryAgain') pace.recover();
		if (verdict.outcome === 'answered') {
			submissions?.accepted();
			return verdict.response;
		}
		const { outcome, error, askedMs } = verdict;
		if (outcome === 'unknown') throw error;
		const isRenewed = await this.renews(error, send);
		// The refusal was one of a key that a person has replaced meanwhile.
		const isOfOldKey = isRenewed && error.kind === 'authentication';
		if (outcome === 'refused' && !isOfOldKey) throw submissions?.refused(error) ?? error;
		const again = { isConnection: answer instanceof ConnectionError };
		throw new GatewayError(error.kind, error.message, { ...error.details, retryAfterMs: askedMs, again });
	}

	/**
	 * Reads the credential again after an answer that a changed one would explain: a person may have replaced the key, or corrected the
	 * address, and a wait would notice it only in its next execution. Returns true where requests go by another credential by now.
	 *
	 * @param send of the request that was answered so
	 */
	async renews(error: GatewayError, send: Send): Promise<boolean> {
		const { context } = this;
		const isDue = context.clock.now() >= this.renewedAtMs + RENEW_EVERY_MS && context.send === send;
		if (context.renew !== undefined && isDue && mayBeOfCredential(error) && context.signal?.aborted !== true) {
			this.renewedAtMs = context.clock.now();
			this.renewing = context.renew().then((changed) => void Object.assign(context, changed));
		}
		await this.renewing;
		return context.send !== send;
	}

	/** Sends a request that may be repeated. Throws for anything but 2xx, and what answers it anyway. */
	async fetch(request: HttpRequest, { answersAnyway, beforeSend }: Reading = {}): Promise<HttpResponse> {
		const { clock, pace, signal, send } = this.context;
		await pace.acquire(signal);
		if (signal?.aborted) throw stoppedError();
		beforeSend?.();
		const answer = await this.sendOnce(request, send);
		if (signal?.aborted) throw stoppedError();
		if (answer instanceof ConnectionError) throw unreachable(answer, request.url);
		if (answer.cutOff === NO_ROOM) throw gatewayError('tooManyLargeAnswers', {});
		if (answer.cutOff !== undefined && answer.cutOff !== TOO_LARGE)
			throw unreachable(new ConnectionError(answer.cutOff), request.url);
		const askedMs = retryAfterMs(answer, clock.now());
		if (answer.status === 429) pace.holdBack(askedMs ?? backoffMs(1, clock.random));
		else pace.recover();
		if (!isSuccess(answer) && answersAnyway?.(answer) !== true) throw refusalError(answer, askedMs);
		if (answer.cutOff !== undefined) throw gatewayError('answerTooLarge', ANSWER_LIMITS);
		return answer;
	}

	/**
	 * Sends a request once. Returns an answer or a connection error; throws for mistakes of our own.
	 *
	 * @param send of the credential that the address was made of: by now there may be another one, whose key must not go there
	 */
	private async sendOnce(request: HttpRequest, send: Send): Promise<HttpResponse | ConnectionError> {
		this.sent++;
		try {
			return await this.parsed(await send(request));
		} catch (thrown) {
			if (thrown instanceof ConnectionError) return thrown;
			if (request.mustFinish !== true) throw asGatewayError(thrown);
			return new ConnectionError('UNKNOWN', thrown);
		}
	}

	private async parsed(answer: HttpAnswer): Promise<HttpResponse> {
		const { clock } = this.context;
		await breakAfter(answer, clock);
		const body = answer.cutOff === TOO_LARGE ? undefined : parseJson(answer.text);
		await breakAfter(answer, clock);
		return { ...answer, body };
	}

	/**
	 * Repeats a request that costs nothing while its error may pass.
	 *
	 * @param also names more errors that are worth another try
	 * @param longestPauseMs a longer pause, as the service asks for it, ends the request
	 */
	async withRetries<T>(
		read: () => Promise<T>,
		{ also, longestPauseMs = LONGEST_READ_PAUSE_MS }: RetryOptions = {},
	): Promise<T> {
		const { clock, signal, readTries = READ_TRIES } = this.context;
		for (let attempt = 1; ; attempt++) {
			try {
				return await read();
			} catch (thrown) {
				const error = asGatewayError(thrown);
				if (!(isTransient(error) || also?.(error)) || attempt >= readTries) throw error;
				const waitMs = Math.max(SHORTEST_PAUSE_MS, error.details.retryAfterMs ?? backoffMs(attempt, clock.random));
				if (waitMs > longestPauseMs) throw error;
				this.context.onRetry?.(error, waitMs);
				await clock.sleep(waitMs, signal);
				if (signal?.aborted) throw stoppedError();
			}
		}
	}
}

/** True for an answer that another address, key or path might not give. */
const mayBeOfCredential = (error: GatewayError) =>
	refusesAccess(error) ||
	OF_ADDRESS.has(error.kind) ||
	(error.kind === 'unavailable' && (error.details.httpStatus ?? 500) < 500);

const OF_ADDRESS = new Set<GatewayError['kind']>(['unreachable', 'notFound', 'unexpectedAnswer']);

/** An ID as one part of a path. Throws a `badInput` error for what is none. */
export function encodeId(id: string): string {
	if (isPathPart(id)) return encodeURIComponent(id);
	throw invalidInput(`An ID cannot be "${id}"`, 'Enter the ID exactly as the service returned it.');
}
