/** One purchase for each Purchase Key, whoever asks for it, in whatever sequence the database shows its rows. */
import fc from 'fast-check';
import { readPropertySettings } from '../support/propertySettings.mts';
import { codeOf, makeWorld, orderOf } from './purchaseWorld';

const { seed, runs = 400, path } = readPropertySettings('purchase key');

test('however many ask at the same time, in one process and in others, one buys and all get its task', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(fc.record({ process: fc.integer({ min: 0, max: 3 }), startsAtMs: fc.nat(1500) }), {
				minLength: 2,
				maxLength: 8,
			}),
			fc.infiniteStream(fc.integer({ min: 1, max: 900 })),
			async (buyers, delays) => {
				const world = makeWorld(() => delays.next().value as number);
				const processes = [0, 1, 2, 3].map((name) => world.process(`p${name}`));
				const ids = await world.run(
					Promise.all(
						buyers.map(async ({ process, startsAtMs }) => {
							await world.clock.sleep(startsAtMs);
							return (await processes[process]?.buy(orderOf()))?.id;
						}),
					),
				);
				expect(world.created).toEqual(['task 1']);
				expect(new Set(ids)).toEqual(new Set(['task 1']));
			},
		),
		{ seed, path, numRuns: runs },
	);
});

test('a process that dies at any moment leads to no second purchase: the others get the task, or are told that nobody knows', async () => {
	await fc.assert(
		fc.asyncProperty(fc.nat(3000), fc.infiniteStream(fc.integer({ min: 1, max: 500 })), async (killedAtMs, delays) => {
			const world = makeWorld(() => delays.next().value as number);
			const [dying, other] = [world.process('dying'), world.process('other')];
			void dying.buy(orderOf()).catch(() => {});
			void world.clock.sleep(killedAtMs).then(dying.kill);
			const outcome = await world.run(codeOf(other.buy(orderOf())));
			expect(world.created.length).toBeLessThanOrEqual(1);
			expect(['bought', 'purchaseKeyUnclear']).toContain(outcome);
		}),
		{ seed, path, numRuns: runs },
	);
});
