/** Balances: USD, the watch over one, and what a run has used of it. */
import { toAccountBalance, toCredits } from '../../core/account/balance';
import { parseWatchState, watchBalance } from '../../core/account/balanceWatch';
import { creditsBetween, modelsOf } from '../../core/account/runCredits';

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

describe('the watch over a balance', () => {
	const FIRED = { firedBelowCredits: 100 };

	test.each<[string, object, object, boolean, object]>([
		['is quiet at it', { remain_credits: 100 }, {}, false, {}],
		['waits for more than the threshold', { remain_credits: 104 }, FIRED, false, FIRED],
		['begins again with the margin', { remain_credits: 105 }, FIRED, false, {}],
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
	])('Balance Trigger: %s', (_, balance, state, fires, next) => {
		expect(watchBalance(balance as never, 100, state)).toEqual({ fires, state: next });
	});

	test('a threshold in credits is compared with USD, without the noise of binary fractions', () => {
		expect([
			toCredits(1.5, 'usd'),
			toCredits(1.5, 'credits'),
			toCredits(0.07, 'usd'),
			toCredits(0.0123456, 'usd'),
		]).toEqual([...[300, 1.5, 14, 2.46912]]);
	});

	test.each<[object | undefined, object]>([
		[FIRED, FIRED],
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
		expect(parseWatchState(stored && { ...stored, account: 'a' }, 'a')).toStrictEqual(state);
	});
});

test.each<[number, object, object | undefined]>([
	[10, { used_credits: 30 }, { credits: 20, usd: 0.1 }],
	[10, { used_credits: 30, credits_per_usd: 10 }, { credits: 20, usd: 0.1 }],
	[0.1, { used_credits: 0.3 }, { credits: 0.2, usd: 0.001 }],
	[10, { used_credits: '30' }, undefined],
	[10, {}, undefined],
])('between balances of %d and %j, a run has used %j', (before, balance, used) => {
	expect(creditsBetween(before, balance as never)).toEqual(used);
});

test('the models of a run are named once each, and cut where they are too many for a row', () => {
	expect(modelsOf([{ model: 'b' }, { model: 'a' }, {}, { model: 'b' }])).toBe('a, b');
	expect(modelsOf([])).toBe('');
	expect(modelsOf([{ model: 'm'.repeat(150) }, { model: 'n'.repeat(150) }])).toBe(
		`${'m'.repeat(150)}, ${'n'.repeat(48)}`,
	);
});
