import type { Case, ItemPlan } from './cases.mts';

const LONGEST_MS = 30_000;

/** Tries simpler cases as long as they fail, too, and as there is time. */
export async function shrink(
	drawn: Case,
	fails: (simpler: Case) => Promise<boolean>,
	untilMs = performance.now() + LONGEST_MS,
): Promise<Case> {
	for (const simpler of simplerCases(drawn)) {
		if (performance.now() > untilMs) break;
		if (await fails(simpler)) return await shrink(simpler, fails, untilMs);
	}
	return drawn;
}

const PLAIN: Partial<Case> = {
	executions: 1,
	crashes: [],
	failingRecords: [],
	retryExecutions: 0,
	maxTries: 1,
	rounds: 1,
	savesProgress: false,
	volatilePrompt: false,
	sameBodies: false,
	wait: 'untilReady',
	downloadResult: false,
	stopAtMs: undefined,
	stopDuring: undefined,
	clicks: undefined,
	accountSlots: undefined,
	clockSetBack: undefined,
	tableIsFull: undefined,
	purchaseKey: undefined,
	log: 'off',
	table: undefined,
	engine: 'one process',
	submitAgainFor: 'nothing',
	retryOf: 'latest',
	retriesAtOnce: undefined,
	itemsMove: undefined,
	onError: 'stopWorkflow',
	concurrentTasks: 50,
	requestsPerSecond: 60,
	pollIntervalSeconds: 10,
	timeoutMinutes: 10,
};

function* simplerCases(drawn: Case): Generator<Case> {
	const { items } = drawn;
	for (const crashes of without(drawn.crashes)) yield { ...drawn, crashes };
	for (const clicks of without(drawn.clicks ?? [])) yield { ...drawn, clicks };
	if (items.length > 1) for (const fewer of without(items)) yield { ...drawn, items: fewer };
	for (const [index, { copies, plan }] of items.entries()) {
		const withItem = (item: Case['items'][number]) => ({ ...drawn, items: replaced(items, index, item) });
		if (copies > 1) yield withItem({ copies: copies - 1, plan });
		for (const simpler of simplerPlans(plan)) yield withItem({ copies, plan: simpler });
	}
	for (const [key, value] of Object.entries(PLAIN) as Array<[keyof Case, unknown]>) {
		if (JSON.stringify(drawn[key]) !== JSON.stringify(value)) yield { ...drawn, [key]: value };
	}
	for (const [index, crash] of drawn.crashes.entries())
		if (crash.downMs > 1000) yield { ...drawn, crashes: replaced(drawn.crashes, index, { ...crash, downMs: 1000 }) };
}

function* simplerPlans({ posts, files }: ItemPlan): Generator<ItemPlan> {
	for (const fewer of without(files)) yield { posts, files: fewer };
	for (const fewer of without(posts)) yield { posts: fewer, files };
	for (const [
		index,
		{
			answer,
			task: { directives, polls },
		},
	] of posts.entries()) {
		for (const fewer of without(polls))
			yield { posts: replaced(posts, index, { answer, task: { directives, polls: fewer } }), files };
		for (const fewer of without(directives.split(' ')))
			yield { posts: replaced(posts, index, { answer, task: { directives: fewer.join(' '), polls } }), files };
		if (answer !== 'ok') yield { posts: replaced(posts, index, { answer: 'ok', task: { directives, polls } }), files };
	}
}

const without = <T,>(list: T[]): T[][] => list.map((_, index) => list.filter((__, other) => other !== index));
const replaced = <T,>(list: T[], index: number, value: T): T[] =>
	list.map((each, other) => (other === index ? value : each));
