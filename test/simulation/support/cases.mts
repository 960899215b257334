import type { Waiting } from '../../../nodes/form/fields';
import type { Moment } from './moments.mts';
import { ANYWHERE, Draw, drawCrash, OF_POLLERS, WITH_ROWS } from './draw.mts';
import type { TableFate } from './tableFate.mts';
import { drawDeadPollers, drawTroubles } from './troubles.mts';

/**
 * A case: a workflow and its settings, the faults that each request meets, and the moments at which n8n dies. Plain
 * data, so that a case that fails can be kept as it is printed.
 */
export interface Case {
	/** Each plan becomes one item, or several identical ones. */
	items: Array<{ copies: number; plan: ItemPlan }>;
	/** The rounds of the loop around the node. */
	rounds: number;
	/** Every round of the loop sends the same requests. */
	sameBodies: boolean;
	/** The prompt differs on every try, as with `$now`. */
	volatilePrompt: boolean;
	onError: 'stopWorkflow' | 'continueRegularOutput' | 'continueErrorOutput';
	/** 1: Retry On Fail is off. */
	maxTries: number;
	/** The retries by the user of an execution that has ended badly. */
	retryExecutions: number;
	/** The execution to retry: `first` is the one that everything began with. */
	retryOf: 'latest' | 'first';
	/** Both retries begin within a second. */
	retriesAtOnce?: boolean;
	/** In a retry after a crash, the nodes before return the same items in another sequence. Needs the log. */
	itemsMove?: true;
	/**
	 * The run that a person enters before a retry: the first one that an error names, which then stays in the form, or the
	 * last one. `its own`: an expression gives the run of the execution itself.
	 */
	submitAgainFor: 'nothing' | 'the first run' | 'the last run' | 'its own run';
	concurrentTasks: number;
	requestsPerSecond: number;
	/** Absent: planned from the progress. */
	pollIntervalSeconds?: number;
	timeoutMinutes: number;
	wait: Exclude<Waiting, 'inAnotherWorkflow'>;
	downloadResult: boolean;
	/** Milliseconds after the start. Absent: nobody stops it. */
	stopAtMs?: number;
	/** Nor before such a moment. */
	stopDuring?: Moment;
	/** A person stops or retries an execution that a node has started: the latest that waits or polls, or the first such that is dead. */
	clicks?: Click[];
	/** The tasks that the account can run at once. Absent: any number. */
	accountSlots?: number;
	/** The computer's clock is set back. */
	clockSetBack?: { atMs: number; byMs: number };
	/** The purchase log of the credential. */
	log: 'on' | 'off';
	/** Absent: all is well with the table of the log. */
	table?: TableFate;
	/** Each name of an item is a Purchase Key, too, and all executions have items of the same names. Needs the log. */
	purchaseKey?: boolean;
	/** n8n's table of processed data has as many names as it may have. */
	tableIsFull?: boolean;
	/** `workers`: two, in the queue mode of n8n 2; `workers of n8n 1`: an execution whose worker is gone is given to the other one. */
	engine: 'one process' | 'workers' | 'workers of n8n 1';
	savesProgress: boolean;
	/** After so many steps of n8n it dies, and comes back. Counted from its start or its last death. `during`: not before such a moment. */
	crashes: Crash[];
	/** The uses of n8n's table of processed data that fail. */
	failingRecords: number[];
	/** Executions of the same workflow that begin in the same millisecond. */
	executions: number;
	/** Seed of everything that the product, the service and n8n leave to chance. */
	randomness: number;
}

export interface Crash {
	afterSteps: number;
	during?: Moment;
	downMs: number;
	/** It does not die: its machine stands still for so long. */
	silentMs?: number;
	/** n8n does not notice that. */
	isUnnoticed?: true;
}

export interface Click {
	/** After the start. */
	atMs: number;
	on: 'what waits' | 'what polls';
	does: 'stop' | 'retry';
	/** The person waits for an execution that polls in the place of a dead one, and has not slept yet. */
	isParking?: boolean;
}

