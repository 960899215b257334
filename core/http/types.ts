import type { AnswerText, InlineFiles } from './readAnswer';

/** The shape in which the core talks to whatever really sends (n8n's request helper, or a test). */
export interface HttpRequest {
	method: 'GET' | 'POST';
	url: string;
	query?: Record<string, string>;
	/** Sent as JSON. */
	body?: Record<string, unknown>;
	/** Sent as multipart form data instead of a JSON body. */
	file?: UploadFile;
	/** Until the answer has ended, however slowly it comes. */
	timeoutMs: number;
	/** Whole files in the answer: then it may be larger. */
	inline?: InlineFiles;
	/**
	 * True for a request whose answer may carry the id of something that was paid for: it is not cut off
	 * when the user stops the execution.
	 */
	mustFinish?: boolean;
}

export interface UploadFile {
	/** The name of the multipart field. */
	field: string;
	fileName: string;
	mimeType: string;
	bytes: Uint8Array;
}

/** Any status is an answer; only a connection that gave none is thrown, as a `ConnectionError`. */
export interface HttpResponse extends AnswerText {
	status: number;
	/** Header names in lower case. */
	headers: Record<string, string | undefined>;
}

export type Send = (request: HttpRequest) => Promise<HttpResponse>;

/**
 * No answer came. `code` is Node's (`ECONNREFUSED`, `ECONNRESET`, …), where known. `cause` is only kept for what is no
 * error of the HTTP client: those carry the request, and with it the API key.
 */
export class ConnectionError extends Error {
	constructor(
		readonly code: string,
		cause?: unknown,
	) {
		super(code, { cause });
		this.name = 'ConnectionError';
	}
}

/** Our own code has stumbled over a request before anything was handed over: `cause` is what was thrown. */
export class NotSentError extends Error {
	static from(cause: unknown): NotSentError {
		const error = new NotSentError('The request was not sent', { cause });
		error.name = 'NotSentError';
		return error;
	}
}
