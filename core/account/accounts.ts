import { createHash } from 'crypto';
import type { Clock } from '../clock';
import { RequestLimiter } from '../http/requestLimiter';
import { accounts } from '../processMemory';
import { Places } from './places';

/** The limits of an account, which all its runs in this process share. */
export interface AccountLimits {
	requestsPerSecond: number;
	/** The tasks that the account can run at once; Infinity where nobody knows. */
	tasksAtOnce: number;
}

/** What the runs of one account share in a process: the pace, the pause after a 429, and the places of running tasks. */
export interface Account {
	limits: AccountLimits;
	limiter: RequestLimiter;
	places: Places;
}

/** The most accounts: more would be an attack, or a mistake. The one that was not used for longest is dropped. */
const MOST = 1_000;

/**
 * The account that a key belongs to. The limits are those of the credential that was used last.
 *
 * @param apiKey is kept as a hash only
 */
export function accountOf(baseUrl: string, apiKey: string, limits: AccountLimits, clock: Clock): Account {
	const name = createHash('sha256').update(`${baseUrl} ${apiKey}`).digest('base64');
	const account = accounts.get(name) ?? { limits, limiter: newLimiter(limits, clock), places: new Places(clock) };
	if (account.limits.requestsPerSecond !== limits.requestsPerSecond) account.limiter = newLimiter(limits, clock);
	account.limits = limits;
	account.places.most = limits.tasksAtOnce;
	accounts.delete(name);
	accounts.set(name, account);
	for (const oldest of accounts.keys()) {
		if (accounts.size <= MOST) break;
		accounts.delete(oldest);
	}
	return account;
}

const newLimiter = ({ requestsPerSecond }: AccountLimits, clock: Clock) => new RequestLimiter(requestsPerSecond, clock);