/**
 * The fate of one item's requests: the first POST meets the first plan, and so on; after the last plan nothing fails.
 */
export interface ItemPlan {
	posts: PostPlan[];
	/** Answers of the file host, in order; then the file comes. */
	files: string[];
}

export interface PostPlan {
	/** In the sandbox's short form, or `refused` or `dns`. */
	answer: string;
	/** The task that exists if the request is accepted. */
	task: TaskPlan;
}

export interface TaskPlan {
	/** Directives of the sandbox. */
	directives: string;
	/** Answers to the checks, in order; then the weather is fine. */
	polls: string[];
	/** The answer to all further checks, for ever. */
	further?: string;
}

/** Surely not accepted, and passing. */
const REPEATED = ['refused', 'dns', '429', '429:3', '429:date7', '503', '503:2', '503:date4', '503:5'];
const LONG_PAUSES = ['429:90', '429:200', '503:date150', 'slow:20s', 'slow:20s!after'];
/** Nobody can say from the outside whether the task exists. */
const AMBIGUOUS = [
	'500',
	'502',
	'504',
	'503html',
	'503html:5',
	'408',
	'reset',
	'slow:200s',
	'html',
	'empty',
	'success_false~object',
];
const AFTER = [
	'500!after',
	'502!after',
	'504!after',
	'504json!after',
	'503html!after',
	'503html:5!after',
	'408!after',
	'reset!after',
	'slow:200s!after',
	'html!after',
	'empty!after',
	'truncated',
	'cut',
];
const REFUSED = [
	'400',
	'400~message',
	'422',
	'422~object',
	'401',
	'401~object',
	'402',
	'402~string',
	'403',
	'404',
	'success_false',
];
const CALM_POLLS = [
	'ok',
	'429',
	'429:4',
	'429:date6',
	'408',
	'500',
	'502',
	'503',
	'503html',
	'504',
	'reset',
	'cut',
	'truncated',
	'html',
	'empty',
	'success_false',
	'slow:40s',
	'refused',
	'dns',
];
/** They may end the wait, while the task goes on. */
export const FINAL_POLLS = ['404', '401', '402', '403', '400', '422', '429:4000'];
/** A page in the place of the service: it says nothing but that the service has not seen the request. */
export const PAGES = ['401html', '403html', '404html', '404text', '403proxy'];
/** Answers to checks that name no task, or another one: each is the same whenever it comes. */
export const STRAYS = ['status_error', 'error_200', 'code_msg', 'success_false', 'failed_other', 'done_other'];
/** The same, without any record. */
export const BLANKS = ['html', 'empty'];
/** The task is there, and cannot be shown just now. */
export const LOCKED = ['409', '423', '425', '400'];
/** IDs in records: none of them is a reason to buy a task again. */
const OTHER_IDS = ['behind', 'behind', 'behind_end', 'none', 'both'];
/** The same content is declined again. */
export const DECLINED = [
	'content_policy_violation',
	'sensitive_words_detected',
	'DataInspectionFailed',
	'InputImageSensitiveContentDetected',
	'moderation_blocked',
];
const FILES = ['404', '500', '503', 'reset', 'html'];
const FAILURES = [
	'generation_failed',
	'internal_error',
	'content_policy_violation',
	'invalid_request',
	'insufficient_quota',
	'timeout',
];
const RESULTS = [
	'url',
	'video_url',
	'data',
	'output',
	'output_objects',
	'outputs',
	'outputs_objects',
	'images',
	'images_objects',
	'metadata_url',
	'metadata_result_urls',
];

/**
 * The answers about a task: every shape and word that was seen (field notes, Task status and results). One in so many
 * has one of them.
 */
