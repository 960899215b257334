/** What is created is created once for one item, however often the run is tried. */
import { GatewayError, gatewayError, type GatewayErrorKind } from '../../core/errors';
import { Intents, type IntentRecord } from '../../core/tasks/intents';
import { TaskLedger } from '../../core/tasks/ledger';
import type { JobControls } from '../../core/tasks/runTasks';
import type { Item } from '../../nodes/run/item';
import { purchase, type Purchase } from '../../nodes/run/purchase';
import type { Run } from '../../nodes/run/run';

const NOW_MS = 1_800_000_000_000;
beforeEach(() => void jest.spyOn(Date, 'now').mockReturnValue(NOW_MS));
afterEach(() => jest.restoreAllMocks());

interface Execution {
	store: Record<string, unknown>;
	/** What survives a crash. */
	names: Set<string>;
}

const fresh = (): Execution => ({ store: {}, names: new Set() });

/** One try to create a thing, and all that the user can see of it. */
function attempt(
	{ store, names }: Execution,
	order: Partial<Purchase<{ id: string }>> = {},
	{ executionId = '1', isRetry = false, mayBegin = true } = {},
) {
	const ledger = new TaskLedger({ store, executionId, runIndex: 0 });
	const seen: string[] = [];
	const record: IntentRecord = {
		record: async (wanted) => {
			seen.push('record');
			return wanted.filter((name) => names.size === names.add(name).size);
		},
		remove: async (gone) => gone.forEach((name) => names.delete(name)),
	};
	const log = {
		accepted: (thing: string, id: string, index: number, remark = '-') =>
			seen.push(`log: ${thing} ${id} (${remark}) of item ${index}`),
		continued: (id: string) => seen.push(`log: ${id} goes on`),
	};
	const intents = new Intents(
		{ execution: 'established 1', isLasting: true, executionId, runIndex: 0, isRetry },
		ledger,
		record,
	);
	const item = { index: 3, accepted: (id: string, status: string) => seen.push(`item: ${id} ${status}`) };
	const { signal } = new AbortController();
	const controls: Pick<JobControls, 'submitting' | 'uploading'> = {
		submitting: async (submit) => {
			if (!mayBegin) throw gatewayError('notSubmitted', { because: 'x' });
			seen.push('submitting');
			return await submit(signal);
		},
		uploading: async (upload) => await upload(),
	};
	const create = jest.fn(order.create ?? (async () => ({ id: 'task-1' })));
	const usual = { thing: 'task' as const, request: { prompt: 'a cat' }, submitAgain: false, status: 'queued' };
	const bought = purchase(
		{ ledger, log, intents } as unknown as Run,
		item as unknown as Item,
		controls as JobControls,
		{ ...usual, ...order, create },
	);
	return {
		seen,
		create,
		signal,
		outcome: bought
			.then(
				(value) => ({ value, error: undefined }),
				(error: GatewayError) => ({ value: undefined, error }),
			)
			.finally(async () => await intents.end()),
	};
}

const failing = (kind: GatewayErrorKind) => async () => await Promise.reject(new GatewayError(kind, 'x'));

test('what is created is written down, logged and the item’s before anything else happens', async () => {
	const execution = fresh();
	const { outcome, seen, create, signal } = attempt(execution, { remark: 'beta-v3' });
	expect((await outcome).value).toStrictEqual({
		id: 'task-1',
		acceptedAtMs: NOW_MS,
		uploads: [],
		answer: { id: 'task-1' },
	});
	expect(seen).toEqual(['submitting', 'record', 'item: task-1 queued', 'log: task task-1 (beta-v3) of item 3']);
	expect(create).toHaveBeenCalledWith(signal);
	expect(execution.store).toMatchObject({
		generationGatewayTasks: { '0.3': { taskId: 'task-1', executionId: '1', acceptedAtMs: NOW_MS } },
	});
});

test('a later try takes what exists, and creates nothing', async () => {
	const execution = fresh();
	await attempt(execution).outcome;
	const { outcome, seen, create } = attempt(execution, {}, { executionId: '2', isRetry: true });
	expect((await outcome).value).toStrictEqual({ id: 'task-1', acceptedAtMs: NOW_MS, uploads: [] });
	expect(seen).toEqual(['item: task-1 in_progress', 'log: task-1 goes on']);
	expect(create).not.toHaveBeenCalled();
});

test('a token or group is not a task that goes on', async () => {
	const execution = fresh();
	const group = { thing: 'group' as const, status: 'created' };
	expect((await attempt(execution, group).outcome).value?.id).toBe('task-1');
	const { outcome, seen, create } = attempt(execution, group);
	expect((await outcome).value?.id).toBe('task-1');
	expect(seen).toEqual(['item: task-1 created']);
	expect(create).not.toHaveBeenCalled();
});

test('what has no ID is created once all the same', async () => {
	const execution = fresh();
	const token = { thing: 'token' as const, create: async () => ({ id: '' }) };
	const first = attempt(execution, token);
	await first.outcome;
	expect(first.seen).toEqual(['submitting', 'record', 'log: token  (-) of item 3']);
	const second = attempt(execution, token);
	expect((await second.outcome).value?.id).toBe('');
	expect([second.seen, second.create.mock.calls]).toEqual([[], []]);
});

