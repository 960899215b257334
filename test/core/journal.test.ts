/** The journal of a run: what it writes before and after a request, and what a retry makes of it. Meetings of several: fence.test.ts. */
import { modelsOf } from '../../core/account/runCredits';
import { GatewayError, gatewayError } from '../../core/errors';
import { GAP_CODE } from '../../core/journal/replay';
import { nameOfRun } from '../../core/journal/row';
import type { Order } from '../../core/orders/order';
import { endBadly, endWell } from '../../core/orders/states';
import {
	endOf,
	makeWorld,
	planned,
	RUN,
	type Insert,
	type Start,
	type Stored,
	type WorldOptions,
} from './journalWorld';

const orders = (count: number, more: Parameters<typeof planned>[1] = {}) =>
	Array.from({ length: count }, (_, item) => planned(item, more));

const BOUGHT = ['lease of 0', 'submitting #0 of 0', 'accepted of 0'];

describe('the rows of a first try', () => {
	test('a lease and the row are written before the request, then the look, then the mark; the ID afterwards', async () => {
		const world = makeWorld();
		const first = world.start();
		expect(await world.run(first.run(orders(1)))).toEqual(['task 1']);
		expect(world.steps).toEqual(['7 inserts', '7 looks', '7 marks', '7 sends 0']);
		expect(world.rowsOf('7')).toEqual(BOUGHT);
		const [lease, submitting, accepted] = world.visible;
		const ofRun = { run: nameOfRun(RUN), first: '7', execution: '7', node: 'Generate', workflow: 'Test', account: 'a' };
		expect(lease).toMatchObject({ ...ofRun, key_hash: ofRun.run, code: '' });
		expect(submitting).toMatchObject({ ...ofRun, model: 'task', request_hash: 'hash 0', key_hash: '', task_id: '' });
		expect(accepted).toMatchObject({
			...ofRun,
			attempt: submitting?.attempt,
			task_id: 'task 1',
			request_hash: 'hash 0',
		});
	});

	test('orders that begin together share one insert and one look, and their numbers have no gap', async () => {
		const world = makeWorld();
		await world.run(world.start().run(orders(40)));
		expect(world.steps.filter((step) => / (inserts|looks|marks)/.test(step))).toEqual([
			'7 inserts',
			'7 looks',
			'7 marks',
		]);
		expect(world.visible.flatMap(({ number }) => number ?? [])).toEqual(Array.from({ length: 40 }, (_, n) => n));
	});

	test.each<[string, WorldOptions['answers'], string, string[]]>([
		['accepted', () => 'accepted', 'task 1', ['accepted of 0']],
		['refused', () => 'refused', 'keyRefused', ['not_accepted of 0 key_refused']],
		['lost', () => 'lost', 'outcomeUnknown', ['unknown of 0 outcome_unknown']],
	])('an answer that is %s is noted', async (_, answers, end, rows) => {
		const world = makeWorld({ answers });
		expect(await world.run(world.start().run(orders(1)))).toEqual([end]);
		expect(world.rowsOf('7')).toEqual([...BOUGHT.slice(0, 2), ...rows]);
	});

	test('a request that is sent again after a 429 has a row of its own for each time', async () => {
		let asked = 0;
		const world = makeWorld({ answers: () => (asked++ === 0 ? 'full' : 'accepted') });
		await world.run(world.start().run(orders(1)));
		expect(world.rowsOf('7')).toEqual([
			...[...BOUGHT.slice(0, 2), 'not_accepted of 0 rate_limited'],
			...['submitting #1 of 0', 'accepted of 0'],
		]);
	});

	test('a stop before the row is confirmed withdraws it, and sends nothing', async () => {
		const world = makeWorld();
		const stop = new AbortController();
		void world.clock.sleep(12).then(() => stop.abort());
		expect(await world.run(endOf(world.start().buy(planned(), { signal: stop.signal })))).toBe('executionStopped');
		await world.run(world.clock.sleep(1_000));
		expect([world.bought, world.rowsOf('7').at(-1)]).toEqual([[], 'not_accepted of 0 execution_stopped']);
	});

	test('the row of a run says what the account has used, and for which models, and nothing that a purchase has', async () => {
		const world = makeWorld();
		const models = ['b', 'a', 'b', undefined].map((model, item) => planned(item, { model }));
		world.start().journal.noteRun(12.5, modelsOf(models));
		await world.run(world.clock.sleep(1_000));
		expect(world.visible).toMatchObject([
			{
				state: 'run',
				model: 'a, b',
				credits: 12.5,
				item: 0,
				number: null,
				request_hash: '',
				task_id: '',
				key_hash: '',
			},
		]);
	});
});