const APPEARANCE: Array<[oneIn: number, directives: string[]]> = [
	[4, ['fast', 'steps', 'stuck', 'jump', 'missing', 'string', 'percent'].map((shape) => `progress=${shape}`)],
	[4, RESULTS.map((shape) => `result=${shape}`)],
	[8, ['hidden=3s', 'hidden=12s']],
	[8, ['record=wrapped']],
	[8, ['case=upper', 'case=title']],
	[
		8,
		[
			'queued_word=submitted',
			'queued_word=pending',
			'running_word=processing',
			'running_word=running',
			'running_word=rendering',
		],
	],
	[8, ['done_word=succeeded', 'done_word=success']],
	[8, ['created=task_id', 'created=wrapped', 'created=wrapped_task_id']],
	[8, ['id=odd']],
];
const DURATIONS = ['0s', '0s', '2s', '5s', '9s', '9s', '20s', '45s'];
/** The workflows that Across Restarts is for. */
const LONG_DURATIONS = ['0s', '5s', '20s', '100s', '300s', '1000s'];

export function drawCase(random: () => number): Case {
	const draw = new Draw(random);
	return asN8nIs(withNamedRun(draw, withStrangeAnswers(draw, drawUsual(draw))));
}

/** n8n 1 hands executions on, and its Data Table node makes no tables: there are no rows, and nothing that needs them. */
function asN8nIs(drawn: Case): Case {
	if (drawn.engine !== 'workers of n8n 1' || drawn.log === 'off') return drawn;
	const { itemsMove: _, purchaseKey: __, table: ___, ...others } = drawn;
	return { ...others, log: 'off' };
}

function drawUsual(draw: Draw): Case {
	const survives = draw.oneIn(4);
	const rounds = draw.oneIn(10) ? draw.from(2, 3) : 1;
	// More items than tasks at once.
	const isMany = survives && draw.oneIn(2);
	const plans = isMany ? 3 + draw.upTo(4) : Math.ceil(drawSize(draw) / rounds);
	const isLong = isMany && draw.oneIn(4);
	const copies = () => (isLong ? 3 + draw.upTo(2) : plans <= 6 && draw.oneIn(6) ? draw.from(2, 2, 3) : 1);
	const volatilePrompt = draw.oneIn(6);
	const log = draw.oneIn(6) ? 'off' : 'on';
	const hasRows = log === 'on';
	const anywhere = hasRows ? [...ANYWHERE, ...WITH_ROWS] : ANYWHERE;
	const moments = isMany ? OF_POLLERS : survives ? [...anywhere, ...OF_POLLERS] : anywhere;
	const engine = draw.from(...(isMany ? ENGINES_OF_MANY : ENGINES));
	// A wait that is planned looks every second whether the plan has changed: a long one takes the simulation long.
	const isFixed = draw.oneIn(2);
	const drawn: Case = {
		items: draw.list(plans, () => ({ copies: copies(), plan: drawItem(draw, survives) })),
		rounds,
		sameBodies: draw.oneIn(2),
		volatilePrompt,
		onError: draw.from('stopWorkflow', 'stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'),
		maxTries: isMany ? draw.from(1, 2, 3) : draw.from(1, 1, 1, 1, 2, 2, 3, 5),
		// Another prompt is another task for a Retry execution, unless the log tells that n8n has crashed meanwhile.
		retryExecutions: volatilePrompt && !hasRows ? 0 : draw.from(0, 0, 1, 1, 1, 2),
		retryOf: draw.from('latest', 'latest', 'first'),
		submitAgainFor: draw.from(...RUNS),
		concurrentTasks: isMany ? draw.from(1, 2, 2) : draw.from(50, 50, 3, 2, 1),
		requestsPerSecond: draw.from(60, 60, 40, 5, 1),
		...(isFixed ? { pollIntervalSeconds: survives ? draw.from(10, 70, 200) : draw.from(3, 10, 10) } : {}),
		timeoutMinutes: survives ? draw.from(60, 10, 3) : draw.from(...(isFixed ? [10, 1] : [1, 1, 0.2])),
		wait: survives ? 'acrossRestarts' : draw.oneIn(6) ? 'dontWait' : 'untilReady',
		downloadResult: draw.oneIn(2),
		...drawStop(draw, survives, moments),
		...(draw.oneIn(16)
			? { clockSetBack: { atMs: draw.upTo(20_000), byMs: draw.from(60_000, 3_600_000, 86_400_000) } }
			: {}),
		...(draw.oneIn(40) ? { tableIsFull: true } : {}),
		engine: survives && engine === 'workers of n8n 1' ? 'one process' : engine,
		savesProgress: draw.oneIn(2),
		crashes: draw.oneIn(2) ? draw.list(draw.from(1, 1, 1, 2, 3), () => drawCrash(draw, moments)) : [],
		failingRecords: draw.oneIn(12) ? draw.list(draw.from(1, 2, 3), () => draw.upTo(3)) : [],
		log,
		...(hasRows && draw.oneIn(8) ? { purchaseKey: true } : {}),
		...(draw.oneIn(16)
			? { executions: 2, ...(draw.oneIn(2) ? { accountSlots: draw.from(1, 2) } : {}) }
			: { executions: 1 }),
		randomness: draw.upTo(2 ** 31),
	};
	if (survives && draw.oneIn(3)) drawn.clicks = drawClicks(draw);
	if (hasRows) Object.assign(drawn, drawTroubles(draw, drawn));
	if (hasRows && !drawn.purchaseKey && !volatilePrompt && draw.oneIn(5))
		Object.assign(drawn, { retryExecutions: 2, retryOf: 'first', retriesAtOnce: true });
	if (isMany && draw.oneIn(8)) return { ...drawn, ...drawGivenUp(draw) };
	if (survives && hasRows && draw.oneIn(2)) return { ...drawn, ...drawDeadPollers(draw) };
	if (mayMove(drawn) && draw.oneIn(12)) return { ...drawn, ...drawMoved(draw, drawn) };
	return hasTrouble(drawn)
		? drawn
		: {
				...drawn,
				items: [
					{
						copies: 1,
						plan: { posts: [{ answer: draw.from(...AMBIGUOUS, ...AFTER), task: drawTask(draw, survives) }], files: [] },
					},
					...drawn.items.slice(1),
				],
			};
}

