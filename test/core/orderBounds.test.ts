/** A person can write an order: everything in it has bounds, and what is within them is stored and read unchanged. */
import { setPath, type JsonObject } from '../../core/json';
import { parseTaskRecord } from '../../core/records/taskRecord';
import { parseOrder } from './support';

const MANY = 1_000_000;
const text = (length: number) => 'x'.repeat(length);
/** An order with everything that one can have. */
const whole = () => ({
	version: 1,
	...{ item: 3, thing: 'task', kind: 'image', state: 'planned', then: 'poll', model: 'm', scope: 'the model m' },
	request: {
		...{ body: { prompt: 'a cat' }, hash: 'h', submitAgain: false, wave: 2, keyHash: 'k' },
		files: { 'file 1': { id: 'f', fileName: 'a.png', mimeType: 'image/png' } },
		uploads: ['https://files.example/a.png'],
	},
	earlierTaskIds: ['task-0'],
	purchase: { attempt: 'a', hash: 'h', keyHash: 'k' },
	batch: {
		...{ name: 'a run', places: 5, requestsPerSecond: 60, stopsAtError: true, waves: 2, inDoubt: 2, isTakenOver: true },
		retry: { tries: 2, pauseMs: 5, tried: 1 },
		credits: { usedBefore: 7, shared: true },
	},
	wait: { plan: { kind: 'fixed', intervalMs: 1000 }, timeoutMs: 5, onTimeout: 'error', startedAtMs: 5 },
	about: { a: 1 },
	input: { b: 2 },
});
function changed(path: string, value: unknown): JsonObject {
	const order: JsonObject = whole();
	setPath(order, path, value);
	return order;
}

test('an order with everything is read as it was written', () => {
	expect(parseOrder(JSON.parse(JSON.stringify(whole())))).toEqual(whole());
});

test.each<[string, unknown, unknown]>([
	['scope', text(300), text(MANY)],
	['request.hash', text(64), text(65)],
	['request.keyHash', text(64), text(65)],
	['request.wave', 0, -1],
	['request.wave', 1_000_000, 1_000_001],
	['request.files', {}, { [text(MANY)]: whole().request.files['file 1'] }],
	['request.files.file 1.id', text(200), text(MANY)],
	['request.files.file 1.fileName', text(200), text(MANY)],
	['request.files.file 1.mimeType', 'image/png', text(MANY)],
	['request.uploads', Array(1_000).fill('u'), Array(1_001).fill('u')],
	['purchase.attempt', text(200), text(201)],
	['purchase.hash', text(64), text(65)],
	['purchase.keyHash', text(64), text(65)],
	['batch.waves', 0, -1],
	['batch.waves', 1_000_000, 1_000_001],
	['batch.inDoubt', 0, -1],
	['batch.lastSeenRow', 0, -1],
	['batch.outermost', text(100), text(101)],
	['batch.credits.models', text(200), text(201)],
	['batch.retry.pauseMs', 5_000, 5_001],
	['batch.retry.pauseMs', 0, -1],
	['batch.retry.tries', 5, 6],
	['batch.retry.tried', 0, -1],
])('%s is read up to its bound, and not beyond', (path, last, beyond) => {
	expect(parseOrder(changed(path, last))).toEqual(changed(path, last));
	expect(parseOrder(changed(path, beyond))).toBeUndefined();
});

test('a status of any length is kept as far as it is known', () => {
	const long = parseTaskRecord({ id: 'a', status: text(500) })?.status;
	const task = { taskId: 'a', elapsedMs: 0, status: long };
	expect(long).toHaveLength(201);
	expect(parseOrder({ ...whole(), task })?.task).toEqual(task);
	expect(parseOrder({ ...whole(), task: { ...task, status: text(202) } })?.task).toEqual({
		...task,
		status: undefined,
	});
});

test.each(['planned', 'submitting'])('an order that is %s has a request', (state) => {
	expect(parseOrder(changed('state', state))).toBeDefined();
	expect(parseOrder({ ...changed('state', state), request: undefined })).toBeUndefined();
});