describe('an insert of which n8n says nothing', () => {
	test.each<[Insert, string[]]>([
		['lost', ['lease of 0', 'submitting #0 of 0', 'not_accepted of 0', ...BOUGHT]],
		['never', ['not_accepted of 0', ...BOUGHT]],
	])('%s: it is withdrawn, and made again with the same numbers and other names', async (how, rows) => {
		const world = makeWorld();
		const first = world.start({ troubles: { inserts: [how] } });
		expect(await world.run(first.run(orders(1)))).toEqual(['task 1']);
		expect(world.rowsOf('7')).toEqual(rows);
		const attempts = world.visible.filter(({ state }) => state === 'submitting').map(({ attempt }) => attempt);
		expect(new Set(attempts).size).toBe(attempts.length);
		expect(world.bought).toEqual([0]);
	});

	test('after a minute, nothing is sent; with Retry On Fail, the next try writes its lease and buys', async () => {
		const world = makeWorld();
		const first = world.start({ troubles: { always: 'never' } });
		const beganMs = world.clock.now();
		expect(await world.run(first.run(orders(2)))).toEqual(['submissionNotRecorded', 'submissionNotRecorded']);
		expect(world.clock.now() - beganMs).toBeGreaterThan(60_000);
		expect(world.rowsOf('7').filter((row) => row.includes('submission_not_recorded'))).toHaveLength(2);
		const again = world.start({ memory: first.memory });
		expect(await world.run(again.run(orders(2)))).toEqual(['task 1', 'task 2']);
	});

	test('the groups after it are tried once, and written when the database is back', async () => {
		const world = makeWorld();
		const first = world.start({ troubles: { always: 'never' } });
		const beganMs = world.clock.now();
		const ends = await world.run(first.run(orders(120)), 1_000_000);
		expect([new Set(ends), world.clock.now() - beganMs < 70_000]).toEqual([new Set(['submissionNotRecorded']), true]);
		delete first.troubles.always;
		expect(await world.run(first.run([planned(120)]))).toEqual(['task 1']);
	});

	test('a request leaves within half a minute of its row, or that is withdrawn and another one written', async () => {
		const world = makeWorld();
		const run = world.start({ troubles: { noMarks: true } });
		void world.clock.sleep(45_000).then(() => (run.troubles.noMarks = false));
		let sentAtMs = 0;
		const how = async () => await Promise.resolve(((sentAtMs = world.clock.now()), 'task 1'));
		expect(await world.run(endOf(run.buy(planned(), { how })))).toBe('task 1');
		await world.run(world.clock.sleep(1_000));
		const [, withdrawn] = BOUGHT;
		expect(world.rowsOf('7')).toEqual([
			...[BOUGHT[0], withdrawn, 'not_accepted of 0 submission_not_recorded'],
			...['submitting #1 of 0', 'accepted of 0'],
		]);
		const row = world.visible.filter(({ state }) => state === 'submitting').at(-1);
		expect(sentAtMs - Date.parse(row?.createdAt ?? '')).toBeLessThan(30_000);
	});

	test('Retry On Fail keeps the lease and goes on with the numbers', async () => {
		let asked = 0;
		const world = makeWorld({ answers: () => (asked++ === 0 ? 'refused' : 'accepted') });
		const first = world.start();
		await world.run(first.run(orders(1)));
		await world.run(world.start({ memory: first.memory }).run(orders(1)));
		const rows = ['submitting #1 of 0', 'accepted of 0'];
		expect(world.rowsOf('7')).toEqual([...BOUGHT.slice(0, 2), 'not_accepted of 0 key_refused', ...rows]);
	});
});

