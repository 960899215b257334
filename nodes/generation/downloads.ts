import { sleep } from 'n8n-workflow';
import type { IBinaryData, IBinaryKeyData, IExecuteFunctions, IN8nHttpFullResponse } from 'n8n-workflow';
import { onAbort } from '../../core/abort';
import type { FileRules } from '../../core/addresses';
import { asGatewayError, GatewayError, gatewayError, stoppedError, type TaskReference } from '../../core/errors';
import { wordsOfCode } from '../../core/errors/connectionCodes';
import { backoffMs, retryAfterMs } from '../../core/http/retry';
import { isMedia, isPlaylist, SIGNATURE_BYTES } from '../../core/mediaTypes';
import { formatDuration, shorten } from '../../core/text';
import { AddressNotAllowed, discard, openResultFile, type OpenedFile } from '../connection/resultFile';
import { connectionCode, realClock, toHeaders } from '../connection/transport';
import { HINTS } from '../run/hints';
import { type Excess, FILE_LIMITS, formatSize, learnLimit, StorageLimit } from './fileLimits';
import { FileNames, resultMimeType, describeNoFile, describeNoFileByHeader } from './fileNames';

export const DOWNLOAD_TRIES = 4;

/** URLs of a task that a message shows. The output has all of them. */
const MOST_URLS_SHOWN = 20;

export interface DownloadOptions {
	urls: string[];
	task: TaskReference;
	/** The first file goes to this field, the others to `<name>_1`, `<name>_2`, … */
	fieldName: string;
	/** The name that the user wants; empty: the one that the service gives. */
	fileName: string;
	/** Of the credential that the task was created with. */
	rules: FileRules;
	signal: AbortSignal;
	/** Shown in the output panel. */
	hints: Set<string>;
}

/** One of the files of a task. */
interface ResultUrl {
	url: string;
	/** The name of a file without one, without an extension. */
	fallbackName: string;
	/** " (file 2 of 3: https://…)", where there are several. */
	which: string;
}

/** Streams the result files of one task into binary fields: where n8n stores files on disk, memory stays flat whatever their size. */
export async function downloadResults(context: IExecuteFunctions, options: DownloadOptions): Promise<IBinaryKeyData> {
	const { urls, task } = options;
	if (urls.length > FILE_LIMITS.files) {
		const data = { id: task.taskId, count: urls.length, max: FILE_LIMITS.files, urls: urlsOf(task) };
		throw gatewayError('tooManyResultFiles', data, { task });
	}
	return await new TaskDownload(context, options).all();
}

class TaskDownload {
	private readonly names: FileNames;

	private readonly limit: StorageLimit;

	private readonly totals: TaskTotals = { bytes: 0, tookMs: 0 };

	constructor(
		private readonly context: IExecuteFunctions,
		private readonly options: DownloadOptions,
	) {
		this.names = new FileNames(options.fileName);
		this.limit = new StorageLimit(context);
	}

	async all(): Promise<IBinaryKeyData> {
		const { urls, task, fieldName } = this.options;
		const binary: IBinaryKeyData = {};
		for (const [index, url] of urls.entries()) {
			const fallbackName = `${task.taskId}_${index + 1}`;
			const which = urls.length === 1 ? '' : ` (file ${index + 1} of ${urls.length}: ${url})`;
			const file = await this.withRetries({ url, fallbackName, which });
			binary[index === 0 ? fieldName : `${fieldName}_${index}`] = file;
		}
		return binary;
	}

	private async withRetries(file: ResultUrl): Promise<IBinaryData> {
		const { task, signal } = this.options;
		const beganMs = this.totals.tookMs;
		let pausedMs = 0;
		for (let attempt = 1; ; attempt++) {
			let pauseMs = backoffMs(attempt, realClock.random);
			const arrival = new Arrival(signal, this.totals);
			try {
				const stored = await this.once(file, arrival);
				this.totals.bytes += arrival.bytes;
				return stored;
			} catch (thrown) {
				arrival.cancel();
				if (signal.aborted) throw stoppedError(task);
				const error = arrival.failure ?? asGatewayError(thrown);
				if (error.details.permanent && error.details.reason) throw error;
				pauseMs = Math.max(pauseMs, error.details.retryAfterMs ?? 0);
				pausedMs += pauseMs;
				const isEnough =
					error.details.permanent === true ||
					attempt >= DOWNLOAD_TRIES ||
					this.totals.tookMs - beganMs + pausedMs >= FILE_LIMITS.triesMs;
				if (isEnough) throw notDownloaded(task, error, file.which);
			} finally {
				arrival.end();
			}
			await realClock.sleep(pauseMs, signal);
			if (signal.aborted) throw stoppedError(task);
		}
	}

