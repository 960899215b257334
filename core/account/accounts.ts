/** The things that all runs of an account in this process share: its limits, the reads that are under way, and the latest refusals. */
import type { Clock } from '../clock';
import { AccountPace } from './pace';
import { accounts, keepAsLast } from '../processMemory';
import { AccountPlaces } from './places';
import { RowBudget } from './rowBudget';
import { untilAborted } from '../abort';
import { asGatewayError, stoppedError, gatewayError, type GatewayError } from '../errors';

/** More accounts would be an attack, or a mistake. */
const MOST_ACCOUNTS = 1_000;

/** A number of submissions in a row that get a page in between, and nothing else, which is no accident. */
const PAGES_IN_A_ROW = 3;

/**
 * The account that a key belongs to. The limits are those of the credential that was used last.
 *
 * @param name tells the accounts apart: a hash of the address and the key
 */
export function accountOf(name: string, limits: AccountLimits, clock: Clock): Account {
	const known = accounts.get(name);
	const account = known instanceof Account ? known : new Account(limits.requestsPerSecond, clock);
	account.limitTo(limits);
	keepAsLast(accounts, name, account, MOST_ACCOUNTS);
	return account;
}

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
		this.places.limitTo(concurrentTasks);
		this.pace.limitTo(requestsPerSecond);
	}
}

/** Reads that are under way for any run of an account: who asks for the same meanwhile gets the same answer. */
export class SharedReads {
	/** By what is read. As many as there are; gone with their requests. */
	private readonly underWay = new Map<string, Promise<unknown>>();

	/** Throws what the read throws; `stopped` only where this run was stopped. */
	async read<T>(what: string, get: () => Promise<T>, signal?: AbortSignal): Promise<T> {
		for (;;) {
			const other = this.underWay.get(what) as Promise<T> | undefined;
			if (other === undefined) {
				const reading = get().finally(() => this.underWay.delete(what));
				this.underWay.set(what, reading);
				return await reading;
			}
			try {
				const shared = await untilAborted(
					other.then((value) => ({ value })),
					signal,
				);
				if (shared === undefined) throw stoppedError();
				return shared.value;
			} catch (thrown) {
				const error = asGatewayError(thrown);
				if (error.kind !== 'stopped' || signal?.aborted) throw error;
			}
		}
	}
}

/**
 * The latest answers to the submissions of an account. A page in the place of the service concerns its item first: it says
 * nothing about the key. Where all others get one, too, the next ones would only feed the firewall that wrote it.
 */
export class SubmissionLog {
	private pages = 0;

	/** Notes an answer that is a refusal. Returns the error to go by: of the third page in a row one that ends all submissions. */
	refused(error: GatewayError): GatewayError {
		const { reason, httpStatus } = error.details;
		const isPage = reason?.name === 'refusedInBetween' && httpStatus !== 404;
		this.pages = isPage ? this.pages + 1 : 0;
		return this.pages < PAGES_IN_A_ROW ? error : gatewayError('accessBlocked', {}, error.details);
	}

	/** Notes an answer of the service. */
	accepted(): void {
		this.pages = 0;
	}
}