describe('n8n has no table', () => {
	test('before the first request, the run goes on without rows, says so once, and never changes', async () => {
		const world = makeWorld();
		const first = world.start({ troubles: { inserts: ['noTable'] } });
		expect(await world.run(first.run(orders(2)))).toEqual(['task 1', 'task 2']);
		expect(await world.run(first.run([planned(2)]))).toEqual(['task 3']);
		expect([world.rowsOf('7'), first.told]).toEqual([[], ['the data tables are full']]);
		expect(first.journal.isWithoutRows).toBe(true);
		await world.run(first.marks.end());
		const again = world.start({ memory: first.memory });
		expect(await world.run(again.run([planned(3)]))).toEqual(['task 4']);
		expect(world.visible).toEqual([]);
	});

	test('a retry of it submits nothing without an ID, whatever rows there are', async () => {
		const world = makeWorld();
		const first = world.start({ troubles: { inserts: ['lost', 'noTable'] } });
		await world.run(first.run(orders(1)));
		const retry = world.start({ executionId: '8', isRetry: true });
		expect(await world.run(retry.run(orders(2)))).toEqual(['outcomeStillUnknown', 'outcomeStillUnknown']);
		expect(world.bought).toEqual([0]);
	});

	test('once a row is there, an order without one is not submitted', async () => {
		const world = makeWorld();
		const first = world.start({ troubles: { inserts: ['good'], always: 'noTable' } });
		await world.run(first.run(orders(1)));
		expect(await world.run(first.run([planned(1)]))).toEqual(['submissionNotRecorded']);
		expect([first.journal.isWithoutRows, world.bought]).toEqual([false, [0]]);
	});
});

describe('an execution in whose place another one goes on', () => {
	test('another process with the same execution stops it by its lease, or where the table was cleared, by its mark', async () => {
		const world = makeWorld();
		await world.run(world.start().run(orders(1)));
		expect(await world.run(world.start().run(orders(2)))).toEqual(['submittedByOtherRetry', 'submittedByOtherRetry']);
		world.clear();
		expect(await world.run(world.start().run(orders(2)))).toEqual(['outcomeStillUnknown', 'outcomeStillUnknown']);
		expect(world.bought).toEqual([0]);
	});

	test.each<[string, (world: ReturnType<typeof makeWorld>) => Promise<unknown>, string]>([
		[
			'a retry has taken over',
			async (world) => await world.start({ executionId: '8', isRetry: true }).run([planned(5)]),
			'submittedByOtherRetry',
		],
		['a person has cleared the table', async (world) => await Promise.resolve(world.clear()), 'submissionNotRecorded'],
		[
			'its lease was edited',
			async ({ visible }) => await Promise.resolve(Object.assign(visible[0] as Stored, { state: 'x' })),
			'submissionNotRecorded',
		],
	])('%s: it sends nothing more', async (_, happens, end) => {
		const world = makeWorld();
		const first = world.start();
		await world.run(first.run(orders(1)));
		await world.run(happens(world));
		const sent = world.bought.length;
		expect(await world.run(first.run([planned(1), planned(2)]))).toEqual([end, end]);
		// From now on without asking.
		expect(await world.run(first.run([planned(3)]))).toEqual([end]);
		expect(world.bought).toHaveLength(sent);
	});

	test('a retry of another execution that began in the same millisecond stops nothing', async () => {
		const world = makeWorld();
		const [first, other] = [world.start(), world.start({ executionId: '6' })];
		await world.run(first.run(orders(1)));
		expect(await world.run(other.run(orders(1)))).toEqual(['task 2']);
		expect(await world.run(first.run([planned(1)]))).toEqual(['task 3']);
	});
});

/** A first try that has bought the first two of three orders, and has died. */
async function died(options: WorldOptions = {}) {
	const world = makeWorld(options);
	const first = world.start();
	await world.run(first.run(orders(2)));
	first.kill();
	return world;
}

const retryOf = (world: ReturnType<typeof makeWorld>, start: Start = {}) =>
	world.start({ executionId: '8', isRetry: true, ...start });

