/** A run that was handed to other executions: what a poller sends, and what it makes of the rows of those before it. */
import { GatewayError } from '../../core/errors';
import { claimForPoller, GAPS, type HandedOverRun } from '../../core/journal/fence';
import { leaseOfPoller } from '../../core/journal/row';
import type { PollerClaim } from '../../core/orders/handOver';
import type { Order } from '../../core/orders/order';
import { endBadly } from '../../core/orders/states';
import { endOf, makeWorld, planned, RUN, type Start, type WorldOptions } from './journalWorld';

type World = ReturnType<typeof makeWorld>;
type Run = ReturnType<World['start']>;

const orders = (...items: number[]) => items.map((item) => planned(item));
const taskFailed = (permanent?: boolean) => new GatewayError('taskFailed', 'It has failed', { permanent });

/** A node that has bought item 0, and has handed over the run; each poller has the lease that its supervisor has written for it. */
async function handedOver(options: WorldOptions = {}) {
	const world = makeWorld(options);
	const node = world.start();
	await world.run(node.run(orders(0)));
	const { first, nextNumber, isMarked } = node.journal.toHandOver;
	let run: HandedOverRun = { first, nextNumber, isMarked };
	/** Another try of the run hands it over. */
	const handOverBy = (other: Run) => (run = other.journal.toHandOver);
	let rounds = 0;
	const poller = async (executionId: string, more: Partial<PollerClaim> & Pick<Start, 'memory' | 'troubles'> = {}) => {
		const { memory, troubles, ...claim } = more;
		const lease = leaseOfPoller('S', rounds++, world.clock.now());
		const write = async () =>
			await world.run(
				claimForPoller({
					columns: { workflow: 'Test', node: 'Generate', account: 'a', execution: 'S', first },
					...{
						identity: RUN,
						clock: world.clock,
						lease,
						sends: true,
						table: world.start({ executionId: 'S' }).ports.table,
					},
				}),
			);
		const made = claim.error === undefined ? await write() : { lease };
		return world.start({
			executionId,
			memory,
			troubles,
			handedOver: { ...run, claim: { ...made, ...claim } },
		});
	};
	return { world, node, poller, handOverBy };
}

/** The task of an order fails, and the run notes it. */
async function fail(world: World, run: Run, order: Order, permanent?: boolean) {
	endBadly(order, taskFailed(permanent));
	await world.run(run.journal.end([order]));
}

const submitted = ({ visible }: World, execution: string) =>
	visible
		.filter((row) => row.execution === execution && row.state === 'submitting')
		.map(({ number, item }) => [number, item]);

describe('a poller', () => {
	test('the first poller goes on with the numbers of the node, and leaves its own mark', async () => {
		const { world, poller } = await handedOver();
		const run = await poller('P1');
		expect(await world.run(run.run(orders(1, 2)))).toEqual(['task 2', 'task 3']);
		expect([submitted(world, 'P1'), run.told]).toEqual([
			[
				[1, 1],
				[2, 2],
			],
			[],
		]);
		// The lease is its supervisor's.
		expect(world.rowsOf('P1').join()).not.toContain('lease');
		expect(world.steps.slice(-4)).toEqual(['P1 looks', 'P1 marks', 'P1 sends 1', 'P1 sends 2']);
	});

	test('the next one goes on with what the dead one has bought, and submits the rest', async () => {
		const { world, poller } = await handedOver();
		const dead = await poller('P1');
		await world.run(dead.run(orders(1)));
		dead.kill();
		expect(await world.run((await poller('P2')).run(orders(1, 2)))).toEqual(['task 2', 'task 3']);
		expect(submitted(world, 'P2')).toEqual([[2, 2]]);
	});

	test('one that n8n takes for dead sends nothing more, nor does the node', async () => {
		const { world, node, poller } = await handedOver();
		const alive = await poller('P1');
		await world.run(alive.run(orders(1)));
		await poller('P2');
		expect(await world.run(alive.run(orders(2)))).toEqual(['submittedByOtherRetry']);
		expect(await world.run(node.run(orders(2)))).toEqual(['submittedByOtherRetry']);
		expect(world.bought).toEqual([0, 1]);
	});

	test('after a sleep it goes on with its lease and its numbers', async () => {
		const { world, poller } = await handedOver();
		const awake = await poller('P1');
		const first = orders(1);
		await world.run(awake.run(first));
		await world.run(awake.journal.sleep(first));
		const woken = world.start({ executionId: 'P1', memory: awake.memory, handedOver: awake.ports.handedOver });
		expect(await world.run(woken.run(orders(2)))).toEqual(['task 3']);
		expect(submitted(world, 'P1')).toEqual([
			[1, 1],
			[2, 2],
		]);
	});

	test('nothing is sent once no execution waits for it, also where its row is there already', async () => {
		const { world, poller } = await handedOver();
		const run = await poller('P1');
		run.ports.isWanted = async () => await Promise.resolve(false);
		expect(await world.run(run.run(orders(1)))).toEqual(['executionStopped']);
		await world.run(world.clock.sleep(1_000));
		expect([world.bought, world.rowsOf('P1').at(-1)]).toEqual([[0], 'not_accepted of 1 execution_stopped']);
	});

	test('a request of the dead one that may get an outcome yet is told, or submitted again, when that is over', async () => {
		const { world, poller } = await handedOver();
		const dead = await poller('P1');
		void dead.buy(planned(1), { how: async () => await new Promise<never>(() => {}) });
		await world.run(world.clock.sleep(1_000));
		dead.kill();
		const next = await poller('P2');
		const left = orders(1, 2);
		await world.run(next.journal.takeOver(left));
		expect(left.map((order) => next.journal.isUnsettled(order))).toEqual([true, false]);
		expect(await world.run(next.run(left))).toEqual(['outcomeStillUnknown', 'task 2']);
		expect(world.bought).toEqual([0, 2]);
	});
});

