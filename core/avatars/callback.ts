/**
 * The browser callback of a verification (contract 4.6, step 3, and 6). The service appends `resultCode` and
 * `vendorToken` to the callback URL: a good one with `&` when there is a query already, a naive one with a second
 * `?` (field notes). Whatever it carries proves nothing; only the verification result does.
 */
export interface Callback {
	resultCode?: string;
	vendorToken?: string;
	/** The reference in the address, which the person can change: `toCallbackUrl` has put it there. */
	reference?: string;
	/** The same values where the service has written a space as `+`: the address alone does not tell. */
	spaced?: Pick<Callback, 'resultCode' | 'vendorToken'>;
}

/** The last parameter of a query: a second `?` then changes this one, and no signature before it. */
const GUARD = 'callback';

/**
 * The callback URL that is sent. To one that has a query, as n8n's resume URL with its signature has, a last
 * parameter is added: whatever is appended, the parameters before it stay whole.
 */
export function toCallbackUrl(url: string, reference: string): string {
	const [beforeHash = '', ...hash] = url.split('#');
	const added = new URLSearchParams();
	if (reference !== '') added.set('reference', reference);
	else if (beforeHash.includes('?')) added.set(GUARD, '1');
	if (added.size === 0) return url;
	const withQuery = `${beforeHash}${beforeHash.includes('?') ? '&' : '?'}${added.toString()}`;
	return [withQuery, ...hash].join('#');
}

/** Reads the callback from the address that was called, whichever way it was put together. Case is ignored. */
export function parseCallback(url: string): Callback {
	const [beforeHash = ''] = url.split('#');
	const [, ...queries] = beforeHash.split('?');
	const query = queries.join('&');
	const spaced = parseParameters(query);
	const raw = parseParameters(query.replace(/\+/g, '%2B'));
	const service = (parameters: Map<string, string>) => ({
		resultCode: parameters.get('resultcode'),
		vendorToken: parameters.get('vendortoken'),
	});
	return {
		...service(raw),
		// Our own, and we write a space as `+`.
		reference: spaced.get('reference'),
		spaced: query.includes('+') ? service(spaced) : undefined,
	};
}

/** The possible readings of one of the values, the likelier first. */
export function readingsOf(callback: Callback, name: 'resultCode' | 'vendorToken'): string[] {
	return [...new Set([callback[name], callback.spaced?.[name]])].filter((value) => value !== undefined);
}

/** By name, in small letters. The first value counts, empty ones do not. */
function parseParameters(query: string): Map<string, string> {
	const parameters = new Map<string, string>();
	for (const [name, value] of new URLSearchParams(query)) {
		const key = name.toLowerCase().replace(/_/g, '');
		if (value.trim() !== '' && !parameters.has(key)) parameters.set(key, value.trim());
	}
	return parameters;
}
