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

export interface ToldCallback {
	verified: boolean;
	/** Unix milliseconds. */
	atMs: number;
}

/**
 * Remembers the callbacks that have started the workflow: each does so once, however often a browser repeats it. One
 * that was not verified may do so once more when it turns out to be verified.
 */
export class CallbackLog {
	private readonly told = new Map<string, ToldCallback>();

	/** True while the workflow is still to be started for this callback. */
	isNew(key: string, { verified, atMs }: ToldCallback): boolean {
		this.forgetOld(atMs);
		const before = this.told.get(key);
		return !before || (verified && !before.verified);
	}

	/** Notes that the workflow is started for it. */
	tell(key: string, callback: ToldCallback): void {
		this.told.delete(key);
		this.told.set(key, callback);
		this.forgetOld(callback.atMs);
	}

	/** Forgets callbacks after a day, which is far longer than any link lives, and the oldest beyond the bound. */
	private forgetOld(nowMs: number): void {
		for (const [key, { atMs }] of this.told) {
			if (nowMs - atMs < REMEMBER_FOR_MS && this.told.size <= MOST) return;
			this.told.delete(key);
		}
	}
}

const REMEMBER_FOR_MS = 24 * 3_600_000;
const MOST = 10_000;

/** Lets through at most so many of a kind within any one minute. */
export class PerMinute {
	private readonly passed = new Map<string, number[]>();

	constructor(readonly most: number) {}

	allows(kind: string, nowMs: number): boolean {
		// Those of a clock that was set back since are none of this minute.
		const recent = (this.passed.get(kind) ?? []).filter((atMs) => Math.abs(nowMs - atMs) < 60_000);
		const allowed = recent.length < this.most;
		this.passed.set(kind, allowed ? [...recent, nowMs] : recent);
		for (const [other, times] of this.passed)
			if (Math.abs(nowMs - Math.max(...times)) >= 60_000) this.passed.delete(other);
		return allowed;
	}
}