/** Answers that gateways, and what stands before them, give now and then. Drawn last, so that the cases before stay as they are. */
function withStrangeAnswers(draw: Draw, drawn: Case): Case {
	if (!draw.oneIn(4)) return drawn;
	const areBlocked = draw.oneIn(5);
	const change = ({ answer, task }: PostPlan): PostPlan => {
		if (areBlocked && draw.oneIn(1.3)) return { answer: draw.from('401html', '403html', '403proxy'), task };
		if (!draw.oneIn(2)) return { answer, task };
		return draw.oneIn(5) ? { answer: draw.from(...PAGES), task } : { answer, task: drawStrangeTask(draw, task) };
	};
	const items = drawn.items.map(({ copies, plan: { posts, files } }) => ({
		copies,
		plan: { posts: posts.map(change), files },
	}));
	return { ...drawn, items };
}

/** Requests and tasks that are in doubt whenever they are bought, and a person who names runs in one retry after another. */
function withNamedRun(draw: Draw, drawn: Case): Case {
	if (drawn.wait === 'acrossRestarts' || !draw.oneIn(8)) return drawn;
	const post = (): PostPlan =>
		draw.oneIn(3)
			? { answer: 'ok', task: { directives: `duration=2s fail=${draw.from(...DECLINED)}`, polls: [] } }
			: { answer: draw.from(...AMBIGUOUS, ...AFTER), task: { directives: 'duration=2s', polls: [] } };
	const [{ copies }, ...others] = drawn.items as [Case['items'][number], ...Case['items']];
	return {
		...drawn,
		items: [{ copies, plan: { posts: draw.list(6, post), files: [] } }, ...others],
		submitAgainFor: draw.from('the first run', 'the first run', 'the last run', 'its own run'),
		...{ onError: 'stopWorkflow', wait: 'untilReady', stopAtMs: undefined, stopDuring: undefined },
		...{ retryExecutions: draw.from(2, 3, 4), retryOf: draw.from('latest', 'first') },
		...(draw.oneIn(3) ? { retriesAtOnce: undefined } : {}),
		...(draw.oneIn(2) ? { log: 'on' as const, failingRecords: [] } : {}),
		...(draw.oneIn(3) ? { crashes: [] } : {}),
	};
}