describe('the rows of a dead poller', () => {
	/** It has bought item 1, and its task has failed; Retry On Fail has submitted it again where it says so. */
	const failed = async (again?: 'accepted' | 'refused') => {
		let isAgain = false;
		const made = await handedOver({ answers: () => (isAgain && again === 'refused' ? 'refused' : 'accepted') });
		const { world, poller } = made;
		const dead = await poller('P1');
		const [order] = orders(1) as [Order];
		await world.run(dead.buy(order));
		await fail(world, dead, order);
		dead.ledger.forget(1);
		isAgain = true;
		if (again !== undefined) await world.run(endOf(dead.buy(planned(1))));
		await world.run(world.clock.sleep(1_000));
		isAgain = false;
		dead.kill();
		return made;
	};

	test.each<[string, 'accepted' | 'refused' | undefined, string, number]>([
		['ends its order with this failure, and nothing is bought for it', undefined, 'task 2', 1],
		['is that of an order which has another one by now', 'accepted', 'task 3', 2],
		['was to be replaced by a request that was refused, which is sent again', 'refused', 'task 3', 1],
	])('in a take-over, a task that has failed %s', async (_, again, task, tries) => {
		const { world, poller } = await failed(again);
		const next = await poller('P2');
		const before = world.bought.length;
		expect(await world.run(next.run(orders(1)))).toEqual([task]);
		expect(world.bought.length - before).toBe(again === 'refused' ? 1 : 0);
		// One that was replaced is no failure of the run.
		expect([next.journal.failedTask, next.journal.tries]).toEqual([again === undefined ? 'task 2' : undefined, tries]);
	});

	test('a task ends its order, too, whose failure is seen only when the order is settled', async () => {
		const { world, poller } = await handedOver();
		const alive = await poller('P1');
		const [order] = orders(1) as [Order];
		const bought = alive.buy(order, {
			how: async () => {
				world.bought.push(1);
				await world.clock.sleep(5_000);
				return 'task 2';
			},
		});
		void bought.then(async () => await fail(world, alive, order));
		await world.run(world.clock.sleep(1_000));
		const next = await poller('P2');
		const left = orders(1);
		expect(await world.run(next.run(left))).toEqual(['task 2']);
		expect(world.bought).toEqual([0, 1]);
	});

	test('only a person’s retry buys again what has failed', async () => {
		const { world } = await failed();
		expect(await world.run(world.start({ executionId: '8', isRetry: true }).run(orders(1)))).toEqual(['task 3']);
	});

	test.each<[string, object]>([
		['a person’s retry', { executionId: '8', isRetry: true }],
		['the next try of Retry On Fail', {}],
	])('a poller buys again what had failed before the run was handed over by %s', async (_, start) => {
		const { world, node, poller, handOverBy } = await handedOver();
		const [order] = orders(1) as [Order];
		await world.run(node.buy(order));
		await fail(world, node, order);
		node.ledger.forget(1);
		const other = world.start({ memory: node.memory, ...start });
		await world.run(other.journal.takeOver(orders(1, 2)));
		handOverBy(other);
		const next = await poller('P1');
		expect(await world.run(next.run(orders(1, 2)))).toEqual(['task 3', 'task 4']);
		expect([next.journal.failedTask, next.journal.tries]).toEqual([undefined, 1]);
	});

	test('rows of another execution that began in the same millisecond say nothing of this run', async () => {
		const { world, poller } = await handedOver();
		await world.run(world.start({ executionId: '6' }).run(orders(1)));
		const next = await poller('P2');
		expect(await world.run(next.run(orders(1)))).toEqual(['task 3']);
		expect(next.journal.isInDoubt).toBe(false);
	});

	const gone = (world: World) => {
		world.visible.splice(
			world.visible.findIndex(({ state, item }) => state === 'submitting' && item === 1),
			1,
		);
	};
	test.each<[string, (world: World) => void, Partial<PollerClaim>, string[]]>([
		['a row of it was removed', gone, {}, ['task 2', 'outcomeStillUnknown']],
		[
			'the lease of the last poller is not there',
			() => {},
			{ gap: GAPS.rowsRemoved },
			['task 2', 'outcomeStillUnknown'],
		],
		['the own lease could not be written', () => {}, { error: 'full' }, ['task 2', 'submissionNotRecorded']],
	])('an order with an ID goes on, and nothing else is sent, where %s', async (_, happens, claim, ends) => {
		const { world, poller } = await handedOver();
		const dead = await poller('P1');
		await world.run(dead.run(orders(1)));
		dead.kill();
		happens(world);
		const next = await poller('P2', claim);
		expect(await world.run(next.run(orders(1, 2)))).toEqual(ends);
		expect([world.bought, next.journal.isInDoubt]).toEqual([[0, 1], true]);
	});

	test('where the rows cannot be read, nothing without an ID is sent', async () => {
		const { world, poller } = await handedOver();
		const next = await poller('P2', { troubles: { broken: 'no database' } });
		expect(await world.run(next.run(orders(1)))).toEqual(['outcomeStillUnknown']);
		expect(world.bought).toEqual([0]);
	});
});

