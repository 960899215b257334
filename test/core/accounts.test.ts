/** The runs of a process that use the same key share the limits of its account. */
import { accountOf } from '../../core/account/accounts';
import { accounts } from '../../core/processMemory';
import { fakeClock } from './support';

const limits = { requestsPerSecond: 60, tasksAtOnce: 20 };
const clock = fakeClock();
const of = (baseUrl: string, key: string, wanted = limits) => accountOf(baseUrl, key, wanted, clock);

test('one account for each address and key, and the key is kept nowhere', () => {
	const one = of('https://a.example', 'sk-secret');
	expect(of('https://a.example', 'sk-secret')).toBe(one);
	expect(of('https://b.example', 'sk-secret')).not.toBe(one);
	expect(of('https://a.example', 'sk-other')).not.toBe(one);
	expect([...accounts.keys()].join()).not.toContain('secret');
});

test('the limits are those of the credential that was used last; what was learned stays', () => {
	const { places, limiter } = of('https://a.example', 'key');
	expect([places.most, limiter.requestsPerSecond]).toEqual([20, 60]);
	const same = of('https://a.example', 'key', { requestsPerSecond: 60, tasksAtOnce: 5 });
	expect(same.limiter).toBe(limiter);
	const changed = of('https://a.example', 'key', { requestsPerSecond: 7, tasksAtOnce: Infinity });
	expect(changed.places).toBe(places);
	expect([changed.places.most, changed.limiter.requestsPerSecond]).toEqual([Infinity, 7]);
});

test('a thousand are kept, the last ones', () => {
	const first = of('https://a.example', 'first');
	for (let key = 0; key < 999; key++) of('https://a.example', `key ${key}`);
	expect(of('https://a.example', 'first')).toBe(first);
	of('https://a.example', 'one more');
	of('https://a.example', 'and one');
	expect(accounts.size).toBe(1_000);
	expect(of('https://a.example', 'first')).toBe(first);
});