function drawStrangeTask(draw: Draw, { directives, polls }: TaskPlan): TaskPlan {
	const kind = draw.upTo(8);
	if (kind === 0) {
		const others = directives.split(' ').filter((word) => !word.startsWith('fail'));
		return { directives: [...others, `fail=${draw.from(...DECLINED)}`].join(' '), polls };
	}
	if (kind <= 2) return { directives: `${directives} ids=${draw.from(...OTHER_IDS)}`, polls };
	if (kind === 3) return { directives, polls, further: draw.from(...STRAYS, ...BLANKS, ...LOCKED) };
	const answers = kind <= 5 ? PAGES : kind === 6 ? LOCKED : STRAYS;
	const run = draw.list(draw.from(1, 1, 2, 4, 8), () => '').fill(draw.from(...answers));
	return { directives, polls: draw.oneIn(2) ? [...run, ...polls] : [...polls, ...run] };
}

const RUNS: Array<Case['submitAgainFor']> = [
	...(['nothing', 'nothing', 'nothing', 'nothing', 'the first run', 'the first run'] as const),
	...(['the last run', 'the last run', 'its own run'] as const),
];

const ENGINES: Array<Case['engine']> = [
	...(['one process', 'one process', 'one process'] as const),
	...(['workers', 'workers', 'workers of n8n 1'] as const),
];
/** Losses with a worker are rare there. */
const ENGINES_OF_MANY: Array<Case['engine']> = ['one process', 'workers', 'workers'];

function drawStop(draw: Draw, survives: boolean, moments: Moment[]): Pick<Case, 'stopAtMs' | 'stopDuring'> {
	if (!draw.oneIn(survives ? 3 : 6)) return {};
	const stopAtMs = draw.upTo(draw.from(500, 5000, survives ? 500_000 : 60_000));
	return draw.oneIn(survives ? 2 : 3) ? { stopAtMs: draw.upTo(100), stopDuring: draw.from(...moments) } : { stopAtMs };
}

/**
 * Waits that a poll has ended, and that are taken up again, while the tasks run on: more of them than may run at once. Behind
 * them, a task that is to be made again.
 */
function drawGivenUp(draw: Draw): Partial<Case> {
	const item = (directives: string, ...polls: string[]) => ({
		copies: 1,
		plan: { posts: [{ answer: 'ok', task: { directives, polls } }], files: [] },
	});
	const poll = draw.from('400', '422');
	const concurrentTasks = draw.from(1, 2);
	const waits = draw.list(concurrentTasks + draw.from(1, 2), () => item(`duration=${draw.from(100, 200, 300)}s`, poll));
	return {
		items: [...waits, item('duration=2s fail=internal_error'), item('duration=2s')],
		...{ rounds: 1, concurrentTasks, maxTries: 3, pollIntervalSeconds: 10, timeoutMinutes: 60 },
		...{ crashes: [], clicks: [], failingRecords: [], executions: 1 },
		...{ stopAtMs: undefined, stopDuring: undefined, clockSetBack: undefined, accountSlots: undefined },
	};
}

/** A crash of several items, and retries that get them at other places. */
function drawMoved(draw: Draw, { items: [first, ...others], crashes }: Case): Partial<Case> {
	const more = others.length > 0 ? [] : draw.list(draw.from(1, 2), () => ({ copies: 1, plan: drawItem(draw, false) }));
	return {
		items: [...(first === undefined ? [] : [first]), ...others, ...more],
		itemsMove: true,
		savesProgress: false,
		retryExecutions: 2,
		crashes: crashes.length > 0 ? crashes : [drawCrash(draw, [...ANYWHERE, ...WITH_ROWS])],
	};
}

