/** The limits of an account that executions share, in a real n8n: the time as a multiple of what the places allow, and the refusals. */
import { playAccount, type AccountCase, type Runs, type Seen } from './accountRuns.mts';
import { startInstance, type Instance } from '../test/n8n/support/instance.mts';

interface Row {
	what: string;
	measured: string;
	goal: string;
}

interface Case extends AccountCase {
	what: string;
	goal: string;
	runs: Runs[];
}

const crowd = [{ executions: 10, items: 20 }];
const cases: Case[] = [
	{
		what: '10 executions of 20 tasks of 2 s, 20 at once, not known',
		...{ places: 20, taskMs: 2_000, runs: crowd, goal: 'at most 1.3, none refused, at most 25 of 429, 60 per second' },
	},
	{
		what: 'the same, Concurrent Tasks of the Account 20',
		...{ places: 20, taskMs: 2_000, credential: { advanced: true, concurrentTasks: 20 }, runs: crowd },
		goal: 'at most 1.2, none refused, no 429',
	},
	{
		what: 'the same, without the purchase log',
		...{ places: 20, taskMs: 2_000, runs: crowd, goal: 'at most 1.3' },
		credential: { advanced: true, concurrentTasks: 20, purchaseLog: false },
	},
	{
		what: '10 executions of 20 tasks of 10 s, Concurrent Tasks of the Account 20',
		...{ places: 20, taskMs: 10_000, credential: { advanced: true, concurrentTasks: 20 }, runs: crowd },
		goal: 'at most 1.1',
	},
	{
		what: '100 executions of one task of 3 s, 5 at once, not known',
		...{ places: 5, taskMs: 3_000, runs: [{ executions: 100, items: 1 }], goal: 'at most 1.3' },
	},
	{
		what: 'one of 500 tasks of 2 s beside ten of one, 20 at once, not known',
		...{ places: 20, taskMs: 2_000, goal: 'the ten: 2 s and 1.25 times what they take alone' },
		runs: [
			{ executions: 1, items: 500 },
			{ executions: 10, items: 1, afterMs: 5_000 },
		],
	},
	{
		what: 'ten of one alone',
		...{ places: 20, taskMs: 2_000, runs: [{ executions: 10, items: 1 }], goal: '' },
	},
	{
		what: 'one of 200 tasks of 2 s, 20 at once, not known',
		...{ places: 20, taskMs: 2_000, runs: [{ executions: 1, items: 200 }], goal: 'at most 1.3' },
	},
];

export async function accountRows(): Promise<Row[]> {
	const instance = await startInstance();
	try {
		return await play(instance, cases);
	} finally {
		await instance.close();
	}
}

async function play(instance: Pick<Instance, 'rest'>, played: Case[]): Promise<Row[]> {
	const rows: Row[] = [];
	for (const { what, goal, runs, ...wanted } of played)
		rows.push({ what, goal, measured: inWords(await playAccount(instance, wanted, runs)) });
	return rows;
}

function inWords({ ms, limitMs, refused, answers429, mostPerSecond, tookMs }: Seen): string {
	const seconds = (value: number) => `${(value / 1000).toFixed(1)} s`;
	return [
		`${seconds(ms)}, ${(ms / limitMs).toFixed(2)} times the limit`,
		`${refused.length} refused`,
		`${answers429} of 429`,
		`${mostPerSecond} requests in a second`,
		`executions ${tookMs.map(seconds).join(' and ')}`,
	].join(', ');
}
