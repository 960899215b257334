/** The names that a try writes before it submits, when it removes them, and the decision of a later try. */
import type { GatewayError } from '../../core/errors';
import {
	INTERRUPTED,
	WriteAheadLog,
	type WriteAheadStore,
	type WriteAheadScope,
} from '../../core/orders/writeAheadLog';
import { OrderLedger } from '../../core/orders/ledger';
import { storeOfNames } from './support';

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

const accepted = async () => 'task-1';
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
	test('executions of one name take a slot each', async () => {
		const names = new Names(slot(0), slot(1));
		expect((await buy(start(names))).answer).toBe('task-1');
		expect(names.asked).toEqual([[own(), slot(0)], [slot(1)], [slot(2)]]);
		expect(names.all).toEqual([own(), slot(0), slot(1), slot(2)].sort());
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

	test('a retry that cannot read the names submits nothing, and says so', async () => {
		const names = Object.assign(new Names(), { isBroken: true });
		const { error } = await buy(start(names, retry));
		expect(error?.details.reason).toMatchObject({
			data: { what: 'n8n could not read its record of what an earlier try of this execution submitted.' },
		});
	});
});

test('orders that go on elsewhere keep the name, although nothing was submitted here: a second retry submits nothing', async () => {
	const store = storeOfNames(new Set());
	const retry = (executionId: string) => {
		const scope = { execution: 'crashed', isLasting: true, executionId, runIndex: 0, isRetry: true };
		return new WriteAheadLog(scope, new OrderLedger({ store: {}, executionId, runIndex: 0 }), store);
	};
	const first = retry('2');
	await first.defer({ thing: 'task' });
	await first.end();
	await expect(retry('3').declare({ thing: 'task' })).rejects.toThrow('in an earlier try');
});