/** Not with a prompt that differs each time: nothing would tell which item was bought. */
const mayMove = ({ log, purchaseKey, wait, volatilePrompt, table }: Case) =>
	log === 'on' && table === undefined && !purchaseKey && wait !== 'acrossRestarts' && !volatilePrompt;

/** Mostly a stop; then the same execution is retried once or twice. */
function drawClicks(draw: Draw): Click[] {
	const on = draw.from<Click['on']>('what waits', 'what polls');
	const isParking = draw.oneIn(2);
	// What is to be stopped while it parks its orders does so within the first second.
	const atMs = draw.upTo(isParking ? 1_000 : draw.from(5000, 30_000, 500_000));
	const retries = draw.list(draw.from(0, 1, 2, 2), () => ({
		atMs: atMs + draw.upTo(draw.from(3000, 200_000, 900_000)),
		on,
		does: 'retry' as const,
	}));
	if (draw.oneIn(8)) return retries;
	return [{ atMs, on, does: 'stop' as const, ...(isParking ? { isParking } : {}) }, ...retries];
}

/** Mostly few items: what goes wrong, goes wrong between two or three. */
function drawSize(draw: Draw): number {
	const kind = draw.upTo(31);
	if (kind < 16) return 1;
	if (kind < 24) return 2;
	if (kind < 28) return 3;
	return kind < 31 ? 4 + draw.upTo(4) : 9 + draw.upTo(11);
}

function hasTrouble({ items, crashes, stopAtMs, failingRecords }: Case): boolean {
	const isFault = ({ posts, files }: ItemPlan) =>
		files.length > 0 ||
		posts.some(
			({ answer, task }) =>
				answer !== 'ok' ||
				task.polls.some((poll) => poll !== 'ok') ||
				/fail=|none|no_id|never|50s/.test(task.directives),
		);
	return (
		crashes.length > 0 || stopAtMs !== undefined || failingRecords.length > 0 || items.some(({ plan }) => isFault(plan))
	);
}

function drawItem(draw: Draw, survives: boolean): ItemPlan {
	const posts = draw.list(draw.from(1, 1, 1, 2, 3), () => ({
		answer: drawAnswer(draw),
		task: drawTask(draw, survives),
	}));
	// More than the tries of one download, now and then.
	const files = draw.oneIn(6) ? draw.list(draw.from(1, 2, 4, 9), () => draw.from(...FILES)) : [];
	return { posts, files };
}

function drawAnswer(draw: Draw): string {
	const kind = draw.upTo(15);
	if (kind < 8) return 'ok';
	if (kind < 10) return draw.from(...REPEATED);
	if (kind < 11) return draw.from(...LONG_PAUSES);
	if (kind < 12) return draw.from(...AMBIGUOUS);
	return kind < 14 ? draw.from(...AFTER) : draw.from(...REFUSED);
}

function drawTask(draw: Draw, survives: boolean): TaskPlan {
	const words = [`duration=${draw.from(...(survives ? LONG_DURATIONS : DURATIONS))}`];
	for (const [oneIn, directives] of APPEARANCE) if (draw.oneIn(oneIn)) words.push(draw.from(...directives));
	if (draw.oneIn(4)) words.push(`fail=${draw.from(...FAILURES)}`, ...drawFailure(draw));
	else if (draw.oneIn(12)) words.push(draw.from('result=none', 'created=no_id', 'duration=never', 'hidden=50s'));
	const polls = draw.oneIn(2)
		? draw.list(draw.from(1, 1, 2, 3, 4), () => (draw.oneIn(10) ? draw.from(...FINAL_POLLS) : draw.from(...CALM_POLLS)))
		: [];
	return { directives: words.join(' '), polls };
}

function drawFailure(draw: Draw): string[] {
	return [
		...(draw.oneIn(3) ? [`failed_word=${draw.from('cancelled', 'canceled', 'error', 'expired')}`] : []),
		...(draw.oneIn(3) ? [`fail_as=${draw.from('error_string', 'message', 'fail_reason')}`] : []),
	];
}
