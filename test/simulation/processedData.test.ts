import { ProcessedData } from '../support/processedData.mts';
import answers from '../support/processedData.json';
import { ProcessedData as Simulated } from './support/processedData.mts';
import { Story } from './support/story.mts';
import { Time, WORLD } from './support/time.mts';

/** The answers are n8n's own: test/n8n/modelOfN8n.test.mts. */
const { maxEntries } = answers;
const calls = answers.calls.map(({ call, found }) => {
	const [does, ...names] = call.split(' ');
	return { isRemoval: does === 'remove', names, found };
});

const OPTIONS = { mode: 'entries' as const, maxEntries };
const WHERE = { workflow: { id: '1' }, node: { id: '1' } } as never;

test('the table of processed data in the engine of the tests finds and forgets what n8n does', async () => {
	const data = new ProcessedData();
	for (const { isRemoval, names, found } of calls)
		if (isRemoval) await data.removeProcessed(names, 'node', WHERE);
		else expect((await data.checkProcessedAndRecord(names, 'node', WHERE, OPTIONS)).processed.join(' ')).toBe(found);
});

test('the table of processed data in the simulation finds and forgets what n8n does', async () => {
	const time = new Time(() => 0);
	const data = new Simulated(time, [], new Story()).helpersFor('');
	const given: Array<string | undefined> = [];
	const play = async () => {
		for (const { isRemoval, names } of calls) {
			if (isRemoval) await data.removeProcessed(names);
			given.push(
				isRemoval ? undefined : (await data.checkProcessedAndRecord(names, 'node', OPTIONS)).processed.join(' '),
			);
		}
	};
	time.after(0, () => void play(), WORLD);
	await time.run(Infinity, 10_000);
	expect(given).toEqual(calls.map(({ found }) => found));
});
