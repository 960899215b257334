import fc from 'fast-check';

/**
 * What the property tests draw: a batch, the weather it meets, and what the user has set. Plain data, so that a
 * failing case can be kept as it is printed.
 */
export interface Case {
	/** Each plan becomes one item, or several identical ones. */
	items: Array<{ copies: number; plan: ItemPlan }>;
	/** How often a loop runs the node. */
	rounds: number;
	/** Every round of the loop sends the same requests. */
	sameBodies: boolean;
	/** The prompt differs on every try, as with `$now`. */
	volatilePrompt: boolean;
	onError: 'stopWorkflow' | 'continueRegularOutput' | 'continueErrorOutput';
	/** 1: Retry On Fail is off. */
	maxTries: number;
	/** How often the user retries an execution that ended with an error. */
	retryExecutions: number;
	/** `later`: turned on for the retry of the execution. */
	submitAgain: 'off' | 'on' | 'later';
	concurrentTasks: number;
	requestsPerSecond: number;
	/** Absent: planned from the progress. */
	pollIntervalSeconds?: number;
	timeoutMinutes: number;
	onTimeout: 'error' | 'return';
	whenDone: 'wait' | 'return';
	downloadResult: boolean;
	/** Milliseconds after the start. Absent: nobody stops it. */
	stopAtMs?: number;
	/** Seed of everything that the product and the sandbox leave to chance. */
	randomness: number;
}

/** What happens to one item's requests: the first POST meets the first plan, and so on; then the weather is fine. */
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
	/** Answers of the looks, in order; then the weather is fine. */
	polls: string[];
}

/** Surely not accepted, and passing. */
const REPEATED = ['refused', 'dns', '429', '429:3', '429:date7', '503', '503:2', '503:date4', '503html:5'];
const LONG_PAUSES = ['429:90', '429:200', '503:date150'];
/** Nobody can say from the outside whether the task exists. */
const AMBIGUOUS = ['500', '502', '504', '503html', '408', 'reset', 'slow:200s', 'html', 'empty'];
const AFTER = ['500!after', '502!after', '504!after', '504json!after', '503html!after', '408!after', 'reset!after', 'slow:200s!after', 'html!after', 'empty!after', 'truncated', 'cut'];
const REFUSED = ['400', '422', 'success_false', '401', '402', '403'];

const CALM_POLLS = ['ok', '429', '429:4', '429:date6', '408', '500', '502', '503', '503html', '504', 'reset', 'cut', 'truncated', 'html', 'empty', 'success_false', 'slow:40s', 'refused', 'dns'];
const FINAL_POLLS = ['404', '401', '402', '403', '400', '422', '429:4000'];

/** Whether an answer comes with a task, and whether the node hears of it (or for sure that there is none). */
export function telling(answer: string): { accepted: boolean; heard: boolean } {
	if (answer === 'ok' || answer === 'truncated' || answer === 'slow:1s!after') return { accepted: true, heard: true };
	return { accepted: AFTER.includes(answer), heard: REPEATED.includes(answer) || REFUSED.includes(answer) };
}