describe('a retry', () => {
	test('a retry goes on with what was bought, and submits the rest, after a lease of its own', async () => {
		const world = await died();
		expect(await world.run(retryOf(world).run(orders(3)))).toEqual(['task 1', 'task 2', 'task 3']);
		expect(world.rowsOf('8')).toEqual(['lease of 0', 'submitting #2 of 2', 'accepted of 2']);
		// Its lease names no first try: one of the same millisecond that is silent before its first row has to see it, too.
		const firsts = world.visible.map(({ state, execution, first }) => [state, execution, first].join(' '));
		expect(firsts.filter((row) => !row.endsWith(' 7'))).toEqual(['lease 8 ']);
	});

	test('a retry reads the rows after its lease is there', async () => {
		const world = await died();
		const retry = retryOf(world);
		const leases: number[] = [];
		const { rowsOfRun } = retry.ports.table;
		retry.ports.table.rowsOfRun = async (pattern) => {
			leases.push(world.visible.filter(({ state, execution }) => state === 'lease' && execution === '8').length);
			return await rowsOfRun(pattern);
		};
		await world.run(retry.run(orders(3)));
		expect(leases.at(-1)).toBe(1);
	});

	const put = ({ visible }: { visible: Stored[] }, changes: object) =>
		visible.push({ ...(visible[1] as Stored), id: 99, attempt: 'x', number: 2, item: 5, ...changes } as Stored);

	type World = Awaited<ReturnType<typeof died>>;
	const KNOWN = ['task 1', 'task 2', 'outcomeStillUnknown'];
	const NOTHING = ['outcomeStillUnknown', 'outcomeStillUnknown', 'outcomeStillUnknown'];

	test.each<[string, (world: World) => Start['troubles'] | void, string[], Start]>([
		['the row of one is gone', ({ visible }) => void visible.splice(1, 1), KNOWN, {}],
		[
			'all rows of the first one are gone',
			(world) => remove(world, ({ item, state }) => item === 0 && state !== 'lease'),
			['outcomeStillUnknown', 'task 2', 'outcomeStillUnknown'],
			{},
		],
		['the table was cleared', (world) => world.clear(), NOTHING, {}],
		[
			'the table was cleared but for a withdrawal',
			(world) => {
				world.clear();
				world.visible.push({
					state: 'not_accepted',
					attempt: 'x',
					run: nameOfRun(RUN),
					execution: '7',
					first: '7',
					id: 1,
					createdAt: '2026-11-23T12:00:00.000Z',
				} as Stored);
			},
			NOTHING,
			{},
		],
		['an outcome has no start', (world) => void put(world, { state: 'unknown', number: null }), KNOWN, {}],
		['a row was edited', (world) => void put(world, { state: 'sold' }), KNOWN, {}],
		[
			'another execution began in the same millisecond',
			(world) => void put(world, { first: '6', execution: '6' }),
			KNOWN,
			{},
		],
		[
			'the node was deleted and added again',
			(world) => void put(world, { run: nameOfRun({ ...RUN, nodeId: 'old' }) }),
			KNOWN,
			{},
		],
		[
			'a retry before has met a gap',
			(world) => void put(world, { state: 'lease', code: GAP_CODE, number: null }),
			KNOWN,
			{},
		],
		['rows of so long ago may have been removed', () => {}, KNOWN, { isOld: true }],
		['its rows cannot be read for a minute', () => ({ broken: 'no database' }), NOTHING, {}],
		[
			'a large table was cleaned up, and n8n has forgotten the marks',
			(world) => {
				world.clear();
				world.names.clear();
				return { lacksRows: true };
			},
			NOTHING,
			{ troubles: { lacksRows: true } },
		],
	])(
		'a gap: %s: without an ID nothing is submitted, and Submit Again for Run buys once',
		async (_, damage, ends, start) => {
			const world = await died();
			const troubles = damage(world) ?? {};
			const before = world.bought.length;
			expect(await world.run(retryOf(world, { ...start, troubles }).run(orders(3)))).toEqual(ends);
			expect(world.bought).toHaveLength(before);
			delete troubles.broken;
			const named = (executionId: string) =>
				world.run(
					retryOf(world, { ...start, executionId }).run([
						...orders(2),
						planned(2, { request: { body: {}, hash: 'hash 2', submitAgainFor: '1.0' } }),
					]),
				);
			expect((await named('9')).at(-1)).toMatch(/^task/);
			// Whatever the rows say by now, and however long the name stays in the form.
			expect((await named('10')).at(-1)).toMatch(/^(task 3|outcomeStillUnknown)$/);
			expect(world.bought.filter((item) => item === 2)).toHaveLength(1);
		},
	);

	test('two marks of first tries are a gap, where the rows of one are gone', async () => {
		const world = await died();
		await world.run(world.start({ executionId: '6' }).run([planned(5)]));
		remove(world, ({ execution }) => execution === '6');
		expect(await world.run(retryOf(world).run(orders(3)))).toEqual(KNOWN);
		expect(world.bought).toEqual([0, 1, 5]);
	});

	test('a database that is away for a moment puts nothing in doubt', async () => {
		const world = await died();
		const retry = retryOf(world);
		const { rowsOfRun } = retry.ports.table;
		let asked = 0;
		retry.ports.table.rowsOfRun = async (pattern) => {
			if (++asked > 1 && asked < 4) throw new Error('no database');
			return await rowsOfRun(pattern);
		};
		expect(await world.run(retry.run(orders(3)))).toEqual(['task 1', 'task 2', 'task 3']);
	});

	test('marks that cannot be read are a gap', async () => {
		const world = await died();
		const ends = await world.run(retryOf(world, { troubles: { noMarks: true } }).run(orders(3)));
		expect(ends.slice(0, 2)).toEqual(['task 1', 'task 2']);
		expect(world.bought).toEqual([0, 1]);
	});

	test('a gap that one retry has met is told to the next, also where the first one is tried again', async () => {
		const world = await died();
		world.clear();
		const named = () => planned(2, { request: { body: {}, hash: 'hash 2', submitAgainFor: '1.0' } });
		const retry = retryOf(world);
		await world.run(retry.run(orders(2)));
		const again = retryOf(world, { memory: retry.memory });
		expect(await world.run(again.run([...orders(2), named()]))).toEqual([...NOTHING.slice(0, 2), 'task 3']);
		const next = retryOf(world, { executionId: '9' });
		expect(await world.run(next.run(orders(3)))).toEqual([...NOTHING.slice(0, 2), 'task 3']);
	});

	test('of two executions of one millisecond, the retry of one that has ended takes nothing of the other one, and does not stop it', async () => {
		const world = makeWorld({
			answers: ({ item }) => (item === 0 && world.bought.length === 0 ? 'refused' : 'accepted'),
		});
		const [first, other] = [world.start(), world.start({ executionId: '6' })];
		expect(await world.run(first.run(orders(2)))).toEqual(['keyRefused', 'task 1']);
		expect(await world.run(other.run(orders(1)))).toEqual(['task 2']);
		const retry = retryOf(world, { memory: structuredClone(first.memory) });
		expect(await world.run(retry.run(orders(3)))).toEqual(['task 3', 'task 1', 'task 4']);
		expect(await world.run(other.run([planned(1)]))).toEqual(['task 5']);
		const again = retryOf(world, { executionId: '9', memory: structuredClone(retry.memory) });
		expect(await world.run(again.run(orders(3)))).toEqual(['task 3', 'task 1', 'task 4']);
	});

	test('a retry that could not read the rows takes over again in its next try, when it can', async () => {
		const world = await died();
		const retry = retryOf(world, { troubles: { always: 'never', broken: 'it is away' } });
		expect(await world.run(retry.run(orders(3)))).toEqual([
			'outcomeStillUnknown',
			'outcomeStillUnknown',
			'outcomeStillUnknown',
		]);
		delete retry.troubles.broken;
		const again = retryOf(world, { memory: retry.memory });
		expect(await world.run(again.run(orders(3)))).toEqual(['task 1', 'task 2', 'task 3']);
	});

	test('a retry whose lease cannot be written goes on with IDs only; its next try takes over again', async () => {
		const world = await died();
		const retry = retryOf(world, { troubles: { always: 'never' } });
		expect(await world.run(retry.run(orders(3)))).toEqual(['task 1', 'task 2', 'submissionNotRecorded']);
		const other = world.start({ executionId: '9', isRetry: true });
		expect(await world.run(other.run(orders(3)))).toEqual(['task 1', 'task 2', 'task 3']);
		const again = retryOf(world, { memory: retry.memory });
		expect(await world.run(again.run(orders(3)))).toEqual(['task 1', 'task 2', 'task 3']);
		expect(world.bought).toEqual([0, 1, 2]);
	});

	test('one whose lease could not be written sends nothing, also where the table takes rows again', async () => {
		const world = await died();
		const retry = retryOf(world, { troubles: { inserts: Array.from({ length: 7 }, () => 'never') } });
		expect(await world.run(retry.run(orders(3)))).toEqual(['task 1', 'task 2', 'submissionNotRecorded']);
		expect(world.bought).toEqual([0, 1]);
	});

	test('the lease of a first try that comes late outranks no retry', async () => {
		const world = await died();
		const retry = retryOf(world);
		await world.run(retry.run(orders(2)));
		world.visible.push({ ...(leaseOf(world, '7') as Stored), id: 50 });
		expect(await world.run(retry.run([planned(2)]))).toEqual(['task 3']);
	});

	test('a lease is known by its name: after a clear, that of another retry can have the same number', async () => {
		const world = await died();
		const retry = retryOf(world);
		await world.run(retry.run(orders(3)));
		Object.assign(leaseOf(world, '8') ?? {}, { attempt: 'lease of another', execution: '9' });
		expect(await world.run(retry.run([planned(3)]))).toEqual(['submissionNotRecorded']);
		expect(world.bought).toEqual([0, 1, 2]);
	});

	test('where the table is full, a retry ends what has no ID', async () => {
		const world = await died();
		const retry = retryOf(world, { troubles: { always: 'noTable' } });
		expect(await world.run(retry.run(orders(3)))).toEqual(['task 1', 'task 2', 'submissionNotRecorded']);
	});
});

