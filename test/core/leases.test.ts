/** The lease of a poller, which its supervisor writes before it starts it: from then on, nothing else sends. */
import { GAPS, claimForPoller, leasesIn } from '../../core/journal/fence';
import { isOfPoller, isWitness, leaseOfPoller, nameOfRun } from '../../core/journal/row';
import { makeWorld, planned, RUN, type Troubles } from './journalWorld';

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
				...{ identity: RUN, clock: world.clock, lease, lastLease, sends: true, ...more },
				table: world.start({ executionId: 'S', troubles }).ports.table,
			}),
		);
	return { world, claim };
}

/** The first insert of it. */
const FIRST = `${LEASE}.0`;

test('the lease of a poller is in the table', async () => {
	const { world, claim } = await handedOver();
	expect(await claim()).toEqual({ lease: FIRST });
	const run = nameOfRun(RUN);
	const last = world.visible.at(-1);
	expect(last).toMatchObject({
		...columns,
		state: 'lease',
		attempt: FIRST,
		execution: 'S',
		first: '7',
		run,
		key_hash: run,
	});
});

test.each<[string, (world: World) => void, object]>([
	['nothing else has happened', () => {}, {}],
	[
		'a row cannot be read, which says nothing of others',
		(world) => Object.assign(world.visible.at(-1) ?? {}, { state: 'x' }),
		{},
	],
	['a person has cleared the table', (world) => world.clear(), { gap: GAPS.rowsRemoved }],
])('the rows of a run have a gap where the last lease is not there: %s', async (_, happens, gap) => {
	const { world, claim } = await handedOver();
	happens(world);
	expect(await claim()).toEqual({ lease: FIRST, ...gap });
});

test('the last lease is that of the poller before', async () => {
	const { world, claim } = await handedOver();
	await claim();
	const next = leaseOfPoller('S', 1, 2_000);
	expect(await claim({ lease: next, lastLease: FIRST })).toEqual({ lease: `${next}.0` });
	// A person removes it.
	world.visible.splice(
		world.visible.findIndex(({ attempt }) => attempt === FIRST),
		1,
	);
	const third = leaseOfPoller('S', 2, 3_000);
	expect(await claim({ lease: third, lastLease: FIRST })).toMatchObject({ gap: GAPS.rowsRemoved });
	expect(await claim({ lease: third, lastLease: `${next}.0` })).toEqual({ lease: `${third}.0` });
});

test.each<[string, Troubles, object, number, number]>([
	['the table is full', { always: 'noTable' }, { error: 'the data tables are full' }, 0, 0],
	['n8n does not answer for a minute', { always: 'never' }, { error: 'the answer was lost' }, 60_000, 70_000],
	['the answer to the first insert is lost', { inserts: ['lost'] }, {}, 1_000, 2_000],
	['n8n has written nothing, though it says so', { inserts: ['gone'] }, { gap: GAPS.rowsRemoved }, 0, 1_000],
])('where the lease may not be there, the claim says so: %s', async (_, troubles, expected, fromMs, toMs) => {
	const { world, claim } = await handedOver();
	const beganMs = world.clock.now();
	const tookLonger = fromMs > 0;
	const { lease, ignored = [], ...found } = await claim({}, troubles);
	expect(found).toEqual(expected);
	// Each try has a name of its own: an insert that was given up may come after that of another execution.
	expect([...ignored, lease]).toEqual(
		Array.from({ length: ignored.length + 1 }, (_each, number) => `${LEASE}.${number}`),
	);
	expect(ignored.length > 0).toBe(tookLonger);
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

const leaseRow = (id: number, attempt: string, more: object = {}) => ({
	...{
		id,
		attempt,
		state: 'lease',
		run: 'r',
		key_hash: 'r',
		first: '7',
		execution: '8',
		createdAt: '2026-01-01T00:00:00.000Z',
	},
	...more,
});

test.each<[string, boolean, object[], string | undefined, boolean]>([
	['its own is the newest', true, [leaseRow(1, 'other'), leaseRow(2, 'own')], undefined, true],
	['another one is newer', true, [leaseRow(2, 'own'), leaseRow(3, 'other')], 'other', true],
	[
		'its own that n8n had given up comes after another one',
		true,
		[leaseRow(2, 'own'), leaseRow(3, 'other'), leaseRow(4, 'given up')],
		'other',
		true,
	],
	['its own that n8n had given up is all there is', true, [leaseRow(4, 'given up')], undefined, false],
	['a first try finds any other', false, [leaseRow(1, 'other'), leaseRow(2, 'own')], 'other', true],
	['a first try finds what n8n had given up', false, [leaseRow(1, 'given up'), leaseRow(2, 'own')], undefined, true],
])('an execution is stopped by a lease that counts: %s', (_, takesOver, rows, other, hasOwn) => {
	const memory = { executionId: '8', leases: ['given up', 'own'], lease: 'own', first: '7', nextNumber: 0 };
	const found = leasesIn(rows, { run: 'r', memory, takesOver });
	expect([found?.other?.attempt, found?.hasOwn]).toEqual([other, hasOwn]);
});
