/** The lease of a poller, which its supervisor writes before it starts it: from then on, nothing else sends. */
import { claimForPoller, isOfPoller, isWitness, leaseOfPoller } from '../../core/journal/claim';
import { GAPS } from '../../core/journal/gap';
import { nameOfRun } from '../../core/journal/row';
import { makeWorld, planned, RUN, type Stored, type Troubles } from './journalWorld';

type World = ReturnType<typeof makeWorld>;

const columns = { workflow: 'Test', node: 'Generate', account: 'a' };
const LEASE = leaseOfPoller('S', 0, 1_000);

/** A run whose node has bought its first item, and has handed over the others. */
async function handedOver() {
	const world = makeWorld();
	const first = world.start();
	await world.run(first.run([planned()]));
	const { lease: lastLease } = first.journal.toHandOver;
	/** The supervisor claims for its poller. */
	const claim = async (
		{ lease = LEASE, ...more }: { lease?: string; lastLease?: string } = {},
		troubles: Troubles = {},
	) =>
		await world.run(
			claimForPoller({
				columns: { ...columns, execution: 'S', first: '7' },
				...{ identity: RUN, clock: world.clock, lease, lastLease, ...more },
				table: world.start({ executionId: 'S', troubles }).ports.table,
			}),
		);
	return { world, claim };
}

const anotherLease = ({ visible }: World, changes: Partial<Stored>) => {
	const [lease] = visible.filter(({ state }) => state === 'lease');
	visible.push({ ...(lease as Stored), id: 50, attempt: 'lease of another', execution: '8', ...changes });
};

test('the lease of a poller is in the table, and its run is not replayed where nothing else has worked on it', async () => {
	const { world, claim } = await handedOver();
	expect(await claim()).toEqual({ lease: LEASE, isReplayed: false });
	const run = nameOfRun(RUN);
	const last = world.visible.at(-1);
	expect(last).toMatchObject({
		...columns,
		state: 'lease',
		attempt: LEASE,
		execution: 'S',
		first: '7',
		run,
		key_hash: run,
	});
});

const replayed = { lease: LEASE, isReplayed: true };
const notReplayed = { lease: LEASE, isReplayed: false };

test.each<[string, (world: World) => void, object]>([
	['that of a retry, which names no first try', (world) => anotherLease(world, { first: '' }), replayed],
	['that of another poller', (world) => anotherLease(world, { attempt: 'T-poller0-1' }), replayed],
	[
		'that of another execution of the same millisecond',
		(world) => anotherLease(world, { first: '6', execution: '6' }),
		notReplayed,
	],
	[
		'a row that cannot be read, which says nothing of others',
		(world) => anotherLease(world, { state: 'x' as never }),
		notReplayed,
	],
	['none, because a person has cleared the table', (world) => world.clear(), { ...replayed, gap: GAPS.rowsRemoved }],
])(
	'the rows of a run are replayed where another lease is there, and have a gap where the last one is not: %s',
	async (_, happens, expected) => {
		const { world, claim } = await handedOver();
		happens(world);
		expect(await claim()).toEqual(expected);
	},
);

test('the last lease is that of the poller before', async () => {
	const { world, claim } = await handedOver();
	await claim();
	const next = leaseOfPoller('S', 1, 2_000);
	expect(await claim({ lease: next, lastLease: LEASE })).toEqual({ lease: next, isReplayed: true });
	// A person removes it.
	world.visible.splice(
		world.visible.findIndex(({ attempt }) => attempt === LEASE),
		1,
	);
	const third = leaseOfPoller('S', 2, 3_000);
	expect(await claim({ lease: third, lastLease: LEASE })).toMatchObject({ gap: GAPS.rowsRemoved });
	expect(await claim({ lease: third, lastLease: next })).toEqual({ lease: third, isReplayed: true });
});

test.each<[string, Troubles, object, number, number]>([
	['the table is full', { always: 'noTable' }, { error: 'the data tables are full' }, 0, 0],
	['n8n does not answer for a minute', { always: 'never' }, { error: 'the answer was lost' }, 60_000, 70_000],
	['the answer to the first insert is lost', { inserts: ['lost'] }, {}, 1_000, 2_000],
	['n8n has written nothing, though it says so', { inserts: ['gone'] }, { gap: GAPS.rowsRemoved }, 0, 1_000],
])('where the lease may not be there, the claim says so: %s', async (_, troubles, expected, fromMs, toMs) => {
	const { world, claim } = await handedOver();
	const beganMs = world.clock.now();
	const isLost = troubles.inserts?.[0] === 'lost';
	expect(await claim({}, troubles)).toEqual({ lease: LEASE, isReplayed: !isLost, ...expected });
	const tookMs = world.clock.now() - beganMs;
	expect(tookMs).toBeGreaterThanOrEqual(fromMs);
	expect(tookMs).toBeLessThanOrEqual(toMs);
});

test.each([
	[LEASE, '101', true, false],
	['7-mx17nngoem8p-lease0', '7', false, true],
	['7-mx17nngoem8p-back0', '7', false, false],
	['7-back1stamp-lease0', '7', false, true],
])(
	'a lease is known by its name: %s of %s is of a poller: %s, a witness: %s',
	(attempt, execution, isPollers, witnesses) => {
		expect([isOfPoller(attempt), isWitness({ attempt, execution, first: '7' })]).toEqual([isPollers, witnesses]);
	},
);
