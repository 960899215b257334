/** The names that a try writes before it submits, when it removes them, and the decision of a later try. */
import { gatewayError, GatewayError } from '../../core/errors';
import {
	INTERRUPTED,
	notRecorded,
	UNREADABLE,
	WriteAheadLog,
	type WriteAheadStore,
	type WriteAheadScope,
} from '../../core/orders/writeAheadLog';
import { OrderLedger } from '../../core/orders/ledger';
import { deferred, storeOfNames } from './support';

/** The names that survive a crash. */
class Names {
	readonly set = new Set<string>();

	readonly asked: string[][] = [];

	isBroken = false;

	constructor(...names: string[]) {
		names.forEach((name) => this.set.add(name));
	}

	readonly record: WriteAheadStore = {
		record: async (names) => {
			this.asked.push(names);
			if (this.isBroken) throw new Error('database is locked');
			return await storeOfNames(this.set).record(names);
		},
		remove: async (names) => {
			if (this.isBroken) throw new Error('database is locked');
			await storeOfNames(this.set).remove(names);
		},
	};

	get all(): string[] {
		return [...this.set].sort();
	}
}

function start(
	names: Pick<Names, 'record'> | undefined,
	scope: Partial<WriteAheadScope> = {},
	store: Record<string, unknown> = {},
) {
	const full = { execution: 'established 1', isLasting: true, executionId: '1', runIndex: 0, isRetry: false, ...scope };
	const ledger = new OrderLedger({ store, executionId: full.executionId, runIndex: full.runIndex });
	return { ledger, writeAhead: new WriteAheadLog(full, ledger, names?.record) };
}

const own = (executionId = '1', ofTry = 'run 0, try 0') => `generation-gateway execution ${executionId}, ${ofTry}`;
const slot = (number: number, ofTry = 'run 0, try 0') => `generation-gateway established 1, ${ofTry}, slot ${number}`;
const slots = Array.from({ length: 16 }, (_, number) => slot(number));

const accepted = async () => 'task-1';
const refused = async () => await Promise.reject(gatewayError('requestRejected', {}));
const lost = async () => await Promise.reject(gatewayError('outcomeUnknown', { thing: 'task', what: 'it got lost' }));
const buy = async (
	{ writeAhead }: ReturnType<typeof start>,
	send: () => Promise<unknown> = accepted,
	submitAgain = false,
) =>
	await writeAhead.guard({ thing: 'task', request: { submitAgain } }, send).then(
		(answer) => ({ answer, error: undefined }),
		(error: GatewayError) => ({ answer: undefined, error }),
	);
const retry = { isRetry: true, executionId: '2' };

describe('before the first request', () => {
	test('a try writes its execution and a slot, once for all items', async () => {
		const names = new Names();
		const one = start(names);
		const send = jest.fn(async () => names.all);
		await Promise.all([buy(one, send), buy(one, send), one.writeAhead.declare({ thing: 'task' })]);
		expect(names.asked).toEqual([[own(), slot(0)]]);
		expect(await send.mock.results[0].value).toEqual([slot(0), own()].sort());
	});

	test('the names before the first request are those of the run and the try', async () => {
		const names = new Names();
		await buy(start(names, { runIndex: 4 }, { generationGatewayTasks: { '4.tries': 2 } }));
		expect(names.all).toEqual([slot(0, 'run 4, try 2'), own('1', 'run 4, try 2')].sort());
	});

	test('executions of one name take a slot each', async () => {
		const names = new Names(slot(0), slot(1));
		expect((await buy(start(names))).answer).toBe('task-1');
		expect(names.asked).toEqual([[own(), slot(0)], [slot(1)], [slot(2)]]);
		expect(names.all).toEqual([own(), slot(0), slot(1), slot(2)].sort());
	});

	test('one execution more than there are slots submits all the same', async () => {
		const names = new Names(...slots);
		expect((await buy(start(names))).answer).toBe('task-1');
		expect(names.asked).toHaveLength(16);
	});

	test.each<[string, Names | undefined, Partial<WriteAheadScope>]>([
		['cannot be written', Object.assign(new Names(), { isBroken: true }), {}],
		['does not exist', undefined, {}],
		['does not exist for a retry', undefined, retry],
	])('a record that %s holds up no execution', async (_, names, scope) => {
		const one = start(names, scope);
		expect((await buy(one)).answer).toBe('task-1');
		await one.writeAhead.end();
		expect(one.ledger.knownTries).toBe(0);
	});
});