const leaseOf = ({ visible }: { visible: Stored[] }, execution: string) =>
	visible.find((row) => row.state === 'lease' && row.execution === execution);

/** Removes rows that a person has picked. */
function remove({ visible }: { visible: Stored[] }, isPicked: (row: Stored) => boolean): void {
	visible.splice(0, visible.length, ...visible.filter((row) => !isPicked(row)));
}

describe('a request whose outcome is not written yet', () => {
	/** A first try that has died while its request was under way. */
	const underWay = async (databaseAheadMs = 0) => {
		const world = makeWorld({ databaseAheadMs });
		const first = world.start();
		void first.buy(planned(), { how: async () => await new Promise<never>(() => {}) });
		await world.run(world.clock.sleep(1_000));
		first.kill();
		return world;
	};
	const outcome = ({ visible }: { visible: Stored[] }, changes: object) => {
		const submitting = visible.find(({ state }) => state === 'submitting') as Stored;
		visible.push({ ...submitting, id: 50, number: null, ...changes });
	};

	test.each([0, 3_600_000, -3_600_000])(
		'a doubt is told when no outcome can come any more, by the clock of the database, which is %i ms ahead',
		async (databaseAheadMs) => {
			const world = await underWay(databaseAheadMs);
			const beganMs = world.clock.now();
			const retry = retryOf(world);
			expect(await world.run(retry.run(orders(2)))).toEqual(['outcomeStillUnknown', 'task 1']);
			expect(world.clock.now() - beganMs).toBeGreaterThan(150_000);
			expect(world.clock.now() - beganMs).toBeLessThan(172_000);
			expect(world.bought).toEqual([1]);
		},
	);

	test.each<[string, object, string[], number[]]>([
		['its ID comes', { state: 'accepted', task_id: 'late' }, ['late', 'task 1'], [1]],
		['it was not accepted', { state: 'not_accepted' }, ['task 2', 'task 1'], [1, 0]],
		['its outcome is unknown', { state: 'unknown' }, ['outcomeStillUnknown', 'task 1'], [1]],
	])('until then, the rows are read again: %s', async (_, changes, ends, bought) => {
		const world = await underWay();
		void world.clock.sleep(40_000).then(() => outcome(world, changes));
		const beganMs = world.clock.now();
		expect(await world.run(retryOf(world).run(orders(2)))).toEqual(ends);
		expect(world.clock.now() - beganMs).toBeLessThan(60_000);
		expect(world.bought).toEqual(bought);
	});

	test('the task of another request is no result of this one, when its ID comes', async () => {
		const world = await underWay();
		void world.clock.sleep(40_000).then(() => outcome(world, { state: 'accepted', task_id: 'late' }));
		const changed = planned(0, { request: { body: {}, hash: 'another hash' } });
		expect(await world.run(retryOf(world).run([changed]))).toEqual(['createdFromOtherRequest']);
		expect(world.bought).toEqual([]);
	});

	test('one that was sent in the place of another, and was not accepted, leaves that one in doubt', async () => {
		const world = await underWay();
		const [submitting] = world.visible.filter(({ state }) => state === 'submitting');
		outcome(world, { state: 'unknown' });
		world.visible.push({ ...(submitting as Stored), id: 60, attempt: 'b', number: 1 });
		void world.clock.sleep(40_000).then(() => outcome(world, { state: 'not_accepted', attempt: 'b', id: 61 }));
		expect(await world.run(retryOf(world).run(orders(1)))).toEqual(['outcomeStillUnknown']);
		expect(world.bought).toEqual([]);
	});
});

