import fc from 'fast-check';
import type { INodeExecutionData } from 'n8n-workflow';
import { anyCase, harmlessCase, mendableCase, type Case } from './support/cases';
import { endFakeTime, startFakeTime } from './support/fakeTime.mts';
import { judge } from './support/judge.mts';
import { regressions } from './support/regressions';
import { readPropertySettings } from './support/settings.mts';
import { nameOf, Weather } from './support/weather.mts';
import { play } from './support/workflow.mts';

/**
 * Never paid twice, nothing lost: random batches under random faults, against the sandbox's ledger of accepted
 * tasks. The node is the real one; n8n's part is played by `workflow.mts`, the clock is a fake one.
 */
const { seed, runs, path } = readPropertySettings('core');
const MANY_RUNS = 1000;

let weather: Weather;
beforeAll(async () => {
	weather = new Weather();
	await weather.sandbox.api.ready();
	startFakeTime();
});
afterAll(async () => {
	endFakeTime();
	await weather.sandbox.close();
});

async function problemsOf(drawn: Case) {
	const story = await play(drawn, weather);
	const { tasks, apiKey } = weather.sandbox;
	const problems = judge(story, {
		tasks,
		nameOf,
		delivered: weather.delivered,
		unanswered: weather.unanswered,
		apiKey,
		submitAgain: drawn.submitAgain !== 'off',
	});
	return { problems, story, tasks };
}

test.each(regressions)('$name', async ({ drawn }) => {
	expect((await problemsOf(drawn)).problems).toEqual([]);
});

test('any batch in any weather', async () => {
	await fc.assert(
		fc.asyncProperty(anyCase, async (drawn) => {
			expect((await problemsOf(drawn)).problems).toEqual([]);
		}),
		{ seed, path, numRuns: runs ?? MANY_RUNS },
	);
}, 300_000);

test('trouble that passes costs nothing: everything comes out at once and exactly once', async () => {
	await fc.assert(
		fc.asyncProperty(harmlessCase, async (drawn) => {
			const { problems, story, tasks } = await problemsOf(drawn);
			expect(problems).toEqual([]);
			expect(tasks).toHaveLength(story.names.flat().length);
			expect(story.tries).toHaveLength(drawn.rounds);
			for (const { items } of story.tries) expectResults(items, drawn);
		}),
		{ seed, path, numRuns: Math.ceil((runs ?? MANY_RUNS) / 5) },
	);
}, 300_000);

test('Retry On Fail mends what can be mended, and each item is bought once', async () => {
	await fc.assert(
		fc.asyncProperty(mendableCase, async (drawn) => {
			const { problems, story, tasks } = await problemsOf(drawn);
			expect(problems).toEqual([]);
			expect(tasks.filter(({ directives }) => directives.fail === undefined)).toHaveLength(drawn.items.length);
			expectResults(story.tries.at(-1)?.items, drawn);
		}),
		{ seed, path, numRuns: Math.ceil((runs ?? MANY_RUNS) / 5) },
	);
}, 300_000);

function expectResults(items: INodeExecutionData[] | undefined, { downloadResult }: Case) {
	expect(items).toBeDefined();
	for (const { json, binary } of items ?? []) {
		expect(json.status).toBe('completed');
		expect(Boolean(binary)).toBe(downloadResult);
	}
}
