/** Balances: their fields, the watch over one, and what a run has used of it. */
import { toAccountBalance, toKeyBalance } from '../../core/account/balance';
import { parseWatchState, toCredits, watchBalance } from '../../core/account/balanceWatch';
import { beginSpending, creditsBetween, endSpending, modelsOf, usedCreditsOf } from '../../core/account/runCredits';
import type { CreditsNote } from '../../core/account/spendingRun';
import { spendingRuns } from '../../core/processMemory';

describe('the fields of a balance', () => {
	test('the fields of a balance have credits and USD first, and the unit that nobody names last', () => {
		const balance = toAccountBalance({
			success: true,
			used_balance: 1,
			remain_balance: 2,
			other: 'x',
			used_credits: 3,
			remain_credits: 500,
		});
		expect(Object.entries(balance)).toEqual([
			...Object.entries({
				remain_credits: 500,
				remain_usd: 2.5,
				used_credits: 3,
				other: 'x',
				remain_balance: 2,
				used_balance: 1,
			}),
			['balance_unit', expect.stringContaining('USD, CNY or tokens')],
		]);
		const key = toKeyBalance({ success: true, a: 1, used_credits: 2, remain_credits: 300 });
		expect(Object.entries(key)).toEqual(
			Object.entries({ remain_credits: 300, remain_usd: 1.5, used_credits: 2, a: 1 }),
		);
	});

	test.each([
		[{ remain_credits: 500, credits_per_usd: 100 }, 2.5],
		[{ remain_credits: 2.9 }, 0.0145],
		[{ remain_credits: 500, credits_per_usd: 0 }, 2.5],
		[{ remain_credits: 500, unlimited_quota: true }, null],
		[{ remain_credits: '500' }, null],
		[{}, null],
	])('a balance of %j is %p in USD', (balance, usd) => {
		expect(toAccountBalance(balance).remain_usd).toBe(usd);
	});
});

describe('the watch over a balance', () => {
	const threshold = { credits: 100, marginCredits: 10 };
	const FIRED = { firedBelowCredits: 100 };

	test.each<[string, object, object, boolean, object]>([
		['is quiet at it', { remain_credits: 100 }, {}, false, {}],
		['tells of it below', { remain_credits: 99 }, {}, true, FIRED],
		['tells of it once', { remain_credits: 50 }, FIRED, false, FIRED],
		['waits for more than the threshold', { remain_credits: 109 }, FIRED, false, FIRED],
		['begins again with the margin', { remain_credits: 110 }, FIRED, false, {}],
		['begins again with another threshold', { remain_credits: 99 }, { firedBelowCredits: 90 }, true, FIRED],
		[
			'tells of it again where more was used since than could have been left',
			{ remain_credits: 50, used_credits: 200 },
			{ ...FIRED, usedCredits: 140 },
			true,
			{ ...FIRED, usedCredits: 200, grantedCredits: 250 },
		],
		[
			'tells of it again where the account was given more since',
			{ remain_credits: 50, used_credits: 200 },
			{ ...FIRED, usedCredits: 140, grantedCredits: 249 },
			true,
			{ ...FIRED, usedCredits: 200, grantedCredits: 250 },
		],
		[
			'is quiet where what was taken away before is booked as used',
			{ remain_credits: 99, used_credits: 200 },
			{ ...FIRED, usedCredits: 140, grantedCredits: 299 },
			false,
			{ ...FIRED, usedCredits: 200, grantedCredits: 299 },
		],
		[
			'is quiet where fractions of credits add up to some noise more',
			{ remain_credits: 99.9, used_credits: 100.2 },
			{ ...FIRED, usedCredits: 80, grantedCredits: 200.1 },
			false,
			{ ...FIRED, usedCredits: 100.2, grantedCredits: 200.1 },
		],
		[
			'is quiet where what was used since shows no recovery',
			{ remain_credits: 50, used_credits: 199 },
			{ ...FIRED, usedCredits: 140 },
			false,
			{ ...FIRED, usedCredits: 199, grantedCredits: 249 },
		],
		[
			'takes used credits that have shrunk for none, and begins anew with what the account was given',
			{ remain_credits: 50, used_credits: 0 },
			{ ...FIRED, usedCredits: 5, grantedCredits: 500 },
			false,
			{ ...FIRED, usedCredits: 0, grantedCredits: 50 },
		],
		[
			'knows no use where the service does not say it any more',
			{ remain_credits: 50 },
			{ ...FIRED, usedCredits: 140, grantedCredits: 500 },
			false,
			FIRED,
		],
		[
			'is quiet without a limit',
			{ remain_credits: 1, unlimited_quota: true },
			{ ...FIRED, usedCredits: 1, grantedCredits: 2 },
			false,
			{},
		],
	])('Balance Trigger: %s', (_, balance, state, fires, next) => {
		expect(watchBalance(balance as never, threshold, state)).toEqual({ fires, state: next });
	});

	test('a threshold in credits is compared with USD, without the noise of binary fractions', () => {
		expect([
			toCredits(1.5, 'usd'),
			toCredits(1.5, 'credits'),
			toCredits(0.07, 'usd'),
			toCredits(0.0123456, 'usd'),
		]).toEqual([...[300, 1.5, 14, 2.46912]]);
	});

	test.each<[unknown, object]>([
		[FIRED, FIRED],
		[{}, {}],
		[
			{ ...FIRED, usedCredits: 5 },
			{ ...FIRED, usedCredits: 5 },
		],
		[
			{ ...FIRED, usedCredits: 'x' },
			{ ...FIRED, usedCredits: undefined },
		],
		[
			{ grantedCredits: 'x', usedCredits: 5 },
			{ grantedCredits: undefined, usedCredits: 5 },
		],
		[undefined, {}],
	])('a stored state %j of the watch is taken up as %j', (stored, state) => {
		expect(parseWatchState(stored, 'a')).toStrictEqual(state);
	});

	test('a stored state of the watch is that of its account; one without an account may be of any', () => {
		const of = (account: unknown) => parseWatchState({ ...FIRED, usedCredits: 5, account }, 'a');
		expect([of('a'), of(undefined), of(7)]).toEqual(Array(3).fill({ ...FIRED, usedCredits: 5 }));
		expect([of('b'), of('')]).toEqual([{}, {}]);
	});
});