describe('the end of a run', () => {
	const failure = (permanent?: boolean) => new GatewayError('taskFailed', 'It has failed', { permanent });

	/** The rows behind the ID of an order that has ended, and how long the end of its run took. */
	async function endOrder(end: (order: Order) => void, request: object = {}, delays = () => 10) {
		let slow = false;
		const world = makeWorld({ delays: () => (slow ? delays() : 10) });
		const run = world.start();
		const order = planned(0, { request: { body: {}, hash: 'h', ...request } });
		await world.run(run.buy(order));
		await world.run(world.clock.sleep(1_000));
		slow = true;
		end(order);
		const beganMs = world.clock.now();
		await world.run(run.journal.end([order]));
		const tookMs = world.clock.now() - beganMs;
		await world.run(world.clock.sleep(100_000));
		return {
			tookMs,
			rows: world.rowsOf('7').slice(3),
			last: world.visible.at(-1),
			isNoted: order.purchase === undefined,
		};
	}

	test.each<[string, (order: Order) => void, string[], boolean]>([
		['has its result', (order) => void endWell(order, { json: {} }), [], true],
		['goes on', () => {}, [], false],
		['has failed', (order) => void endBadly(order, failure()), ['failed of 0 task_failed'], true],
		['could not be polled', (order) => void endBadly(order, gatewayError('keyRefused', {})), [], true],
		[
			'could not be polled, and is tried again',
			(order) => void endBadly(Object.assign(order, { isRetried: true }), gatewayError('keyRefused', {})),
			[],
			false,
		],
	])('an order that %s', async (_, end, rows, isNoted) => {
		expect(await endOrder(end)).toMatchObject({ rows, isNoted, tookMs: 0 });
	});

	test('a task that would fail again says so', async () => {
		const { last } = await endOrder((order) => void endBadly(order, failure(true)));
		expect(last).toMatchObject({ state: 'failed', task_id: 'task 1', more: '{"permanent":true}' });
	});

	test('a failure that frees a Purchase Key is waited for, 5 seconds at most', async () => {
		const fails = (order: Order) => void endBadly(order, failure());
		expect(await endOrder(fails, { keyHash: 'k' }, () => 100)).toMatchObject({ tookMs: 300 });
		expect(await endOrder(fails, { keyHash: 'k' }, () => 10_000)).toMatchObject({ tookMs: 5_000 });
	});

	test('many failures are written together', async () => {
		const world = makeWorld();
		const run = world.start();
		const all = [0, 1, 2].map((item) => planned(item, { request: { body: {}, hash: `${item}`, keyHash: `k${item}` } }));
		for (const order of all) {
			await world.run(run.buy(order));
			endBadly(order, failure());
		}
		const flush = jest.spyOn(run.ports.table, 'flush');
		await world.run(run.journal.end(all));
		expect(flush).toHaveBeenCalledTimes(2);
	});

	test('IDs are waited for that are not in the table yet', async () => {
		const world = makeWorld();
		const run = world.start();
		const order = planned();
		await world.run(run.buy(order));
		expect(world.rowsOf('7')).toHaveLength(2);
		await world.run(run.journal.end([order]));
		expect(world.rowsOf('7')).toEqual(BOUGHT);
	});
});