const oneOf = (...values: string[]) => fc.constantFrom(...values);
/** One time in `times`. */
const sometimes = <T>(times: number, arbitrary: fc.Arbitrary<T>) =>
	fc.oneof({ weight: times - 1, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
const maybe = (weightOfNothing: number, ...directives: string[]) =>
	fc.oneof({ weight: weightOfNothing, arbitrary: fc.constant('') }, { weight: 1, arbitrary: oneOf(...directives) });

/** How the task shows itself: every shape and word that was seen (field notes, Task status and results). */
const appearance = fc.tuple(
	oneOf('duration=0s', 'duration=3s', 'duration=9s', 'duration=20s', 'duration=20s', 'duration=70s'),
	maybe(3, 'progress=fast', 'progress=steps', 'progress=stuck', 'progress=jump', 'progress=missing', 'progress=string', 'progress=percent'),
	maybe(3, ...['url', 'video_url', 'data', 'output', 'output_objects', 'outputs', 'outputs_objects', 'images', 'images_objects', 'metadata_url', 'metadata_result_urls'].map((shape) => `result=${shape}`)),
	maybe(4, 'hidden=3s', 'hidden=12s'),
	maybe(4, 'record=wrapped'),
	maybe(4, 'case=upper', 'case=title'),
	maybe(4, 'queued_word=submitted', 'queued_word=pending', 'running_word=processing', 'running_word=running', 'running_word=rendering'),
	maybe(4, 'done_word=succeeded', 'done_word=success'),
	maybe(4, 'created=task_id', 'created=wrapped', 'created=wrapped_task_id'),
	maybe(5, 'id=odd'),
);

/** How it ends otherwise than well. */
const ending = fc.oneof(
	{ weight: 6, arbitrary: fc.constant('') },
	{
		weight: 3,
		arbitrary: fc
			.tuple(
				oneOf('fail=generation_failed', 'fail=internal_error', 'fail=content_policy_violation', 'fail=invalid_request', 'fail=insufficient_quota', 'fail=timeout'),
				maybe(2, 'failed_word=cancelled', 'failed_word=canceled', 'failed_word=error', 'failed_word=expired'),
				maybe(2, 'fail_as=error_string', 'fail_as=message', 'fail_as=fail_reason'),
			)
			.map((parts) => parts.filter(Boolean).join(' ')),
	},
	{ weight: 1, arbitrary: oneOf('result=none', 'created=no_id', 'duration=never', 'hidden=50s') },
);

const harmlessTask: fc.Arbitrary<TaskPlan> = fc.record({
	directives: appearance.map((parts) => parts.filter(Boolean).join(' ')),
	polls: fc.array(oneOf(...CALM_POLLS), { maxLength: 3 }),
});

const anyTask: fc.Arbitrary<TaskPlan> = fc.record({
	directives: fc.tuple(appearance, ending).map(([parts, end]) => [...parts, end].filter(Boolean).join(' ')),
	polls: fc.array(
		fc.oneof({ weight: 9, arbitrary: oneOf(...CALM_POLLS) }, { weight: 1, arbitrary: oneOf(...FINAL_POLLS) }),
		{ maxLength: 4 },
	),
});

const anyPost: fc.Arbitrary<PostPlan> = fc.record({
	answer: fc.oneof(
		{ weight: 4, arbitrary: fc.constant('ok') },
		{ weight: 3, arbitrary: oneOf(...REPEATED) },
		{ weight: 1, arbitrary: oneOf(...LONG_PAUSES, 'slow:20s', 'slow:20s!after') },
		{ weight: 2, arbitrary: oneOf(...AMBIGUOUS) },
		{ weight: 3, arbitrary: oneOf(...AFTER) },
		{ weight: 2, arbitrary: oneOf(...REFUSED) },
	),
	task: anyTask,
});

const settings = {
	onError: fc.constantFrom<Case['onError'][]>('stopWorkflow', 'stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'),
	maxTries: fc.constantFrom(1, 1, 2, 3, 5),
	onTimeout: fc.constantFrom<Case['onTimeout'][]>('error', 'return'),
	whenDone: fc.constantFrom<Case['whenDone'][]>('wait', 'wait', 'wait', 'wait', 'return'),
	rounds: fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.integer({ min: 2, max: 3 }) }),
	sameBodies: fc.boolean(),
	concurrentTasks: fc.constantFrom(50, 50, 3, 2, 1),
	requestsPerSecond: fc.constantFrom(40, 40, 5, 1),
	pollIntervalSeconds: sometimes(3, fc.constantFrom(1, 10)),
	downloadResult: fc.boolean(),
	randomness: fc.nat(),
};

/** Anything may happen. */
export const anyCase: fc.Arbitrary<Case> = fc.record({
	...settings,
	items: fc.array(
		fc.record({
			copies: fc.constantFrom(1, 1, 1, 2, 3),
			plan: fc.record({
				posts: fc.array(anyPost, { maxLength: 3 }),
				files: fc.oneof(
					{ weight: 3, arbitrary: fc.array(oneOf('404', '500', '503', 'reset', 'html'), { maxLength: 2 }) },
					// More than the tries of one download.
					{ weight: 1, arbitrary: fc.array(oneOf('404', '500'), { minLength: 4, maxLength: 9, size: 'max' }) },
				),
			}),
		}),
		{ minLength: 1, maxLength: 6 },
	),
	volatilePrompt: fc.boolean(),
	retryExecutions: fc.constantFrom(0, 0, 1, 2),
	submitAgain: fc.constantFrom('off', 'off', 'off', 'on', 'later'),
	timeoutMinutes: fc.constantFrom(10, 10, 1, 0.2),
	stopAtMs: sometimes(4, fc.nat(60_000)),
});