describe('in a retried execution, the request decides whether it is the same purchase', () => {
	const retried = (order: Partial<Purchase<{ id: string }>>, execution: Execution) =>
		attempt(execution, order, { executionId: '2' });
	test.each<[string, Partial<Purchase<{ id: string }>>, number]>([
		['the same', {}, 0],
		['another request', { request: { prompt: 'a dog' } }, 1],
		['another thing with the same request', { thing: 'asset' }, 1],
	])('%s', async (_, order, times) => {
		const execution = fresh();
		await attempt(execution).outcome;
		const { outcome, create } = retried(order, execution);
		expect((await outcome).error).toBeUndefined();
		expect(create).toHaveBeenCalledTimes(times);
	});

	test('what an earlier version of the package has bought is recognized', async () => {
		const entry = { taskId: 'task-0', hash: 'Zl4HR4DdecJekkEFFUj9tR', executionId: '1', acceptedAtMs: 5 };
		const { outcome, create } = retried({}, { ...fresh(), store: { generationGatewayTasks: { '0.3': entry } } });
		expect((await outcome).value).toEqual({ id: 'task-0', acceptedAtMs: 5, uploads: [] });
		expect(create).not.toHaveBeenCalled();
	});
});

describe('while it is unknown whether the service accepted it', () => {
	test.each<[string, () => Promise<never>, string]>([
		['no answer', failing('outcomeUnknown'), 'x'],
		[
			'an answer that makes us stumble',
			async () => await Promise.reject(new TypeError('y')),
			'It is not known whether the service accepted this task',
		],
	])('%s: nothing is created again, unless the user allows it', async (_, create, message) => {
		const execution = fresh();
		const first = (await attempt(execution, { create }).outcome).error;
		expect(first).toMatchObject({ kind: 'outcomeUnknown', message });
		expect(execution.store).toMatchObject({ generationGatewayTasks: { '0.3': { acceptedAtMs: NOW_MS } } });
		const second = attempt(execution);
		expect((await second.outcome).error).toMatchObject({
			kind: 'outcomeUnknown',
			details: { happened: { reason: 'outcomeStillUnknown', data: { thing: 'task' } } },
		});
		expect(second.create).not.toHaveBeenCalled();
		const third = attempt(execution, { submitAgain: true });
		expect((await third.outcome).value?.id).toBe('task-1');
		expect(third.create).toHaveBeenCalledTimes(1);
		// Now it is known, and Submit Again does not buy it once more.
		const fourth = attempt(execution, { submitAgain: true });
		expect((await fourth.outcome).value?.id).toBe('task-1');
		expect(fourth.create).not.toHaveBeenCalled();
	});

	test('a stumble of our own says what it was', async () => {
		const mistake = new TypeError('y');
		const { error } = await attempt(fresh(), { create: async () => await Promise.reject(mistake) }).outcome;
		expect(error?.details).toMatchObject({
			happened: { data: { what: 'The service answered, but the answer could not be read' } },
			cause: mistake,
		});
	});
});

test('what was surely refused is created by the next try', async () => {
	const execution = fresh();
	expect((await attempt(execution, { create: failing('rejected') }).outcome).error?.kind).toBe('rejected');
	expect(JSON.stringify(execution)).not.toContain('0.3');
	expect((await attempt(execution).outcome).value?.id).toBe('task-1');
});

test('what cannot be used any more is created again, what can is not', async () => {
	const execution = fresh();
	await attempt(execution).outcome;
	const isUsable = jest.fn().mockReturnValueOnce(true).mockReturnValue(false);
	const usable = attempt(execution, { isUsable });
	expect((await usable.outcome).value?.id).toBe('task-1');
	expect(usable.create).not.toHaveBeenCalled();
	expect(isUsable).toHaveBeenCalledWith(expect.objectContaining({ taskId: 'task-1', acceptedAtMs: NOW_MS }));
	const used = attempt(execution, { isUsable, create: async () => ({ id: 'task-2' }) });
	expect((await used.outcome).value?.id).toBe('task-2');
});

describe('uploads', () => {
	const uploads = ['https://files.example/a.png'];
	test('are kept for the next try, which does not upload again', async () => {
		const execution = fresh();
		const upload = jest.fn(async (uploading: JobControls['uploading']) => await uploading(async () => uploads));
		expect((await attempt(execution, { upload }).outcome).value?.uploads).toEqual(uploads);
		expect((await attempt(execution, { upload }).outcome).value?.uploads).toEqual(uploads);
		expect(upload).toHaveBeenCalledTimes(1);
	});

	test('one that fails leaves nothing behind, and creates nothing', async () => {
		const execution = fresh();
		const { outcome, seen, create } = attempt(execution, { upload: failing('unavailable') });
		expect((await outcome).error).toBeDefined();
		expect(create).not.toHaveBeenCalled();
		expect(JSON.stringify(execution)).not.toContain('0.3');
		expect(seen).toEqual([]);
	});

	test('a retry that may not submit uploads nothing', async () => {
		const execution = fresh();
		await attempt(execution).outcome; // and n8n dies before it has saved the store
		const upload = jest.fn(async () => uploads);
		const { outcome } = attempt({ ...execution, store: {} }, { upload }, { executionId: '2', isRetry: true });
		expect((await outcome).error?.kind).toBe('outcomeUnknown');
		expect(upload).not.toHaveBeenCalled();
		const allowed = attempt(
			{ ...execution, store: {} },
			{ upload, submitAgain: true },
			{ executionId: '2', isRetry: true },
		);
		expect((await allowed.outcome).value?.uploads).toEqual(uploads);
	});
});

test.each([false, true])('an item that is held back writes no name down (retry: %j)', async (isRetry) => {
	const execution = fresh();
	const { outcome, seen, create } = attempt(execution, {}, { mayBegin: false, isRetry });
	expect((await outcome).error?.kind).toBe('notSubmitted');
	expect(create).not.toHaveBeenCalled();
	expect(seen).toEqual([]);
});
