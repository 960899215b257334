/** The marks that a try without rows leaves before it submits: the rest of them is in the simulation and in nodes/crash.test.ts. */
import { Marks, type MarkedRun } from '../../core/journal/marks';
import { OrderLedger } from '../../core/orders/ledger';
import { asGatewayError, gatewayError, GatewayError } from '../../core/errors';
import { storeOfMarks } from './support';

interface Start extends Partial<MarkedRun> {
	/** What n8n keeps of the executions before. */
	store?: Record<string, never>;
}

function start(found: Set<string>, { executionId = '1', isRetry = false, input, store = {} }: Start = {}) {
	const ledger = new OrderLedger({ store, executionId, runIndex: 0 });
	const run = { ...(input === undefined ? { establishedAtMs: 1 } : { input }), executionId, runIndex: 0, isRetry };
	return new Marks(run, ledger, storeOfMarks(found));
}

const buy = async (marks: Marks, send: () => Promise<unknown> = async () => 'task-1', submitAgainFor?: string) => {
	const order = { thing: 'task' as const, request: { submitAgainFor } };
	try {
		await marks.begin(order);
		const answer = await send();
		marks.note(order, 'accepted');
		return answer;
	} catch (thrown) {
		const error = asGatewayError(thrown);
		marks.note(order, error.kind === 'outcomeUnknown' ? 'unknown' : 'not_accepted');
		throw error;
	}
};
const slot = (number: number) => `generation-gateway established 1, run 0, try 0, slot ${number}`;

test('executions of one name take a slot each', async () => {
	const names = new Set([slot(0), slot(1)]);
	expect(await buy(start(names))).toBe('task-1');
	const own = 'generation-gateway execution 1, run 0, try 0';
	expect([...names].sort()).toEqual([own, slot(0), slot(1), slot(2)].sort());
});

test.each([0, 15])('a retry that meets the mark of an earlier try in the slot %i submits nothing', async (number) => {
	const names = new Set([slot(number)]);
	const one = start(names, { isRetry: true, executionId: '2' });
	const send = jest.fn();
	const error = await buy(one, send).catch((thrown: GatewayError) => thrown);
	expect(error).toMatchObject({ details: { reason: { name: 'outcomeStillUnknown' } } });
	expect(send).not.toHaveBeenCalled();
	// The next try must meet it, too.
	await one.end();
	expect(names).toContain(slot(number));
});

test('a run that is known by its input frees its slot when its end is known, and no slot of another one', async () => {
	const names = new Set<string>();
	const [one, other] = ['1', '2'].map((executionId) => start(names, { executionId, input: 'a' })) as [Marks, Marks];
	await buy(one);
	await buy(other);
	await one.end();
	const retry = () => start(names, { executionId: '3', input: 'a', isRetry: true });
	await expect(buy(retry())).rejects.toThrow('in an earlier try');
	await other.end();
	expect(await buy(retry())).toBe('task-1');
});

describe('a person names what a dead try has left', () => {
	let names: Set<string>;
	let retries: number;
	beforeEach(() => ([names, retries] = [new Set([slot(0)]), 1]));

	/** A retry of the execution that has died. Returns what it has bought, or the run that its error names. */
	const retry = async (submitAgainFor: string, send = async () => await Promise.resolve('task-1')) => {
		const marks = start(names, { isRetry: true, executionId: String(++retries) });
		const outcome = await buy(marks, send, submitAgainFor).catch((thrown: GatewayError) => thrown);
		await marks.end();
		const { reason } = outcome instanceof GatewayError ? outcome.details : {};
		return reason?.name === 'outcomeStillUnknown' ? reason.data.run : outcome;
	};

	test('one purchase is made in its place, and no more, however long the name stays in the form', async () => {
		expect(await retry('')).toBe('1.0');
		expect(await retry('2.0')).toBe('1.0');
		expect(await retry('1.0')).toBe('task-1');
		expect(await retry('1.0')).toBe('1.0.2');
		expect(await retry('1.0.2')).toBe('task-1');
		expect(await retry('1.0.2')).toBe('1.0.3');
		expect(await retry('1.0')).toBe('1.0.3');
	});

	test('a request that was surely not accepted uses up nothing', async () => {
		const refused = gatewayError('rateLimited', {});
		expect(await retry('1.0', async () => await Promise.reject(refused))).toBe(refused);
		expect(await retry('1.0')).toBe('task-1');
	});

	test('of two retries at once, one submits', async () => {
		expect((await Promise.all([retry('1.0'), retry('1.0')])).sort()).toEqual(['1.0.2', 'task-1']);
	});

	test('other items of the run, whose expression gives nothing, are not submitted', async () => {
		const marks = start(names, { isRetry: true, executionId: '2' });
		expect(await buy(marks, undefined, '1.0')).toBe('task-1');
		await expect(buy(marks)).rejects.toThrow('in an earlier try');
	});

	test('what is not named stays in doubt, also in a retry of the one that has submitted in its place', async () => {
		const store = {};
		const marks = start(names, { isRetry: true, executionId: '2', store });
		expect(await buy(marks, undefined, '1.0')).toBe('task-1');
		await marks.end();
		await expect(buy(start(names, { isRetry: true, executionId: '3', store }))).rejects.toThrow('in an earlier try');
	});

	test('nothing is submitted where that cannot be written down, nor where the marks cannot be read', async () => {
		const store = storeOfMarks(names);
		const fails = { isRecording: true };
		const record = async (wanted: string[]) => {
			if (fails.isRecording) throw new Error('no database');
			return await store.record(wanted);
		};
		const scope = { establishedAtMs: 1, executionId: '2', runIndex: 0, isRetry: true };
		const begin = () =>
			new Marks(scope, new OrderLedger({ store: {}, executionId: '2', runIndex: 0 }), { ...store, record });
		await expect(buy(begin(), undefined, '1.0')).rejects.toMatchObject({ kind: 'notSubmitted' });
		fails.isRecording = false;
		const marks = begin();
		await marks.isOverruled({ thing: 'task', request: { submitAgainFor: '1.0' } });
		fails.isRecording = true;
		await expect(buy(marks, undefined, '1.0')).rejects.toMatchObject({ kind: 'notSubmitted' });
		await marks.end();
	});
});