	private async once(file: ResultUrl, arrival: Arrival): Promise<IBinaryData> {
		const { task, hints } = this.options;
		const { headers, body, url } = await this.openFile(file, arrival);
		const held = this.limit.beginFile();
		arrival.whenOver(() => held.letGo());
		const check = async (bytes: number) => {
			const cutOffAt = await this.exceededBy(bytes);
			if (cutOffAt === undefined) await this.limit.makeRoom(held, bytes, arrival.signal);
			return cutOffAt && tooLarge(task, cutOffAt, `larger than ${formatSize(cutOffAt.bytes)}`, file.which);
		};
		const { start, source } = await this.begin(arrival, body, check);
		const about = { disposition: headerOf(headers, 'content-disposition'), urls: [file.url, url] };
		const mimeType = resultMimeType(headerOf(headers, 'content-type'), about, start);
		const noFile = describeNoFile(mimeType);
		if (noFile !== undefined) throw brokenDownload(`The file host sent ${noFile}`);
		if (isPlaylist(mimeType)) throw gatewayError('resultIsPlaylist', { id: task.taskId, urls: urlsOf(task) }, { task });
		const fileName = this.names.nameOf({ ...about, mimeType }, file.fallbackName);
		const stored = await store(this.context, arrival, source, { fileName, mimeType, task });
		this.names.use(fileName);
		if (!isMedia(mimeType)) hints.add(HINTS.noMedium({ type: mimeType }));
		return stored;
	}

	/** Throws for an answer that is no file, or one that is too large, before any byte of it is read. */
	private async openFile(file: ResultUrl, arrival: Arrival): Promise<OpenedFile> {
		const { task } = this.options;
		const opened = await this.open(file.url, arrival);
		const { statusCode, headers, body, isWithKey } = opened;
		const noFile = describeNoFileByHeader(headerOf(headers, 'content-type'));
		if (statusCode !== 200 || noFile !== undefined) {
			arrival.cancel(body);
			const isRefused = statusCode === 401 || statusCode === 403;
			const what =
				statusCode === 200
					? `The file host sent ${noFile}`
					: `The file host answered with HTTP ${statusCode}${isRefused && isWithKey ? ', also with the API key' : ''}`;
			throw brokenDownload(
				what,
				statusCode,
				retryAfterMs({ status: statusCode, headers: toHeaders(headers) }, Date.now()),
			);
		}
		const announced = Number(headers['content-length']);
		const excess = await this.exceededBy(announced);
		if (excess !== undefined) {
			arrival.cancel(body);
			throw tooLarge(task, excess, formatSize(announced), file.which);
		}
		return opened;
	}

	private async exceededBy(bytes: number): Promise<Excess | undefined> {
		return await this.limit.exceededBy(bytes, this.totals.bytes + bytes);
	}

	private async begin(arrival: Arrival, body: unknown, check: CheckSize): Promise<ArrivingFile> {
		try {
			return await arrival.follow(body, check);
		} catch (thrown) {
			throw arrival.failure ?? brokenDownload(`The file host sent no complete file (${connectionCode(thrown)})`);
		}
	}

	private async open(url: string, arrival: Arrival): Promise<OpenedFile> {
		const { task, rules } = this.options;
		try {
			return await openResultFile(this.context, url, rules, arrival.signal);
		} catch (thrown) {
			if (thrown instanceof AddressNotAllowed) {
				const data = { id: task.taskId, host: thrown.host, urls: urlsOf(task) };
				throw gatewayError('downloadNotAllowed', data, { task });
			}
			throw notSent(connectionCode(thrown));
		}
	}
}

function notSent(code: string): GatewayError {
	const { said, advice } = wordsOfCode(code);
	const isSecured = advice !== undefined;
	return brokenDownload(
		isSecured ? `${said} ${advice.replace(/\.$/, '')}` : `The file host sent no complete file (${code})`,
	);
}

/** Empty where there is none. */
function headerOf(headers: IN8nHttpFullResponse['headers'], name: string): string {
	return String(headers[name] ?? '');
}

function tooLarge(task: TaskReference, { bytes, isOurs }: Excess, size: string, which: string): GatewayError {
	const data = { id: task.taskId, limit: formatSize(bytes), urls: urlsOf(task) };
	return isOurs
		? gatewayError('resultTooLarge', { ...data, which }, { task })
		: gatewayError('resultTooLargeToStore', { ...data, size }, { task });
}