describe('an execution that takes its run back, because n8n did not run the other one', () => {
	test('it goes on in memory with all that was bought, and its lease stops the poller', async () => {
		const { world, node, poller } = await handedOver();
		const alive = await poller('P1');
		await world.run(alive.run(orders(1)));
		node.takeBack();
		expect(await world.run(node.run(orders(1, 2)))).toEqual(['task 2', 'task 3']);
		expect(await world.run(alive.run(orders(3)))).toEqual(['submittedByOtherRetry']);
		expect(world.bought).toEqual([0, 1, 2]);
	});

	test('a poller that n8n starts later, after all, reads what it has bought, and what of that has failed', async () => {
		const { world, node, poller } = await handedOver();
		node.takeBack();
		const bought = orders(1, 2);
		await world.run(node.run(bought));
		await fail(world, node, bought[0] as Order);
		expect(await world.run((await poller('P1')).run(orders(1, 2)))).toEqual(['task 2', 'task 3']);
		expect(world.bought).toEqual([0, 1, 2]);
	});

	test('its next try of Retry On Fail goes on, too', async () => {
		let isRefused = true;
		const { world, node, poller } = await handedOver({
			answers: ({ item }) => (item === 1 && isRefused ? 'refused' : 'accepted'),
		});
		await poller('P1');
		node.takeBack();
		expect(await world.run(node.run(orders(1, 2)))).toEqual(['keyRefused', 'task 2']);
		isRefused = false;
		const again = world.start({ memory: node.memory });
		expect(await world.run(again.run(orders(1, 2)))).toEqual(['task 3', 'task 2']);
	});
});

test('a retry finds the execution that the run was handed to by the lease of its last poller', async () => {
	const { world, poller } = await handedOver();
	const retry = world.start({ executionId: '8', isRetry: true });
	expect(await world.run(retry.journal.findSupervisor())).toBeUndefined();
	await poller('P1');
	expect(await world.run(retry.journal.findSupervisor())).toEqual({ execution: 'S', sends: true });
	// That of another run may be the last one.
	await world.run(world.start({ executionId: '6' }).run(orders(0)));
	const gap = GAPS.twoFirstTries;
	expect(await world.run(retry.journal.findSupervisor())).toEqual({ execution: 'S', sends: true, gap });
});
