/** Tokens as they are bought and shown: without n8n, and with a service that answers from a script. */
import { OrderLedger } from '../../core/orders/ledger';
import { accept, beginSubmitting, makeOrder } from '../../core/orders/states';
import { parseTokenRecord } from '../../core/records/accountRecords';
import { toTokenOutput } from '../../nodes/Token/tokenOutput';
import { tokenProduct } from '../../nodes/Token/tokenProduct';
import { json, scriptedClient } from '../core/support';

const body = { name: 'Nightly', remain_quota: 5 };
const entry = { hash: 'h', executionId: '1', acceptedAtMs: 0 };

function order(item: number, about: object = {}) {
	return makeOrder({
		...{ item, thing: 'token', kind: '', then: 'nothing', request: { body, hash: 'h', submitAgain: false } },
		about: { body, simplify: true, submitAgain: false, ...about },
	});
}

/** The product of one try: each of its tokens has the next number as its key. */
function tryOf(store = {}, runIndex = 0) {
	const answers = [1, 2, 3].map((id) => json(200, { success: true, message: '', data: { id, key: `k${id}` } }));
	const { client, sent } = scriptedClient(answers);
	const product = tokenProduct({ client, ledger: new OrderLedger({ store, executionId: '1', runIndex }) });
	const hints = new Set<string>();
	const output = (of: ReturnType<typeof order>) => product.output(of, { timedOut: false }, { hints } as never);
	return { product, sent, hints, output };
}

describe('what is bought', () => {
	test('a token is created with its body, and each item gets its own key, also in another try', async () => {
		const store = {};
		const { product, sent, output } = tryOf(store);
		const ready = jest.fn();
		await product.create(order(0), body, { sending: async () => await Promise.resolve(ready()) });
		await product.create(order(1), body, {});
		expect(sent.map(({ method, url, body: posted }) => [method, new URL(url).pathname, posted])).toEqual(
			Array(2).fill(['POST', '/v1/tokens', body]),
		);
		expect(ready).toHaveBeenCalledTimes(1);
		expect(product.status).toBe('created');
		for (const again of [output, tryOf(store).output])
			expect([again(order(1)), again(order(0, { simplify: false }))]).toEqual([
				{ json: { id: 2, api_key: 'sk-k2' } },
				{ json: { id: 1, api_key: 'sk-k1', record: expect.objectContaining({ success: true }) } },
			]);
	});

	test.each<[string, (store: object) => ReturnType<typeof tryOf>]>([
		['run', (store) => tryOf(store, 1)],
		['execution', () => tryOf()],
	])('a key is not handed out in another %s: the token is named by what is known of it', async (_, other) => {
		const store = {};
		await tryOf(store).product.create(order(0), body, {});
		const known = order(0);
		expect(() => other(store).output(known)).toThrow(
			expect.objectContaining({ details: expect.objectContaining({ reason: goneOf('') }) }),
		);
		beginSubmitting(known);
		accept(known, { taskId: '7', elapsedMs: 0 }, 0);
		expect(() => other(store).output(known)).toThrow(
			expect.objectContaining({ details: expect.objectContaining({ reason: goneOf('7') }) }),
		);
	});

	const goneOf = (id: string) => ({ name: 'tokenKeyGone', data: { name: 'Nightly', id } });

	test('a token whose key is gone is created again only with Submit Again', async () => {
		const { product } = tryOf();
		await product.create(order(0), body, {});
		const isReusable = (item: number, submitAgain: boolean) =>
			product.isReusable?.(order(item, { submitAgain }), entry);
		expect([isReusable(0, false), isReusable(0, true)]).toEqual([true, true]);
		expect([isReusable(1, false), isReusable(1, true)]).toEqual([true, false]);
	});

	test.each([
		[{ remain_quota: 0 }, true],
		[{}, true],
		[{ unlimited_quota: false, remain_credits: 0 }, true],
		[{ remain_quota: 5, remain_credits: 0 }, true],
		[{ remain_quota: 0, remain_credits: 5 }, false],
		[{ remain_quota: 5 }, false],
		[{ unlimited_quota: true }, false],
	])('the key comes with a hint, and with one that it cannot spend where that is so: %j', async (asked, isEmpty) => {
		const { product, hints, output } = tryOf();
		await product.create(order(0), body, {});
		output(order(0, { body: { name: 'Nightly', ...asked } }));
		expect([...hints]).toEqual([
			expect.stringContaining('only this once'),
			...(isEmpty ? [expect.stringContaining('0 to spend')] : []),
		]);
	});
});

describe('what of a token comes out', () => {
	const output = (data: object, more: object = {}, simplify = true) =>
		toTokenOutput(parseTokenRecord({ ...more, data: { key: 'k', ...data } })!, { simplify });

	test('of a token its limits come out, and its key first', () => {
		const limits = { unlimited_quota: false, daily_credits: 2, monthly_credits: 3, model_limits: 'a,b' };
		const data = { name: 'Nightly', remain_credits: 1, id: 7, ...limits, user_id: 9 };
		const shown = output(data);
		expect(shown).toEqual({ api_key: 'sk-k', name: 'Nightly', remain_credits: 1, ...limits, id: 7 });
		expect(Object.keys(shown)[0]).toBe('api_key');
		expect(output({}, { more: 1 }, false)).toEqual({ api_key: 'sk-k', record: { more: 1, data: { key: 'k' } } });
	});

	test.each([
		[-1, null],
		[4_070_908_800, '2099-01-01T00:00:00.000Z'],
		['4070908800', '2099-01-01T00:00:00.000Z'],
		['soon', undefined],
		[undefined, undefined],
	])('the expiry %j of a token is shown as %j', (expired_time, expected) => {
		expect(output({ expired_time })).toStrictEqual({
			api_key: 'sk-k',
			...(expected === undefined ? {} : { expires_at: expected }),
		});
	});

	test.each([
		['Limits start tomorrow', { message: 'Limits start tomorrow' }],
		['', {}],
	])('the message "%s" beside a token is shown where it says something', (message, expected) => {
		expect(output({}, { message })).toStrictEqual({ api_key: 'sk-k', ...expected });
	});
});
