/**
 * The browser callback of a verification (contract 4.6, step 3, and 6). The service appends `resultCode` and
 * `vendorToken` to the callback URL: a good one with `&` when there is a query already, a naive one with a second
 * `?` (field notes). Whatever it carries proves nothing; only the verification result does.
 */
export interface Callback {
	resultCode?: string;
	vendorToken?: string;
	/** The caller's own, put into the callback URL by `toCallbackUrl`. */
	reference?: string;
}

/** Stands last in a query so that a second `?` falls on it and not on a signature. */
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
export function readCallback(url: string): Callback {
	const [beforeHash = ''] = url.split('#');
	const [, ...queries] = beforeHash.split('?');
	const parameters = new Map<string, string>();
	for (const [name, value] of new URLSearchParams(queries.join('&'))) {
		const key = name.toLowerCase().replace(/_/g, '');
		if (value.trim() !== '' && !parameters.has(key)) parameters.set(key, value.trim());
	}
	return {
		resultCode: parameters.get('resultcode'),
		vendorToken: parameters.get('vendortoken'),
		reference: parameters.get('reference'),
	};
}
