/** The options that say how to wait for an item, and what may wait in another execution. */
import type { JsonObject } from '../../core/json';
import { FieldReader, type NumberField } from '../../nodes/form/fieldReader';
import type { Item } from '../../nodes/run/item';
import type { Run } from '../../nodes/run/run';
import { assertCanBeDeferred, durable, readWaitOptions } from '../../nodes/run/waitOptions';

const timeout: NumberField = { displayName: 'Timeout', name: 'timeoutMinutes', type: 'number', default: 30 };

test.each<[string, JsonObject, object]>([
	['nothing', {}, { plan: { kind: 'automatic' }, timeoutMs: 1_800_000, onTimeout: 'error' }],
	[
		'all options',
		{ pollIntervalSeconds: 7, timeoutMinutes: 2, onTimeout: 'return' },
		{ plan: { kind: 'fixed', intervalMs: 7_000 }, timeoutMs: 120_000, onTimeout: 'return' },
	],
	['an empty interval', { pollIntervalSeconds: '' }, { plan: { kind: 'fixed', intervalMs: 5_000 } }],
])('%s is read as the wait of an item', (_, options, wait) => {
	expect(readWaitOptions(new FieldReader((name) => options[name]), timeout)).toMatchObject(wait);
});

test('a wait in the database lasts a day, unless its option says otherwise', () => {
	expect(durable(timeout)).toEqual({ ...timeout, default: 1440 });
});

describe('an item that is waited for in another execution', () => {
	const refusal = (run: object, items = 1, body: JsonObject = {}): unknown => {
		const item = { context: { getInputData: () => Array(items).fill({}) } };
		try {
			assertCanBeDeferred(item as unknown as Item, { limits: { concurrency: 2 }, ...run } as Run, body);
			return undefined;
		} catch (thrown) {
			return (thrown as { details: { reason: unknown } }).details.reason;
		}
	};

	test('no more items start a workflow each than tasks may be under way', () => {
		const eachItem = { background: { eachItem: true } };
		expect(refusal(eachItem, 2)).toBeUndefined();
		expect(refusal(eachItem, 3)).toEqual({ name: 'tooManyItems', data: { count: 3, max: 2 } });
		expect(refusal({ background: { eachItem: false } }, 3)).toBeUndefined();
		expect(refusal({}, 3)).toBeUndefined();
	});

	test.each<[object, string]>([
		[{}, 'Survive Restarts'],
		[{ background: {} }, 'Start a Workflow'],
	])('a request has no more URLs than can be stored: %j', (run, choice) => {
		const body = (count: number) => ({
			images: Array.from({ length: count }, (_, index) => `https://a.example/${index}`),
		});
		expect(refusal(run, 1, body(1_000))).toBeUndefined();
		expect(refusal(run, 1, body(1_001))).toEqual({
			name: 'tooManyUrls',
			data: { count: 1_001, max: 1_000, choice },
		});
	});
});
