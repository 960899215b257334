/** The price of Survive Restarts in a real n8n: lateness, the time until all sleep, processor time, and the database. */
import { startInstance, type Instance } from '../../test/n8n/support/instance.mts';
import { lateness, mostStored, processorTime, untilAsleep } from './runs.mts';

interface Row {
	what: string;
	measured: string;
	goal: string;
}

const TIMES = 3;

/** @param isWanted says it of a part by its name */
export async function durableRows(isWanted: (part: string) => boolean): Promise<Row[]> {
	const rows: Row[] = [];
	for (const [name, measure] of Object.entries(PARTS)) {
		if (!isWanted(name)) continue;
		const instance = await startInstance({ sandbox: { requestsPerSecond: 0 } });
		try {
			rows.push(...(await measure(instance)));
		} finally {
			await instance.close();
		}
	}
	return rows;
}

const PARTS: Record<string, (instance: Instance) => Promise<Row[]>> = {
	'durable asleep': asleepRows,
	'durable lateness': latenessRows,
	'durable processor': processorRows,
	'durable database': databaseRows,
};

async function asleepRows(instance: Instance): Promise<Row[]> {
	const cases = [
		{ what: '20 items', otherLength: 0, goal: 'at most 1 s' },
		{ what: '20 items, 5 MB of input', otherLength: 250_000, goal: 'at most 3 s' },
	];
	const rows: Row[] = [];
	for (const { what, otherLength, goal } of cases) {
		const wanted = { items: 20, taskSeconds: 300, surviveRestarts: true, otherLength };
		const times = await repeated(async () => await untilAsleep(instance, wanted));
		rows.push({ what: `From the last acceptance until all sleep: ${what}`, measured: inSeconds(times), goal });
	}
	return rows;
}

async function latenessRows(instance: Instance): Promise<Row[]> {
	const rows: Row[] = [];
	for (const taskSeconds of [1, 5, 20, 60]) {
		const beside = async (surviveRestarts: boolean) =>
			await repeated(async () => await lateness(instance, { items: 3, taskSeconds, surviveRestarts }));
		const [without, survives] = [await beside(false), await beside(true)];
		const laterMs = median(survives) - median(without);
		const measured = `${inSeconds(survives)} after the end, without ${inSeconds(without)}: ${(laterMs / 1000).toFixed(2)} s later`;
		rows.push({ what: `Result of a task of ${taskSeconds} s`, measured, goal: 'at most 1 s later' });
	}
	return rows;
}

async function processorRows(instance: Instance): Promise<Row[]> {
	const times: { memory: number[]; survives: number[] } = { memory: [], survives: [] };
	const wanted = { items: 200, taskSeconds: 20 };
	for (let round = 0; round < TIMES; round++) {
		times.memory.push(await processorTime(instance, { ...wanted, surviveRestarts: false }));
		times.survives.push(await processorTime(instance, { ...wanted, surviveRestarts: true }));
	}
	const [memory, survives] = [median(times.memory), median(times.survives)];
	const more = `${((survives / memory - 1) * 100).toFixed(0)} % more`;
	const what = 'Processor time of n8n: 200 items of 20 s';
	const measured = `${inSeconds(times.survives)}, in memory ${inSeconds(times.memory)}: ${more}`;
	return [{ what, measured, goal: 'at most 15 % more' }];
}

/** Of many items, the size depends on the number of waves, not on their length. */
async function databaseRows(instance: Instance): Promise<Row[]> {
	const [many, long] = await Promise.all([
		mostStored(instance, { items: 500, taskSeconds: 60, promptLength: 200, otherLength: 1_000 }),
		mostStored(instance, { items: 50, taskSeconds: 1_800 }),
	]);
	return [
		{
			what: 'Database: 500 items (prompt 200 characters, 1 kB of other fields), 50 at once, tasks of 1 minute',
			measured: `${(many / 1e6).toFixed(1)} MB`,
			goal: 'at most 6 MB (tasks of 10 minutes)',
		},
		{
			what: 'Database: 50 tasks of 30 minutes',
			measured: `${(long / 1e3).toFixed(0)} kB`,
			goal: 'at most 300 kB',
		},
	];
}

async function repeated(measure: () => Promise<number>): Promise<number[]> {
	const all: number[] = [];
	for (let time = 0; time < TIMES; time++) all.push(await measure());
	return all;
}

function median(values: number[]): number {
	return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

/** The median, and the others. */
function inSeconds(values: number[]): string {
	const seconds = (ms: number) => (ms / 1000).toFixed(2);
	return `${seconds(median(values))} s (${values.map(seconds).join(', ')})`;
}
