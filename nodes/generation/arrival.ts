import { sleep, type IExecuteFunctions } from 'n8n-workflow';
import { onAbort } from '../../core/abort';
import { GatewayError } from '../../core/errors';
import { SIGNATURE_BYTES } from '../../core/mediaTypes';
import { formatDuration } from '../../core/text';
import { FILE_LIMITS } from './fileLimits';

export type BinarySource = Parameters<IExecuteFunctions['helpers']['prepareBinaryData']>[0];

/** A body that comes as a stream. */
interface ByteStream extends AsyncIterable<Uint8Array> {
	destroy?: () => void;
	on?: (event: 'error', listen: () => void) => unknown;
	constructor: { from?: (bytes: AsyncIterable<Uint8Array>, options: object) => BinarySource };
}

/** The error of a file that has so many bytes; undefined while they are not too many. */
export type CheckSize = (bytes: number) => Promise<GatewayError | undefined>;

/** A file whose first bytes have come. */
export interface ArrivingFile {
	start: Uint8Array;
	/** All of it, the first bytes included. */
	source: BinarySource;
}

/** Of all files of a task. */
export interface TaskTotals {
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
export class Arrival {
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

	/** The time of waiting and the bytes that came in it, since the speed was last looked at. */
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
		const stream = body as ByteStream | undefined;
		// An error without a listener would end n8n.
		stream?.on?.('error', () => {});
		this.request.abort();
		stream?.destroy?.();
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

/** A file that has not arrived; with the pause that the host asks for. */
export function brokenDownload(what: string, httpStatus?: number, retryAfterMs?: number): GatewayError {
	return new GatewayError('download', what, { httpStatus, retryAfterMs });
}
