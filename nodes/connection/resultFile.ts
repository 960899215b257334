import type { IExecuteFunctions, IN8nHttpFullResponse } from 'n8n-workflow';
import { onAbort } from '../../core/abort';
import { forbiddenAddress, type FileRules } from '../../core/addresses';

const MOST_REDIRECTS = 10;

/** The longest silence of the file host. The caller limits the whole time. */
const TIMEOUT_MS = 60_000;

/** An address that may not be fetched. Nothing was sent to it. */
export class AddressNotAllowed extends Error {
	static at(host: string): AddressNotAllowed {
		return new AddressNotAllowed(host);
	}

	private constructor(readonly host: string) {
		super(host);
	}
}

/** An answer of the file host, from the address that the redirects have led to. */
export type OpenedFile = IN8nHttpFullResponse & { url: string };

/**
 * Opens a result file, without the credential: it is on another host, which must never see the key. Each redirect is
 * checked before it is followed. Throws `AddressNotAllowed` for an address that may not be fetched; all other errors
 * come from the connection. Any status is an answer.
 */
export async function openResultFile(
	context: IExecuteFunctions,
	url: string,
	rules: FileRules,
	abortSignal: AbortSignal,
): Promise<OpenedFile> {
	let next = allowedUrl(url, undefined, rules);
	for (let redirects = 0; ; redirects++) {
		const hop = new AbortController();
		const forget = onAbort(abortSignal, () => hop.abort());
		const response = (await context.helpers.httpRequest({
			method: 'GET',
			url: next.href,
			encoding: 'stream',
			returnFullResponse: true,
			ignoreHttpStatusErrors: true,
			disableFollowRedirect: true,
			timeout: TIMEOUT_MS,
			abortSignal: hop.signal,
		})) as IN8nHttpFullResponse;
		const { location } = response.headers;
		const leadsOn = [301, 302, 303, 307, 308].includes(response.statusCode) && typeof location === 'string';
		if (!leadsOn || redirects >= MOST_REDIRECTS) return { ...response, url: next.href };
		forget();
		discard(response.body, hop);
		next = allowedUrl(location, next, rules);
	}
}

/** Ends a request whose body nobody reads. A stream that is only destroyed keeps the connection open. */
function discard(body: unknown, request: AbortController): void {
	const stream = body as { destroy?: () => void; on?: (event: 'error', listen: () => void) => unknown };
	stream.on?.('error', () => {});
	request.abort();
	stream.destroy?.();
}

/** The next address. Throws where it may not be fetched. */
function allowedUrl(address: string, from: URL | undefined, rules: FileRules): URL {
	let url: URL;
	try {
		url = new URL(address, from);
	} catch {
		throw AddressNotAllowed.at('an address that cannot be read');
	}
	if (!/^https?:/.test(url.protocol)) throw AddressNotAllowed.at(url.protocol);
	const host = forbiddenAddress(url, rules);
	if (host !== undefined) throw AddressNotAllowed.at(host);
	return url;
}
