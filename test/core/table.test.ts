/** A write that outlasts a restart of n8n's database: how often it is tried, and for how long. */
import { outlasting } from '../../core/journal/table';

/** A write that fails so often, and the pauses between its tries. */
async function writeAfter(failures: number) {
	const pausesMs: number[] = [];
	const sleep = async (delayMs: number) => {
		pausesMs.push(delayMs);
		await Promise.resolve();
	};
	let tries = 0;
	const write = async () => {
		await Promise.resolve();
		if (++tries <= failures) throw new Error(`failure ${tries}`);
		return `try ${tries}`;
	};
	const result = await outlasting({ sleep }, write).catch((error: Error) => error.message);
	return { result, pausesMs };
}

const PAUSES_MS = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000];

test.each([
	[0, 'try 1'],
	[1, 'try 2'],
	[3, 'try 4'],
	[6, 'try 7'],
])('a write that fails %d times is tried again after ever longer pauses', async (failures, result) => {
	expect(await writeAfter(failures)).toEqual({ result, pausesMs: PAUSES_MS.slice(0, failures) });
});

test('after a minute the last reason is told', async () => {
	expect(await writeAfter(Infinity)).toEqual({ result: 'failure 7', pausesMs: PAUSES_MS });
});
