/** The names that a try writes before it submits: the rest of them is in the simulation and in nodes/crash.test.ts. */
import { WriteAheadLog, type WriteAheadScope } from '../../core/orders/writeAheadLog';
import { OrderLedger } from '../../core/orders/ledger';
import type { GatewayError } from '../../core/errors';
import { storeOfNames } from './support';

function start(names: Set<string>, { executionId = '1', isRetry = false }: Partial<WriteAheadScope> = {}) {
	const scope = { execution: 'established 1', isLasting: true, executionId, runIndex: 0, isRetry };
	const ledger = new OrderLedger({ store: {}, executionId, runIndex: 0 });
	return new WriteAheadLog(scope, ledger, storeOfNames(names));
}

const buy = async (writeAhead: WriteAheadLog, send: () => Promise<unknown> = async () => 'task-1') =>
	await writeAhead.guard({ thing: 'task', request: { submitAgain: false } }, send);
const slot = (number: number) => `generation-gateway established 1, run 0, try 0, slot ${number}`;

test('executions of one name take a slot each', async () => {
	const names = new Set([slot(0), slot(1)]);
	expect(await buy(start(names))).toBe('task-1');
	const own = 'generation-gateway execution 1, run 0, try 0';
	expect([...names].sort()).toEqual([own, slot(0), slot(1), slot(2)].sort());
});

test.each([0, 15])('a retry that meets the name of an earlier try in the slot %i submits nothing', async (number) => {
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

test('orders that go on elsewhere keep the name, although nothing was submitted here: a second retry submits nothing', async () => {
	const names = new Set<string>();
	const first = start(names, { isRetry: true, executionId: '2' });
	await first.defer({ thing: 'task' });
	await first.end();
	const second = start(names, { isRetry: true, executionId: '3' });
	await expect(second.declare({ thing: 'task' })).rejects.toThrow('in an earlier try');
});
