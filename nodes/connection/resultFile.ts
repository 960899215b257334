import type {
	ICredentialDataDecryptedObject,
	IExecuteFunctions,
	IHttpRequestOptions,
	IN8nHttpFullResponse,
} from 'n8n-workflow';
import { onAbort } from '../../core/abort';
import { forbiddenAddress, type FileRules } from '../../core/addresses';
import { isAtOrigin } from '../../core/urls';
import { readApiKey, readSettings } from './settings';
import { CREDENTIAL, keyHider, requestWithKey, toHeaders } from './transport';

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
export interface OpenedFile extends IN8nHttpFullResponse {
	url: string;
	/** The host has got the key: it is the service itself, and refuses its files without one. */
	isWithKey: boolean;
}

/** A request that has been answered, and is still open. */
interface Opened {
	response: IN8nHttpFullResponse;
	/** Ends it, where its body is not needed. */
	discard: () => void;
}

/**
 * Opens a result file, at first without the key: most files are on another host, which must never see it. Only where the
 * origin of the Base URL refuses is the same address asked again with the key, and only if no other host has led there: it
 * could choose what is read with the key. Each redirect is checked before it is followed, without the key.
 * Throws `AddressNotAllowed` for an address that may not be fetched; all other errors come from the connection. Any status
 * is an answer.
 */
export async function openResultFile(
	context: IExecuteFunctions,
	url: string,
	rules: FileRules,
	abortSignal: AbortSignal,
): Promise<OpenedFile> {
	let next = allowedUrl(url, undefined, rules);
	let isOfGateway = true;
	for (let redirects = 0; ; redirects++) {
		isOfGateway &&= isAtOrigin(next, rules.baseUrl);
		let { response, discard } = await open(withoutKey(context, rules), next, abortSignal);
		const credential = isOfGateway && isRefusal(response) ? await credentialFor(context, next) : undefined;
		if (credential) {
			discard();
			// n8n would send them in the place of the key.
			Object.assign(next, { username: '', password: '' });
			({ response, discard } = await open(withKey(context, credential), next, abortSignal));
		}
		const { location } = response.headers;
		const leadsOn = [301, 302, 303, 307, 308].includes(response.statusCode) && typeof location === 'string';
		if (!leadsOn || redirects >= MOST_REDIRECTS)
			return { ...response, url: next.href, isWithKey: credential !== undefined };
		discard();
		next = allowedUrl(location, next, rules);
	}
}

/** True for 401 and 403, and for JSON in the place of a file: the contract shows no status codes, and some services refuse with a 200. */
function isRefusal({ statusCode, headers }: IN8nHttpFullResponse): boolean {
	if (statusCode === 401 || statusCode === 403) return true;
	// A redirect is no refusal. From 429 on, the service has no time now, whatever the key.
	const mayBeAboutTheKey = statusCode < 300 || (statusCode >= 400 && statusCode < 429);
	return mayBeAboutTheKey && /[/+]json\b/i.test(String(headers['content-type'] ?? ''));
}

type SendOptions = (options: IHttpRequestOptions) => Promise<IN8nHttpFullResponse>;

const withoutKey =
	(context: IExecuteFunctions, { baseUrl }: FileRules): SendOptions =>
	async (options) => {
		const mayQuote = isAtOrigin(new URL(options.url), baseUrl);
		const credential = mayQuote ? await context.getCredentials(CREDENTIAL).catch(() => undefined) : undefined;
		const response = (await context.helpers.httpRequest(options)) as IN8nHttpFullResponse;
		if (!mayQuote) return response;
		if (credential !== undefined) return hidingKeyOf(credential, response);
		// They may quote a key that cannot be read now: the file needs no others.
		const { 'content-type': type, 'content-length': length } = response.headers;
		return { ...response, headers: { 'content-type': type, 'content-length': length } };
	};

const withKey =
	(context: IExecuteFunctions, credential: ICredentialDataDecryptedObject): SendOptions =>
	async (options) =>
		hidingKeyOf(credential, await requestWithKey(context, credential, options));

/** The service knows the key, and may quote it: in the name of the file, or in the address of another host. */
function hidingKeyOf({ apiKey }: ICredentialDataDecryptedObject, response: IN8nHttpFullResponse): IN8nHttpFullResponse {
	return { ...response, headers: toHeaders(response.headers, keyHider(readApiKey(apiKey))) };
}

async function open(send: SendOptions, { href }: URL, abortSignal: AbortSignal): Promise<Opened> {
	const own = new AbortController();
	const forget = onAbort(abortSignal, () => own.abort());
	const response = await send({
		method: 'GET',
		url: href,
		encoding: 'stream',
		returnFullResponse: true,
		ignoreHttpStatusErrors: true,
		disableFollowRedirect: true,
		timeout: TIMEOUT_MS,
		abortSignal: own.signal,
	});
	const end = () => {
		forget();
		discard(response.body, own);
	};
	return { response, discard: end };
}

/** The credential whose key belongs to this address. Read again, it may have another Base URL: its own decides. */
async function credentialFor(
	context: IExecuteFunctions,
	url: URL,
): Promise<ICredentialDataDecryptedObject | undefined> {
	const credential = await context.getCredentials(CREDENTIAL);
	return isAtOrigin(url, readSettings(credential).baseUrl) ? credential : undefined;
}

/** Ends a request whose body is not read. A stream that is only destroyed keeps the connection open. */
export function discard(body: unknown, request: AbortController): void {
	const stream = body as { destroy?: () => void; on?: (event: 'error', listen: () => void) => unknown } | undefined;
	// An error without a listener would end n8n.
	stream?.on?.('error', () => {});
	request.abort();
	stream?.destroy?.();
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
