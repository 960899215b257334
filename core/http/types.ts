import type { CreatedThing } from '../errors/things';
import type { JsonObject } from '../json';

/** A request, as the core gives it to n8n's request helper, or to a test. */
export interface HttpRequest {
	method: 'GET' | 'POST';
	url: string;
	query?: Record<string, string>;
	/** Sent as JSON. */
	body?: Record<string, unknown>;
	/** Sent as multipart form data instead of a JSON body. */
	file?: UploadFile;
	/** Until the end of the answer, however slowly it comes. */
	timeoutMs: number;
	/** True where the answer may hold the ID of something that was paid for: a stop by the user does not cut it off. */
	mustFinish?: boolean;
}

export interface UploadFile {
	/** The name of the multipart field. */
	field: string;
	/** Further fields of the form, which come before it. */
	fields?: Record<string, string>;
	fileName: string;
	mimeType: string;
	bytes: Uint8Array;
}

/** The code of an answer that is not read to its end, because there is too much of it. */
export const TOO_LARGE = 'TOO_LARGE';

/** The code of an answer that is not read to its end, because too much of others is being read at the moment. */
export const NO_ROOM = 'NO_ROOM';

/** The body of an answer, as far as it was read. */
export interface AnswerText {
	/** The text, unparsed: it may be anything. */
	text: string;
	/** The reason why the text is not the whole answer: `TOO_LARGE`, or the code of a broken connection. */
	cutOff?: string;
}

/** An answer, with any status. A connection that gave none throws a `ConnectionError`. */
export interface HttpAnswer extends AnswerText {
	status: number;
	/** Header names in lower case. */
	headers: Record<string, string | undefined>;
}

/** The same, parsed: once, because a large one takes long. */
export interface HttpResponse extends HttpAnswer {
	/** The JSON of the text; undefined where it is none. */
	body: unknown;
}

export type Send = (request: HttpRequest) => Promise<HttpAnswer>;

/**
 * A request without an answer. `code` is Node's (`ECONNREFUSED`, `ECONNRESET`, …), where known. `cause` is never an
 * error of the HTTP client: those hold the request, and with it the API key.
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

export interface CreateRequest<T extends { id: string }> {
	/** Relative to the base URL. */
	path: string;
	body: JsonObject;
	/** The thing that the request creates, for messages. */
	thing: CreatedThing;
	/** Takes the needed part out of the JSON of the answer, as far as it has come; undefined when it is missing. */
	parse: (answer: unknown, response: HttpResponse) => T | undefined;
	/** The missing part, for messages, e.g. "a task ID". */
	wanted: string;
	attempt?: CreateAttempt;
}

/** One try of a creating request, for the code that answers for the money. */
export interface CreateAttempt {
	/** Ends the wait for its turn; a request under way is not cut off. */
	signal?: AbortSignal;
	/** The longest time until its turn: where a pause takes longer, it is not sent. Milliseconds. */
	turnWithinMs?: number;
	/** Called right before it is sent. */
	beforeSend?: () => void;
}