/** n8n's words for a file that has not arrived as a whole: about its connection, not about storing it. */
const ABOUT_THE_STREAM =
	/^(stream closed before|response body timed out|failed to decompress|premature close|aborted)/i;
const OF_THE_CONNECTION = /^(E(CONN|PIPE|TIMEDOUT|HOST|NET|AI)|ERR_STREAM|UND_ERR)/;
/** The codes of a disk that does not take the file. The stream is then ended, too. */
const OF_THE_DISK = /^E(NOSPC|DQUOT|ACCES|PERM|ROFS|NOENT|NOTDIR|MFILE|NFILE|FBIG|IO)$/;

async function store(
	{ helpers }: IExecuteFunctions,
	arrival: Arrival,
	source: BinarySource,
	{ fileName, mimeType, task }: { fileName: string; mimeType: string; task: TaskReference },
): Promise<IBinaryData> {
	try {
		return await helpers.prepareBinaryData(source, fileName, mimeType);
	} catch (thrown) {
		const message = thrown instanceof Error ? thrown.message : String(thrown);
		const code = connectionCode(thrown);
		const isBroken =
			!OF_THE_DISK.test(code) && (arrival.isBroken || OF_THE_CONNECTION.test(code) || ABOUT_THE_STREAM.test(message));
		if (isBroken && !arrival.isWhole) throw notSent(code);
		// n8n has the file, or could have it, and does not take it: another download would end the same way.
		learnLimit(message);
		throw gatewayError(
			'resultNotStored',
			{ id: task.taskId, words: shorten(message.replace(/\.$/, ''), 400), urls: urlsOf(task) },
			{ task },
		);
	}
}

function notDownloaded(
	task: TaskReference,
	{ message, details: { httpStatus } }: GatewayError,
	which: string,
): GatewayError {
	const data = { id: task.taskId, what: `${message}${which}`, urls: urlsOf(task) };
	return gatewayError('downloadFailed', data, { task, httpStatus });
}

/** The result URLs for a message. n8n would not show plain angle brackets; escaped ones mean the same in a URL. */
function urlsOf({ urls = [] }: TaskReference): string {
	const shown = urls.slice(0, MOST_URLS_SHOWN).join(' ').replaceAll('<', '%3C').replaceAll('>', '%3E');
	return urls.length > MOST_URLS_SHOWN ? `${shown} and ${urls.length - MOST_URLS_SHOWN} more` : shown;
}

/** A file that has not arrived; with the pause that the host asks for. */
function brokenDownload(what: string, httpStatus?: number, retryAfterMs?: number): GatewayError {
	return new GatewayError('download', what, { httpStatus, retryAfterMs });
}

type BinarySource = Parameters<IExecuteFunctions['helpers']['prepareBinaryData']>[0];

/** A body that comes as a stream. */
interface ByteStream extends AsyncIterable<Uint8Array> {
	on?: (event: 'error', listen: () => void) => unknown;
	constructor: { from?: (bytes: AsyncIterable<Uint8Array>, options: object) => BinarySource };
}

/** The error of a file that has so many bytes; undefined while they are not too many. */
type CheckSize = (bytes: number) => Promise<GatewayError | undefined>;

/** A file whose first bytes have come. */
interface ArrivingFile {
	start: Uint8Array;
	/** All of it, the first bytes included. */
	source: BinarySource;
}

/** Of all files of a task. */
interface TaskTotals {
	bytes: number;
	tookMs: number;
}

/** Often enough for the shortest of the limits. Milliseconds. */
const TICK_MS = 500;

/**
 * One try to fetch a result file, from the request to its last byte. It counts what comes, and gives up a host that
 * sends nothing, or too little: nothing else does, because the timeout of the HTTP client ends with the headers. Time is
 * counted in ticks, so that a clock that is set changes nothing.
 */
class Arrival {
	bytes = 0;

	/** Every byte has come. */
	isWhole = false;

	/** The connection broke. */
	isBroken = false;

	/** The reason why we have ended the request. */
	failure: GatewayError | undefined;

	private readonly request = new AbortController();

	private readonly over = new AbortController();

	private readonly forget: () => void;

	private hasBegun = false;

	/** False while n8n stores what has come: that is not the host's silence. */
	private isWaiting = true;

	/** It waits until other files leave room in memory: that is not its own time. */
	private isInQueue = false;

	private silentMs = 0;

	/** The time of waiting, and the bytes that came in it, since the speed was last looked at. */
	private waitedMs = 0;

	private recentBytes = 0;

