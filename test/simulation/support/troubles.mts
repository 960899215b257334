/** Cases that are worst for what is known of purchases only by their rows. */
import type { Case, Crash, PostPlan } from './cases.mts';
import { ANYWHERE, drawCrash, OF_POLLERS, WITH_ROWS, type Draw } from './draw.mts';
import { drawTableFate, type TableFate } from './tableFate.mts';

/** The table of the log, machines that stand still, and groups that fare alike. */
export function drawTroubles(draw: Draw, drawn: Case): Partial<Case> {
	const { crashes, retryExecutions, engine, wait } = drawn;
	const kind = draw.upTo(11);
	const isRetried = { retryExecutions: Math.max(1, retryExecutions) };
	if (kind === 0) return drawRefused(draw, drawn);
	if (kind === 1) return drawFailed(draw, drawn);
	if (kind <= 4 && (engine !== 'workers' || wait === 'acrossRestarts'))
		return {
			crashes: [drawSilence(draw, drawn), ...crashes.slice(1)],
			...isRetried,
			...(draw.oneIn(3) ? { table: drawTableFate(draw, true) } : {}),
		};
	if (kind > 8) return {};
	const table = drawTableFate(draw, crashes.length > 0);
	return crashes.length > 0 ? { table, ...isRetried } : { table };
}

/** A person changes it between two pollers. */
function drawChangedTable(draw: Draw): TableFate {
	const does = draw.from(...(['clear', 'clear', 'clear half', 'rename', 'restore'] as const));
	const event = draw.oneIn(4) ? { does, afterUses: draw.upTo(12) } : { does, afterDeathMs: draw.upTo(60_000) };
	return { events: [event], ...(draw.oneIn(2) ? { isSqlite: true } : {}) };
}

const POLLED = ['0s', '2s', '9s', '45s', '300s'];
const SOMETIMES = [
	'429:3',
	'429:60',
	'500',
	'500!after',
	'reset!after',
	'503:2',
	'slow:20s',
	'slow:200s!after',
	'402',
	'400',
];

/** Several orders, and pollers that die or stand still one after the other. */
export function drawDeadPollers(draw: Draw): Partial<Case> {
	const isCalm = draw.oneIn(2);
	const isFine = () => isCalm || !draw.oneIn(4);
	const post = (): PostPlan => {
		const fails = isFine()
			? ''
			: ` fail=${draw.from('internal_error', 'generation_failed', 'content_policy_violation')}`;
		const task = { directives: `duration=${draw.from(...POLLED)}${fails}`, polls: [] };
		return { answer: isFine() ? 'ok' : draw.from(...SOMETIMES), task };
	};
	const item = () => ({
		copies: draw.oneIn(6) ? 2 : 1,
		plan: { posts: draw.list(draw.from(1, 2, 3), post), files: [] },
	});
	const moments = draw.oneIn(3) ? [...OF_POLLERS, ...WITH_ROWS, ...ANYWHERE] : OF_POLLERS;
	const crash = (): Crash => {
		const dies = {
			...drawCrash(draw, moments),
			afterSteps: 1 + draw.upTo(draw.from(5, 60, 400)),
			...(draw.oneIn(1.5) ? { during: draw.from(...moments) } : {}),
		};
		if (!draw.oneIn(3)) return dies;
		const silentMs = draw.upTo(draw.from(5000, 60_000, 300_000));
		return { ...dies, silentMs, ...(draw.oneIn(5) ? { isUnnoticed: true } : {}) };
	};
	return {
		items: draw.list(draw.from(1, 2, 3, 4, 6), item),
		crashes: draw.list(draw.from(1, 1, 2, 3, 4), crash),
		...{ concurrentTasks: draw.from(1, 2, 50), requestsPerSecond: draw.from(60, 5, 1) },
		...{ timeoutMinutes: draw.from(60, 60, 10), rounds: draw.oneIn(8) ? 2 : 1, volatilePrompt: false },
		...(draw.oneIn(3) ? { table: drawChangedTable(draw) } : {}),
		...(draw.oneIn(1.5) ? { stopAtMs: undefined, stopDuring: undefined } : {}),
	};
}

/** All orders of a run are refused at once, when they have their rows. */
function drawRefused(draw: Draw, { crashes }: Case): Partial<Case> {
	const refusal = draw.from('429:60', '429:60', '429:3');
	const item = () => ({
		copies: 1,
		plan: { posts: [{ answer: refusal, task: { directives: 'duration=2s', polls: [] } }], files: [] },
	});
	return {
		items: draw.list(3 + draw.upTo(5), item),
		...{ concurrentTasks: 50, requestsPerSecond: draw.from(60, 40), timeoutMinutes: 10, rounds: 1 },
		...{ crashes: draw.oneIn(2) ? crashes : [] },
	};
}

/** A task has failed when the process dies. */
function drawFailed(draw: Draw, { crashes }: Case): Partial<Case> {
	const item = (directives: string) => ({
		copies: 1,
		plan: { posts: [{ answer: 'ok', task: { directives, polls: [] } }], files: [] },
	});
	const [crash = { afterSteps: 60 + draw.upTo(300), downMs: 1000 }] = crashes;
	return {
		items: [item('duration=2s fail=internal_error'), item('duration=45s'), item('duration=45s')],
		...{ maxTries: draw.from(1, 2, 3), onError: 'stopWorkflow', timeoutMinutes: 10, pollIntervalSeconds: 3 },
		...{ crashes: [crash], retryExecutions: 1, rounds: 1, engine: 'one process', wait: 'untilReady' },
	};
}

/** Mostly until the retry of what n8n has taken for dead works, or what the other worker has taken over. */
function drawSilence(draw: Draw, { engine, wait }: Case): Crash {
	const isDurable = wait === 'acrossRestarts';
	const crash = drawCrash(draw, [...(isDurable ? OF_POLLERS : ANYWHERE), ...WITH_ROWS, ...WITH_ROWS]);
	if (draw.oneIn(6)) return { ...crash, silentMs: draw.from(1000, 30_000, 400_000), isUnnoticed: true };
	// The next poller begins when n8n has noticed that one is gone.
	const sweptMs = engine === 'one process' ? draw.upTo(60_000) : 120_000 + draw.upTo(60_000);
	const untilOtherMs = crash.downMs + (isDurable ? sweptMs : engine === 'one process' ? 90_000 : 120_000);
	const silentMs = draw.oneIn(4) ? draw.upTo(untilOtherMs) : untilOtherMs + draw.upTo(draw.from(1000, 3000, 60_000));
	return { ...crash, silentMs };
}
