import { Readable } from 'node:stream';

/** The answer of a handler, in the one form that faults can change before it is sent. */
export interface Answer {
	status: number;
	headers: Record<string, string>;
	/** Sent as it is. */
	body: Buffer | Readable;
	/** Bytes that `body` will bring; sent as Content-Length. */
	length: number;
}

export function jsonAnswer(value: unknown, status = 200, headers: Record<string, string> = {}): Answer {
	return textAnswer(JSON.stringify(value), status, {
		'content-type': 'application/json; charset=utf-8',
		...headers,
	});
}

export function textAnswer(text: string, status: number, headers: Record<string, string>): Answer {
	return bytesAnswer(Buffer.from(text, 'utf8'), headers, status);
}

export function bytesAnswer(body: Buffer, headers: Record<string, string>, status = 200): Answer {
	return { status, headers, body, length: body.length };
}

/** The whole page that a proxy in front of the service answers with. */
export function htmlPage(status: number, title: string): Answer {
	const page =
		`<!DOCTYPE html>\n<html><head><title>${status} ${title}</title></head>\n` +
		`<body><center><h1>${status} ${title}</h1></center><hr><center>proxy</center></body></html>\n`;
	return textAnswer(page, status, { 'content-type': 'text/html' });
}

/** Announces the whole answer and breaks off in the middle of it. */
export function cutInTheMiddle(answer: Answer): Answer {
	const wanted = Math.floor(answer.length / 2);
	return { ...answer, body: Readable.from(firstBytes(answer.body, wanted)) };
}

async function* firstBytes(body: Buffer | Readable, wanted: number): AsyncGenerator<Buffer> {
	let left = wanted;
	const chunks: AsyncIterable<Buffer> | Buffer[] = Buffer.isBuffer(body) ? [body] : body;
	for await (const chunk of chunks) {
		const part = chunk.subarray(0, left);
		left -= part.length;
		if (part.length > 0) yield part;
		if (left <= 0) break;
	}
	throw Object.assign(new Error('the sandbox cut this answer'), { code: 'ECONNRESET' });
}
