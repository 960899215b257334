import type { Clock } from '../clock';
import { AccountPace } from './pace';
import { accounts } from '../processMemory';
import { AccountPlaces } from './places';
import { RowBudget } from './rowBudget';
import { SharedReads } from './sharedReads';
import { SubmissionLog } from './submissionLog';

/** The limits of an account, which all its runs in this process share. */
export interface AccountLimits {
	requestsPerSecond: number;
	/** The tasks that the account can run at once; Infinity where it is not known. */
	concurrentTasks: number;
}

/** Shared by the runs of one account in a process: the pace, the pause after a 429, and the places of running tasks. */
class Account {
	readonly pace: AccountPace;

	readonly places: AccountPlaces;

	readonly rows: RowBudget;

	readonly reads = new SharedReads();

	readonly submissions = new SubmissionLog();

	constructor(requestsPerSecond: number, clock: Clock) {
		this.pace = new AccountPace(requestsPerSecond, clock);
		this.places = new AccountPlaces(clock);
		this.rows = new RowBudget(clock);
	}

	/** For runs that have begun, too: two credentials with the same key have the same account. */
	limitTo({ requestsPerSecond, concurrentTasks }: AccountLimits): void {
		this.places.most = concurrentTasks;
		this.pace.limitTo(requestsPerSecond);
	}
}

/** The most accounts: more would be an attack, or a mistake. The one that was not used for longest is dropped. */
const MOST = 1_000;

/**
 * The account that a key belongs to. The limits are those of the credential that was used last.
 *
 * @param name tells the accounts apart: a hash of the address and the key
 */
export function accountOf(
	name: string,
	limits: AccountLimits,
	clock: Clock,
): Pick<Account, 'pace' | 'places' | 'rows' | 'reads' | 'submissions'> {
	const known = accounts.get(name);
	const account = known instanceof Account ? known : new Account(limits.requestsPerSecond, clock);
	account.limitTo(limits);
	accounts.delete(name);
	accounts.set(name, account);
	for (const oldest of accounts.keys()) {
		if (accounts.size <= MOST) break;
		accounts.delete(oldest);
	}
	return account;
}
