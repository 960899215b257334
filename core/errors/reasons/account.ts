import { TOKEN_NAME_LENGTH } from '../../limits';
import { decideYourself, enterRun, ofOtherRun, stopCalling, thenTryAgain, thenTryWithChanges } from '../recovery';
import type { CatalogueEntry, NamedRun } from '../catalogueEntry';

const inUnit = (amount: number, unit: string) => `${amount} ${unit === 'usd' ? 'USD' : unit}`;

/** Balance and tokens. */
export const ACCOUNT = {
	balanceTooLow: {
		kind: 'balance',
		message: 'There are not enough credits left for this request',
		advice: (_: unknown, situation) =>
			situation.others
				? 'Add credits, or use a key that is not at its limit.'
				: `${stopCalling(situation, 'The budget is used up')}Add credits to the account. If the API key has reached its own limit (total, daily or monthly), use another key or wait until the limit resets.`,
		serviceFirst: true,
	},
	creditsUnknown: {
		kind: 'unexpectedAnswer',
		code: 'unexpected_answer',
		message: 'The service does not say how many credits are left',
		advice: 'Check the Base URL and the API Key in the credential.',
	},
	creditsBelowLimit: {
		kind: 'balance',
		message: ({ left, wanted, unit }: { left: number; wanted: number; unit: string }) =>
			`Only ${inUnit(left, unit)} are left, but Stop If Below is ${inUnit(wanted, unit)}`,
		advice: (_: unknown, situation) => {
			if (situation.recovery === 'callAgain')
				return `${stopCalling(situation, 'The balance is too low')}Tell the user to add credits to the account.`;
			return situation.recovery === 'runAgain'
				? `Add credits to the account, or lower Stop If Below.${thenTryAgain(situation)}`
				: `Add credits to the account.${thenTryAgain(situation)} Or lower Stop If Below, save, and choose Retry with currently saved workflow there.`;
		},
	},
	userUnknown: {
		kind: 'rejected',
		code: 'key_refused',
		message: 'The service does not know the user of this API key',
		advice: 'Check that the account still exists and that the API key belongs to it.',
		created: 'maybe',
	},
	usedBalanceUnknown: {
		kind: 'unavailable',
		code: 'service_unavailable',
		message: 'The service could not read the used balance',
		advice: 'This is usually temporary. Try again in a minute.',
		created: 'maybe',
	},

	tokenNameRefused: {
		kind: 'rejected',
		code: 'request_rejected',
		message: 'The name of the API key is too long',
		advice: `Use at most ${TOKEN_NAME_LENGTH} characters.`,
		created: 'nothing',
		permanent: true,
	},
	tokenNotCreated: {
		kind: 'outcomeUnknown',
		code: 'outcome_unknown',
		message: 'The service could not create the API key',
		advice: (doubt: { atMs?: number } & NamedRun, situation) => decideYourself('token', doubt, situation),
		// An internal fault while creating: the answer does not say if there is a token now.
		created: 'maybe',
	},
	tokenKeyGone: {
		kind: 'outcomeUnknown',
		message: ({ name }: { name: string }) => `The API key "${name}" was created in an earlier try, and shown only then`,
		advice: (data: { id: string } & NamedRun, situation) =>
			`Delete the API key${data.id && ` with the ID ${data.id}`} in your account, and ${enterRun(data)}.${thenTryWithChanges(situation)}${ofOtherRun(data)}`,
	},
} satisfies Record<string, CatalogueEntry>;
