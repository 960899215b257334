import { Refusal } from '../http/refusal.mts';
import { CREDITS_PER_USD, QUOTA_UNITS_PER_CREDIT } from './prices.mts';

/** The callers: users with a balance, and the tokens that spend it. Contract sections 2.1, 2.2 and 5. */

export interface User {
	id: number;
	key: string;
	remainCredits: number;
	usedCredits: number;
	unlimited: boolean;
	/** Makes the balance answer one of the two messages of contract section 7. */
	broken?: 'no_user' | 'query_error';
}

/** The record of contract section 2.2; the key is kept apart because it is shown only once. */
export interface Token {
	id: number;
	user_id: number;
	status: number;
	name: string;
	created_time: number;
	accessed_time: number;
	expired_time: number;
	remain_quota: number;
	remain_credits: number;
	unlimited_quota: boolean;
	used_quota: number;
	used_credits: number;
	daily_credits: number;
	monthly_credits: number;
	model_limits_enabled: boolean;
	model_limits: string;
	group: string;
	cross_group_retry: boolean;
}

/** The user, and the token if one was used instead of the user's own key. */
export interface Caller {
	user: User;
	token?: Token;
}

interface Spent {
	at: number;
	credits: number;
}

const DAY_MS = 24 * 3_600_000;

export class Accounts {
	users: User[] = [];
	tokens = new Map<string, Token>();
	spending = new Map<number, Spent[]>();

	constructor(
		private readonly keys: string[],
		private readonly balanceUsd: number,
		private readonly now: () => number,
	) {
		this.clear();
	}

	clear(): void {
		this.tokens.clear();
		this.spending.clear();
		this.users = this.keys.map((key, index) => ({
			id: index + 1,
			key,
			remainCredits: this.balanceUsd * CREDITS_PER_USD,
			usedCredits: 0,
			unlimited: false,
		}));
	}

	/** Contract section 5, word for word. */
	authenticate(authorization: string | undefined): Caller {
		if (authorization === undefined || authorization === '') {
			throw new Refusal(401, 'No Authorization header');
		}
		const key = /^Bearer (\S+)$/.exec(authorization)?.[1] ?? '';
		const owner = this.users.find((user) => user.key === key);
		if (owner) return { user: owner };
		const token = key.startsWith('sk-') ? this.tokens.get(key.slice(3)) : undefined;
		const user = this.users.find(({ id }) => id === token?.user_id);
		const seconds = Math.floor(this.now() / 1_000);
		if (!token || !user || (token.expired_time !== -1 && token.expired_time <= seconds)) {
			throw new Refusal(401, 'Authentication failed');
		}
		token.accessed_time = seconds;
		return { user, token };
	}

	/** Contract section 2.2: model limits count only when they are enabled. */
	checkModel({ token }: Caller, model: string): void {
		if (!token?.model_limits_enabled) return;
		const allowed = token.model_limits.split(',').map((name) => name.trim());
		if (!allowed.includes(model)) {
			throw new Refusal(403, `This token cannot use the model ${model}`, 'model_not_allowed');
		}
	}

	/** Takes the price of an accepted task from the user and the token, or refuses with 402. */
	charge({ user, token }: Caller, credits: number): void {
		if (!user.unlimited && user.remainCredits < credits) throw insufficient('The balance');
		if (token) this.chargeToken(token, credits);
		if (!user.unlimited) user.remainCredits -= credits;
		user.usedCredits += credits;
	}

	private chargeToken(token: Token, credits: number): void {
		const quota = Math.round(credits * QUOTA_UNITS_PER_CREDIT);
		if (!token.unlimited_quota && token.remain_quota < quota) throw insufficient('The quota of this token');
		const now = this.now();
		const spent = (this.spending.get(token.id) ?? []).filter(({ at }) => at > now - 30 * DAY_MS);
		const within = (ms: number): number =>
			spent.reduce((sum, entry) => (entry.at > now - ms ? sum + entry.credits : sum), credits);
		if (token.daily_credits > 0 && within(DAY_MS) > token.daily_credits) {
			throw insufficient('The daily limit of this token');
		}
		if (token.monthly_credits > 0 && within(30 * DAY_MS) > token.monthly_credits) {
			throw insufficient('The monthly limit of this token');
		}
		this.spending.set(token.id, [...spent, { at: now, credits }]);
		if (!token.unlimited_quota) {
			token.remain_quota -= quota;
			token.remain_credits = token.remain_quota / QUOTA_UNITS_PER_CREDIT;
		}
		token.used_quota += quota;
		token.used_credits += credits;
	}
}

function insufficient(what: string): Refusal {
	return new Refusal(402, `${what} does not cover this request`, 'insufficient_quota');
}