describe('a later try that meets the names of an earlier one', () => {
	test.each<[string, Partial<WriteAheadScope>, string[]]>([
		['under the same ID', {}, [own()]],
		['under the same ID, with the slot', {}, [own(), slot(0)]],
		['as a retry, whichever slot it was', retry, [slot(0)]],
		['as a retry, in the last slot', retry, [slot(15)]],
		['as a retry under the same ID', { isRetry: true }, [own()]],
	])('a later try that meets the names of an earlier one submits nothing: %s', async (_, scope, left) => {
		const names = new Names(...left);
		const one = start(names, scope);
		const send = jest.fn();
		const { error } = await buy(one, send);
		expect(error?.details.reason).toMatchObject({
			name: 'outcomeStillUnknown',
			data: {
				thing: 'task',
				what: INTERRUPTED,
			},
		});
		expect(send).not.toHaveBeenCalled();
		// The next try must meet them, too.
		await one.writeAhead.end();
		expect(names.all).toEqual(expect.arrayContaining(left));
		expect(one.ledger.knownTries).toBe(0);
	});

	test('a retry frees the other slots, so that other executions find room', async () => {
		const names = new Names(slot(3));
		await buy(start(names, retry));
		expect(names.all).toEqual([own('2'), slot(3)].sort());
	});

	test('a later try submits where the user allows it, and the names stay', async () => {
		const names = new Names(slot(0));
		const one = start(names, retry);
		expect((await buy(one, accepted, true)).answer).toBe('task-1');
		await one.writeAhead.end();
		expect(names.set.has(slot(0))).toBe(true);
		expect(one.ledger.knownTries).toBe(0);
	});

	test('a later try submits where the ledger knows what came of the earlier one', async () => {
		const names = new Names(own(), slot(0));
		for (const scope of [{}, { isRetry: true }]) {
			const one = start(
				names,
				{ ...scope, executionId: scope.isRetry ? '2' : '1' },
				{ generationGatewayTasks: { '0.tries': 1 } },
			);
			expect((await buy(one, refused)).error?.kind).toBe('rejected');
			await one.writeAhead.end();
			expect(names.all).toEqual([own(), slot(0)].sort());
		}
	});

	test('a retry that meets nothing writes one slot like any other', async () => {
		const names = new Names();
		expect((await buy(start(names, retry))).answer).toBe('task-1');
		expect(names.all).toEqual([own('2'), slot(0)].sort());
	});

	test('a retry that cannot read the names submits nothing, and says so', async () => {
		const names = Object.assign(new Names(), { isBroken: true });
		const { error } = await buy(start(names, retry));
		expect(error?.details.reason).toMatchObject({
			data: { what: 'n8n could not read its record of what an earlier try of this execution submitted.' },
		});
	});

	test('a retry that cannot free the other slots submits all the same', async () => {
		const names = new Names();
		const one = start(
			{ record: { ...names.record, remove: async () => await Promise.reject(new Error('database is locked')) } },
			retry,
		);
		expect((await buy(one)).answer).toBe('task-1');
		expect(names.all).toEqual([own('2'), ...slots].sort());
	});
});