describe('what a run has used', () => {
	test.each<[number, object, object | undefined]>([
		[10, { used_credits: 30 }, { credits: 20, usd: 0.1 }],
		[10, { used_credits: 30, credits_per_usd: 10 }, { credits: 20, usd: 0.1 }],
		[0.1, { used_credits: 0.3 }, { credits: 0.2, usd: 0.001 }],
		[10, { used_credits: '30' }, undefined],
		[10, { used_credits: Infinity }, undefined],
		[10, {}, undefined],
	])('between balances of %d and %j, a run has used %j', (before, balance, used) => {
		expect(creditsBetween(before, balance as never)).toEqual(used);
		expect(usedCreditsOf(balance as never)).toBe(
			used === undefined ? undefined : (balance as { used_credits: number }).used_credits,
		);
	});

	test('the credits that runs of one account have used at the same time are said to be shared, on both sides', () => {
		const [one, two, other, later]: CreditsNote[] = [{}, {}, {}, {}];
		beginSpending('a', 1, one as CreditsNote, 0);
		beginSpending('a', 1, one as CreditsNote, 0);
		expect(one).toEqual({});
		beginSpending('b', 3, other as CreditsNote, 0);
		beginSpending('a', 2, two as CreditsNote, 0);
		expect([one, two, other]).toEqual([{ shared: true }, { shared: true }, {}]);
		endSpending('a', 1);
		endSpending('a', 2);
		endSpending('a', 2);
		beginSpending('a', 4, later as CreditsNote, 0);
		expect(later).toEqual({});
		endSpending('a', 4);
		endSpending('b', 3);
		endSpending('nobody', 1);
		expect(spendingRuns.size).toBe(0);
	});

	test('the credits of a run that sleeps are said to be shared, until the time to which it sleeps', () => {
		const [sleeping, during, after]: CreditsNote[] = [{}, {}, {}];
		beginSpending('a', 1, sleeping as CreditsNote, 0);
		endSpending('a', 1, 1_000);
		beginSpending('a', 2, during as CreditsNote, 999);
		endSpending('a', 2);
		expect([sleeping, during]).toEqual([{ shared: true }, { shared: true }]);
		beginSpending('a', 3, after as CreditsNote, 1_000);
		expect(after).toEqual({});
		endSpending('a', 9, 5);
		// It has been read from what n8n had stored before it slept.
		const awake: CreditsNote = {};
		endSpending('a', 3);
		beginSpending('a', 1, sleeping as CreditsNote, 2_000);
		beginSpending('a', 1, awake, 2_000);
		expect(awake).toEqual({ shared: true });
		endSpending('a', 1);
		beginSpending('a', 3, {}, 2_000);
		endSpending('a', 3);
		expect(spendingRuns.size).toBe(0);
	});
});

test('the models of a run are named once each, and cut where they are too many for a row', () => {
	expect(modelsOf([{ model: 'b' }, { model: 'a' }, {}, { model: 'b' }])).toBe('a, b');
	expect(modelsOf([])).toBe('');
	expect(modelsOf([{ model: 'm'.repeat(150) }, { model: 'n'.repeat(150) }])).toBe(
		`${'m'.repeat(150)}, ${'n'.repeat(48)}`,
	);
});