/** Only trouble that passes: everything must come out, at once and exactly once. */
export const harmlessCase: fc.Arbitrary<Case> = fc.record({
	...settings,
	items: fc.array(
		fc.record({
			copies: fc.constantFrom(1, 1, 2),
			plan: fc.record({
				posts: fc.array(
					fc.record({ answer: oneOf('ok', ...REPEATED, 'slow:20s', 'slow:20s!after'), task: harmlessTask }),
					{ maxLength: 2 },
				),
				files: fc.array(oneOf('404', '500', 'reset'), { maxLength: 1 }),
			}),
		}),
		{ minLength: 1, maxLength: 6 },
	),
	volatilePrompt: fc.constant(false),
	onError: fc.constantFrom('stopWorkflow', 'continueRegularOutput'),
	maxTries: fc.constant(1),
	retryExecutions: fc.constant(0),
	submitAgain: fc.constant('off'),
	timeoutMinutes: fc.constant(30),
	onTimeout: fc.constant('error'),
	whenDone: fc.constant('wait'),
});

/** One thing that ends the try of an item, and that another try mends. */
const mendable: fc.Arbitrary<ItemPlan> = fc.oneof(
	fc.tuple(oneOf(...REFUSED, '429:200'), harmlessTask).map(([answer, task]) => ({ posts: [{ answer, task }], files: [] })),
	fc.tuple(oneOf('fail=generation_failed', 'fail=internal_error', 'fail=timeout failed_word=expired'), harmlessTask).map(([fail, { directives, polls }]) => ({
		posts: [{ answer: 'ok', task: { directives: `${directives} ${fail}`, polls } }],
		files: [],
	})),
	fc.tuple(oneOf(...FINAL_POLLS.filter((answer) => answer !== '404')), harmlessTask).map(([answer, { directives }]) => ({
		posts: [{ answer: 'ok', task: { directives, polls: [answer] } }],
		files: [],
	})),
	harmlessTask.map((task) => ({ posts: [{ answer: 'ok', task }], files: ['404', '500', '500', '404'] })),
);

/** Retry On Fail must mend it, with one task for each item that did not end badly. */
export const mendableCase: fc.Arbitrary<Case> = harmlessCase.chain((drawn) =>
	fc.array(mendable, { minLength: 1, maxLength: 4 }).map((plans) => ({
		...drawn,
		items: plans.map((plan) => ({ copies: 1, plan })),
		rounds: 1,
		onError: 'stopWorkflow' as const,
		maxTries: 5,
	})),
);

/** What real time allows. */
const quickTask: fc.Arbitrary<TaskPlan> = fc.record({
	directives: fc
		.tuple(
			oneOf('duration=0s', 'duration=500ms', 'duration=1500ms'),
			maybe(3, 'result=url', 'result=data', 'result=images', 'result=metadata_url', 'result=none'),
			maybe(3, 'hidden=1500ms', 'record=wrapped', 'done_word=succeeded', 'running_word=rendering', 'id=odd'),
			maybe(3, 'fail=generation_failed', 'fail=content_policy_violation', 'fail=generation_failed failed_word=cancelled'),
		)
		.map((parts) => parts.filter(Boolean).join(' ')),
	polls: fc.array(oneOf('404', '429', '429:1', '500', '502', '503html', 'reset', 'cut', 'truncated', 'html', 'empty', '401'), { maxLength: 2 }),
});

export const quickCase: fc.Arbitrary<Case> = fc.record({
	items: fc.array(
		fc.record({
			copies: fc.constantFrom(1, 1, 2),
			plan: fc.record({
				posts: fc.array(
					fc.record({
						answer: oneOf('ok', '429', '429:1', '429:date2', '503', '503:1', '503html', '500', '504', 'reset', 'empty', '500!after', '504!after', '503html!after', 'reset!after', 'html!after', 'truncated', 'cut', 'slow:1s!after', '400', '402', '403', '422'),
						task: quickTask,
					}),
					{ maxLength: 2 },
				),
				files: fc.constant([]),
			}),
		}),
		{ minLength: 1, maxLength: 5 },
	),
	rounds: fc.constant(1),
	sameBodies: fc.constant(false),
	volatilePrompt: fc.constant(false),
	onError: settings.onError,
	maxTries: settings.maxTries,
	retryExecutions: fc.constant(0),
	submitAgain: fc.constantFrom('off', 'off', 'on'),
	concurrentTasks: settings.concurrentTasks,
	requestsPerSecond: fc.constantFrom(40, 5),
	pollIntervalSeconds: fc.constant(1),
	timeoutMinutes: fc.constantFrom(1, 0.03),
	onTimeout: settings.onTimeout,
	whenDone: settings.whenDone,
	downloadResult: fc.boolean(),
	stopAtMs: sometimes(5, fc.nat(4000)),
	randomness: fc.constant(0),
});