describe('at the end', () => {
	test.each([
		['accepted', accepted],
		['lost', lost],
	])('at the end, what was %s is remembered: the names stay, and the next try has others', async (_, send) => {
		const names = new Names();
		const one = start(names);
		await buy(one, send);
		await buy(one, refused);
		await one.writeAhead.end();
		expect(names.all).toEqual([own(), slot(0)].sort());
		expect(one.ledger.knownTries).toBe(1);
	});

	test('at the end, where all was refused the names are gone, but not those of others', async () => {
		const names = new Names(slot(0), own('7'));
		const one = start(names);
		expect((await buy(one, refused)).error?.kind).toBe('rejected');
		await one.writeAhead.end();
		expect(names.all).toEqual([own('7'), slot(0)].sort());
		expect(one.ledger.knownTries).toBe(0);
	});

	test('at the end, a retry takes all its names back, too', async () => {
		const names = new Names();
		const one = start(names, retry);
		await buy(one, refused);
		await one.writeAhead.end();
		expect(names.all).toEqual([]);
	});

	test('names that cannot be taken back at the end are counted as a try that is known', async () => {
		const names = new Names();
		const one = start(names);
		await buy(one, refused);
		names.isBroken = true;
		await one.writeAhead.end();
		expect(one.ledger.knownTries).toBe(1);
	});

	test('an execution without a lasting name frees that for the next one, but not its own ID', async () => {
		const names = new Names();
		const one = start(names, { isLasting: false });
		await buy(one);
		await one.writeAhead.end();
		expect(names.all).toEqual([own()]);
		expect(one.ledger.knownTries).toBe(1);
	});

	test('a request that is still under way keeps the try open', async () => {
		const answer = deferred<string>();
		const names = new Names();
		const one = start(names);
		const buying = buy(one, async () => await answer.promise);
		await buy(one, refused);
		await one.writeAhead.end();
		expect(names.all).toEqual([own(), slot(0)].sort());
		expect(one.ledger.knownTries).toBe(0);
		answer.resolve('task-1');
		expect((await buying).answer).toBe('task-1');
	});

	test('a name that is still being written keeps the try open: its request may follow', async () => {
		const names = new Names(slot(0));
		const written = deferred<void>();
		const slowly: WriteAheadStore = {
			...names.record,
			record: async (wanted) => {
				if (!wanted.includes(slot(0))) await written.promise;
				return await names.record.record(wanted);
			},
		};
		const one = start({ record: slowly });
		const answer = deferred<string>();
		const buying = buy(one, async () => await answer.promise);
		const ending = one.writeAhead.end();
		written.resolve();
		await ending;
		expect(names.all).toEqual([own(), slot(0), slot(1)].sort());
		expect(one.ledger.knownTries).toBe(0);
		answer.resolve('task-1');
		expect((await buying).answer).toBe('task-1');
	});

	test('a name that is still being written for an upload is taken back: no request follows', async () => {
		const names = new Names();
		const written = deferred<void>();
		const slowly: WriteAheadStore = {
			...names.record,
			record: async (wanted) => {
				await written.promise;
				return await names.record.record(wanted);
			},
		};
		const one = start({ record: slowly }, retry);
		const declaring = one.writeAhead.declare({ thing: 'task' });
		const ending = one.writeAhead.end();
		written.resolve();
		await Promise.all([declaring, ending]);
		expect(names.all).toEqual([]);
	});

	test('a stop does not wait for the record', async () => {
		const one = start({ record: { record: async () => await new Promise(() => {}), remove: async () => {} } });
		void buy(one);
		const stop = new AbortController();
		const ending = one.writeAhead.end(stop.signal);
		stop.abort();
		await ending;
		expect(one.ledger.knownTries).toBe(0);
	});

	test('at the end, nothing happens where nothing was to be created', async () => {
		const names = new Names();
		const one = start(names);
		await one.writeAhead.end();
		expect([names.all, names.asked, one.ledger.knownTries]).toEqual([[], [], 0]);
	});

	test('a mistake of our own leaves the write-ahead log as one', async () => {
		const { error } = await buy(start(new Names()), async () => await Promise.reject(new TypeError('x')));
		expect(error?.kind).toBe('ownMistake');
	});
});

test('where n8n cannot record the names, a first try submits all the same, and a retry does not', async () => {
	const names = new Names();
	names.isBroken = true;
	const writeAhead = (isRetry: boolean) => start(names, { isRetry }).writeAhead;
	await expect(writeAhead(false).declare({ thing: 'task' })).resolves.toBeUndefined();
	await expect(writeAhead(true).declare({ thing: 'task' })).rejects.toMatchObject({
		details: { reason: { name: 'outcomeStillUnknown', data: { what: UNREADABLE } } },
	});
});

test('after a crash the error says where the IDs are that the earlier try received', async () => {
	const { writeAhead } = start(new Names(own()), { isRetry: true });
	const error = await writeAhead.declare({ thing: 'task' }).catch((thrown: GatewayError) => thrown);
	expect(error?.details.reason?.data).toEqual({ thing: 'task', what: INTERRUPTED });
	expect(INTERRUPTED).toMatch(/IDs .* n8n's log .* data table/);
});

const ofStore = (cause?: unknown) => new GatewayError('ownMistake', 'n8n said no', { cause });

test.each([
	['a mistake of the database', new Error('no disk'), 'no disk'],
	['anything else', 'locked', 'locked'],
	['an error with a cause', ofStore(new Error('no disk')), 'no disk'],
	['an error without a cause', ofStore(), 'n8n said no'],
])('what could not be recorded is said with the words of %s', (_, thrown, words) => {
	expect(notRecorded(thrown).details.reason).toEqual({ name: 'submissionNotRecorded', data: { words } });
});