	/** @param stopped aborts when the file is not wanted any more */
	constructor(
		stopped: AbortSignal,
		private readonly totals: TaskTotals,
	) {
		this.forget = onAbort(stopped, () => this.request.abort());
		void this.watch();
	}

	/** Ends the request: with it, its connection. A stream that is only destroyed keeps it open. */
	get signal(): AbortSignal {
		return this.request.signal;
	}

	/** The same bytes, counted, as soon as the first of them have come: they tell the type of the file. */
	async follow(body: unknown, check: CheckSize): Promise<ArrivingFile> {
		this.hasBegun = true;
		this.silentMs = 0;
		const stream = body as ByteStream;
		const { from } = stream.constructor;
		if (!(Symbol.asyncIterator in stream) || from === undefined)
			return { start: bytesOf(body), source: body as BinarySource };
		const bytes = this.counted(stream, check);
		const first: Uint8Array[] = [];
		let isAll = false;
		for (let length = 0; length < SIGNATURE_BYTES && !isAll; length += first.at(-1)?.length ?? 0) {
			const { done, value } = await bytes.next();
			if (done) isAll = true;
			else first.push(value);
		}
		const source = from.call(stream.constructor, resumed(first, bytes), { objectMode: false });
		return { start: joined(first), source };
	}

	/** The rest is not read: the connection ends. */
	cancel(body?: unknown): void {
		discard(body, this.request);
	}

	/** Once the file is stored, or was given up. */
	whenOver(done: () => void): void {
		onAbort(this.over.signal, done);
	}

	end(): void {
		this.over.abort();
		this.forget();
	}

	private async *counted(body: ByteStream, check: CheckSize): AsyncGenerator<Uint8Array> {
		body.on?.('error', () => (this.isBroken = true));
		for await (const chunk of body) {
			this.isWaiting = false;
			this.silentMs = 0;
			this.bytes += chunk.length;
			this.recentBytes += chunk.length;
			this.isInQueue = true;
			const excess = await check(this.bytes);
			this.isInQueue = false;
			if (excess !== undefined) throw (this.failure ??= excess);
			yield chunk;
			this.isWaiting = true;
		}
		if (this.bytes === 0) throw (this.failure ??= brokenDownload('The file host sent an empty file'));
		this.isWhole = true;
	}

	private async watch(): Promise<void> {
		const tickMs = Math.min(TICK_MS, FILE_LIMITS.silenceMs / 4);
		while (!this.over.signal.aborted) {
			// Newer versions of n8n end the timer on abort, by a rejection; older ones take no signal.
			await sleep(tickMs, this.over.signal).catch(() => {});
			if (!this.isInQueue) this.totals.tookMs += tickMs;
			if (this.isWaiting) {
				this.silentMs += tickMs;
				this.waitedMs += tickMs;
			}
			this.failure ??= this.findFault();
			if (this.failure === undefined) continue;
			this.request.abort();
			return;
		}
	}

	private findFault(): GatewayError | undefined {
		const { openMs, silenceMs, graceMs, bytesPerSecond, taskMs } = FILE_LIMITS;
		if (this.isWhole || this.over.signal.aborted) return undefined;
		if (this.totals.tookMs > taskMs) {
			const what = `The files did not arrive within ${formatDuration(taskMs)}`;
			return new GatewayError('download', what, { permanent: true });
		}
		if (!this.hasBegun)
			return this.silentMs > openMs
				? brokenDownload(`The file host did not begin to answer within ${formatDuration(openMs)}`)
				: undefined;
		if (this.silentMs > silenceMs) return brokenDownload(`The file host sent nothing for ${formatDuration(silenceMs)}`);
		if (this.waitedMs <= graceMs) return undefined;
		// Not since the beginning: a host that was fast could then stand still for an hour, and others wait for its memory.
		const isSlow = this.recentBytes < (this.waitedMs / 1000) * bytesPerSecond;
		this.waitedMs = this.recentBytes = 0;
		return isSlow ? brokenDownload(`The file host sent less than ${bytesPerSecond / 1000} KB per second`) : undefined;
	}
}

async function* resumed(first: Uint8Array[], rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
	yield* first.splice(0);
	yield* rest;
}

/** The first bytes: the pieces may be large, and the file must not be held twice. */
function joined(pieces: Uint8Array[]): Uint8Array {
	return new Uint8Array(pieces.flatMap((piece) => [...piece.subarray(0, SIGNATURE_BYTES)]));
}

/** The first bytes of a body that is no stream of this kind; none, where it shows none. */
function bytesOf(body: unknown): Uint8Array {
	return body instanceof Uint8Array ? body.subarray(0, SIGNATURE_BYTES) : new Uint8Array();
}
